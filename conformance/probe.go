// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ambitfs/ambit"
)

// refused checks that err is a proper refusal of op on path, as the caller
// wrote it, for one of reasons: an *Error with all that the contract says of
// it.
func (p *probe) refused(op, path string, err error, reasons ...ambit.Reason) {
	if err == nil {
		p.errorf("%s %q succeeded, want %v", op, path, reasons)
		return
	}
	got := ambit.ReasonOf(err)
	if !slices.Contains(reasons, got) {
		p.errorf("%s %q: %v (reason %q), want %v", op, path, err, got, reasons)
	}
	p.wellFormed(op, path, err)
}

// wellFormed checks the form of an error: an *Error of the operation with the
// path as written, which matches its reason and no sentinel of another, and no
// host path.
func (p *probe) wellFormed(op, path string, err error) {
	var e *ambit.Error
	if !errors.As(err, &e) || e == nil {
		p.errorf("%s %q: the error is a %T, not an *ambit.Error: %v", op, path, err, err)
		return
	}
	if e.Op != op {
		p.errorf("%s %q: the error's Op is %q", op, path, e.Op)
	}
	if e.Path != path {
		p.errorf("%s %q: the error's Path is %q, want it as the caller wrote it", op, path, e.Path)
	}
	if !errors.Is(err, e.Reason) {
		p.errorf("%s %q: errors.Is(err, %q) is false", op, path, e.Reason)
	}
	for _, s := range []error{fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, fs.ErrInvalid, fs.ErrClosed, errors.ErrUnsupported} {
		if errors.Is(err, s) != e.Reason.Is(s) {
			p.errorf("%s %q: %s: errors.Is(err, %q) is %v", op, path, e.Reason, s, errors.Is(err, s))
		}
	}
	known := append([]string{e.Path, e.Target, e.Rule, path}, e.MissingDirs...)
	if leak := hostPath(err, known); leak != "" {
		p.errorf("%s %q: the error shows %q, which is no path of the machine: %v", op, path, leak, err)
	}
}

// hostPath looks for a path in an error's texts that is none of those known:
// one of two names or more, which no message of the contract has.
func hostPath(err error, known []string) string {
	for _, k := range known {
		quoted := strconv.Quote(k) // as a message shows a hostile name
		known = append(known, quoted[1:len(quoted)-1])
	}
	slices.SortFunc(known, func(a, b string) int { return len(b) - len(a) })
	for err := range chain(err) {
		var pathErr *fs.PathError
		if e, ok := err.(*fs.PathError); ok {
			pathErr = e
		}
		if pathErr != nil && !slices.Contains(known, pathErr.Path) {
			return pathErr.Path
		}
		if e, ok := err.(*os.LinkError); ok {
			return e.Old
		}
		text := err.Error()
		for _, k := range known {
			if len(k) > 1 {
				text = strings.ReplaceAll(text, k, "")
			}
		}
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n:;,()[]{}'\"`", r) }) {
			if strings.Count(word, "/") >= 2 && strings.HasPrefix(word, "/") && strings.Trim(word, "/.") != "" {
				return word
			}
		}
	}
	return ""
}

// chain yields err and everything that it wraps.
func chain(err error) func(yield func(error) bool) {
	var visit func(err error, yield func(error) bool) bool
	visit = func(err error, yield func(error) bool) bool {
		if err == nil {
			return true
		}
		if !yield(err) {
			return false
		}
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			return visit(e.Unwrap(), yield)
		case interface{ Unwrap() []error }:
			for _, inner := range e.Unwrap() {
				if !visit(inner, yield) {
					return false
				}
			}
		}
		return true
	}
	return func(yield func(error) bool) { visit(err, yield) }
}

// open opens path or ends the check.
func (p *probe) open(path string) ambit.File {
	f, err := p.fs.Open(p.ctx, path)
	if err != nil {
		p.fatalf("open %q: %v", path, err)
	}
	if f == nil {
		p.fatalf("open %q: neither a file nor an error", path)
	}
	return f
}

// read returns the whole content of path or ends the check.
func (p *probe) read(path string) string {
	data, _, err := ambit.ReadFile(p.ctx, p.fs, path)
	if err != nil {
		p.fatalf("reading %q: %v", path, err)
	}
	return string(data)
}

// holds checks that the file at path has the content want.
func (p *probe) holds(path, want string) {
	data, _, err := ambit.ReadFile(p.ctx, p.fs, path)
	if err != nil {
		p.errorf("reading %q: %v", path, err)
	} else if string(data) != want {
		p.errorf("%q holds %s, want %s", path, brief(string(data)), brief(want))
	}
}

// missing checks that nothing is at path.
func (p *probe) missing(path string) {
	_, err := p.fs.Stat(p.ctx, path)
	p.refused(ambit.OpStat, path, err, ambit.ErrNotFound)
}

// stat describes path or ends the check.
func (p *probe) stat(path string) ambit.FileInfo {
	info, err := p.fs.Stat(p.ctx, path)
	if err != nil {
		p.fatalf("stat %q: %v", path, err)
	}
	return info
}

// names returns the names in dir or ends the check.
func (p *probe) names(dir string) []string {
	l, err := p.fs.List(p.ctx, dir, nil)
	if err != nil {
		p.fatalf("list %q: %v", dir, err)
	}
	names := make([]string, len(l.Entries))
	for i, e := range l.Entries {
		names[i] = e.Name
	}
	return names
}

// writable returns the write side or ends the check.
func (p *probe) writable() ambit.WritableFileSystem {
	w, err := ambit.Writable(p.fs)
	if err != nil {
		p.fatalf("Write is claimed, but: %v", err)
	}
	return w
}

// write writes content to path or ends the check.
func (p *probe) write(path, content string, o *ambit.WriteOptions) ambit.WriteResult {
	r, err := p.writable().Write(p.ctx, path, strings.NewReader(content), o)
	if err != nil {
		p.fatalf("write %q: %v", path, err)
	}
	return r
}

// disturb changes the storage behind the file system's back or ends the check.
func (p *probe) disturb(c Change) {
	err := p.target.Disturb(p.ctx, p.storage(), c)
	if ambit.ReasonOf(err) == ambit.ErrUnsupported {
		p.cannotHold(cannotHold + string(c.Kind))
	}
	if err != nil {
		p.fatalf("Disturb (%s %q) failed: %v", c.Kind, c.Path, err)
	}
}

// shownBytes is how much of a file a snapshot shows as it is.
const shownBytes = 4 << 10

// digests tells contents apart that a snapshot does not show.
var digests = maphash.MakeSeed()

// snapshot is everything that can be seen: path to kind, content, mode and
// link text. Versions and times are left out.
func (p *probe) snapshot() map[string]string {
	if p.look != nil {
		return p.look(p)
	}
	seen := make(map[string]string)
	if !p.caps.List {
		for _, n := range p.tree {
			if n.Beside() || n.Kind != ambit.KindRegular {
				continue
			}
			data, _, err := ambit.ReadFile(p.ctx, p.fs, "/"+n.Path)
			seen["/"+n.Path] = fmt.Sprintf("%q %v", data, ambit.ReasonOf(err))
		}
		return seen
	}
	for e, err := range ambit.Walk(p.ctx, p.fs, "/") {
		if err != nil {
			seen[e.Info.Path] = "error " + string(ambit.ReasonOf(err))
			continue
		}
		text := e.Info.Kind.String()
		switch e.Info.Kind {
		case ambit.KindRegular:
			data, info, err := ambit.ReadFile(p.ctx, p.fs, e.Info.Path)
			shown := fmt.Sprintf("%q", data[:min(len(data), shownBytes)])
			if len(data) > shownBytes {
				shown += fmt.Sprintf("… (%d bytes with the digest %x)", len(data), maphash.Bytes(digests, data))
			}
			text += fmt.Sprintf(" %s %v %v", shown, info.Mode, ambit.ReasonOf(err))
		case ambit.KindSymlink:
			if l, ok := p.fs.(ambit.Linker); ok && p.caps.ReadLink {
				target, err := l.ReadLink(p.ctx, e.Info.Path)
				text += fmt.Sprintf(" %q %v", target, ambit.ReasonOf(err))
			}
		}
		seen[e.Info.Path] = text
	}
	return seen
}

// unchanged checks that all that can be seen is as it was in before.
func (p *probe) unchanged(before map[string]string) { p.alike(before, p.snapshot(), "") }

// alike checks that after is as before; where tells faults of two places
// apart.
func (p *probe) alike(before, after map[string]string, where string) {
	if where != "" {
		where += ": "
	}
	for _, path := range slices.Sorted(maps.Keys(before)) {
		if now, ok := after[path]; !ok {
			p.errorf("%s%q is gone", where, path)
		} else if now != before[path] {
			p.errorf("%s%q was %s and is %s", where, path, brief(before[path]), brief(now))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(after)) {
		if _, ok := before[path]; !ok {
			p.errorf("%s%q came to be: %s", where, path, brief(after[path]))
		}
	}
}

// beside is what lies beside the root.
func (p *probe) beside() map[string]string {
	seen, err := p.target.Beside(p.ctx, p.storage())
	if err != nil {
		p.fatalf("Beside failed: %v", err)
	}
	return seen
}

// brief quotes s and cuts out the middle of a long one.
func brief(s string) string {
	if len(s) <= 80 {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q…%q (%d bytes)", s[:40], s[len(s)-30:], len(s))
}

// failingReader gives data and then err.
func failingReader(data string, err error) io.Reader {
	return io.MultiReader(strings.NewReader(data), &brokenReader{err})
}

type brokenReader struct{ err error }

func (b *brokenReader) Read([]byte) (int, error) { return 0, b.err }
