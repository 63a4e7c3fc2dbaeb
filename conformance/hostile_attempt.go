// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// attempt is a method with one set of options, tried on paths of any kind.
type attempt struct {
	id       string // as it stands in check IDs
	name     string // as it stands in rules, with %s for the path
	op       string // of its errors
	requires []requirement

	// call makes the attempt and returns everything that came back besides the
	// error.
	call func(p *probe, path string) (seen string, err error)

	// escape is a path in the tree linked with which the attempt gets out of
	// the root where nothing confines it.
	escape string
}

// otherVersion is a version that no file has.
const otherVersion = ambit.Version("no-version-of-any-file")

// attempts are all methods, in the order of the contract's tables.
func attempts() []attempt {
	list := []attempt{
		{
			id: "open", name: "Open of %s", op: ambit.OpOpen, escape: "outward",
			call: func(p *probe, path string) (string, error) {
				f, err := p.fs.Open(p.ctx, path)
				if (f == nil) == (err == nil) {
					p.errorf("open %q: both a file and an error, or neither: %v, %v", path, f, err)
				}
				if err != nil || f == nil {
					return "", err
				}
				defer f.Close()
				data, err := io.ReadAll(f)
				return fmt.Sprintf("%s%+v", data, f.Info()), err
			},
		},
		{
			id: "stat", name: "Stat of %s", op: ambit.OpStat, escape: "outward",
			call: func(p *probe, path string) (string, error) { return described(p.fs.Stat(p.ctx, path)) },
		},
		{
			id: "list", name: "List of %s", op: ambit.OpList, escape: "outward-folder", requires: []requirement{needList},
			call: func(p *probe, path string) (string, error) { return listed(p, p.fs, path) },
		},
		{
			id: "sub", name: "Sub of %s", op: ambit.OpSub, escape: "outward-folder", requires: []requirement{needSub},
			call: func(p *probe, path string) (string, error) {
				sub, err := implements[ambit.Subber](p).Sub(p.ctx, path)
				if (sub == nil) == (err == nil) {
					p.errorf("sub %q: both a file system and an error, or neither: %v, %v", path, sub, err)
				}
				if err != nil || sub == nil || !p.caps.List {
					return "", err
				}
				return listed(p, sub, "/")
			},
		},
		{
			id: "lstat", name: "Lstat of %s", op: ambit.OpLstat, escape: "outward-folder/", requires: []requirement{needReadLink},
			call: func(p *probe, path string) (string, error) {
				return described(implements[ambit.Linker](p).Lstat(p.ctx, path))
			},
		},
		{
			id: "readlink", name: "ReadLink of %s", op: ambit.OpReadLink, escape: "outward", requires: []requirement{needReadLink},
			call: func(p *probe, path string) (string, error) {
				return implements[ambit.Linker](p).ReadLink(p.ctx, path)
			},
		},
	}
	for _, v := range []struct {
		id, name string
		o        ambit.WriteOptions
		escape   string
	}{
		{"", "", ambit.WriteOptions{}, "outward"},
		{"-parents", " with Parents", ambit.WriteOptions{Parents: true}, "outward"},
		{"-if-absent", " with IfAbsent", ambit.WriteOptions{If: ambit.IfAbsent()}, "outward-dangling"},
		{"-if-version", " with IfVersion", ambit.WriteOptions{If: ambit.IfVersion(otherVersion), Parents: true}, "outward"},
	} {
		var swap []requirement
		if !v.o.If.IsZero() {
			swap = []requirement{needSwap}
		}
		list = append(list,
			attempt{
				id: "write" + v.id, name: "Write to %s" + v.name, op: ambit.OpWrite, escape: v.escape,
				requires: append([]requirement{needWrite}, swap...),
				call: func(p *probe, path string) (string, error) {
					r, err := p.writable().Write(p.ctx, path, strings.NewReader(written), &v.o)
					return shown(r, err)
				},
			},
			attempt{
				id: "stage" + v.id, name: "Stage for %s" + v.name, op: ambit.OpStage, escape: v.escape,
				requires: append([]requirement{needStage}, swap...),
				call: func(p *probe, path string) (string, error) {
					s, err := implements[ambit.Stager](p).Stage(p.ctx, path, strings.NewReader(written), &v.o)
					if err != nil {
						return "", err
					}
					if err := s.Discard(p.ctx); err != nil {
						p.errorf("discard of a stage at %q: %v", path, err)
					}
					return fmt.Sprintf("%+v", s.Info()), nil
				},
			},
			attempt{
				id: "append" + v.id, name: "Append to %s" + v.name, op: ambit.OpAppend, escape: v.escape,
				requires: append([]requirement{needAppend}, swap...),
				call: func(p *probe, path string) (string, error) {
					o := &ambit.AppendOptions{If: v.o.If, Parents: v.o.Parents}
					r, err := implements[ambit.Appender](p).Append(p.ctx, path, strings.NewReader(written), o)
					return shown(r, err)
				},
			},
			attempt{
				id: "commit-write" + v.id, name: "Commit of a write to %s" + v.name, op: ambit.OpCommit, escape: v.escape,
				requires: append([]requirement{needCommit}, swap...),
				call: func(p *probe, path string) (string, error) {
					return committed(p, ambit.Change{Op: ambit.OpWrite, Path: path, Content: strings.NewReader(written), If: v.o.If, Parents: v.o.Parents})
				},
			},
		)
	}
	list = append(list, attempt{
		id: "commit-remove", name: "Commit of the removal of %s", op: ambit.OpCommit, escape: "outward-folder/secret",
		requires: []requirement{needCommit},
		call: func(p *probe, path string) (string, error) {
			return committed(p, ambit.Change{Op: ambit.OpRemove, Path: path})
		},
	})
	for _, v := range []struct {
		id, name string
		o        ambit.RemoveOptions
	}{
		{"", "", ambit.RemoveOptions{}},
		{"-recursive", " with Recursive", ambit.RemoveOptions{Recursive: true}},
		{"-missing-ok", " with MissingOK", ambit.RemoveOptions{MissingOK: true}},
		{"-if-version", " with IfVersion", ambit.RemoveOptions{If: ambit.IfVersion(otherVersion)}},
	} {
		a := attempt{
			id: "remove" + v.id, name: "Remove of %s" + v.name, op: ambit.OpRemove, escape: "outward-folder/secret",
			requires: []requirement{needWrite, needRemove},
			call: func(p *probe, path string) (string, error) {
				return "", p.writable().Remove(p.ctx, path, &v.o)
			},
		}
		if !v.o.If.IsZero() {
			a.requires = append(a.requires, needSwap)
		}
		list = append(list, a)
	}
	for _, v := range []struct {
		id, name string
		from     bool
		o        ambit.RenameOptions
	}{
		{"-from", "from %s", true, ambit.RenameOptions{}},
		{"-from-if-version", "from %s with IfVersion", true, ambit.RenameOptions{If: ambit.IfVersion(otherVersion)}},
		{"-to", "to %s", false, ambit.RenameOptions{}},
		{"-to-replace", "to %s with Replace", false, ambit.RenameOptions{Replace: true}},
		{"-to-parents", "to %s with Parents", false, ambit.RenameOptions{Parents: true}},
	} {
		a := attempt{
			id: "rename" + v.id, name: "Rename " + v.name, op: ambit.OpRename, escape: "outward-folder/renamed",
			requires: []requirement{needRename},
			call: func(p *probe, path string) (string, error) {
				from, to := p.dir+"file", path
				if v.from {
					from, to = path, p.dir+"renamed"
				}
				return described(implements[ambit.Renamer](p).Rename(p.ctx, from, to, &v.o))
			},
		}
		if v.from {
			a.escape = "outward-folder/secret"
		}
		if !v.o.If.IsZero() {
			a.requires = append(a.requires, needSwap)
		}
		list = append(list, a)
	}
	for _, v := range []struct {
		id, name string
		o        ambit.MkdirOptions
	}{
		{"", "", ambit.MkdirOptions{}},
		{"-parents", " with Parents", ambit.MkdirOptions{Parents: true}},
	} {
		list = append(list, attempt{
			id: "mkdir" + v.id, name: "Mkdir of %s" + v.name, op: ambit.OpMkdir, escape: "outward-folder/made",
			requires: []requirement{needMkdir},
			call: func(p *probe, path string) (string, error) {
				made, err := implements[ambit.DirMaker](p).Mkdir(p.ctx, path, &v.o)
				return fmt.Sprint(made), err
			},
		})
	}
	return list
}

// of names the attempt on a path of some kind.
func (a attempt) of(kind string) string { return fmt.Sprintf(a.name, kind) }

// claimed reports whether p's file system claims all that a needs.
func (a attempt) claimed(p *probe) bool {
	return !slices.ContainsFunc(a.requires, func(r requirement) bool { return !r.met(p.caps, p.target) })
}

// changes reports whether a is a change.
func (a attempt) changes() bool {
	return !slices.Contains([]string{ambit.OpOpen, ambit.OpStat, ambit.OpList, ambit.OpSub, ambit.OpLstat, ambit.OpReadLink}, a.op)
}

// implements returns the optional interface T of p's file system, whose
// capability is claimed, or ends the check.
func implements[T any](p *probe) T {
	t, ok := p.fs.(T)
	if !ok {
		p.fatalf("the capability is claimed, but a %T is no %v", p.fs, reflect.TypeFor[T]())
	}
	return t
}

func described(info ambit.FileInfo, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%+v", info), nil
}

func shown(r ambit.WriteResult, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%+v", r), nil
}

func committed(p *probe, c ambit.Change) (string, error) {
	results, err := implements[ambit.Committer](p).Commit(p.ctx, []ambit.Change{c})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%+v", results), nil
}

func listed(p *probe, fsys ambit.FileSystem, dir string) (string, error) {
	l, err := fsys.List(p.ctx, dir, &ambit.ListOptions{Details: true})
	if err != nil {
		return "", err
	}
	if l == nil {
		p.errorf("list %q: neither a listing nor an error", dir)
		return "", nil
	}
	return fmt.Sprintf("%+v", *l), nil
}

// expectation is how an attempt on a path is refused.
type expectation struct {
	path    string
	reasons []ambit.Reason
	kinds   []ambit.Kind // one of these is in the error, where the reason has one; empty: any
	rule    string       // of denied; "": any
}

// meets makes the attempt and checks that it is refused as e says.
func (p *probe) meets(a attempt, e expectation) error {
	seen, err := a.call(p, e.path)
	p.keepsSecret(a.op, e.path, seen, err)
	p.refused(a.op, e.path, err, e.reasons...)
	var refusal *ambit.Error
	if !errors.As(err, &refusal) {
		return err
	}
	switch refusal.Reason {
	case ambit.ErrNotAFile, ambit.ErrExists:
		if refusal.Kind == ambit.KindUnknown || len(e.kinds) > 0 && !slices.Contains(e.kinds, refusal.Kind) {
			p.errorf("%s %q: %s with Kind %v, want one of %v", a.op, e.path, refusal.Reason, refusal.Kind, e.kinds)
		}
	case ambit.ErrDenied:
		if e.rule != "" && refusal.Rule != e.rule {
			p.errorf("%s %q: denied with Rule %q, want %q", a.op, e.path, refusal.Rule, e.rule)
		}
	case ambit.ErrNotFound:
		if !strings.HasPrefix(refusal.Target, "/") {
			p.errorf("%s %q: not-found with Target %q, want the canonical path of the missing name", a.op, e.path, refusal.Target)
		}
	}
	if reason := refusal.Reason; (reason == ambit.ErrOutside || reason == ambit.ErrDenied) && refusal.Target != "" {
		// The links on the way may be resolved in it as far as they lead inside.
		clean, _, resolveErr := ambit.Resolve("/", refusal.Target)
		if resolveErr != nil || clean != refusal.Target {
			p.errorf("%s %q: %s with Target %q, which is no canonical path", a.op, e.path, reason, refusal.Target)
		}
	}
	return err
}

// mark is in every file beside the root, and nowhere else.
const mark = "SECRET-BESIDE-THE-ROOT"

// keepsSecret checks that nothing that came back from a call tells what is
// beside the root, or where that is.
func (p *probe) keepsSecret(op, path, seen string, err error) {
	if told := secretIn(path, seen, err); told != "" {
		p.errorf("%s %q tells what is beside the root: %s", op, path, brief(told))
	}
}

// secretIn returns the text that tells of what is beside the root, or "".
func secretIn(path, seen string, err error) string {
	texts := []string{seen}
	for err := range chain(err) {
		texts = append(texts, err.Error(), fmt.Sprintf("%+v", err))
		if e, ok := err.(*ambit.Error); ok && e != nil {
			texts = append(texts, e.Target, e.Rule, e.Detail)
			texts = append(texts, e.MissingDirs...)
		}
	}
	for _, text := range texts {
		if strings.Contains(text, mark) || strings.Contains(text, "beside") && !strings.Contains(path, "beside") {
			return text
		}
	}
	return ""
}

// alikeRefusals checks that two refusals differ in nothing but the path.
func (p *probe) alikeRefusals(op, path1 string, err1 error, path2 string, err2 error) {
	if one, two := withoutPath(err1, path1), withoutPath(err2, path2); one != two {
		p.errorf("%s %q and %q, of which one is there and the other is not, are told apart: %s, %s", op, path1, path2, one, two)
	}
}

// withoutPath shows err without the path it speaks of.
func withoutPath(err error, path string) string {
	var e *ambit.Error
	if !errors.As(err, &e) || e == nil {
		return fmt.Sprintf("%T %v", err, err)
	}
	text := fmt.Sprintf("%s, kind %v, rule %q, %d missing, lines %v, total %d, limit %d, size %d, target %v, cause %v",
		strings.ReplaceAll(e.Error(), path, "<path>"), e.Kind, e.Rule, len(e.MissingDirs), e.Lines, e.Total, e.Limit, e.Size, e.Target != "", e.Err)
	return text
}
