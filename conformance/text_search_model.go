// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// A searchModel answers searches of a known tree by looking at everything in it,
// one after the other. It knows as much of the dialects as the queries use that
// are compared with it.
type searchModel struct {
	kinds map[string]ambit.Kind // by path without a slash in front; "" is the root
	data  map[string]string
	below map[string][]string // the names in a folder, sorted
}

func newSearchModel(t Tree) *searchModel {
	m := &searchModel{kinds: map[string]ambit.Kind{"": ambit.KindDirectory}, data: map[string]string{}, below: map[string][]string{}}
	for _, n := range t {
		if n.Beside() {
			continue
		}
		m.add(n.Path, n.Kind)
		m.data[n.Path] = n.Data
	}
	for _, names := range m.below {
		slices.Sort(names)
	}
	return m
}

func (m *searchModel) add(path string, kind ambit.Kind) {
	if _, there := m.kinds[path]; there {
		return
	}
	m.kinds[path] = kind
	dir, name := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		dir, name = path[:i], path[i+1:]
	}
	m.add(dir, ambit.KindDirectory)
	m.below[dir] = append(m.below[dir], name)
}

// A modelGlob is a pattern of segments without braces: several for one with.
type modelGlob [][]string

// newModelGlob reads patterns; as filters those without a slash are for names at
// any depth.
func newModelGlob(filter bool, patterns ...string) modelGlob {
	var g modelGlob
	for _, pattern := range patterns {
		for _, one := range withoutBraces(pattern) {
			if filter && !strings.Contains(one, "/") {
				one = "**/" + one
			}
			g = append(g, strings.Split(one, "/"))
		}
	}
	return g
}

// withoutBraces writes the alternatives of a pattern out.
func withoutBraces(pattern string) []string {
	before, rest, ok := strings.Cut(pattern, "{")
	if !ok {
		return []string{pattern}
	}
	inner, after, _ := strings.Cut(rest, "}")
	var all []string
	for _, branch := range strings.Split(inner, ",") {
		all = append(all, withoutBraces(before+branch+after)...)
	}
	return all
}

// on reports whether the names of a path match, and whether what is beneath
// could. Without dots a leading dot matches nothing but a dot.
func (g modelGlob) on(names []string, dots bool) (matches, leads bool) {
	for _, segments := range g {
		m, l := segmentsOn(segments, names, dots)
		matches, leads = matches || m, leads || l
	}
	return matches, leads
}

func segmentsOn(segments, names []string, dots bool) (matches, leads bool) {
	if len(names) == 0 {
		return len(segments) == 0, len(segments) > 0
	}
	if len(segments) == 0 {
		return false, false
	}
	visible := dots || names[0][0] != '.'
	if segments[0] != "**" {
		ok, err := path.Match(strings.ReplaceAll(segments[0], "[!", "[^"), names[0])
		if err != nil {
			panic(err)
		}
		if !ok || !visible && segments[0][0] != '.' {
			return false, false
		}
		return segmentsOn(segments[1:], names[1:], dots)
	}
	if len(segments) == 1 {
		for _, name := range names {
			if !dots && name[0] == '.' {
				return false, false
			}
		}
		return true, true
	}
	matches, leads = segmentsOn(segments[1:], names, dots)
	if visible {
		m, l := segmentsOn(segments, names[1:], dots)
		matches, leads = matches || m, leads || l
	}
	return matches, leads
}

// A modelRule is a line of a .gitignore that is a name, with "*" perhaps.
type modelRule struct {
	dir               string // the folder of the file
	name              string
	here, dirs, keeps bool // "/name", "name/", "!name"
}

func (m *searchModel) rulesOf(dir string) []modelRule {
	var rules []modelRule
	for line := range strings.Lines(m.data[join(dir, ".gitignore")]) {
		r := modelRule{dir: dir}
		line, r.keeps = strings.CutPrefix(strings.TrimSuffix(line, "\n"), "!")
		line, r.here = strings.CutPrefix(line, "/")
		r.name, r.dirs = strings.CutSuffix(line, "/")
		rules = append(rules, r)
	}
	return rules
}

// modelIgnores reports what the last of the rules that matches says.
func modelIgnores(rules []modelRule, dir, name string, isDir bool) bool {
	for _, r := range slices.Backward(rules) {
		if ok, err := path.Match(r.name, name); err != nil {
			panic(err)
		} else if ok && (!r.here || r.dir == dir) && (!r.dirs || isDir) {
			return !r.keeps
		}
	}
	return false
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// A modelQuery is what a glob and a grep have in common.
type modelQuery struct {
	base             string // without a slash in front
	include, exclude modelGlob
	wants            func(path string, k ambit.Kind) bool
	all, noIgnore    bool

	found           []string
	hidden, ignored int
}

// walk finds the names that the query is for, in order, and counts what it leaves
// out.
func (m *searchModel) walk(q *modelQuery) {
	if m.kinds[q.base] != ambit.KindDirectory {
		names := []string{q.base[strings.LastIndexByte(q.base, '/')+1:]}
		if hit, _ := q.include.on(names, true); hit && q.wants(q.base, m.kinds[q.base]) && !q.excludes(names) {
			q.found = append(q.found, q.base)
		}
		return
	}
	var rules []modelRule
	if q.base != "" {
		above := ""
		for _, name := range strings.Split(q.base, "/") {
			rules = append(rules, m.rulesOf(above)...)
			if modelIgnores(rules, above, name, true) {
				rules = nil
			}
			above = join(above, name)
		}
	}
	m.folder(q, q.base, nil, rules)
}

func (m *searchModel) folder(q *modelQuery, dir string, names []string, rules []modelRule) {
	rules = append(slices.Clip(rules), m.rulesOf(dir)...)
	for _, name := range m.below[dir] {
		path, names := join(dir, name), append(slices.Clip(names), name)
		kind := m.kinds[path]
		isDir := kind == ambit.KindDirectory
		takes := func(dots bool) (hit, in bool) {
			hit, in = q.include.on(names, dots)
			return hit && q.wants(path, kind), in && isDir
		}
		hit, in := takes(q.all)
		byDot := false
		if !hit && !in {
			hit, in := takes(true)
			if byDot = name[0] == '.' && (hit || in); !byDot {
				continue
			}
		}
		switch {
		case q.excludes(names):
			continue
		case !q.noIgnore && modelIgnores(rules, dir, name, isDir):
			q.ignored++
			continue
		case byDot:
			q.hidden++
			continue
		}
		if hit {
			q.found = append(q.found, path)
		}
		if in {
			m.folder(q, path, names, rules)
		}
	}
}

func (q *modelQuery) excludes(names []string) bool {
	hit, _ := q.exclude.on(names, true)
	return hit
}

// modelAnswer is what a search has to answer.
type modelAnswer struct {
	found           []string // as lineOf shows it, with the spans of a match
	truncated       bool
	hidden, ignored int
}

func (m *searchModel) glob(q ambit.GlobQuery) modelAnswer {
	walk := modelQuery{
		base: strings.Trim(q.Base, "/"), include: newModelGlob(false, q.Pattern), all: q.All, noIgnore: q.NoIgnore,
		wants: func(_ string, k ambit.Kind) bool { return len(q.Kinds) == 0 || slices.Contains(q.Kinds, k) },
	}
	m.walk(&walk)
	a := modelAnswer{hidden: walk.hidden, ignored: walk.ignored}
	for _, path := range walk.found {
		if q.Keep != nil && !q.Keep("/"+path, m.kinds[path]) {
			continue
		}
		if q.Limit > 0 && len(a.found) == q.Limit {
			a.truncated = true
			break
		}
		a.found = append(a.found, fmt.Sprintf("/%s %v", path, m.kinds[path]))
	}
	return a
}

func (m *searchModel) grep(q ambit.GrepQuery) modelAnswer {
	include := q.Include
	if len(include) == 0 {
		include = []string{"**"}
	}
	walk := modelQuery{
		base: strings.Trim(q.Base, "/"), include: newModelGlob(true, include...), exclude: newModelGlob(true, q.Exclude...),
		all: q.All, noIgnore: q.NoIgnore,
		wants: func(_ string, k ambit.Kind) bool { return k == ambit.KindRegular },
	}
	m.walk(&walk)
	pattern := q.Pattern
	if q.Literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	if q.IgnoreCase {
		pattern = "(?i)" + pattern
	}
	g := modelGrep{q: q, pattern: regexp.MustCompile(pattern)}
	for _, path := range walk.found {
		if g.a.truncated {
			break
		}
		if q.Keep == nil || q.Keep("/"+path, ambit.KindRegular) {
			g.file("/"+path, m.data[path])
		}
	}
	g.a.hidden, g.a.ignored = walk.hidden, walk.ignored
	return g.a
}

type modelGrep struct {
	q       ambit.GrepQuery
	pattern *regexp.Regexp
	taken   int
	a       modelAnswer
}

func (g *modelGrep) full() bool {
	if g.q.Limit > 0 && g.taken == g.q.Limit {
		g.a.truncated = true
		return true
	}
	g.taken++
	return false
}

// file looks for the lines of one file.
func (g *modelGrep) file(path, text string) {
	lines := slices.Collect(strings.Lines(text))
	hits, told := map[int]bool{}, map[int]bool{}
	spans := make([][][]int, len(lines))
	n := 0
	for i, line := range lines {
		line, ended := strings.CutSuffix(line, "\n")
		if ended {
			line = strings.TrimSuffix(line, "\r")
		}
		lines[i] = line
		if spans[i] = g.pattern.FindAllStringIndex(line, -1); len(spans[i]) == 0 {
			continue
		}
		n++
		if g.q.Mode != ambit.GrepContent || g.a.truncated || g.full() {
			continue
		}
		hits[i] = true
		for j := i - g.q.Before; j <= i+g.q.After; j++ {
			told[j] = true
		}
	}
	if g.q.Mode != ambit.GrepContent {
		if n == 0 || g.full() {
			return
		}
		m := ambit.GrepMatch{Path: path}
		if g.q.Mode == ambit.GrepCount {
			m.Count = n
		}
		g.a.found = append(g.a.found, lineOf(m))
		return
	}
	for i, line := range lines {
		if told[i] {
			found := lineOf(ambit.GrepMatch{Path: path, Line: i + 1, Text: line, Context: !hits[i]})
			if hits[i] {
				found += fmt.Sprint(spans[i])
			}
			g.a.found = append(g.a.found, found)
		}
	}
}
