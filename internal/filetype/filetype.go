// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package filetype tells by its name of which type a file is: "go", "py", "make".
package filetype

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// A Set is one or more types. It is immutable and safe for concurrent use.
type Set struct {
	all      bool
	names    map[string]bool
	endings  map[string]bool // they begin with a dot
	patterns []string        // what is neither, for [path.Match]
}

// Compile returns the set of the types with these names, which are those of
// [Names] or aliases of theirs; that of no names has every file. A name that is not
// known is [ambit.ErrInvalid], with those in Detail that are like it.
func Compile(types []string) (*Set, error) {
	s := &Set{all: len(types) == 0, names: map[string]bool{}, endings: map[string]bool{}}
	for _, name := range types {
		list, ok := globsOf(name)
		if !ok {
			return nil, unknown(name)
		}
		for glob := range strings.FieldsSeq(list) {
			s.add(glob)
		}
	}
	return s, nil
}

// Names returns the names of all types, sorted, without aliases.
func Names() []string {
	return slices.Sorted(maps.Keys(globs))
}

// Match reports whether a file with that name, the last element of its path, is of
// one of the types.
func (s *Set) Match(name string) bool {
	if s.all || s.names[name] {
		return true
	}
	if len(s.endings) > 0 {
		// From the last dot on: there is seldom more than one.
		for i := strings.LastIndexByte(name, '.'); i >= 0; i = strings.LastIndexByte(name[:i], '.') {
			if s.endings[name[i:]] {
				return true
			}
		}
	}
	return slices.ContainsFunc(s.patterns, func(pattern string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	})
}

func globsOf(name string) (list string, ok bool) {
	if of, ok := aliases[name]; ok {
		name = of
	}
	list, ok = globs[name]
	return list, ok
}

// add adds a glob, if possible as names or endings, which are found without looking
// at each.
func (s *Set) add(glob string) {
	ending := strings.HasPrefix(glob, "*.")
	switch rest := strings.TrimPrefix(glob, "*"); {
	case ending && !strings.ContainsAny(rest, "*?\\"):
		for _, e := range expand(rest) {
			s.endings[e] = true
		}
	case !strings.ContainsAny(glob, "*?\\"):
		for _, name := range expand(glob) {
			s.names[name] = true
		}
	default:
		// To package path a hyphen at the end of a class is not just a hyphen.
		s.patterns = append(s.patterns, strings.ReplaceAll(glob, "-]", `\-]`))
	}
}

// expand returns all that a glob matches that has no special characters but
// classes of bytes, not negated.
func expand(glob string) []string {
	before, rest, found := strings.Cut(glob, "[")
	if !found {
		return []string{glob}
	}
	class, rest, _ := strings.Cut(rest, "]")
	var all []string
	for _, end := range expand(rest) {
		for i := 0; i < len(class); i++ {
			first, last := class[i], class[i]
			if i+2 < len(class) && class[i+1] == '-' {
				last = class[i+2]
				i += 2
			}
			for c := int(first); c <= int(last); c++ {
				all = append(all, before+string([]byte{byte(c)})+end)
			}
		}
	}
	return all
}

func unknown(name string) error {
	const most = 40 // of a name that may be anything
	detail := fmt.Sprintf("there is no file type %.*q", most, name)
	if len(name) > most {
		return &ambit.Error{Reason: ambit.ErrInvalid, Detail: detail}
	}
	if near := near(name); len(near) > 0 {
		detail += "; there is " + strings.Join(near, ", ")
	}
	return &ambit.Error{Reason: ambit.ErrInvalid, Detail: detail}
}

// near returns the few names that are most like the given one.
func near(name string) []string {
	const most, far = 3, 2
	name = strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(name, "*"), "."))
	type candidate struct {
		name     string
		distance int
	}
	var all []candidate
	for _, known := range slices.Concat(slices.Collect(maps.Keys(globs)), slices.Collect(maps.Keys(aliases))) {
		list, _ := globsOf(known)
		switch d := distance(name, known); {
		case name == "":
		case slices.Contains(strings.Fields(list), "*."+name):
			all = append(all, candidate{known, 0})
		case len(name) > 1 && strings.HasPrefix(known, name):
			all = append(all, candidate{known, 1})
		case d <= min(far, len(known)/2):
			all = append(all, candidate{known, d})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), strings.Compare(a.name, b.name))
	})
	var names []string
	for _, c := range all[:min(len(all), most)] {
		names = append(names, c.name)
	}
	return names
}

// distance returns how many bytes have to be added, removed or replaced to make b
// of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
