// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

// While somebody swaps a folder for a link that leads out, and back, no call
// reads, lists, describes, makes, changes or removes anything outside. The
// control is the usual check, resolve and compare and then open, which must
// lose within the same time.
func TestSwappedFolderNeverEscapes(t *testing.T) {
	const limit = 3 * time.Second
	w := newWorldIn(t, fastDir(t), `
		d/
		d/secret-name = inside
		beside = B
	`)
	before := w.snapshot(t)
	outside := outsideOf(before)
	out := filepath.Join(w.outside, "folder")
	must(t, os.WriteFile(filepath.Join(out, "victim"), []byte("V"), 0o666))
	outside = append(outside, "beside/folder/victim = V (644)")
	slices.Sort(outside)

	stop := make(chan struct{})
	var wg sync.WaitGroup
	defer func() { wg.Wait() }()
	wg.Go(func() {
		parked := w.host("parked")
		for {
			select {
			case <-stop:
				return
			default:
			}
			if os.Rename(w.host("d"), parked) != nil {
				continue
			}
			if os.Symlink(out, w.host("d")) == nil {
				time.Sleep(20 * time.Microsecond)
				os.Remove(w.host("d"))
			}
			for os.Rename(parked, w.host("d")) != nil {
				// A call has made a folder of the name meanwhile.
				os.RemoveAll(w.host("d"))
			}
			time.Sleep(100 * time.Microsecond)
		}
	})

	var lost atomic.Int64
	answers := map[string]*[2]atomic.Int64{} // done, refused
	attempt := func(name string, do func(i int) error) {
		count := &[2]atomic.Int64{}
		answers[name] = count
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				if do(i) == nil {
					count[0].Add(1)
				} else {
					count[1].Add(1)
				}
			}
		})
	}
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			resolved, err := filepath.EvalSymlinks(w.host("d/secret-name"))
			if err != nil || !strings.HasPrefix(resolved, w.root+"/") {
				continue
			}
			if data, err := os.ReadFile(w.host("d/secret-name")); err == nil && string(data) == secretText {
				lost.Add(1)
			}
		}
	})
	attempt("read", func(int) error {
		data, info, err := ambit.ReadFile(ctx, w.fsys, "d/secret-name")
		if err == nil && (string(data) == secretText || info.Path != "/d/secret-name") {
			t.Errorf("read %q at %s", data, info.Path)
		}
		w.clean(t, plainly(err), ambit.OpOpen, "d/secret-name")
		return err
	})
	attempt("list and stat", func(int) error {
		l, err := w.fsys.List(ctx, "d", &ambit.ListOptions{Details: true})
		if err == nil && slices.ContainsFunc(l.Entries, func(e ambit.Entry) bool { return e.Name == "victim" }) {
			t.Error("listed the outside")
		}
		if info, err := w.fsys.Stat(ctx, "d/victim"); err == nil {
			t.Errorf("described the outside: %+v", info)
		}
		return err
	})
	attempt("write", func(i int) error {
		_, err := ambit.WriteFile(ctx, w.fsys, fmt.Sprintf("d/w%d", i%4), []byte("W"), &ambit.WriteOptions{Parents: i%2 == 0})
		return err
	})
	attempt("make a folder", func(i int) error {
		_, err := w.fsys.Mkdir(ctx, fmt.Sprintf("d/m%d/x", i%4), &ambit.MkdirOptions{Parents: true})
		return err
	})
	attempt("remove", func(i int) error {
		if w.fsys.Remove(ctx, "d/victim", nil) == nil {
			t.Error("removed the outside's file")
		}
		w.fsys.Remove(ctx, "d/folder", &ambit.RemoveOptions{Recursive: true})
		return w.fsys.Remove(ctx, fmt.Sprintf("d/m%d", i%4), &ambit.RemoveOptions{Recursive: true})
	})
	attempt("rename", func(i int) error {
		if _, err := w.fsys.Rename(ctx, "d/victim", "stolen", nil); err == nil {
			t.Error("moved the outside's file in")
		}
		// It goes with a folder d that the other side throws away.
		if err := os.WriteFile(w.host("beside"), []byte("B"), 0o666); err != nil {
			t.Error(err)
		}
		_, err := w.fsys.Rename(ctx, "beside", "d/beside", &ambit.RenameOptions{Replace: true})
		if _, err := w.fsys.Rename(ctx, "d/beside", "back", &ambit.RenameOptions{Replace: true}); err == nil {
			return nil
		}
		return err
	})
	// A machine with other work needs longer until each has been met.
	for start := time.Now(); time.Since(start) < 4*limit; time.Sleep(limit / 10) {
		met := lost.Load() > 0
		for _, count := range answers {
			met = met && count[0].Load() > 0 && count[1].Load() > 0
		}
		if met && time.Since(start) >= limit {
			break
		}
	}
	close(stop)
	wg.Wait()

	if lost.Load() == 0 {
		t.Error("the control has never lost: the test proves nothing")
	}
	for name, count := range answers {
		if count[0].Load() == 0 || count[1].Load() == 0 {
			t.Errorf("%s: %d done, %d refused: one of them never came", name, count[0].Load(), count[1].Load())
		}
		t.Logf("%s: %d done, %d refused", name, count[0].Load(), count[1].Load())
	}
	t.Logf("the control lost %d times", lost.Load())
	if diff := difference(outside, outsideOf(w.snapshot(t))); diff != nil {
		t.Errorf("the outside changed: %q", diff)
	}
}

// plainly leaves out errors of a later step of ReadFile.
func plainly(err error) error {
	if e, ok := err.(*ambit.Error); ok && e.Op != ambit.OpOpen {
		return nil
	}
	return err
}

// While a name is now a file or folder and now a link to another one, an open
// file's path and bytes are those of one of the two.
func TestSwappedLinkIsNotMistaken(t *testing.T) {
	t.Run("file", func(t *testing.T) {
		swappedLink(t, "f", "/f", "/other", `
			f = /f
			other = /other
			link -> other
		`)
	})
	t.Run("folder", func(t *testing.T) {
		swappedLink(t, "f/x/y", "/f/x/y", "/other/x/y", `
			f/
			f/x/
			f/x/y = /f/x/y
			other/
			other/x/
			other/x/y = /other/x/y
			link -> other
		`)
	})
}

func swappedLink(t *testing.T, path, one, another, tree string) {
	w := newWorldIn(t, fastDir(t), tree)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			for _, step := range [][2]string{{"f", "parked"}, {"link", "f"}, {"f", "link"}, {"parked", "f"}} {
				if err := os.Rename(w.host(step[0]), w.host(step[1])); err != nil {
					t.Error(err)
				}
			}
		}
	})
	met := map[string]int{}
	for start := time.Now(); time.Since(start) < time.Second || len(met) < 2 && time.Since(start) < 10*time.Second; {
		f, err := w.fsys.Open(ctx, path)
		if err != nil {
			if r := ambit.ReasonOf(err); r != ambit.ErrNotFound && r != ambit.ErrChanged {
				t.Error(err)
			}
			continue
		}
		data := make([]byte, 20)
		n, err := f.Read(data)
		if err != nil || string(data[:n]) != f.Info().Path {
			t.Errorf("%s has %q, %v", f.Info().Path, data[:n], err)
		}
		met[f.Info().Path]++
		f.Close()
	}
	close(stop)
	wg.Wait()
	if met[one] == 0 || met[another] == 0 || len(met) != 2 {
		t.Errorf("opened %v", met)
	}
}

func outsideOf(lines []string) []string {
	var out []string
	for _, line := range lines {
		if strings.HasPrefix(line, "beside/") {
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return out
}

func TestSiblingWithTheSamePrefix(t *testing.T) {
	base := t.TempDir()
	must(t, os.Mkdir(filepath.Join(base, "share"), 0o777))
	must(t, os.Mkdir(filepath.Join(base, "share-secret"), 0o777))
	loot := filepath.Join(base, "share-secret", "loot.md")
	must(t, os.WriteFile(loot, []byte(secretText), 0o666))
	must(t, os.Symlink(loot, filepath.Join(base, "share", "absolute")))
	must(t, os.Symlink("../share-secret/loot.md", filepath.Join(base, "share", "relative")))
	fsys := serve(t, filepath.Join(base, "share"), nil)
	for path, want := range map[string]ambit.Reason{
		"../share-secret/loot.md": ambit.ErrOutside,
		"absolute":                ambit.ErrOutside,
		"relative":                ambit.ErrOutside,
		loot:                      ambit.ErrNotFound, // a path of the machine, where nothing is
	} {
		if _, err := fsys.Open(ctx, path); ambit.ReasonOf(err) != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}

// A root that is reached through a link has two names, and absolute links may
// use either.
func TestRootThroughALink(t *testing.T) {
	base := t.TempDir()
	must(t, os.Mkdir(filepath.Join(base, "real"), 0o777))
	must(t, os.Symlink("real", filepath.Join(base, "alias")))
	must(t, os.WriteFile(filepath.Join(base, "real", "y"), []byte("Y"), 0o666))
	for name, text := range map[string]string{
		"by-alias":       filepath.Join(base, "alias", "y"),
		"by-real":        filepath.Join(base, "real", "y"),
		"up-by-alias":    "../alias/y",
		"up-by-real":     "../real/y",
		"uncleaned":      base + "/real/./y",
		"out-and-back":   base + "/real/../real/y",
		"through-others": base + "/else/../real/y",
		"prefix":         base + "/really",
	} {
		must(t, os.Symlink(text, filepath.Join(base, "real", name)))
	}
	for _, root := range []string{"alias", "real"} {
		fsys := serve(t, filepath.Join(base, root), nil)
		write(t, fsys, "x", "X", nil)
		if text, info := read(t, fsys, "/x"); text != "X" || info.Path != "/x" {
			t.Errorf("read %q at %s", text, info.Path)
		}
		readable := []string{"by-real", "up-by-real", "uncleaned", "out-and-back"}
		refused := []string{"through-others", "prefix"}
		if byAlias := []string{"by-alias", "up-by-alias"}; root == "alias" {
			readable = append(readable, byAlias...)
		} else {
			refused = append(refused, byAlias...)
		}
		for _, name := range readable {
			text, info := read(t, fsys, name)
			if text != "Y" || info.Path != "/y" {
				t.Errorf("%s of %s: %q at %s", name, root, text, info.Path)
			}
			if link, err := fsys.ReadLink(ctx, name); err != nil || strings.Contains(link, base) || strings.Contains(link, root) {
				t.Errorf("%s of %s: the text is told as %q, %v", name, root, link, err)
			}
		}
		for _, name := range refused {
			if _, err := fsys.Open(ctx, name); ambit.ReasonOf(err) != ambit.ErrOutside {
				t.Errorf("%s of %s: %v", name, root, err)
			}
			if link, err := fsys.ReadLink(ctx, name); ambit.ReasonOf(err) != ambit.ErrOutside {
				t.Errorf("%s of %s: the text is told as %q, %v", name, root, link, err)
			}
		}
	}
}

// A link's ".." goes to the folder above where the link led, and not to the
// one above by text.
func TestUpwardInALink(t *testing.T) {
	w := newWorld(t, `
		a/
		a/b/
		a/f = right
		f = wrong
		short -> a/b
		up -> short/../f
		a/b/home -> ..
		a/b/root -> ../..
		end -> short/..
		deep -> a/b/home/b/../b/home/f
	`)
	for path, want := range map[string]string{"up": "/a/f", "short/home/f": "/a/f", "short/root/a/f": "/a/f", "end/f": "/a/f", "deep": "/a/f"} {
		if text, info := read(t, w.fsys, path); text != "right" || info.Path != want {
			t.Errorf("%s: %q at %s", path, text, info.Path)
		}
	}
	for path, want := range map[string]string{"end": "/a", "short/home": "/a", "short/root": "/"} {
		if info, err := w.fsys.Stat(ctx, path); err != nil || info.Path != want || !info.IsDir() {
			t.Errorf("%s: %+v, %v", path, info, err)
		}
	}
	// By the caller's text it is the other way round.
	if text, _ := read(t, w.fsys, "short/../f"); text != "wrong" {
		t.Errorf("short/../f: %q", text)
	}
}

func TestLinksAreCounted(t *testing.T) {
	var tree strings.Builder
	tree.WriteString("l0 = end\n")
	for i := range 41 {
		fmt.Fprintf(&tree, "l%d -> l%d\n", i+1, i)
	}
	w := newWorld(t, tree.String())
	if text, info := read(t, w.fsys, "l40"); text != "end" || info.Path != "/l0" {
		t.Errorf("40 links: %q at %s", text, info.Path)
	}
	if _, err := w.fsys.Open(ctx, "l41"); ambit.ReasonOf(err) != ambit.ErrLoop {
		t.Errorf("41 links: %v", err)
	}
}

// A walk over a tree with a link to a folder above ends, and a listing with
// links of every kind has them all.
func TestListingBrokenLinks(t *testing.T) {
	w := newWorld(t, `
		ok.txt = x
		dead -> missing
		loop -> loop
		away -> $OUT/secret-name
		a/
		a/f.txt = k
		a/up -> ..
	`)
	must(t, os.WriteFile(w.host("secret"), nil, 0))
	l, err := w.fsys.List(ctx, "/", &ambit.ListOptions{Details: true})
	must(t, err)
	var got []string
	for _, e := range l.Entries {
		got = append(got, fmt.Sprintf("%s %v", e.Name, e.Info.Kind))
	}
	if want := []string{"a directory", "away symlink", "dead symlink", "loop symlink", "ok.txt file", "secret file"}; !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
	found := 0
	for e, err := range ambit.Walk(ctx, w.fsys, "/") {
		must(t, err)
		if e.Name == "f.txt" {
			found++
		}
	}
	if found != 1 {
		t.Errorf("the walk met a/f.txt %d times", found)
	}
}

// Names are bytes: neither Unicode nor case makes two of them one.
func TestNamesAreBytes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the disks of this system fold or refuse some names themselves")
	}
	w := newWorld(t, "")
	all := []string{
		"v\u00a013.png", "v 13.png", "caf\u00e9", "cafe\u0301", "\xff\xfe", "a\nb", ".env.", ".env ", ".ENV", ".env", "NUL.txt", "COM1", "C:x",
		`a\..\..\b`, "foo..bar", "...", "..x", "~", "%2e", "#", "?", strings.Repeat("n", 255), "-rf", "\x01",
	}
	for _, name := range all {
		if r := write(t, w.fsys, name, "is "+name, &ambit.WriteOptions{If: ambit.IfAbsent()}); r.Info.Path != "/"+name {
			t.Errorf("%q was written as %q", name, r.Info.Path)
		}
	}
	for _, name := range all {
		if text, _ := read(t, w.fsys, name); text != "is "+name {
			t.Errorf("%q has %q", name, text)
		}
	}
	slices.Sort(all)
	if got := names(t, w.fsys, "/"); !slices.Equal(got, all) {
		t.Errorf("listed %q", got)
	}
	must(t, w.fsys.Remove(ctx, "v\u00a013.png", nil))
	must(t, w.fsys.Remove(ctx, "v 13.png", nil))
	write(t, w.fsys, "v\u00a013.png", "N", nil)
	if _, err := w.fsys.Open(ctx, "v 13.png"); ambit.ReasonOf(err) != ambit.ErrNotFound {
		t.Errorf("a name with another space was found: %v", err)
	}
}

func TestLongPaths(t *testing.T) {
	w := newWorld(t, "")
	var path strings.Builder
	for range 15 {
		path.WriteString("/" + strings.Repeat("d", 255))
	}
	dir := path.String()
	path.WriteString("/" + strings.Repeat("f", 254)) // 4095 bytes
	if path.Len() != ambit.MaxPath {
		t.Fatalf("the path has %d bytes", path.Len())
	}
	r := write(t, w.fsys, path.String(), "deep", &ambit.WriteOptions{Parents: true})
	if len(r.CreatedDirs) != 15 || r.Info.Path != path.String() {
		t.Errorf("made %d folders", len(r.CreatedDirs))
	}
	if text, _ := read(t, w.fsys, path.String()); text != "deep" {
		t.Errorf("read %q", text)
	}
	// The same file through a shorter path is found; a longer canonical one
	// would be no valid input.
	must(t, os.Symlink(dir[1:], w.host("short")))
	if text, _ := read(t, w.fsys, "short/"+strings.Repeat("f", 254)); text != "deep" {
		t.Errorf("read %q", text)
	}
	if _, err := w.fsys.Stat(ctx, "short/"+strings.Repeat("f", 255)); ambit.ReasonOf(err) != ambit.ErrInvalidPath {
		t.Errorf("a path that is too long with its links resolved: %v", err)
	}
	must(t, w.fsys.Remove(ctx, strings.Repeat("d", 255), &ambit.RemoveOptions{Recursive: true}))
	if got := names(t, w.fsys, "/"); !slices.Equal(got, []string{"short"}) {
		t.Errorf("left: %q", got)
	}
}

func TestNew(t *testing.T) {
	w := newWorld(t, `
		d/
		d/f = F
		l -> d
		file = X
	`)
	for _, c := range []struct {
		dir  string
		o    *local.Options
		want ambit.Reason
	}{
		{w.host("nothing"), nil, ambit.ErrNotFound},
		{w.host("file"), nil, ambit.ErrNotADirectory},
		{"", nil, ambit.ErrInvalid},
		{w.root, &local.Options{Cwd: "nothing"}, ambit.ErrNotFound},
		{w.root, &local.Options{Cwd: "file"}, ambit.ErrNotADirectory},
		{w.root, &local.Options{Cwd: ".."}, ambit.ErrOutside},
	} {
		if fsys, err := local.New(c.dir, c.o); ambit.ReasonOf(err) != c.want || fsys != nil {
			t.Errorf("New(%q, %+v): %v, want %s", c.dir, c.o, err, c.want)
		}
	}
	fsys := serve(t, w.root, &local.Options{Cwd: "/l"})
	if text, info := read(t, fsys, "f"); text != "F" || info.Path != "/d/f" {
		t.Errorf("read %q at %s", text, info.Path)
	}
	if _, err := fsys.Stat(ctx, "../.."); ambit.ReasonOf(err) != ambit.ErrOutside {
		t.Errorf("../.. from /d: %v", err)
	}
	if a, b := fsys.Capabilities(), serve(t, w.root, nil).Capabilities(); a != b {
		t.Errorf("two file systems of one folder claim %+v and %+v", a, b)
	}
	if a, b := fsys.Capabilities().ID, serve(t, w.host("d"), nil).Capabilities().ID; a == b {
		t.Errorf("two folders have the ID %q", a)
	}
}

// Every method of a closed file system fails, and its open files do not.
func TestClose(t *testing.T) {
	w := newWorld(t, "f = F")
	f, err := w.fsys.Open(ctx, "f")
	must(t, err)
	defer f.Close()
	s, err := w.fsys.Stage(ctx, "f", strings.NewReader("N"), nil)
	must(t, err)
	must(t, w.fsys.Close())
	must(t, w.fsys.Close())
	for _, op := range []string{ambit.OpOpen, ambit.OpStat, ambit.OpList, ambit.OpLstat, ambit.OpReadLink} {
		if got := w.look(t, op, ".."); got != "closed" {
			t.Errorf("%s: %s", op, got)
		}
	}
	_, err = w.fsys.Write(ctx, "..", nil, nil)
	_, err2 := w.fsys.Rename(ctx, "..", "..", nil)
	_, err3 := w.fsys.Mkdir(ctx, "..", nil)
	_, err4 := w.fsys.Stage(ctx, "..", nil, nil)
	for _, err := range []error{err, err2, err3, err4, w.fsys.Remove(ctx, "..", nil)} {
		if ambit.ReasonOf(err) != ambit.ErrClosed {
			t.Errorf("after Close: %v", err)
		}
	}
	b := make([]byte, 1)
	if n, err := f.Read(b); n != 1 || err != nil {
		t.Errorf("an open file after Close: %d, %v", n, err)
	}
	if _, err := s.Publish(ctx); ambit.ReasonOf(err) != ambit.ErrClosed {
		t.Errorf("Publish after Close: %v", err)
	}
	leftovers(t, w.root)
}
