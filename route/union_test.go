// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package route_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/memory"
	"github.com/google/go-cmp/cmp"
)

// points are the mount points of the machine that is compared with one file system which holds the union of all.
var points = []string{"/a/m", "/m", "/m/n", "/w/x/y"}

// union is a machine, and one file system that holds the same.
type union struct {
	*testing.T
	r      *rand.Rand
	routed ambit.WritableFileSystem
	whole  ambit.WritableFileSystem
	log    []string
	counts map[string]int
}

func newUnion(t *testing.T, seed uint64) *union {
	u := &union{T: t, r: rand.New(rand.NewPCG(seed, 1)), counts: make(map[string]int)}
	at := make(map[string]ambit.FileSystem)
	for _, point := range points {
		at[point] = memory.New(nil, nil)
	}
	// The fallback may have folders above mount points, and things under them that are hidden.
	files := map[string]string{"/m/hidden": "h", "/a/m/hidden": "h", "/w/x/y/hidden": "h"}
	for path := range files {
		if u.r.IntN(2) == 0 {
			delete(files, path)
		}
	}
	u.routed = machine(t, memory.New(files, nil), at).(ambit.WritableFileSystem)
	all := make(map[string]string)
	for _, point := range points {
		all[point+"/"] = ""
	}
	u.whole = memory.New(all, nil)
	return u
}

// owner is which member a clean path belongs to, by names.
func owner(clean string) string {
	best := "/"
	for _, point := range points {
		if (clean + "/")[:min(len(point)+1, len(clean)+1)] == point+"/" && len(point) > len(best) {
			best = point
		}
	}
	return best
}

func isPoint(clean string) bool { return clean == "/" || slices.Contains(points, clean) }

func isWay(clean string) bool {
	return !isPoint(clean) && slices.ContainsFunc(points, func(point string) bool { return strings.HasPrefix(point, clean+"/") })
}

// path makes a path that often meets mount points, and is written in some way or other.
func (u *union) path() string {
	var names []string
	if u.r.IntN(3) > 0 {
		point := points[u.r.IntN(len(points))]
		names = strings.Split(point[1:], "/")
		names = names[:u.r.IntN(len(names)+1)]
	}
	for range u.r.IntN(3) {
		names = append(names, []string{"f", "g", "m", "n", "mm"}[u.r.IntN(5)])
	}
	path := strings.Join(names, "/")
	switch u.r.IntN(12) {
	case 0:
		path += "/"
	case 1:
		path = "./" + path
	case 2:
		path += "/../f"
	case 3, 4, 5:
		path = "/" + path
	case 6:
		if u.r.IntN(10) == 0 {
			return []string{"", "..", "a/../..", "m\x00"}[u.r.IntN(4)]
		}
	}
	if path == "" {
		path = "/"
	}
	return path
}

// precondition returns one for each side: their versions differ.
func (u *union) precondition(path string) (routed, whole ambit.Precondition, text string) {
	switch u.r.IntN(6) {
	case 0:
		return ambit.IfAbsent(), ambit.IfAbsent(), "absent"
	case 1:
		return ambit.IfVersion("stale"), ambit.IfVersion("stale"), "stale"
	case 2:
		a, errA := u.routed.Stat(context.Background(), path)
		b, errB := u.whole.Stat(context.Background(), path)
		if errA == nil && errB == nil && a.Version != "" && b.Version != "" {
			return ambit.IfVersion(a.Version), ambit.IfVersion(b.Version), "current"
		}
	}
	return ambit.Precondition{}, ambit.Precondition{}, ""
}

func (u *union) note(format string, args ...any) { u.log = append(u.log, fmt.Sprintf(format, args...)) }

func (u *union) fail(format string, args ...any) {
	u.Helper()
	u.Fatalf("%s\nafter:\n  %s", fmt.Sprintf(format, args...), strings.Join(u.log, "\n  "))
}

// same compares the two errors of an operation.
func (u *union) same(routed, whole error) {
	u.Helper()
	u.counts[string(ambit.ReasonOf(whole))]++
	if (routed == nil) != (whole == nil) {
		u.fail("routed: %v, union: %v", routed, whole)
	}
	if routed == nil {
		return
	}
	a, b := facts(routed), facts(whole)
	if diff := cmp.Diff(b, a); diff != "" {
		u.fail("routed: %v, union: %v (-union +routed):\n%s", routed, whole, diff)
	}
}

// facts are what a program may want of an error; which sentence it has is each file system's own.
func facts(err error) ambit.Error {
	var e *ambit.Error
	if !errors.As(err, &e) {
		return ambit.Error{Detail: fmt.Sprintf("%#v", err)}
	}
	f := *e
	f.Detail, f.Err = "", nil
	if f.Reason != ambit.ErrNotFound && f.Reason != ambit.ErrExists && f.Reason != ambit.ErrNotAFile {
		f.Target, f.Kind = "", 0 // told by some
	}
	return f
}

func (u *union) sameResult(routed, whole ambit.WriteResult) {
	u.Helper()
	a, b := routed, whole
	if a.Info.Path != b.Info.Path || a.Info.Size != b.Info.Size || a.Info.Mode != b.Info.Mode || a.Created != b.Created || !slices.Equal(a.CreatedDirs, b.CreatedDirs) {
		u.fail("routed: %+v, union: %+v", a, b)
	}
}

// refused checks the refusal of what only a machine refuses.
func (u *union) refused(err error, rule string, reasons ...ambit.Reason) {
	u.Helper()
	u.counts["only routed: "+string(ambit.ReasonOf(err))]++
	if !slices.Contains(reasons, ambit.ReasonOf(err)) {
		u.fail("routed: %v, want one of %q", err, reasons)
	}
	if e := err.(*ambit.Error); e.Reason == ambit.ErrDenied && e.Rule != rule {
		u.fail("routed: %v, want rule %q", err, rule)
	}
}

func (u *union) step() {
	ctx := context.Background()
	path := u.path()
	clean, _, textErr := ambit.Resolve("/", path)
	pr, pw, ptext := u.precondition(path)
	parents := u.r.IntN(2) == 0
	content := func() *strings.Reader { return strings.NewReader(strings.Repeat("c", len(u.log)%5)) }
	switch op := u.r.IntN(12); op {
	case 0, 1:
		u.note("write %q, %s, parents %t", path, ptext, parents)
		a, errA := u.routed.Write(ctx, path, content(), &ambit.WriteOptions{If: pr, Parents: parents})
		b, errB := u.whole.Write(ctx, path, content(), &ambit.WriteOptions{If: pw, Parents: parents})
		u.same(errA, errB)
		u.sameResult(a, b)
	case 2:
		u.note("append %q, %s, parents %t", path, ptext, parents)
		a, errA := u.routed.(ambit.Appender).Append(ctx, path, content(), &ambit.AppendOptions{If: pr, Parents: parents})
		b, errB := u.whole.(ambit.Appender).Append(ctx, path, content(), &ambit.AppendOptions{If: pw, Parents: parents})
		u.same(errA, errB)
		u.sameResult(a, b)
	case 3:
		u.note("stage %q, %s, parents %t", path, ptext, parents)
		a, errA := u.routed.(ambit.Stager).Stage(ctx, path, content(), &ambit.WriteOptions{If: pr, Parents: parents})
		b, errB := u.whole.(ambit.Stager).Stage(ctx, path, content(), &ambit.WriteOptions{If: pw, Parents: parents})
		u.same(errA, errB)
		if errA != nil {
			break
		}
		if a.Info().Path != b.Info().Path {
			u.fail("routed: %+v, union: %+v", a.Info(), b.Info())
		}
		ra, errA := a.Publish(ctx)
		rb, errB := b.Publish(ctx)
		u.same(errA, errB)
		u.sameResult(ra, rb)
	case 4, 5:
		recursive, missingOK := u.r.IntN(2) == 0, u.r.IntN(2) == 0
		u.note("remove %q, %s, recursive %t, missing ok %t", path, ptext, recursive, missingOK)
		errA := u.routed.Remove(ctx, path, &ambit.RemoveOptions{If: pr, Recursive: recursive, MissingOK: missingOK})
		switch {
		case textErr == nil && isPoint(clean):
			u.refused(errA, "", ambit.ErrInvalid)
		case textErr == nil && isWay(clean):
			want := ambit.ErrDenied
			if ptext != "" {
				want = ambit.ErrInvalid
			}
			u.refused(errA, "mount", want)
		default:
			u.same(errA, u.whole.Remove(ctx, path, &ambit.RemoveOptions{If: pw, Recursive: recursive, MissingOK: missingOK}))
		}
	case 6, 7:
		u.rename(path, clean, textErr == nil, pr, pw, ptext, parents)
	case 8:
		u.note("mkdir %q, parents %t", path, parents)
		a, errA := u.routed.(ambit.DirMaker).Mkdir(ctx, path, &ambit.MkdirOptions{Parents: parents})
		b, errB := u.whole.(ambit.DirMaker).Mkdir(ctx, path, &ambit.MkdirOptions{Parents: parents})
		u.same(errA, errB)
		if !slices.Equal(a, b) {
			u.fail("routed made %q, union %q", a, b)
		}
	case 9:
		u.commit()
	case 10:
		u.note("look at %q", path)
		a, errA := u.routed.Stat(ctx, path)
		b, errB := u.whole.Stat(ctx, path)
		u.same(errA, errB)
		if a.Path != b.Path || a.Kind != b.Kind || a.Kind == ambit.KindRegular && a.Size != b.Size {
			u.fail("routed: %+v, union: %+v", a, b)
		}
		fa, errA := u.routed.Open(ctx, path)
		fb, errB := u.whole.Open(ctx, path)
		u.same(errA, errB)
		if errA == nil {
			if fa.Info().Path != fb.Info().Path {
				u.fail("routed: %+v, union: %+v", fa.Info(), fb.Info())
			}
			fa.Close()
			fb.Close()
		}
		u.list(path)
	case 11:
		u.note("sub %q", path)
		a, errA := ambit.Sub(ctx, u.routed, path)
		b, errB := ambit.Sub(ctx, u.whole, path)
		u.same(errA, errB)
		if errA == nil {
			if ta, tb := tree(u.T, a), tree(u.T, b); ta != tb {
				u.fail("routed:\n%sunion:\n%s", ta, tb)
			}
		}
	}
}

func (u *union) rename(from, fromClean string, fromFine bool, pr, pw ambit.Precondition, ptext string, parents bool) {
	ctx := context.Background()
	to, replace := u.path(), u.r.IntN(2) == 0
	if u.r.IntN(3) == 0 {
		to = from + []string{"", "x", "/x"}[u.r.IntN(3)]
	}
	toClean, toDir, err := ambit.Resolve("/", to)
	fine := fromFine && err == nil
	u.note("rename %q to %q, %s, replace %t, parents %t", from, to, ptext, replace, parents)
	before := tree(u.T, u.routed)
	a, errA := u.routed.(ambit.Renamer).Rename(ctx, from, to, &ambit.RenameOptions{If: pr, Replace: replace, Parents: parents})
	renamer := u.whole.(ambit.Renamer)
	whole := &ambit.RenameOptions{If: pw, Replace: replace, Parents: parents}
	switch {
	case !fine || ptext == "absent":
	case isPoint(fromClean):
		u.refused(errA, "", ambit.ErrInvalid)
		return
	case isWay(fromClean):
		want := ambit.ErrDenied
		if ptext != "" {
			want = ambit.ErrInvalid
		}
		u.refused(errA, "mount", want)
		return
	case owner(fromClean) != owner(toClean) && !isPoint(toClean) && !isWay(toClean):
		// What is at from is judged first: a move onto itself is judged by that alone.
		info, err := renamer.Rename(ctx, from, from, &ambit.RenameOptions{If: pw})
		switch {
		case err != nil:
			u.same(errA, err)
		case toDir && !info.IsDir():
			u.refused(errA, "", ambit.ErrNotADirectory)
		default:
			u.refused(errA, "", ambit.ErrCrossDevice)
		}
		if after := tree(u.T, u.routed); after != before {
			u.fail("was\n%snow\n%s", before, after)
		}
		return
	}
	b, errB := renamer.Rename(ctx, from, to, whole)
	u.same(errA, errB)
	if a.Path != b.Path || a.Kind != b.Kind || a.Kind == ambit.KindRegular && a.Size != b.Size {
		u.fail("routed: %+v, union: %+v", a, b)
	}
}

func (u *union) commit() {
	ctx := context.Background()
	var routed, whole []ambit.Change
	owners := make(map[string]bool)
	special, root := false, false
	for range 1 + u.r.IntN(3) {
		path := u.path()
		if u.r.IntN(2) == 0 {
			path = points[0] + "/" + []string{"f", "g", "n"}[u.r.IntN(3)]
		}
		clean, _, err := ambit.Resolve("/", path)
		owners[owner(clean)] = true
		special = special || err != nil || isPoint(clean) || isWay(clean)
		pr, pw, text := u.precondition(path)
		a := ambit.Change{Op: ambit.OpWrite, Path: path, Content: strings.NewReader("commit"), If: pr, Parents: u.r.IntN(2) == 0}
		if u.r.IntN(3) == 0 {
			a = ambit.Change{Op: ambit.OpRemove, Path: path, If: pr}
			root = isPoint(clean)
		}
		b := a
		b.If = pw
		if a.Content != nil {
			b.Content = strings.NewReader("commit")
		}
		routed, whole = append(routed, a), append(whole, b)
		u.note("commit %s %q, %s, parents %t", a.Op, path, text, a.Parents)
	}
	before := tree(u.T, u.routed)
	ra, errA := u.routed.(ambit.Committer).Commit(ctx, routed)
	if len(owners) > 1 || special && len(routed) > 1 {
		// Which of several faults is told first is another matter; that nothing is done is not.
		u.counts["only routed: commit "+string(ambit.ReasonOf(errA))]++
		if errA == nil {
			u.fail("the commit across is done")
		}
		if after := tree(u.T, u.routed); after != before {
			u.fail("was\n%snow\n%s", before, after)
		}
		return
	}
	if root {
		u.refused(errA, "", ambit.ErrInvalid, ambit.ErrNotAFile) // a root, and a folder
		return
	}
	rb, errB := u.whole.(ambit.Committer).Commit(ctx, whole)
	u.same(errA, errB)
	if len(ra) != len(rb) {
		u.fail("routed: %+v, union: %+v", ra, rb)
	}
	for i := range ra {
		u.sameResult(ra[i], rb[i])
	}
}

// list compares a folder's listing, in pages of one size or another.
func (u *union) list(dir string) {
	ctx := context.Background()
	limit := u.r.IntN(4)
	var after string
	for {
		a, errA := u.routed.List(ctx, dir, &ambit.ListOptions{After: after, Limit: limit})
		b, errB := u.whole.List(ctx, dir, &ambit.ListOptions{After: after, Limit: limit})
		u.same(errA, errB)
		if errA != nil {
			return
		}
		show := func(l *ambit.Listing) string {
			s := l.Dir + ">" + l.Next + ":"
			for _, e := range l.Entries {
				s += fmt.Sprintf(" %s %s %s", e.Name, e.Info.Path, e.Info.Kind)
			}
			return s
		}
		if sa, sb := show(a), show(b); sa != sb {
			u.fail("list %q after %q, limit %d:\nrouted: %s\nunion:  %s", dir, after, limit, sa, sb)
		}
		if after = a.Next; after == "" {
			return
		}
	}
}

// tree is all that a file system holds.
func tree(t *testing.T, fsys ambit.FileSystem) string {
	t.Helper()
	var b strings.Builder
	for e, err := range ambit.Walk(context.Background(), fsys, "/") {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, e.Info.Path, e.Info.Kind)
		if e.Info.Kind == ambit.KindRegular {
			data, info, err := ambit.ReadFile(context.Background(), fsys, e.Info.Path)
			fmt.Fprintf(&b, "  %q %v %v\n", data, info.Path, err)
		}
	}
	return b.String()
}

// TestUnion runs random operations on machines and on one file system that holds the union of their members: but for what
// only a machine refuses, there is no difference.
func TestUnion(t *testing.T) {
	counts := make(map[string]int)
	for seed := range uint64(60) {
		u := newUnion(t, seed)
		for range 120 {
			u.step()
			if a, b := tree(t, u.routed), tree(t, u.whole); a != b {
				u.fail("routed:\n%sunion:\n%s", a, b)
			}
		}
		for reason, n := range u.counts {
			counts[reason] += n
		}
	}
	t.Log(counts)
	for _, reason := range []string{
		"", "not-found", "exists", "changed", "not-a-file", "not-a-directory", "not-empty", "invalid", "invalid-path", "outside",
		"only routed: cross-device", "only routed: denied", "only routed: invalid", "only routed: commit cross-device",
	} {
		if counts[reason] == 0 {
			t.Errorf("no case of %q", reason)
		}
	}
}
