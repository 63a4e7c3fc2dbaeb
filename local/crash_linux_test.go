// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build amd64 || arm64

package local_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/edit"
	"github.com/ambitfs/ambit/local"
	"github.com/ambitfs/ambit/patch"
)

// An operation is one call that changes a tree. A process makes it, and is
// killed or disturbed at each of its system calls.
type operation struct {
	name     string
	tree     string // as for newWorld; files have the mode 0640, folders 0750
	prepare  func(fsys *local.FileSystem, dir string) (do func() error, err error)
	options  func() *local.Options                       // nil: the defaults
	between  func(old, want, got map[string]string) bool // nil: the tree is as before or as after
	sparse   bool                                        // a sample is enough
	unsynced bool                                        // nothing is synced
	heals    bool                                        // a kill may leave a part of it, until the next New
	opens    bool                                        // prepare gets no file system
	content  bool                                        // whole new bytes are published, which must be on the disk before
}

const (
	operationVariable = "AMBIT_LOCAL_TEST_OPERATION"
	keptFile          = 0o640
	keptFolder        = 0o750
)

// Sizes of several calls each.
var (
	oldText = strings.Repeat("o", 20_000)
	newText = strings.Repeat("n", 50_000)
)

// pieces hands text out as a network would.
func inPieces(text string) io.Reader {
	return io.MultiReader(strings.NewReader(text[:len(text)/3]), strings.NewReader(text[len(text)/3:]))
}

func writing(path string, o ambit.WriteOptions) func(*local.FileSystem, string) (func() error, error) {
	return func(fsys *local.FileSystem, _ string) (func() error, error) {
		return func() error { _, err := fsys.Write(ctx, path, inPieces(newText), &o); return err }, nil
	}
}

func ifVersionOf(fsys ambit.FileSystem, path string) (ambit.Precondition, error) {
	info, err := fsys.Stat(ctx, path)
	if err != nil {
		return ambit.Precondition{}, err
	}
	return ambit.IfVersion(info.Version), nil
}

func replacingIfVersion(fsys *local.FileSystem, _ string) (func() error, error) {
	seen, err := ifVersionOf(fsys, "f")
	return func() error {
		_, err := fsys.Write(ctx, "f", inPieces(newText), &ambit.WriteOptions{If: seen})
		return err
	}, err
}

func renaming(from, to string, o ambit.RenameOptions) func(*local.FileSystem, string) (func() error, error) {
	return func(fsys *local.FileSystem, _ string) (func() error, error) {
		return func() error { _, err := fsys.Rename(ctx, from, to, &o); return err }, nil
	}
}

func appending(path string, o ambit.AppendOptions) func(*local.FileSystem, string) (func() error, error) {
	return func(fsys *local.FileSystem, _ string) (func() error, error) {
		return func() error { _, err := fsys.Append(ctx, path, inPieces(newText), &o); return err }, nil
	}
}

func committing(fsys *local.FileSystem, _ string) (func() error, error) {
	seen, err := ifVersionOf(fsys, "a/replaced")
	gone, err2 := ifVersionOf(fsys, "b/removed")
	if err == nil {
		err = err2
	}
	return func() error {
		_, err := fsys.Commit(ctx, []ambit.Change{
			{Op: ambit.OpWrite, Path: "a/replaced", Content: inPieces(newText), If: seen},
			{Op: ambit.OpWrite, Path: "b/created", Content: inPieces(newText), If: ambit.IfAbsent()},
			{Op: ambit.OpRemove, Path: "a/removed"},
			{Op: ambit.OpWrite, Path: "b/replaced", Content: inPieces(newText)},
			{Op: ambit.OpRemove, Path: "b/removed", If: gone},
			{Op: ambit.OpWrite, Path: "b/new/folder/f", Content: inPieces(newText), Parents: true},
		})
		return err
	}, err
}

// patching changes ten files: five are updated, two are removed, two are new
// and one moves.
func patching(fsys *local.FileSystem, _ string) (func() error, error) {
	p, err := patch.Parse(`*** Begin Patch
*** Update File: a/1
-x
+1
*** Update File: a/2
-x
+2
*** Delete File: b/removed
*** Add File: a/new
+new
*** Update File: a/3
-x
+3
*** Update File: b/4
-x
+4
*** Update File: a/moved
*** Move to: b/new/folder/moved
-x
+moved
*** Update File: b/5
-x
+5
*** Delete File: b/removed-too
*** Add File: b/new/new
+new
*** End Patch
`)
	return func() error { _, err := patch.Apply(ctx, fsys, p, nil); return err }, err
}

// editing changes a file that is not held in memory: most of it is copied by
// the kernel.
func editing(fsys *local.FileSystem, _ string) (func() error, error) {
	return func() error {
		_, err := edit.File(ctx, fsys, "f", []edit.Op{edit.Replace{Old: " end", New: " the end"}}, nil)
		return err
	}, nil
}

// operations are those of which the crash proof speaks.
var operations = []*operation{
	{
		name: "commit", content: true, prepare: committing, heals: true,
		tree: "a/\nb/\na/replaced = " + oldText + "\na/removed = " + oldText + "\nb/replaced = " + oldText + "\nb/removed = " + oldText,
	},
	{
		name: "patch of ten files", content: true, prepare: patching, heals: true,
		tree: "a/\nb/\na/1 = x\na/2 = x\na/3 = x\nb/4 = x\nb/5 = x\nb/removed = x\na/moved = x\nb/removed-too = x",
	},
	{name: "edit of a large file", content: true, sparse: true, tree: "f = begin " + strings.Repeat("o", 5<<20) + " end", prepare: editing},
	{name: "create", content: true, tree: "d/\nd/other = x", prepare: writing("d/f", ambit.WriteOptions{})},
	{name: "create with parents", content: true, tree: "d/", prepare: writing("d/a/b/f", ambit.WriteOptions{Parents: true}), between: someParents},
	{name: "create if absent", content: true, tree: "d/", prepare: writing("d/f", ambit.WriteOptions{If: ambit.IfAbsent(), Mode: 0o604})},
	{name: "replace", content: true, tree: "f = " + oldText, prepare: writing("f", ambit.WriteOptions{})},
	{name: "replace with a mode", content: true, tree: "f = " + oldText, prepare: writing("f", ambit.WriteOptions{Mode: 0o604})},
	{name: "replace through a link", content: true, tree: "d/\nd/f = " + oldText + "\nl -> d/f", prepare: writing("l", ambit.WriteOptions{})},
	{name: "replace if version", content: true, tree: "f = " + oldText, prepare: replacingIfVersion},
	{name: "stage and publish", content: true, tree: "f = " + oldText, prepare: staging},
	{name: "append", tree: "f = " + oldText, prepare: appending("f", ambit.AppendOptions{}), between: prefixOfAppend},
	{name: "append to nothing", tree: "d/", prepare: appending("d/f", ambit.AppendOptions{}), between: prefixOfAppend},
	{name: "rename", tree: "a/\nb/\na/f = " + oldText, prepare: renaming("a/f", "b/f", ambit.RenameOptions{})},
	{name: "rename in a folder", tree: "f = " + oldText, prepare: renaming("f", "g", ambit.RenameOptions{})},
	{name: "rename and replace", tree: "a/\nb/\na/f = " + newText + "\nb/f = " + oldText, prepare: renaming("a/f", "b/f", ambit.RenameOptions{Replace: true})},
	{name: "rename with parents", tree: "f = " + oldText, prepare: renaming("f", "a/b/f", ambit.RenameOptions{Parents: true}), between: someParents},
	{name: "rename a folder", tree: "a/\na/sub/\na/sub/f = " + oldText + "\nb/", prepare: renaming("a", "b/moved", ambit.RenameOptions{})},
	{name: "remove", tree: "d/\nd/f = " + oldText, prepare: removing("d/f", ambit.RemoveOptions{})},
	{name: "remove if version", tree: "f = " + oldText, prepare: removingIfVersion},
	{name: "remove a tree", tree: "d/\nd/t/\nd/t/sub/\nd/t/sub/deep/\nd/t/f = " + oldText + "\nd/t/sub/g = x\nd/t/sub/l -> g", prepare: removing("d/t", ambit.RemoveOptions{Recursive: true})},
	{name: "mkdir with parents", tree: "d/", prepare: making("d/a/b/c", ambit.MkdirOptions{Parents: true}), between: someParents},
}

// The same calls with other options, a sample of each.
func init() {
	for _, o := range operations {
		switch o.name {
		case "create if absent", "replace", "replace if version", "append", "rename", "rename with parents", "remove a tree", "commit":
			portable := *o
			portable.name, portable.sparse = "portably "+o.name, true
			if o.name == "rename" {
				portable.between = bothNames
			} else if o.name == "rename with parents" {
				portable.between = func(old, want, got map[string]string) bool {
					return someParents(old, want, got) || bothNames(old, want, got)
				}
			}
			portable.options = func() *local.Options { return local.Portable(&local.Options{}) }
			operations = append(operations, &portable)
		}
		switch o.name {
		case "create if absent", "replace", "replace if version", "commit":
			fast := *o
			fast.name, fast.sparse, fast.unsynced = "unsynced "+o.name, true, true
			fast.options = func() *local.Options { return &local.Options{Durability: local.NotDurable} }
			operations = append(operations, &fast)
		}
	}
}

func staging(fsys *local.FileSystem, _ string) (func() error, error) {
	return func() error {
		s, err := fsys.Stage(ctx, "f", inPieces(newText), nil)
		if err == nil {
			_, err = s.Publish(ctx)
		}
		return err
	}, nil
}

func removing(path string, o ambit.RemoveOptions) func(*local.FileSystem, string) (func() error, error) {
	return func(fsys *local.FileSystem, _ string) (func() error, error) {
		return func() error { return fsys.Remove(ctx, path, &o) }, nil
	}
}

func removingIfVersion(fsys *local.FileSystem, _ string) (func() error, error) {
	seen, err := ifVersionOf(fsys, "f")
	return func() error { return fsys.Remove(ctx, "f", &ambit.RemoveOptions{If: seen}) }, err
}

func making(path string, o ambit.MkdirOptions) func(*local.FileSystem, string) (func() error, error) {
	return func(fsys *local.FileSystem, _ string) (func() error, error) {
		return func() error { _, err := fsys.Mkdir(ctx, path, &o); return err }, nil
	}
}

// careless is the positive control: it writes in place.
var careless = &operation{
	name: "in place", tree: "f = " + oldText,
	prepare: func(_ *local.FileSystem, dir string) (func() error, error) {
		return func() error {
			f, err := os.OpenFile(filepath.Join(dir, "f"), os.O_WRONLY|os.O_TRUNC, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString(newText[:len(newText)/2])
			if err == nil {
				_, err = f.WriteString(newText[len(newText)/2:])
			}
			if closed := f.Close(); err == nil {
				err = closed
			}
			return err
		}, nil
	},
}

// controls are what the harness must catch.
var controls = []*operation{careless, trusting, exchanging, reopening}

func init() {
	roles["operation"] = func(dir string) {
		debug.SetGCPercent(-1) // a finalizer would close what a call has left open
		syscall.Umask(0o022)
		name := os.Getenv(operationVariable)
		if name == "traced" {
			runtime.LockOSThread()
			mark(markReady)
			mark(markBegin)
			step := func(name string) error { return os.Mkdir(filepath.Join(dir, name), 0o777) }
			errs := []error{step("0"), nil, nil}
			done := make(chan error)
			go func() {
				runtime.LockOSThread()
				done <- step("1")
			}()
			errs[1] = <-done
			errs[2] = step("2")
			err := errors.Join(errs...)
			text := markEnd
			var errno syscall.Errno
			if errors.As(err, &errno) {
				text += " " + errno.Error()
			}
			mark(text)
			return
		}
		all := slices.Concat(operations, controls)
		i := slices.IndexFunc(all, func(o *operation) bool { return o.name == name })
		if i < 0 {
			mark(markReady)
			return
		}
		o := all[i]
		for {
			mark(markReady)
			var fsys *local.FileSystem
			if !o.opens {
				var err error
				if fsys, err = local.New(dir, o.own()); err != nil {
					panic(err)
				}
			}
			do, err := o.prepare(fsys, dir)
			if err != nil {
				panic(err)
			}
			mark(markBegin)
			err = do()
			text := ""
			if err != nil {
				text = err.Error()
			}
			mark(fmt.Sprintf("%s %s\n%s", markEnd, ambit.ReasonOf(err), text))
			if o.opens {
				continue
			}
			if err := fsys.Close(); err != nil {
				panic(err)
			}
		}
	}
}

func (o *operation) own() *local.Options {
	if o.options == nil {
		return nil
	}
	return o.options()
}

// build empties dir and makes the tree in it.
func (o *operation) build(t testing.TB, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		must(t, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	w := &world{root: dir}
	for line := range strings.Lines(o.tree) {
		line = strings.TrimSpace(line)
		w.add(t, line)
		switch {
		case strings.Contains(line, " = "):
			must(t, os.Chmod(w.host(strings.Split(line, " = ")[0]), keptFile))
		case strings.HasSuffix(line, "/"):
			must(t, os.Chmod(w.host(line), keptFolder))
		}
	}
}

// hostTree tells what a program that does not know the library sees beneath
// dir, and the hidden names apart.
func hostTree(t testing.TB, dir string) (tree map[string]string, hidden []string) {
	t.Helper()
	tree = make(map[string]string)
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		info, err := d.Info()
		if err != nil {
			return err
		}
		if strings.HasPrefix(d.Name(), ".ambit.") {
			hidden = append(hidden, rel)
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		switch {
		case d.IsDir():
			tree[rel+"/"] = fmt.Sprintf("(%o)", info.Mode().Perm())
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			tree[rel] = fmt.Sprintf("(%o) %s", info.Mode().Perm(), data)
		default:
			text, err := os.Readlink(path)
			if err != nil {
				return err
			}
			tree[rel] = "-> " + text
		}
		return nil
	}))
	return tree, hidden
}

// servedTree is what the library shows, in the same form.
func servedTree(t testing.TB, fsys *local.FileSystem) map[string]string {
	t.Helper()
	tree := make(map[string]string)
	for e, err := range ambit.Walk(ctx, fsys, "/") {
		must(t, err)
		path := strings.TrimPrefix(e.Info.Path, "/")
		switch e.Info.Kind {
		case ambit.KindDirectory:
			if path == "" {
				continue
			}
			info, err := fsys.Stat(ctx, e.Info.Path)
			must(t, err)
			tree[path+"/"] = fmt.Sprintf("(%o)", info.Mode.Perm())
		case ambit.KindRegular:
			text, info := read(t, fsys, e.Info.Path)
			tree[path] = fmt.Sprintf("(%o) %s", info.Mode.Perm(), text)
		default:
			text, err := fsys.ReadLink(ctx, e.Info.Path)
			must(t, err)
			tree[path] = "-> " + text
		}
	}
	return tree
}

// show writes a tree down with its long texts cut.
func show(tree map[string]string) string {
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(tree)) {
		text := tree[path]
		if len(text) > 30 {
			text = fmt.Sprintf("%s…%s, %d bytes in all", text[:10], text[len(text)-4:], len(text))
		}
		fmt.Fprintf(&b, "\n\t%s %s", path, text)
	}
	return b.String()
}

// someParents: of the folders that the call makes, the outer ones are there
// and nothing else of it.
func someParents(old, want, got map[string]string) bool {
	added := make(map[string]string)
	for path, text := range got {
		if before, ok := old[path]; !ok {
			added[path] = text
		} else if before != text {
			return false
		}
	}
	if len(got) != len(old)+len(added) {
		return false
	}
	for path, text := range added {
		if !strings.HasSuffix(path, "/") || want[path] != text {
			return false
		}
	}
	return true
}

// bothNames: what is moved has its old name and its new one. Without a call
// that moves and never replaces it gets the new name first.
func bothNames(old, want, got map[string]string) bool {
	both := maps.Clone(old)
	maps.Copy(both, want)
	return maps.Equal(got, both)
}

// prefixOfAppend: a part of the bytes is there; an append may be torn, and
// nothing else may.
func prefixOfAppend(old, want, got map[string]string) bool {
	if len(got) != len(want) {
		return false
	}
	for path, text := range got {
		if !strings.HasPrefix(want[path], text) || !strings.HasPrefix(text, old[path]) {
			return false
		}
	}
	return true
}

// eachWhole: every name is as before or as after, though not all of them
// alike.
func eachWhole(old, want, got map[string]string) bool {
	for _, path := range slices.Concat(slices.Collect(maps.Keys(old)), slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(got))) {
		text, there := got[path]
		before, was := old[path]
		after, willBe := want[path]
		if !(there == was && text == before || there == willBe && text == after) {
			return false
		}
	}
	return true
}

// The states of a tree after a disturbed call.
const (
	isOld   = "old"
	isNew   = "new"
	isPart  = "part" // of those states in between that the operation may leave
	isWrong = "WRONG"
)

func (o *operation) judge(old, want, got map[string]string) string {
	switch {
	case maps.Equal(got, old):
		return isOld
	case maps.Equal(got, want):
		return isNew
	case o.between != nil && o.between(old, want, got):
		return isPart
	}
	return isWrong
}

// record is what was seen of one operation.
type crashRecord struct {
	operation         *operation
	calls             []string
	old, want         map[string]string
	points            int
	states            map[string]int
	dirty             int // points that left something hidden
	published         int // the lowest number of a call before which a kill left the new state; -1: none
	failed, tolerated int // by faults
	notDurable        int
}

// sample says which calls are disturbed.
type crashSample struct {
	stride  int
	base    string // the folder for all files
	begun   time.Time
	enough  time.Duration // after so much a slow machine gets a sample for what is left, and smaller ones later
	hurried atomic.Bool   // not every point was taken, for want of time
}

const fewStrides = 5

// take reports whether point n of the i-th operation is in the sample.
func (s *crashSample) take(o *operation, i, n int) bool {
	stride := s.stride
	if o.sparse {
		stride *= 2 * fewStrides
	}
	if late := time.Since(s.begun) / s.enough; late > 0 {
		s.hurried.Store(true)
		stride *= fewStrides * int(late)
	}
	return (n+i)%stride == 0
}

// all reports that no point was left out.
func (s *crashSample) all() bool { return s.stride == 1 && !s.hurried.Load() }

func sampleFor(t testing.TB, stride int, enough time.Duration) *crashSample {
	t.Helper()
	mayTrace(t)
	base, err := os.MkdirTemp("/dev/shm", "ambit-local-test-")
	if err != nil {
		base = t.TempDir()
	} else {
		t.Cleanup(func() { os.RemoveAll(base) })
	}
	return &crashSample{stride: stride, base: base, begun: time.Now(), enough: enough}
}

// usualStride is 1 where there is time for every point.
func usualStride() int {
	if testing.Short() || slowed() {
		return 2 * fewStrides
	}
	return 1
}

// slowed: under the race detector a process takes many times longer to begin.
func slowed() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// unlessRaced skips what kills and fails a process at each of its calls in short
// runs under the race detector, which looks into no other process.
func unlessRaced(t *testing.T) {
	t.Helper()
	if slowed() && testing.Short() {
		t.Skip("each call is killed and failed in the run without the race detector")
	}
}

// survey runs the operation undisturbed.
func (o *operation) survey(t testing.TB, s *crashSample) *crashRecord {
	t.Helper()
	dir := s.folder(t)
	defer os.RemoveAll(dir)
	o.build(t, dir)
	r := &crashRecord{operation: o, states: make(map[string]int), published: -1}
	r.old, _ = hostTree(t, dir)
	p := trace(t, "operation", dir, operationVariable+"="+o.name)
	defer p.kill()
	outcome := runOperation(t, p, undisturbed())
	if outcome.reason != "" {
		t.Fatalf("undisturbed it fails: %s", outcome.text)
	}
	r.calls = p.calls
	var hidden []string
	r.want, hidden = hostTree(t, dir)
	if len(hidden) > 0 {
		t.Errorf("undisturbed it leaves %q", hidden)
	}
	if maps.Equal(r.old, r.want) {
		t.Fatal("undisturbed it changes nothing")
	}
	return r
}

func (s *crashSample) folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(s.base, "point-")
	must(t, err)
	must(t, os.Chmod(dir, keptFolder))
	return dir
}

type crashOutcome struct {
	killed bool
	reason ambit.Reason
	text   string
}

// run takes the process from ready through one operation to its end.
func runOperation(t testing.TB, p *tracee, how plan) crashOutcome {
	t.Helper()
	beginOperation(t, p)
	return finishOperation(t, p, how)
}

// begin takes the process to the point where its calls begin to count.
func beginOperation(t testing.TB, p *tracee) {
	t.Helper()
	p.plan = undisturbed()
	text, err := p.next()
	if err != nil || text != markBegin {
		t.Fatalf("%q, %v in place of the beginning", text, err)
	}
}

func finishOperation(t testing.TB, p *tracee, how plan) crashOutcome {
	t.Helper()
	p.plan = how
	text, err := p.next()
	if err != nil {
		t.Fatal(err)
	}
	if text == "" {
		return crashOutcome{killed: true}
	}
	text, ok := strings.CutPrefix(text, markEnd+" ")
	if !ok {
		t.Fatalf("%q in place of the end", text)
	}
	reason, text, _ := strings.Cut(text, "\n")
	return crashOutcome{reason: ambit.Reason(reason), text: text}
}

// killAt kills the operation at call n, or when it has ended before it has
// made so many, and judges what is left. It returns the state.
func (o *operation) killAt(t testing.TB, s *crashSample, r *crashRecord, n int) string {
	t.Helper()
	dir := s.folder(t)
	defer os.RemoveAll(dir)
	o.build(t, dir)
	p := trace(t, "operation", dir, operationVariable+"="+o.name)
	defer p.kill()
	runOperation(t, p, plan{at: n})
	where := fmt.Sprintf("%s, killed at call %d (%s)", o.name, n, around(r.calls, n, p.last()))
	p.kill()
	raw, hidden := hostTree(t, dir)
	r.points++
	if len(hidden) > 0 {
		r.dirty++
	}
	if o.heals && !eachWhole(r.old, r.want, raw) || !o.heals && o.judge(r.old, r.want, raw) == isWrong {
		t.Errorf("%s: there is neither the old nor the new:%s", where, show(raw))
		return isWrong
	}
	state := o.recover(t, dir, where, raw, r)
	r.states[state]++
	if state == isNew && (r.published < 0 || n < r.published) {
		r.published = n
	}
	return state
}

// around names call n and those before and after it, so that it can be found.
func around(calls []string, n int, name string) string {
	if n >= len(calls) || calls[n] != name {
		return name
	}
	return strings.Join(calls[max(0, n-3):n], " ") + " [" + name + "] " + strings.Join(calls[n+1:min(n+4, len(calls))], " ")
}

func nameAt(calls []string, n int) string {
	if n < len(calls) {
		return calls[n]
	}
	return "the end"
}

// recover opens the tree anew, as the next process would.
func (o *operation) recover(t testing.TB, dir, where string, raw map[string]string, r *crashRecord) string {
	t.Helper()
	var told []local.Recovery
	options := o.own()
	if options == nil {
		options = &local.Options{}
	}
	options.Recovered = func(what local.Recovery) { told = append(told, what) }
	fsys, err := local.New(dir, options)
	if err != nil {
		t.Errorf("%s: it cannot be opened: %v", where, err)
		return isWrong
	}
	defer fsys.Close()
	served := servedTree(t, fsys)
	state := o.judge(r.old, r.want, served)
	if state == isWrong {
		t.Errorf("%s: what is served is neither old nor new (%v):%s", where, told, show(served))
	}
	if mixed := o.judge(r.old, r.want, raw) == isWrong && !someParents(r.old, r.want, raw); o.heals && mixed && len(told) == 0 {
		t.Errorf("%s: nobody is told that a part of it was undone or finished", where)
	}
	if !o.heals && !maps.Equal(served, raw) {
		t.Errorf("%s: what is served is not what was there:%s", where, show(served))
	}
	sweepFolders(t, fsys, served)
	after, hidden := hostTree(t, dir)
	if !maps.Equal(after, served) {
		t.Errorf("%s: sweeping has changed the tree to:%s", where, show(after))
	}
	if len(hidden) > 0 {
		t.Errorf("%s: not swept: %q", where, hidden)
	}
	return state
}

// sweep lists every folder and writes in it.
func sweepFolders(t testing.TB, fsys *local.FileSystem, tree map[string]string) {
	t.Helper()
	folders := []string{"/"}
	for path := range tree {
		if strings.HasSuffix(path, "/") {
			folders = append(folders, path)
		}
	}
	for _, folder := range folders {
		names(t, fsys, folder)
		write(t, fsys, folder+"swept", "S", nil)
		must(t, fsys.Remove(ctx, folder+"swept", nil))
	}
}

// eachOperation runs a test for every operation, on threads of their own.
func eachOperation(t *testing.T, works []*operation, do func(t *testing.T, i int, o *operation) *crashRecord) []*crashRecord {
	records := make([]*crashRecord, len(works))
	t.Run("each", func(t *testing.T) {
		for i, o := range works {
			t.Run(strings.ReplaceAll(o.name, " ", "-"), func(t *testing.T) {
				t.Parallel()
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				records[i] = do(t, i, o)
			})
		}
	})
	return slices.DeleteFunc(records, func(r *crashRecord) bool { return r == nil })
}

// A process that is killed at any system call leaves the old state or the new
// one; what it leaves besides does not show, and is swept.
func killAtEveryCall(t *testing.T, stride int) {
	s := sampleFor(t, stride, 12*time.Second)
	records := eachOperation(t, operations, func(t *testing.T, i int, o *operation) *crashRecord {
		r := o.survey(t, s)
		for n := 0; n <= len(r.calls); n++ {
			if s.take(o, i, n) {
				o.killAt(t, s, r, n)
			}
		}
		if s.all() && !o.sparse {
			r.order(t)
		}
		return r
	})
	var b bytes.Buffer
	points, dirty := 0, 0
	fmt.Fprintf(&b, "%-24s %5s %6s %4s %4s %4s %9s\n", "operation", "calls", "killed", "old", "new", "part", "leftovers")
	for _, r := range records {
		fmt.Fprintf(&b, "%-24s %5d %6d %4d %4d %4d %9d\n", r.operation.name, len(r.calls), r.points, r.states[isOld], r.states[isNew], r.states[isPart], r.dirty)
		points += r.points
		dirty += r.dirty
	}
	t.Logf("%d points, %d left something hidden, %v\n%s", points, dirty, time.Since(s.begun).Round(time.Millisecond), &b)
	if s.hurried.Load() {
		t.Logf("the machine is slow: after %v a sample", s.enough)
	}
	if stride == 1 && points < 300 {
		t.Errorf("only %d points", points)
	}
	if dirty == 0 {
		t.Error("no kill has left anything hidden: that sweeping works is not shown")
	}
}

// order: the bytes are on the disk before they get their name, and the folder
// after. A kill cannot show what a power cut would.
func (r *crashRecord) order(t testing.TB) {
	t.Helper()
	if r.published < 1 {
		t.Errorf("no kill has left the new state")
		return
	}
	if r.operation.unsynced {
		if slices.ContainsFunc(r.calls, func(call string) bool { return strings.Contains(call, "sync") }) {
			t.Errorf("%s: it syncs: %q", r.operation.name, r.calls)
		}
		return
	}
	syncs := func(calls []string) bool {
		return slices.Contains(calls, "fsync") || slices.Contains(calls, "fdatasync") || slices.Contains(calls, "syncfs")
	}
	if r.operation.content && !syncs(r.calls[:r.published-1]) {
		t.Errorf("%s: call %d of %q publishes what was not synced", r.operation.name, r.published-1, r.calls)
	}
	if !syncs(r.calls[r.published:]) {
		t.Errorf("%s: after call %d, which publishes, none of %q syncs", r.operation.name, r.published-1, r.calls)
	}
}

func TestKilledAtEveryCall(t *testing.T) {
	unlessRaced(t)
	killAtEveryCall(t, usualStride())
}

// systemFaults are the errors that a call of the system may fail with, and the
// reason for each. EINTR never shows.
var systemFaults = []struct {
	errno  syscall.Errno
	reason ambit.Reason
}{
	{syscall.ENOSPC, ambit.ErrNoSpace},
	{syscall.EIO, ambit.ErrIO},
	{syscall.EDQUOT, ambit.ErrNoSpace},
	{syscall.EROFS, ambit.ErrReadOnly},
	{syscall.EMFILE, ambit.ErrIO},
	{syscall.EINTR, ""},
}

// faultAt makes call n of the operation fail, in a process that is ready and
// whose tree is built, and judges the outcome. last: the process ends then, and
// the next one has nothing left to do but to sweep.
func (o *operation) faultAt(t testing.TB, p *tracee, dir string, r *crashRecord, n, fault int, last bool) {
	t.Helper()
	errno, reason := systemFaults[fault].errno, systemFaults[fault].reason
	result := runOperation(t, p, plan{at: n, errno: errno})
	ready := func() {
		if text, err := p.next(); err != nil || text != markReady {
			t.Fatalf("%s, after call %d: it does not go on: %q, %v", o.name, n, text, err)
		}
	}
	if n >= len(p.calls) {
		ready() // so many it does not make every time
		return
	}
	where := fmt.Sprintf("%s, call %d (%s) fails with %v", o.name, n, around(r.calls, n, p.calls[n]), errno)
	got, hidden := hostTree(t, dir)
	state := o.judge(r.old, r.want, got)
	r.points++
	switch {
	case result.reason == "" && state != isNew:
		t.Errorf("%s: it reports success; there is:%s", where, show(got))
	case result.reason == "":
		r.tolerated++
	case errno == syscall.EINTR:
		t.Errorf("%s: it shows: %s", where, result.text)
	case result.reason == ambit.ErrNotDurable && state == isNew:
		r.notDurable++
	case state != isOld:
		t.Errorf("%s: %s; it was published, or a part of it is left:%s", where, result.text, show(got))
	case len(hidden) > 0:
		t.Errorf("%s: %s; it leaves %q", where, result.text, hidden)
	case result.reason != reason:
		t.Errorf("%s: the reason is %s, want %s: %s", where, result.reason, reason, result.text)
	default:
		r.failed++
	}
	if strings.Contains(result.text, dir) {
		t.Errorf("%s: the error shows the host: %s", where, result.text)
	}
	if len(hidden) > 0 && result.reason == "" || result.reason == ambit.ErrNotDurable {
		r.dirty++
	}
	ready()
	if last {
		p.kill()
		o.recover(t, dir, where, got, &crashRecord{operation: o, old: got, want: got})
	}
}

func failEveryCall(t *testing.T, stride int) {
	s := sampleFor(t, stride, 9*time.Second)
	records := eachOperation(t, operations, func(t *testing.T, i int, o *operation) *crashRecord {
		r := o.survey(t, s)
		dir := s.folder(t)
		defer os.RemoveAll(dir)
		// The first call of a process may try what the later ones know: one
		// fault each, in a process each.
		// Of a call that makes very many, each meets some of the faults only.
		coarse := 1 + len(r.calls)/100
		for n := 0; n < len(r.calls); n += coarse {
			if !s.take(o, i, n/coarse) {
				continue
			}
			o.build(t, dir)
			p := trace(t, "operation", dir, operationVariable+"="+o.name)
			o.faultAt(t, p, dir, r, n, n/coarse%len(systemFaults), true)
			p.kill()
		}
		o.build(t, dir)
		p := trace(t, "operation", dir, operationVariable+"="+o.name)
		defer p.kill()
		runOperation(t, p, undisturbed())
		calls := len(p.calls)
		if text, err := p.next(); err != nil || text != markReady {
			t.Fatalf("%q, %v", text, err)
		}
		for n := range calls {
			for fault := range systemFaults {
				if (n+fault)%coarse == 0 && s.take(o, i, (n+fault)/coarse) {
					o.build(t, dir)
					o.faultAt(t, p, dir, r, n, fault, false)
				}
			}
		}
		return r
	})
	var b bytes.Buffer
	points := 0
	fmt.Fprintf(&b, "%-24s %5s %6s %6s %9s %11s %9s\n", "operation", "calls", "faults", "failed", "succeeded", "not durable", "leftovers")
	for _, r := range records {
		fmt.Fprintf(&b, "%-24s %5d %6d %6d %9d %11d %9d\n", r.operation.name, len(r.calls), r.points, r.failed, r.tolerated, r.notDurable, r.dirty)
		points += r.points
		if s.all() && !r.operation.sparse && (r.failed == 0 || r.tolerated == 0 || r.notDurable == 0 && !r.operation.unsynced) {
			t.Errorf("%s: %d faults have failed it, %d have not, %d showed as not durable", r.operation.name, r.failed, r.tolerated, r.notDurable)
		}
	}
	t.Logf("%d faults, %v\n%s", points, time.Since(s.begun).Round(time.Millisecond), &b)
}

// Whatever call fails, and how: the right reason and nothing changed, or
// success.
func TestFaultAtEveryCall(t *testing.T) {
	unlessRaced(t)
	failEveryCall(t, usualStride())
}

// Permission bits mean something to other users, and some calls are refused to
// them.
func TestCrashAsNobody(t *testing.T) {
	unlessRaced(t)
	// A flag does not reach the other process.
	const variable = "AMBIT_LOCAL_TEST_STRIDE"
	if _, here := asNobody(t, func(string) { t.Setenv(variable, strconv.Itoa(2*fewStrides*usualStride())) }); !here {
		return
	}
	stride, err := strconv.Atoi(os.Getenv(variable))
	if err != nil {
		stride = 2 * fewStrides // this user is nobody already
	}
	t.Run("killed", func(t *testing.T) { killAtEveryCall(t, stride) })
	t.Run("failing", func(t *testing.T) { failEveryCall(t, stride) })
}

// silent takes what a test would report.
type silent struct {
	testing.TB
	mu   sync.Mutex
	said []string
}

func (s *silent) Errorf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, fmt.Sprintf(format, args...))
}

// The same harness catches who writes in place: torn when killed, torn when a
// call fails.
func TestCarelessWriterIsCaught(t *testing.T) {
	unlessRaced(t)
	s := sampleFor(t, 1, time.Minute)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := careless.survey(t, s)
	caught := &silent{TB: t}
	for n := 0; n <= len(r.calls); n++ {
		careless.killAt(caught, s, r, n)
	}
	if len(caught.said) < 2 || r.states[isOld] == 0 || r.states[isNew] == 0 {
		t.Errorf("of %q it was caught %d times: %q; otherwise %v", r.calls, len(caught.said), caught.said, r.states)
	}
	t.Logf("torn by %d of %d kills: %.200q", len(caught.said), len(r.calls)+1, caught.said)
	kills := len(caught.said)
	dir := s.folder(t)
	for n := range r.calls {
		careless.build(t, dir)
		p := trace(t, "operation", dir, operationVariable+"="+careless.name)
		careless.faultAt(caught, p, dir, r, n, 0, true)
		p.kill()
	}
	if len(caught.said) < kills+2 {
		t.Errorf("of %q, made to fail, it was caught %d times", r.calls, len(caught.said)-kills)
	}
}

// trusting is the positive control of the foreign program: it compares, and
// then renames.
var trusting = &operation{
	name: "compare and rename", tree: "f = " + oldText,
	prepare: func(_ *local.FileSystem, dir string) (func() error, error) {
		path := filepath.Join(dir, "f")
		seen, err := os.Stat(path)
		return func() error {
			if err := os.WriteFile(path+".new", []byte(newText), keptFile); err != nil {
				return err
			}
			if now, err := os.Stat(path); err != nil || !os.SameFile(now, seen) || !now.ModTime().Equal(seen.ModTime()) {
				return ambit.ErrChanged
			}
			return os.Rename(path+".new", path)
		}, err
	},
}

// exchanging is the same for kills: it exchanges, looks at what came out, and
// puts that back, which is right unless it is killed.
var exchanging = &operation{
	name: "exchange and look", tree: trusting.tree,
	prepare: func(_ *local.FileSystem, dir string) (func() error, error) {
		path := filepath.Join(dir, "f")
		aside := path + ".new"
		seen, err := os.Stat(path)
		exchange := func() error {
			return unix.Renameat2(unix.AT_FDCWD, aside, unix.AT_FDCWD, path, unix.RENAME_EXCHANGE)
		}
		return func() error {
			if err := os.WriteFile(aside, []byte(newText), keptFile); err != nil {
				return err
			}
			if err := exchange(); err != nil {
				return err
			}
			if out, err := os.Stat(aside); err != nil || !os.SameFile(out, seen) {
				if err := exchange(); err != nil {
					return err
				}
			}
			return os.Remove(aside)
		}, err
	},
}

// stranger is a program that knows nothing of the library and replaces f by
// rename.
type stranger struct {
	base, dir string
	last      string // what it wrote last; "": nothing yet
	count     int
}

func (s *stranger) replace(t testing.TB) {
	s.count++
	s.last = fmt.Sprintf("stranger %d", s.count)
	beside := filepath.Join(s.base, "stranger-of-"+filepath.Base(s.dir))
	err := os.WriteFile(beside, []byte(s.last), keptFile)
	if err == nil {
		err = os.Rename(beside, filepath.Join(s.dir, "f"))
	}
	if err != nil {
		t.Errorf("the foreign program: %v", err)
	}
}

// fates counts where the newest foreign bytes were found.
type fates struct {
	mu                          sync.Mutex
	stood, cameBack, kept, lost int
	points                      int
}

// besideStranger kills the operation at call n, while the foreign program acts
// as told, and asks for its last bytes. more: the process has made so many
// calls.
func besideStranger(t testing.TB, s *crashSample, o *operation, n int, f *fates, when string, act func(at int, st *stranger), loop bool) (more bool) {
	t.Helper()
	dir := s.folder(t)
	defer os.RemoveAll(dir)
	o.build(t, dir)
	p := trace(t, "operation", dir, operationVariable+"="+o.name)
	defer p.kill()
	st := &stranger{base: s.base, dir: dir}
	beginOperation(t, p)
	how := plan{at: n, before: func(at int) { act(at, st) }}
	stop := make(chan struct{})
	var loops sync.WaitGroup
	if loop {
		st.replace(t)
		loops.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					st.replace(t)
				}
			}
		})
	}
	result := finishOperation(t, p, how)
	last := p.last()
	p.kill()
	close(stop)
	loops.Wait()
	if st.last == "" {
		return result.killed
	}
	where := fmt.Sprintf("%s, a foreign program replaces the file %s, killed at call %d (%s)", o.name, when, n, last)
	if !result.killed {
		where = fmt.Sprintf("%s, a foreign program replaces the file %s, not killed: %s", o.name, when, result.text)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.points++
	at := func() string {
		data, err := os.ReadFile(filepath.Join(dir, "f"))
		if err != nil {
			t.Errorf("%s: the file is gone: %v", where, err)
		}
		return string(data)
	}
	if text := at(); text != st.last && text != oldText && text != newText && !strings.HasPrefix(text, "stranger ") {
		t.Errorf("%s: torn, %d bytes", where, len(text))
	}
	stood := at() == st.last
	if !result.killed && !stood {
		t.Errorf("%s: the last foreign bytes are not at the path", where)
	}
	var told []local.Recovery
	options := o.own()
	if options == nil {
		options = &local.Options{}
	}
	options.Recovered = func(what local.Recovery) { told = append(told, what) }
	fsys, err := local.New(dir, options)
	must(t, err)
	defer fsys.Close()
	sweepFolders(t, fsys, nil)
	somewhere := false
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			somewhere = somewhere || string(data) == st.last
			return err
		}
		return err
	}))
	_, hidden := hostTree(t, dir)
	switch {
	case at() == st.last && stood:
		f.stood++
	case at() == st.last:
		f.cameBack++
	case somewhere && len(told) > 0:
		f.kept++
		return result.killed
	default:
		f.lost++
		t.Errorf("%s: %q is lost; told %v, hidden %q, at the path %.20q", where, st.last, told, hidden, at())
	}
	if len(hidden) > 0 {
		t.Errorf("%s: not swept: %q", where, hidden)
	}
	return result.killed
}

// A foreign program replaces the file by rename before any call, before all of
// them, and in a loop, while this library replaces it by version and is killed
// at every call after: what the foreign program wrote last is not lost.
func TestKilledBesideForeignRenames(t *testing.T) {
	unlessRaced(t)
	s := sampleFor(t, usualStride(), 6*time.Second)
	if serve(t, s.base, nil).Capabilities().Swap != ambit.SwapForeign {
		t.Skip("this disk cannot exchange two names, and nothing is claimed against foreign programs")
	}
	i := slices.IndexFunc(operations, func(o *operation) bool { return o.name == "replace if version" })
	o := operations[i]
	calls := len(func() *crashRecord {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		return o.survey(t, s)
	}().calls)
	var f fates
	t.Run("each", func(t *testing.T) {
		for k := range calls {
			t.Run(fmt.Sprint(k), func(t *testing.T) {
				t.Parallel()
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				for n, more := k+1, true; more; n++ {
					if s.take(o, k, n) {
						more = besideStranger(t, s, o, n, &f, fmt.Sprintf("before call %d", k), func(at int, st *stranger) {
							if at == k {
								st.replace(t)
							}
						}, false)
					}
				}
			})
		}
		for _, loop := range []bool{false, true} {
			t.Run(fmt.Sprintf("loop-%v", loop), func(t *testing.T) {
				t.Parallel()
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				for n, more := 0, true; more && n < 4*calls; n++ {
					if s.take(o, 0, n) {
						more = besideStranger(t, s, o, n, &f, "all the time", func(at int, st *stranger) {
							// It must come to an end, or the library cannot.
							if !loop && at < 2*calls {
								st.replace(t)
							}
						}, loop)
					}
				}
			})
		}
	})
	t.Logf("%d points in %v: the last foreign bytes stood %d times, came back %d times, were kept and reported %d times, lost %d times",
		f.points, time.Since(s.begun).Round(time.Millisecond), f.stood, f.cameBack, f.kept, f.lost)
	if f.stood == 0 || f.cameBack+f.kept == 0 && s.all() {
		t.Error("no kill came between an exchange and its verdict: the test proves nothing")
	}
}

// Who compares and then renames loses what came between, and the same harness
// sees it.
func TestTrustingWriterIsCaught(t *testing.T) {
	unlessRaced(t)
	s := sampleFor(t, 1, time.Minute)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	caught := &silent{TB: t}
	var f fates
	calls := len(trusting.survey(t, s).calls)
	for k := range calls {
		besideStranger(caught, s, trusting, calls, &f, fmt.Sprintf("before call %d", k), func(at int, st *stranger) {
			if at == k {
				st.replace(t)
			}
		}, false)
	}
	if f.lost == 0 || f.stood == 0 {
		t.Errorf("of %d replacements %d were lost: %q", calls, f.lost, caught.said)
	}
	f = fates{}
	calls = len(exchanging.survey(t, s).calls)
	for n := range calls + 2 {
		besideStranger(caught, s, exchanging, n, &f, "before call 0", func(at int, st *stranger) {
			if at == 0 {
				st.replace(t)
			}
		}, false)
	}
	if f.lost == 0 || f.stood == 0 {
		t.Errorf("of %d kills none came between an exchange and the look: %q", f.points, caught.said)
	}
}

// reopening is what the process after a killed one does first.
var reopening = &operation{
	name: "reopen", opens: true,
	prepare: func(_ *local.FileSystem, dir string) (func() error, error) {
		return func() error {
			fsys, err := local.New(dir, nil)
			if err == nil {
				err = fsys.Close()
			}
			return err
		}, nil
	},
}

// Whoever is killed while it undoes or finishes the commit of a killed process,
// or meets a fault there, leaves that to the next.
func TestKilledWhileRecovering(t *testing.T) {
	unlessRaced(t)
	s := sampleFor(t, usualStride(), 6*time.Second)
	i := slices.IndexFunc(operations, func(o *operation) bool { return o.heals })
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	o := operations[i]
	r := o.survey(t, s)
	points, opened := 0, 0
	// Where the killed commit has come how far is not known here: its second
	// half, in which names change, in four steps.
	for step := 1; step <= 4; step++ {
		first := len(r.calls) * (4 + step) / 9
		for n, more := 0, true; more; n++ {
			if (n+step)%3 != 0 || !s.take(o, 0, n/3) {
				continue
			}
			dir := s.folder(t)
			o.build(t, dir)
			p := trace(t, "operation", dir, operationVariable+"="+o.name)
			runOperation(t, p, plan{at: first})
			p.kill()
			p = trace(t, "operation", dir, operationVariable+"="+reopening.name)
			how := plan{at: n}
			if n%2 == 1 {
				how.errno = systemFaults[n/2%len(systemFaults)].errno
			}
			result := runOperation(t, p, how)
			where := fmt.Sprintf("%s killed at call %d, the recovery %s at call %d (%s)", o.name, first, how, n, around(p.calls, n, nameAt(p.calls, n)))
			if !result.killed && result.reason == "" && n < len(p.calls) {
				opened++
			}
			more = n < len(p.calls)
			p.kill()
			raw, _ := hostTree(t, dir)
			if !eachWhole(r.old, r.want, raw) {
				t.Errorf("%s: there is:%s", where, show(raw))
			}
			points++
			o.recover(t, dir, where, raw, r)
			must(t, os.RemoveAll(dir))
		}
	}
	t.Logf("%d points in %v; New has succeeded in spite of %d faults", points, time.Since(s.begun).Round(time.Millisecond), opened)
}
