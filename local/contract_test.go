// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
)

// tree has one of everything that the tables of docs/contract.md name.
const tree = `
	file = F
	dir/
	dir/inner = I
	empty/
	lfile -> file
	ldir -> dir
	dangling -> nowhere
	ldeep -> no/where
	out -> $OUT/secret-name
	outdir -> $OUT/folder
	outmissing -> $OUT/nothing/there
	climb -> ../$OUTBASE/secret-name
	chainout -> out
	loop -> loop
	ping -> pong
	pong -> ping
	abs -> $ROOT/dir
	up -> ../$BASE/dir
	absdangling -> $ROOT/nowhere
	fifo |
	sock !
`

// reading is the table of section 4, of section 3 in front of each method, and
// the spellings of section 2. The columns are Open, Stat, List, Lstat and
// ReadLink; = repeats the column before.
const reading = `
	missing        | not-found T=/missing | = | = | = | =
	file           | F /file | file /file | not-a-directory | file /file | invalid
	dir            | not-a-file directory T=/dir | directory /dir | /dir: inner | directory /dir | invalid
	empty          | not-a-file directory T=/empty | directory /empty | /empty: | directory /empty | invalid
	lfile          | F /file | file /file | not-a-directory | symlink /lfile | file
	ldir           | not-a-file directory T=/dir | directory /dir | /dir: inner | symlink /ldir | dir
	dangling       | not-found T=/nowhere | = | = | symlink /dangling | nowhere
	ldeep          | not-found T=/no/where | = | = | symlink /ldeep | no/where
	out            | outside | = | = | symlink /out | outside
	outdir         | outside | = | = | symlink /outdir | outside
	outmissing     | outside | = | = | symlink /outmissing | outside
	climb          | outside | = | = | symlink /climb | outside
	chainout       | outside | = | = | symlink /chainout | outside
	loop           | loop | = | = | symlink /loop | loop
	ping           | loop | = | = | symlink /ping | pong
	abs            | not-a-file directory T=/dir | directory /dir | /dir: inner | symlink /abs | /dir
	up             | not-a-file directory T=/dir | directory /dir | /dir: inner | symlink /up | /dir
	absdangling    | not-found T=/nowhere | = | = | symlink /absdangling | /nowhere
	fifo           | not-a-file fifo T=/fifo | = | not-a-directory | fifo /fifo | invalid
	sock           | not-a-file socket T=/sock | = | not-a-directory | socket /sock | invalid

	missing/       | not-a-directory | = | = | = | =
	dangling/      | not-a-directory | = | = | = | =
	gone/x/        | not-a-directory | = | = | = | =
	dangling/x/    | not-a-directory | = | = | = | =
	file/          | not-a-directory | = | = | = | =
	file/.         | not-a-directory | = | = | = | =
	lfile/         | not-a-directory | = | = | = | =
	fifo/          | not-a-directory | = | = | = | =
	sock/          | not-a-directory | = | = | = | =
	dir/           | not-a-file directory T=/dir | directory /dir | /dir: inner | directory /dir | invalid
	dir//          | not-a-file directory T=/dir | directory /dir | /dir: inner | directory /dir | invalid
	dir/.          | not-a-file directory T=/dir | directory /dir | /dir: inner | directory /dir | invalid
	ldir/          | not-a-file directory T=/dir | directory /dir | /dir: inner | directory /dir | invalid
	abs/           | not-a-file directory T=/dir | directory /dir | /dir: inner | directory /dir | invalid
	out/           | outside | = | = | = | =
	outdir/        | outside | = | = | = | =
	outdir//       | outside | = | = | = | =
	outdir/.       | outside | = | = | = | =
	./outdir/      | outside | = | = | = | =
	loop/          | loop | = | = | = | =

	dir/inner        | I /dir/inner | file /dir/inner | not-a-directory | file /dir/inner | invalid
	ldir/inner       | I /dir/inner | file /dir/inner | not-a-directory | file /dir/inner | invalid
	abs/inner        | I /dir/inner | file /dir/inner | not-a-directory | file /dir/inner | invalid
	up/inner         | I /dir/inner | file /dir/inner | not-a-directory | file /dir/inner | invalid
	dir/missing      | not-found T=/dir/missing | = | = | = | =
	ldir/missing     | not-found T=/dir/missing | = | = | = | =
	gone/x           | not-found T=/gone/x M=/gone | = | = | = | =
	gone/x/y         | not-found T=/gone/x/y M=/gone,/gone/x | = | = | = | =
	ldir/gone/y      | not-found T=/dir/gone/y M=/dir/gone | = | = | = | =
	file/x           | not-a-directory | = | = | = | =
	lfile/x          | not-a-directory | = | = | = | =
	fifo/x           | not-a-directory | = | = | = | =
	sock/x           | not-a-directory | = | = | = | =
	dangling/x       | not-found T=/nowhere/x | = | = | = | =
	out/x            | outside | = | = | = | =
	outdir/secret-name | outside | = | = | = | =
	outdir/nothing   | outside | = | = | = | =
	outmissing/x     | outside | = | = | = | =
	loop/x           | loop | = | = | = | =

	.              | not-a-file directory T=/ | directory / | /: * | directory / | invalid
	/              | not-a-file directory T=/ | directory / | /: * | directory / | invalid
	dir/..         | not-a-file directory T=/ | directory / | /: * | directory / | invalid
	gone/../file   | F /file | file /file | not-a-directory | file /file | invalid
	out/../file    | F /file | file /file | not-a-directory | file /file | invalid
	./file         | F /file | file /file | not-a-directory | file /file | invalid
	dir//inner     | I /dir/inner | file /dir/inner | not-a-directory | file /dir/inner | invalid
	..             | outside | = | = | = | =
	/..            | outside | = | = | = | =
	dir/../../beside/secret-name | outside | = | = | = | =
	..hidden       | not-found T=/..hidden | = | = | = | =
	...            | not-found T=/... | = | = | = | =
	~              | not-found T=/~ | = | = | = | =
	a%2f..%2fb     | not-found T=/a%2f..%2fb | = | = | = | =
`

// The loop of one name: its text is told like any other.
func readingTable() string {
	return strings.Replace(reading, "symlink /loop | loop", "symlink /loop | text loop", 1)
}

func TestReading(t *testing.T) {
	w := newWorld(t, tree)
	before := w.snapshot(t)
	methods := []string{ambit.OpOpen, ambit.OpStat, ambit.OpList, ambit.OpLstat, ambit.OpReadLink}
	rows := 0
	for line := range strings.Lines(readingTable()) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		rows++
		cells := strings.Split(line, "|")
		path := strings.TrimSpace(cells[0])
		last := ""
		for i, op := range methods {
			want := strings.TrimSpace(cells[i+1])
			if want == "=" {
				want = last
			}
			last = want
			for _, spelled := range spellings(path) {
				if got := w.look(t, op, spelled); !matches(got, want) {
					t.Errorf("%s %q: %s, want %s", op, spelled, got, want)
				}
			}
		}
	}
	if rows < 60 {
		t.Errorf("only %d rows", rows)
	}
	for _, path := range []string{"", "a\x00b", strings.Repeat("n", 256), strings.Repeat("d/", 2048) + "f"} {
		for _, op := range methods {
			if got := w.look(t, op, path); got != "invalid-path" {
				t.Errorf("%s %.20q…: %s, want invalid-path", op, path, got)
			}
		}
	}
	if diff := difference(before, w.snapshot(t)); diff != nil {
		t.Errorf("reading changed %q", diff)
	}
}

// spellings are the relative and the absolute form of a path.
func spellings(path string) []string {
	if strings.HasPrefix(path, "/") {
		return []string{path}
	}
	return []string{path, "/" + path}
}

func matches(got, want string) bool {
	if prefix, ok := strings.CutSuffix(want, "*"); ok {
		return strings.HasPrefix(got, prefix)
	}
	return got == want || got == "text "+want
}

func (w *world) look(t *testing.T, op, path string) string {
	t.Helper()
	got := ""
	var err error
	describe := func(i ambit.FileInfo) string { return fmt.Sprintf("%v %s", i.Kind, i.Path) }
	switch op {
	case ambit.OpOpen:
		var f ambit.File
		if f, err = w.fsys.Open(ctx, path); err == nil {
			data, readErr := io.ReadAll(f)
			must(t, readErr)
			must(t, f.Verify(ctx))
			must(t, f.Close())
			got = string(data) + " " + f.Info().Path
		} else if f != nil {
			t.Errorf("Open %q returned a file beside %v", path, err)
		}
	case ambit.OpStat:
		var i ambit.FileInfo
		i, err = w.fsys.Stat(ctx, path)
		got = describe(i)
	case ambit.OpLstat:
		var i ambit.FileInfo
		i, err = w.fsys.Lstat(ctx, path)
		got = describe(i)
	case ambit.OpList:
		var l *ambit.Listing
		if l, err = w.fsys.List(ctx, path, nil); err == nil {
			got = l.Dir + ":"
			for _, e := range l.Entries {
				got += " " + e.Name
			}
		} else if l != nil {
			t.Errorf("List %q returned a listing beside %v", path, err)
		}
	case ambit.OpReadLink:
		got, err = w.fsys.ReadLink(ctx, path)
		got = "text " + got
	}
	w.clean(t, err, op, path)
	if err != nil {
		return sketch(err)
	}
	return got
}

// A change of the world by one call: what it answers, and what it does.
type changeCase struct {
	path string
	want string // sketch of the answer
	diff string // lines of the difference, joined by "; "
}

// changes runs each case in a world that no other has changed. what names the
// call for messages.
func changes(t *testing.T, what string, table []changeCase, call func(w *world, path string) error) {
	t.Helper()
	var w *world
	var before []string
	for _, c := range table {
		if w == nil {
			w = newWorldIn(t, fastDir(t), tree)
			before = w.snapshot(t)
		}
		err := call(w, c.path)
		if got := sketch(err); got != c.want {
			t.Errorf("%s %q: %s, want %s", what, c.path, got, c.want)
		}
		diff := difference(before, w.snapshot(t))
		for i := range diff {
			diff[i] = strings.NewReplacer(" (644)", "", " (755)", "", w.root, "$ROOT", w.outside, "$OUT").Replace(diff[i])
		}
		slices.Sort(diff)
		if got := strings.Join(diff, "; "); got != c.diff {
			t.Errorf("%s %q changed [%s], want [%s]", what, c.path, got, c.diff)
		}
		if len(diff) > 0 {
			w = nil
		}
	}
}

// versionOf returns the version of a file, or one that no file has.
func (w *world) versionOf(path string) ambit.Version {
	if info, err := w.fsys.Stat(ctx, path); err == nil && info.Version != "" {
		return info.Version
	}
	return "another"
}

func TestWriting(t *testing.T) {
	outward := func(want string) []changeCase {
		return []changeCase{{path: "out", want: want}, {path: "outdir", want: want}, {path: "outmissing", want: want}, {path: "climb", want: want}, {path: "chainout", want: want}}
	}
	// What an earlier step answers is the same with every precondition but IfVersion.
	early := []changeCase{
		{path: "file/x", want: "not-a-directory"},
		{path: "lfile/x", want: "not-a-directory"},
		{path: "fifo/x", want: "not-a-directory"},
		{path: "outdir/secret-name", want: "outside"},
		{path: "outdir/new", want: "outside"},
		{path: "outmissing/x", want: "outside"},
		{path: "outmissing/x/y", want: "outside"},
		{path: "loop/x", want: "loop"},
		{path: "../x", want: "outside"},
		{path: "", want: "invalid-path"},
		{path: "a\x00", want: "invalid-path"},
		{path: strings.Repeat("n", 256), want: "invalid-path"},
		// With a trailing slash.
		{path: "new/", want: "not-a-directory"},
		{path: "gone/new/", want: "not-a-directory"},
		{path: "file/", want: "not-a-directory"},
		{path: "file/.", want: "not-a-directory"},
		{path: "lfile/", want: "not-a-directory"},
		{path: "dangling/", want: "not-a-directory"},
		{path: "fifo/", want: "not-a-directory"},
		{path: "out/", want: "outside"},
		{path: "outdir/", want: "outside"},
		{path: "loop/", want: "loop"},
	}
	plain := slices.Concat(early, outward("outside"), []changeCase{
		{path: "new", want: "ok", diff: "+new = N"},
		{path: "/new", want: "ok", diff: "+new = N"},
		{path: "gone/../new", want: "ok", diff: "+new = N"},
		{path: "ldir/new", want: "ok", diff: "+dir/new = N"},
		{path: "abs/new", want: "ok", diff: "+dir/new = N"},
		{path: "up/new", want: "ok", diff: "+dir/new = N"},
		{path: `b\s`, want: "ok", diff: `+b\s = N`},
		{path: "file", want: "ok", diff: "+file = N; -file = F"},
		{path: "lfile", want: "ok", diff: "+file = N; -file = F"},
		{path: "dir", want: "not-a-file directory T=/dir"},
		{path: "ldir", want: "not-a-file directory T=/dir"},
		{path: "abs", want: "not-a-file directory T=/dir"},
		{path: "dir/", want: "not-a-file directory T=/dir"},
		{path: "ldir/", want: "not-a-file directory T=/dir"},
		{path: "/", want: "not-a-file directory T=/"},
		{path: "dangling", want: "denied dangling-link"},
		{path: "ldeep", want: "denied dangling-link"},
		{path: "absdangling", want: "denied dangling-link"},
		{path: "loop", want: "loop"},
		{path: "ping", want: "loop"},
		{path: "fifo", want: "not-a-file fifo T=/fifo"},
		{path: "sock", want: "not-a-file socket T=/sock"},
	})
	missingParent := []changeCase{
		{path: "gone/new", want: "not-found T=/gone/new M=/gone"},
		{path: "ldir/a/b/new", want: "not-found T=/dir/a/b/new M=/dir/a,/dir/a/b"},
		{path: "dangling/new", want: "not-found T=/nowhere/new"},
	}
	withParents := []changeCase{
		{path: "gone/new", want: "ok", diff: "+gone/; +gone/new = N"},
		{path: "ldir/a/b/new", want: "ok", diff: "+dir/a/; +dir/a/b/; +dir/a/b/new = N"},
		{path: "dangling/new", want: "denied dangling-link"},
		{path: "absdangling/new", want: "denied dangling-link"},
	}
	absent := slices.Concat(early, outward("exists symlink"), []changeCase{
		{path: "new", want: "ok", diff: "+new = N"},
		{path: "ldir/new", want: "ok", diff: "+dir/new = N"},
		{path: "file", want: "exists file"},
		{path: "dir", want: "exists directory"},
		{path: "dir/", want: "exists directory"},
		{path: "ldir/", want: "exists directory"},
		{path: "/", want: "exists directory"},
		{path: "lfile", want: "exists symlink"},
		{path: "ldir", want: "exists symlink"},
		{path: "dangling", want: "exists symlink"},
		{path: "loop", want: "exists symlink"},
		{path: "fifo", want: "exists fifo"},
		{path: "sock", want: "exists socket"},
	})
	wrong := slices.Concat(early, outward("outside"), []changeCase{
		{path: "new", want: "changed"},
		{path: "gone/new", want: "changed"},
		{path: "file", want: "changed"},
		{path: "lfile", want: "changed"},
		{path: "dir", want: "not-a-file directory T=/dir"},
		{path: "ldir", want: "not-a-file directory T=/dir"},
		{path: "dir/", want: "not-a-file directory T=/dir"},
		{path: "/", want: "not-a-file directory T=/"},
		{path: "dangling", want: "denied dangling-link"},
		{path: "loop", want: "loop"},
		{path: "fifo", want: "not-a-file fifo T=/fifo"},
	})
	right := []changeCase{
		{path: "file", want: "ok", diff: "+file = N; -file = F"},
		{path: "lfile", want: "ok", diff: "+file = N; -file = F"},
		{path: "ldir/inner", want: "ok", diff: "+dir/inner = N; -dir/inner = I"},
	}
	for _, part := range []struct {
		name  string
		o     ambit.WriteOptions
		fresh bool // If is the file's own version
		table []changeCase
	}{
		{name: "plain", table: slices.Concat(plain, missingParent)},
		{name: "with Parents", o: ambit.WriteOptions{Parents: true}, table: slices.Concat(plain, withParents)},
		{name: "IfAbsent", o: ambit.WriteOptions{If: ambit.IfAbsent()}, table: slices.Concat(absent, missingParent)},
		{name: "IfAbsent with Parents", o: ambit.WriteOptions{If: ambit.IfAbsent(), Parents: true}, table: slices.Concat(absent, withParents)},
		{name: "another IfVersion", o: ambit.WriteOptions{If: ambit.IfVersion("another")}, table: slices.Concat(wrong, []changeCase{{path: "dangling/new", want: "not-found T=/nowhere/new"}})},
		{name: "another IfVersion with Parents", o: ambit.WriteOptions{If: ambit.IfVersion("another"), Parents: true}, table: slices.Concat(wrong, []changeCase{{path: "dangling/new", want: "denied dangling-link"}})},
		{name: "the right IfVersion", fresh: true, table: right},
	} {
		options := func(w *world, path string) *ambit.WriteOptions {
			o := part.o
			if part.fresh {
				o.If = ambit.IfVersion(w.versionOf(path))
			}
			return &o
		}
		t.Run("Write "+part.name, func(t *testing.T) {
			changes(t, "Write", part.table, func(w *world, path string) error {
				r, err := w.fsys.Write(ctx, path, strings.NewReader("N"), options(w, path))
				w.clean(t, err, ambit.OpWrite, path)
				w.checkResult(t, r, err)
				return err
			})
		})
		t.Run("Stage "+part.name, func(t *testing.T) {
			changes(t, "Stage", part.table, func(w *world, path string) error {
				before := names(t, w.fsys, "/")
				s, err := w.fsys.Stage(ctx, path, strings.NewReader("N"), options(w, path))
				w.clean(t, err, ambit.OpStage, path)
				if after := names(t, w.fsys, "/"); !slices.Equal(before, after) {
					t.Errorf("Stage %q shows %q", path, after)
				}
				if err != nil {
					return err
				}
				if i := s.Info(); i.Version != "" || i.Size != 1 || i.Mode != 0o644 {
					t.Errorf("Stage %q: %+v", path, i)
				}
				r, err := s.Publish(ctx)
				w.clean(t, err, ambit.OpPublish, path)
				w.checkResult(t, r, err)
				if r.Info.Path != s.Info().Path {
					t.Errorf("staged as %q, published as %q", s.Info().Path, r.Info.Path)
				}
				if _, err := s.Publish(ctx); ambit.ReasonOf(err) != ambit.ErrClosed {
					t.Errorf("a second Publish: %v", err)
				}
				must(t, s.Discard(ctx))
				return err
			})
		})
	}
}

// checkResult compares a result with what is there.
func (w *world) checkResult(t *testing.T, r ambit.WriteResult, err error) {
	t.Helper()
	if err != nil {
		if r.Info != (ambit.FileInfo{}) || r.Created || r.CreatedDirs != nil {
			t.Errorf("a result beside %v: %+v", err, r)
		}
		return
	}
	now, err := w.fsys.Lstat(ctx, r.Info.Path)
	must(t, err)
	if now != r.Info {
		t.Errorf("the result is %+v, the file %+v", r.Info, now)
	}
	if isNew := strings.Contains(r.Info.Path, "new") || strings.Contains(r.Info.Path, `\`); isNew != r.Created {
		t.Errorf("%s: Created is %t", r.Info.Path, r.Created)
	}
	for _, dir := range r.CreatedDirs {
		if info, err := w.fsys.Lstat(ctx, dir); err != nil || !info.IsDir() || info.Path != dir {
			t.Errorf("CreatedDirs has %q: %+v, %v", dir, info, err)
		}
	}
	if wantDirs := strings.Count(r.Info.Path, "/") - 1; r.Created && wantDirs > 0 && strings.HasPrefix(r.Info.Path, "/gone") && len(r.CreatedDirs) != wantDirs {
		t.Errorf("%s: CreatedDirs are %q", r.Info.Path, r.CreatedDirs)
	}
}

func TestRemoving(t *testing.T) {
	links := []changeCase{
		{path: "lfile", want: "ok", diff: "-lfile -> file"},
		{path: "ldir", want: "ok", diff: "-ldir -> dir"},
		{path: "dangling", want: "ok", diff: "-dangling -> nowhere"},
		{path: "out", want: "ok", diff: "-out -> $OUT/secret-name"},
		{path: "outdir", want: "ok", diff: "-outdir -> $OUT/folder"},
		{path: "loop", want: "ok", diff: "-loop -> loop"},
		{path: "abs", want: "ok", diff: "-abs -> $ROOT/dir"},
		{path: "fifo", want: "ok", diff: "-fifo p---------"},
		{path: "sock", want: "ok", diff: "-sock S---------"},
		{path: "file", want: "ok", diff: "-file = F"},
		{path: "ldir/inner", want: "ok", diff: "-dir/inner = I"},
	}
	refused := []changeCase{
		{path: "/", want: "invalid"},
		{path: ".", want: "invalid"},
		{path: "dir/..", want: "invalid"},
		{path: "file/", want: "not-a-directory"},
		{path: "fifo/", want: "not-a-directory"},
		{path: "lfile/", want: "not-a-directory"},
		{path: "ldir/", want: "not-a-directory"},
		{path: "dangling/", want: "not-a-directory"},
		{path: "outdir/", want: "not-a-directory"},
		{path: "loop/", want: "not-a-directory"},
		{path: "file/x", want: "not-a-directory"},
		{path: "outdir/secret-name", want: "outside"},
		{path: "outdir/nothing", want: "outside"},
		{path: "loop/x", want: "loop"},
		{path: "..", want: "outside"},
		{path: "", want: "invalid-path"},
	}
	missing := []changeCase{
		{path: "missing", want: "not-found T=/missing"},
		{path: "gone/x", want: "not-found T=/gone/x M=/gone"},
		{path: "dangling/x", want: "not-found T=/nowhere/x"},
		{path: "missing/", want: "not-a-directory"},
		{path: "gone/x/", want: "not-a-directory"},
	}
	missingOK := []changeCase{
		{path: "missing", want: "ok"},
		{path: "gone/x", want: "ok"},
		{path: "missing/", want: "ok"},
		{path: "gone/x/", want: "ok"},
	}
	plain := []changeCase{
		{path: "empty", want: "not-a-file directory T=/empty"},
		{path: "empty/", want: "not-a-file directory T=/empty"},
		{path: "dir", want: "not-empty"},
		{path: "dir/", want: "not-empty"},
	}
	recursive := []changeCase{
		{path: "empty", want: "ok", diff: "-empty/"},
		{path: "empty/", want: "ok", diff: "-empty/"},
		{path: "dir", want: "ok", diff: "-dir/; -dir/inner = I"},
		{path: "dir/", want: "ok", diff: "-dir/; -dir/inner = I"},
	}
	conditional := func(file string) []changeCase {
		return []changeCase{
			{path: "file", want: file, diff: map[string]string{"ok": "-file = F"}[file]},
			{path: "missing", want: "changed"},
			{path: "gone/x", want: "changed"},
			{path: "missing/", want: "not-a-directory"},
			{path: "file/", want: "not-a-directory"},
			{path: "ldir/", want: "not-a-directory"},
			{path: "empty", want: "invalid"},
			{path: "dir", want: "invalid"},
			{path: "dir/", want: "invalid"},
			{path: "/", want: "invalid"},
			{path: "lfile", want: "invalid"},
			{path: "ldir", want: "invalid"},
			{path: "dangling", want: "invalid"},
			{path: "out", want: "invalid"},
			{path: "loop", want: "invalid"},
			{path: "fifo", want: "invalid"},
			{path: "outdir/secret-name", want: "outside"},
		}
	}
	for _, part := range []struct {
		name  string
		o     ambit.RemoveOptions
		fresh bool
		table []changeCase
	}{
		{name: "plain", table: slices.Concat(links, refused, missing, plain)},
		{name: "MissingOK", o: ambit.RemoveOptions{MissingOK: true}, table: slices.Concat(links, refused, missingOK, plain)},
		{name: "Recursive", o: ambit.RemoveOptions{Recursive: true}, table: slices.Concat(links, refused, missing, recursive)},
		{name: "Recursive, MissingOK", o: ambit.RemoveOptions{Recursive: true, MissingOK: true}, table: slices.Concat(links, refused, missingOK, recursive)},
		{name: "another IfVersion", o: ambit.RemoveOptions{If: ambit.IfVersion("another")}, table: conditional("changed")},
		{name: "another IfVersion, MissingOK", o: ambit.RemoveOptions{If: ambit.IfVersion("another"), MissingOK: true}, table: conditional("changed")},
		{name: "the right IfVersion", fresh: true, table: conditional("ok")},
		{name: "IfVersion and Recursive", o: ambit.RemoveOptions{If: ambit.IfVersion("another"), Recursive: true}, table: []changeCase{{path: "file", want: "invalid"}, {path: "missing", want: "invalid"}, {path: "..", want: "outside"}}},
		{name: "IfAbsent", o: ambit.RemoveOptions{If: ambit.IfAbsent()}, table: []changeCase{{path: "file", want: "invalid"}, {path: "missing", want: "invalid"}}},
	} {
		t.Run(part.name, func(t *testing.T) {
			changes(t, "Remove", part.table, func(w *world, path string) error {
				o := part.o
				if part.fresh {
					o.If = ambit.IfVersion(w.versionOf(path))
				}
				err := w.fsys.Remove(ctx, path, &o)
				w.clean(t, err, ambit.OpRemove, path)
				return err
			})
		})
	}
}

func TestRenaming(t *testing.T) {
	type row struct {
		from, to, want, diff string
		at                   string // the path that the error is about; "" is from
	}
	both := []row{
		// from
		{from: "missing", to: "new", want: "not-found T=/missing"},
		{from: "gone/x", to: "new", want: "not-found T=/gone/x M=/gone"},
		{from: "dangling/x", to: "new", want: "not-found T=/nowhere/x"},
		{from: "file", to: "new", want: "ok", diff: "+new = F; -file = F"},
		{from: "ldir/inner", to: "abs/new", want: "ok", diff: "+dir/new = I; -dir/inner = I"},
		{from: "fifo", to: "new", want: "ok", diff: "+new p---------; -fifo p---------"},
		{from: "sock", to: "new", want: "ok", diff: "+new S---------; -sock S---------"},
		{from: "dir", to: "new", want: "ok", diff: "+new/; +new/inner = I; -dir/; -dir/inner = I"},
		{from: "dir", to: "empty/new", want: "ok", diff: "+empty/new/; +empty/new/inner = I; -dir/; -dir/inner = I"},
		{from: "lfile", to: "new", want: "ok", diff: "+new -> file; -lfile -> file"},
		{from: "ldir", to: "new", want: "ok", diff: "+new -> dir; -ldir -> dir"},
		{from: "dangling", to: "dir/new", want: "ok", diff: "+dir/new -> nowhere; -dangling -> nowhere"},
		{from: "out", to: "new", want: "ok", diff: "+new -> $OUT/secret-name; -out -> $OUT/secret-name"},
		{from: "loop", to: "new", want: "ok", diff: "+new -> loop; -loop -> loop"},
		{from: "/", to: "new", want: "invalid"},
		{from: "dir/..", to: "new", want: "invalid"},
		{from: "outdir/secret-name", to: "new", want: "outside"},
		{from: "file/x", to: "new", want: "not-a-directory"},
		{from: "loop/x", to: "new", want: "loop"},
		{from: "..", to: "new", want: "outside"},
		{from: "missing", to: "..", want: "outside", at: ".."},
		{from: "missing", to: "", want: "invalid-path", at: ""},
		{from: "dir/", to: "new", want: "ok", diff: "+new/; +new/inner = I; -dir/; -dir/inner = I"},
		{from: "missing/", to: "new", want: "not-a-directory"},
		{from: "file/", to: "new", want: "not-a-directory"},
		{from: "fifo/", to: "new", want: "not-a-directory"},
		{from: "lfile/", to: "new", want: "not-a-directory"},
		{from: "ldir/", to: "new", want: "not-a-directory"},
		// to
		{from: "file", to: "gone/new", want: "not-found T=/gone/new M=/gone", at: "gone/new"},
		{from: "file", to: "dangling/new", want: "not-found T=/nowhere/new", at: "dangling/new"},
		{from: "file", to: "outdir/new", want: "outside", at: "outdir/new"},
		{from: "file", to: "loop/new", want: "loop", at: "loop/new"},
		{from: "file", to: "fifo/new", want: "not-a-directory", at: "fifo/new"},
		{from: "file", to: "file", want: "ok"},
		{from: "file", to: "./file", want: "ok"},
		{from: "lfile", to: "lfile", want: "ok"},
		{from: "dir", to: "dir", want: "ok"},
		{from: "dir", to: "dir/", want: "ok"},
		{from: "dir/inner", to: "ldir/inner", want: "ok"},
		{from: "dir", to: "dir/new", want: "invalid", at: "dir/new"},
		{from: "dir", to: "ldir/new", want: "invalid", at: "ldir/new"},
		{from: "dir", to: "dir/inner", want: "invalid", at: "dir/inner"},
		{from: "dir/inner", to: "dir", want: "exists directory", at: "dir"},
		{from: "file", to: "dir", want: "exists directory", at: "dir"},
		{from: "empty", to: "dir", want: "exists directory", at: "dir"},
		{from: "dir", to: "empty", want: "exists directory", at: "empty"},
		{from: "dir", to: "/", want: "exists directory", at: "/"},
		{from: "dir", to: "file", want: "exists file", at: "file"},
		{from: "dir", to: "lfile", want: "exists symlink", at: "lfile"},
		{from: "dir", to: "fifo", want: "exists fifo", at: "fifo"},
		{from: "dir", to: "new/", want: "ok", diff: "+new/; +new/inner = I; -dir/; -dir/inner = I"},
		{from: "dir", to: "empty/", want: "exists directory", at: "empty/"},
		{from: "file", to: "new/", want: "not-a-directory", at: "new/"},
		{from: "file", to: "dir/", want: "not-a-directory", at: "dir/"},
		{from: "dir", to: "file/", want: "not-a-directory", at: "file/"},
		{from: "dir", to: "ldir/", want: "not-a-directory", at: "ldir/"},
		{from: "dir", to: "fifo/", want: "not-a-directory", at: "fifo/"},
	}
	plain := []row{
		{from: "file", to: "dir/inner", want: "exists file", at: "dir/inner"},
		{from: "file", to: "lfile", want: "exists symlink", at: "lfile"},
		{from: "file", to: "ldir", want: "exists symlink", at: "ldir"},
		{from: "file", to: "dangling", want: "exists symlink", at: "dangling"},
		{from: "file", to: "out", want: "exists symlink", at: "out"},
		{from: "file", to: "fifo", want: "exists fifo", at: "fifo"},
		{from: "lfile", to: "file", want: "exists file", at: "file"},
	}
	replace := []row{
		{from: "file", to: "dir/inner", want: "ok", diff: "+dir/inner = F; -dir/inner = I; -file = F"},
		{from: "file", to: "lfile", want: "ok", diff: "+lfile = F; -file = F; -lfile -> file"},
		{from: "file", to: "ldir", want: "ok", diff: "+ldir = F; -file = F; -ldir -> dir"},
		{from: "file", to: "dangling", want: "ok", diff: "+dangling = F; -dangling -> nowhere; -file = F"},
		{from: "file", to: "out", want: "ok", diff: "+out = F; -file = F; -out -> $OUT/secret-name"},
		{from: "file", to: "fifo", want: "ok", diff: "+fifo = F; -fifo p---------; -file = F"},
		{from: "lfile", to: "file", want: "ok", diff: "+file -> file; -file = F; -lfile -> file"},
	}
	parents := []row{
		{from: "file", to: "gone/x/new", want: "ok", diff: "+gone/; +gone/x/; +gone/x/new = F; -file = F"},
		{from: "dir", to: "gone/new", want: "ok", diff: "+gone/; +gone/new/; +gone/new/inner = I; -dir/; -dir/inner = I"},
		{from: "dir", to: "dir/gone/new", want: "invalid", at: "dir/gone/new"},
		{from: "file", to: "dangling/new", want: "denied dangling-link", at: "dangling/new"},
		{from: "file", to: "fifo/x/new", want: "not-a-directory", at: "fifo/x/new"},
		{from: "missing", to: "gone/new", want: "not-found T=/missing"},
	}
	conditional := []row{
		{from: "missing", to: "new", want: "changed"},
		{from: "gone/x", to: "new", want: "changed"},
		{from: "file", to: "new", want: "changed"},
		{from: "dir", to: "new", want: "invalid"},
		{from: "lfile", to: "new", want: "invalid"},
		{from: "fifo", to: "new", want: "invalid"},
	}
	fresh := []row{{from: "file", to: "new", want: "ok", diff: "+new = F; -file = F"}}
	for _, part := range []struct {
		name  string
		o     ambit.RenameOptions
		fresh bool
		rows  []row
	}{
		{name: "plain", rows: slices.Concat(both, plain)},
		{name: "Replace", o: ambit.RenameOptions{Replace: true}, rows: slices.Concat(both, replace)},
		{name: "Parents", o: ambit.RenameOptions{Parents: true}, rows: parents},
		{name: "another IfVersion", o: ambit.RenameOptions{If: ambit.IfVersion("another")}, rows: conditional},
		{name: "the right IfVersion", fresh: true, rows: fresh},
		{name: "IfAbsent", o: ambit.RenameOptions{If: ambit.IfAbsent()}, rows: []row{{from: "file", to: "new", want: "invalid"}}},
	} {
		t.Run(part.name, func(t *testing.T) {
			for _, r := range part.rows {
				changes(t, "Rename to "+r.to, []changeCase{{path: r.from, want: r.want, diff: r.diff}}, func(w *world, from string) error {
					o := part.o
					if part.fresh {
						o.If = ambit.IfVersion(w.versionOf(from))
					}
					info, err := w.fsys.Rename(ctx, from, r.to, &o)
					at := r.at
					if at == "" && r.want != "invalid-path" {
						at = from
					}
					w.clean(t, err, ambit.OpRename, at)
					if err != nil {
						return err
					}
					if now, err := w.fsys.Lstat(ctx, strings.TrimSuffix(r.to, "/")); err != nil || now != info {
						t.Errorf("Rename %q to %q returned %+v; there is %+v, %v", from, r.to, info, now, err)
					}
					return nil
				})
			}
		})
	}
}

func TestMakingFolders(t *testing.T) {
	common := []changeCase{
		{path: "new", want: "ok", diff: "+new/"},
		{path: "new/", want: "ok", diff: "+new/"},
		{path: "ldir/new", want: "ok", diff: "+dir/new/"},
		{path: "file", want: "exists file"},
		{path: "file/", want: "exists file"},
		{path: "fifo", want: "exists fifo"},
		{path: "lfile", want: "exists symlink"},
		{path: "ldir", want: "exists symlink"},
		{path: "ldir/", want: "exists symlink"},
		{path: "dangling", want: "exists symlink"},
		{path: "dangling/", want: "exists symlink"},
		{path: "outdir", want: "exists symlink"},
		{path: "outdir/", want: "exists symlink"},
		{path: "loop", want: "exists symlink"},
		{path: "file/x", want: "not-a-directory"},
		{path: "fifo/x/y", want: "not-a-directory"},
		{path: "outdir/x", want: "outside"},
		{path: "outmissing/x", want: "outside"},
		{path: "loop/x", want: "loop"},
		{path: "..", want: "outside"},
		{path: "", want: "invalid-path"},
	}
	plain := []changeCase{
		{path: "gone/new", want: "not-found T=/gone/new M=/gone"},
		{path: "gone/x/new/", want: "not-found T=/gone/x/new M=/gone,/gone/x"},
		{path: "dangling/new", want: "not-found T=/nowhere/new"},
		{path: "dir", want: "exists directory"},
		{path: "/", want: "exists directory"},
	}
	parents := []changeCase{
		{path: "gone/new", want: "ok", diff: "+gone/; +gone/new/"},
		{path: "gone/x/new/", want: "ok", diff: "+gone/; +gone/x/; +gone/x/new/"},
		{path: "dangling/new", want: "denied dangling-link"},
		{path: "dir", want: "ok"},
		{path: "dir/", want: "ok"},
		{path: "/", want: "ok"},
	}
	for _, part := range []struct {
		name  string
		o     *ambit.MkdirOptions
		table []changeCase
	}{
		{name: "plain", table: slices.Concat(common, plain)},
		{name: "Parents", o: &ambit.MkdirOptions{Parents: true}, table: slices.Concat(common, parents)},
	} {
		t.Run(part.name, func(t *testing.T) {
			changes(t, "Mkdir", part.table, func(w *world, path string) error {
				before := w.snapshot(t)
				created, err := w.fsys.Mkdir(ctx, path, part.o)
				w.clean(t, err, ambit.OpMkdir, path)
				var want []string
				for _, line := range difference(before, w.snapshot(t)) {
					want = append(want, "/"+strings.TrimSuffix(strings.TrimPrefix(line, "+"), "/ (755)"))
				}
				if !slices.Equal(created, want) {
					t.Errorf("Mkdir %q returned %q, made %q", path, created, want)
				}
				return err
			})
		})
	}
}
