// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

// raceTime is how long one race of this package lasts: 1.5 s, 0.5 s with
// -short, and 10 s where the environment says so:
//
//	AMBIT_SOAK=1 go test -run 'Escape|Contest' -timeout 30m ./local
func raceTime() time.Duration {
	switch {
	case os.Getenv("AMBIT_SOAK") != "":
		return 10 * time.Second
	case testing.Short():
		return 500 * time.Millisecond
	}
	return 1500 * time.Millisecond
}

// An escapeWorld is a root, and outside of it two folders that nobody may see
// or touch. Eight swappers put links that lead there in the place of what is
// in the root, as fast as they can.
type escapeWorld struct {
	base, root string
	beside     string // what the links lead to
	gone       string // where the folder "moved" goes; whatever else is there is outside
	denied     bool   // "denied" in the root is forbidden too
	forbidden  []string

	swaps  [8]atomic.Int64
	faults faults
}

// faults keeps the first few texts and counts the rest.
type faults struct {
	mu    sync.Mutex
	count int
	first []string
}

func (f *faults) add(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count++; len(f.first) < 12 {
		f.first = append(f.first, fmt.Sprintf(format, args...))
	}
}

func (f *faults) report(t *testing.T) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, text := range f.first {
		t.Error(text)
	}
	if f.count > len(f.first) {
		t.Errorf("%d faults in all", f.count)
	}
}

// A leftover of the library's own, which no sweep may look for outside.
const strangeLeftover = ".ambit.tmp.0123456789abcdef0123456789abcdef"

// wholeUnits is content in the root: n lines of 64 bytes that each tell how
// many there are, so that neither a part nor a mixture looks whole.
func wholeUnits(letter byte, n int) []byte {
	var b bytes.Buffer
	for i := 1; i <= n; i++ {
		head := fmt.Sprintf("INSIDE %c %06d/%06d ", letter, i, n)
		b.WriteString(head + strings.Repeat(string(letter), 63-len(head)) + "\n")
	}
	return b.Bytes()
}

// unitsFault says what is wrong with content that should be one whole write,
// or several of them after each other.
func unitsFault(data []byte) string {
	if len(data) == 0 {
		return "empty"
	}
	for len(data) > 0 {
		var letter byte
		var i, n int
		if c, err := fmt.Sscanf(string(data[:min(64, len(data))]), "INSIDE %c %d/%d", &letter, &i, &n); c != 3 || err != nil || i != 1 || n < 1 {
			return fmt.Sprintf("a write that begins with %.64q", data)
		}
		if want := wholeUnits(letter, n); !bytes.HasPrefix(data, want) {
			return fmt.Sprintf("%d bytes of a write of %d", len(data), len(want))
		} else {
			data = data[len(want):]
		}
	}
	return ""
}

// shape fills a folder: the same names inside and outside, so that every path
// finds something wherever it is led to. What is there already stays.
func shape(dir string, text []byte, names ...string) {
	os.MkdirAll(filepath.Join(dir, "sub", "deep"), 0o777)
	for _, name := range append(names, "f", "victim", "sub/f", "sub/deep/f", "sub/victim") {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		// In one step: nobody may take a part of it for a torn write.
		temporary := filepath.Join(dir, fmt.Sprint("shape-", rand.Uint64()))
		if os.WriteFile(temporary, text, 0o666) != nil || os.Rename(temporary, path) != nil {
			os.Remove(temporary)
		}
	}
}

func newEscapeWorld(t *testing.T, denied bool) *escapeWorld {
	t.Helper()
	base := fastDir(t)
	e := &escapeWorld{
		base: base, root: filepath.Join(base, "root"),
		beside: filepath.Join(base, "beside"), gone: filepath.Join(base, "gone"), denied: denied,
	}
	e.forbidden = []string{secretText, secretName, strangeLeftover, e.beside, e.gone}
	secret := []byte(secretText)
	for _, dir := range []string{e.beside + "/out", e.beside + "/mid", e.gone + "/outerdir"} {
		shape(dir, secret, secretName, strangeLeftover)
	}
	must(t, os.WriteFile(e.gone+"/outer", secret, 0o666))
	if denied {
		shape(e.host("denied"), secret, secretName)
	}
	inside := wholeUnits('a', 3)
	for _, dir := range []string{"exchange", "aside", "parent/mid", "moved", "outerdir", "text.real", "tree/inner", "deep/a/b", "keep"} {
		shape(e.host(dir), inside)
	}
	for _, name := range []string{"file", "outer"} {
		must(t, os.WriteFile(e.host(name), inside, 0o666))
	}
	out := e.beside + "/out"
	for name, text := range map[string]string{
		"exchange.link": out,
		"parent.link":   "../beside",
		"moved/up":      "../outer",
		"moved/updir":   "../outerdir",
		"text":          "text.real",
		"chain":         out,
		"deep/a/b.link": "../../chain",
	} {
		must(t, os.Symlink(text, e.host(name)))
	}
	return e
}

func (e *escapeWorld) host(name string) string { return filepath.Join(e.root, name) }

// snapshot tells all there is to tell of what is outside, and of what is
// denied: names, bytes, modes, times, links and identities.
func (e *escapeWorld) snapshot(t *testing.T) []string {
	t.Helper()
	var lines []string
	tops := []string{e.beside, e.gone}
	if e.denied {
		tops = append(tops, e.host("denied"))
	}
	for _, top := range tops {
		must(t, filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if path == filepath.Join(e.gone, "moved") {
				return filepath.SkipDir
			}
			var st unix.Stat_t
			if err := unix.Lstat(path, &st); err != nil {
				return err
			}
			text := ""
			if d.Type().IsRegular() {
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				text = string(data)
			}
			if path == e.gone || path == e.host("denied") {
				// The swappers themselves move a folder in and out of the one, and move the other.
				st.Mtim, st.Ctim = unix.Timespec{}, unix.Timespec{}
				st.Nlink = 0
			}
			rel, _ := filepath.Rel(e.base, path)
			lines = append(lines, fmt.Sprintf("%s %o inode %d links %d owner %d.%d size %d modified %d.%09d changed %d.%09d %q", rel, st.Mode, st.Ino, st.Nlink, st.Uid, st.Gid,
				st.Size, st.Mtim.Sec, st.Mtim.Nsec, st.Ctim.Sec, st.Ctim.Nsec, text))
			return nil
		}))
	}
	return lines
}

func exchange(a, b string) bool {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE) == nil
}

// realFolder opens the folder at path of the host, nil where it is none, and
// returns a path to it that holds whatever the name comes to be.
func realFolder(path string) (string, *os.File) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", nil
	}
	return fmt.Sprint("/proc/self/fd/", fd), os.NewFile(uintptr(fd), path)
}

// heal makes the folder name be a folder with what belongs there. Calls under
// test remove it, its content and the link.
func (e *escapeWorld) heal(name string) {
	os.Mkdir(filepath.Dir(e.host(name)), 0o777)
	os.Mkdir(e.host(name), 0o777)
	if path, f := realFolder(e.host(name)); f != nil {
		shape(path, wholeUnits('a', 3))
		f.Close()
	}
}

// healLink makes the name be a link. What calls under test have made there
// goes away.
func (e *escapeWorld) healLink(text, name string) {
	if _, err := os.Readlink(e.host(name)); err == nil {
		return
	}
	os.Mkdir(filepath.Dir(e.host(name)), 0o777)
	os.RemoveAll(e.host(name))
	os.Symlink(text, e.host(name))
}

// exchangeCycle swaps a folder and a link by one system call, and back.
func (e *escapeWorld) exchangeCycle(name, text string) bool {
	ok := exchange(e.host(name), e.host(name+".link"))
	pause()
	if exchange(e.host(name), e.host(name+".link")) && ok {
		if rand.N(8) == 0 {
			e.heal(name)
		}
		return true
	}
	// A call has removed one of the two, or both: whichever is the link.
	if _, err := os.Readlink(e.host(name)); err == nil {
		os.Remove(e.host(name))
	}
	e.heal(name)
	e.healLink(text, name+".link")
	return false
}

// pause lets a state last for a while, mostly a very short one.
func pause() {
	if n := rand.N(8); n > 3 {
		time.Sleep(time.Duration(n) * 4 * time.Microsecond)
	}
}

// swappers are one cycle each; true if there was a swap.
func (e *escapeWorld) swappers() [8]func() bool {
	out := e.beside + "/out"
	return [8]func() bool{
		func() bool { return e.exchangeCycle("exchange", out) },
		func() bool { return e.exchangeCycle("parent", "../beside") && e.mid() },
		func() bool { return e.exchangeCycle("deep/a/b", "../../chain") },
		func() bool { // a folder by three calls, with nothing there in between
			ok := os.Rename(e.host("aside"), e.host("aside.parked")) == nil
			pause()
			ok = os.Symlink("../beside/out", e.host("aside")) == nil && ok
			pause()
			if os.Remove(e.host("aside")) != nil {
				// A call has put something there.
				if path, f := realFolder(e.host("aside")); f != nil {
					f.Close()
					os.RemoveAll(path)
					os.RemoveAll(e.host("aside"))
				}
			}
			pause()
			for os.Rename(e.host("aside.parked"), e.host("aside")) != nil {
				if _, err := os.Lstat(e.host("aside.parked")); err != nil {
					break
				}
				os.RemoveAll(e.host("aside"))
			}
			if rand.N(8) == 0 || !ok {
				e.heal("aside")
			}
			return ok
		},
		func() bool { // a file for a link, by renaming over it
			link, file := e.host("swap.link"), e.host("swap.file")
			ok := os.Symlink(out+"/f", link) == nil && os.Rename(link, e.host("file")) == nil
			pause()
			if ok = os.WriteFile(file, wholeUnits('a', 2), 0o666) == nil && os.Rename(file, e.host("file")) == nil && ok; !ok {
				os.RemoveAll(e.host("file")) // a folder that a call has made
			}
			pause()
			return ok
		},
		func() bool { // a folder out of the root and back, with links in it that climb
			ok := os.Rename(e.host("moved"), e.gone+"/moved") == nil
			pause()
			for os.Rename(e.gone+"/moved", e.host("moved")) != nil {
				if _, err := os.Lstat(e.gone + "/moved"); err != nil {
					break
				}
				os.RemoveAll(e.host("moved"))
			}
			if rand.N(8) == 0 || !ok {
				e.heal("moved")
				e.heal("outerdir")
				e.healLink("../outer", "moved/up")
				e.healLink("../outerdir", "moved/updir")
			}
			pause()
			return ok
		},
		func() bool { // a link for another one
			texts := []string{"text.real", out, "text.real", "chain"}
			if e.denied {
				texts = append(texts, "text.real", "denied", "text.real", "elsewhere")
			}
			ok := true
			for _, text := range texts {
				os.Remove(e.host("swap.text"))
				ok = os.Symlink(text, e.host("swap.text")) == nil && ok
				if os.Rename(e.host("swap.text"), e.host("text")) != nil {
					os.RemoveAll(e.host("text"))
					ok = false
				}
				pause()
			}
			if e.denied {
				// A call may make the one name, which nobody denies, and never the other.
				os.RemoveAll(e.host("elsewhere"))
				if os.Rename(e.host("denied"), e.host("elsewhere")) == nil {
					pause()
					for i := 0; os.Rename(e.host("elsewhere"), e.host("denied")) != nil; i++ {
						e.faults.add("a call has made what is denied")
						os.Rename(e.host("denied"), e.host(fmt.Sprint("made-", i)))
					}
				}
			}
			e.heal("text.real")
			e.healLink(out, "chain")
			return ok
		},
		func() bool { // inside a tree that is being removed, also when it has lost its name
			e.heal("tree/inner")
			path, f := realFolder(e.host("tree"))
			if f == nil {
				os.RemoveAll(e.host("tree"))
				return false
			}
			defer f.Close()
			ok := false
			for range 8 {
				os.Symlink(out, path+"/inner.link")
				ok = exchange(path+"/inner", path+"/inner.link") || ok
				pause()
				exchange(path+"/inner", path+"/inner.link")
			}
			return ok
		},
	}
}

// mid completes the folder in the folder that is swapped.
func (e *escapeWorld) mid() bool {
	if rand.N(8) == 0 {
		if path, f := realFolder(e.host("parent")); f != nil {
			shape(path+"/mid", wholeUnits('a', 3))
			f.Close()
		}
	}
	return true
}

// swap runs the swappers until stop is closed, and leaves no folder out of the
// root.
func (e *escapeWorld) swap(wg *sync.WaitGroup, stop <-chan struct{}) {
	for i, cycle := range e.swappers() {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if cycle() {
					e.swaps[i].Add(1)
				}
			}
		})
	}
}

// The folders that are swapped, or are in ones that are.
var escapeFolders = []string{"exchange", "parent/mid", "deep/a/b", "aside", "moved", "moved/updir", "text", "tree/inner"}

// Folders that the calls make and remove in them.
var madeNames = []string{"/made", "/made", "/made1", "/made2", "/made3", "/sub/made", "/sub/made1"}

// escaper makes calls through paths that change while they are walked.
type escaper struct {
	*escapeWorld
	fsys  ambit.WritableFileSystem
	calls *sync.Map // string → *[2]atomic.Int64: done, refused
	whys  *sync.Map // ambit.Reason → *atomic.Int64
}

// see fails for a text or an error that shows anything of the outside.
func (e *escaper) see(what, text string) {
	for _, f := range e.forbidden {
		if strings.Contains(text, f) {
			e.faults.add("%s shows %q: %.300s", what, f, text)
		}
	}
}

func (e *escaper) answer(call, path string, err error) {
	c, _ := e.calls.LoadOrStore(call, &[2]atomic.Int64{})
	count := c.(*[2]atomic.Int64)
	if err == nil {
		count[0].Add(1)
		return
	}
	count[1].Add(1)
	why, _ := e.whys.LoadOrStore(ambit.ReasonOf(err), &atomic.Int64{})
	why.(*atomic.Int64).Add(1)
	what := call + " " + path
	var full *ambit.Error
	if !errors.As(err, &full) {
		e.faults.add("%s: %v is no *ambit.Error", what, err)
		return
	}
	switch full.Reason {
	case ambit.ErrIO, ambit.ErrPermission, ambit.ErrPartial, ambit.ErrNotDurable, ambit.ErrUnsupported, ambit.ErrClosed, ambit.ErrInvalidPath, ambit.ErrNoSpace, ambit.ErrReadOnly, ambit.ErrOutcomeUnknown:
		// None of these is a true answer in a world where names change, and
		// nothing else fails.
		if call != "commit" || full.Reason != ambit.ErrPartial && full.Reason != ambit.ErrUnsupported {
			e.faults.add("%s: %v (%+v)", what, err, full.Err)
		}
	}
	for link := err; link != nil; link = errors.Unwrap(link) {
		e.see(what, fmt.Sprintf("%v %+v", link, link))
	}
	e.see(what, fmt.Sprintf("%q %q %q %q %q", full.Target, full.MissingDirs, full.Detail, full.Rule, full.Path))
	if rand.N(32) == 0 {
		data, jsonErr := json.Marshal(err)
		if jsonErr != nil {
			e.faults.add("%s: %v", what, jsonErr)
		}
		e.see(what, string(data))
	}
}

func (e *escaper) info(what string, i ambit.FileInfo) {
	e.see(what, i.Path)
	if !strings.HasPrefix(i.Path, "/") || strings.Contains(i.Path, "/../") {
		e.faults.add("%s: the path %q", what, i.Path)
	}
}

func (e *escaper) content(what string, data []byte) {
	e.see(what, string(data))
	if fault := unitsFault(data); fault != "" {
		e.faults.add("torn: %s: %s", what, fault)
	}
}

func pick(list ...string) string { return list[rand.N(len(list))] }

func (e *escaper) folder() string { return escapeFolders[rand.N(len(escapeFolders))] }

func (e *escaper) file() string {
	if rand.N(8) == 0 {
		return pick("file", "moved/up", "keep/f")
	}
	if e.denied && rand.N(8) == 0 {
		return pick("denied", "elsewhere") + pick("/f", "/sub/f", "/new")
	}
	return e.folder() + pick("/f", "/f", "/sub/f", "/sub/deep/f", "/victim", "/new1", "/made/a/new")
}

func (e *escaper) text() []byte {
	n := 1 + rand.N(4)
	if rand.N(16) == 0 {
		n = 2000
	}
	return wholeUnits('b'+byte(rand.N(20)), n)
}

// actors are all that a caller can do, one call or few each.
func (e *escaper) actors() []func() {
	return []func(){
		func() {
			path := e.file()
			f, err := e.fsys.Open(ctx, path)
			e.answer("open", path, err)
			if err != nil {
				return
			}
			defer f.Close()
			e.info("open "+path, f.Info())
			data, err := io.ReadAll(f)
			e.answer("read", path, err)
			if err == nil {
				e.content("read "+path, data)
			}
			if at, ok := f.(io.ReaderAt); ok {
				b := make([]byte, 64)
				if n, err := at.ReadAt(b, 0); err == nil || err == io.EOF {
					e.see("read at "+path, string(b[:n]))
				}
			}
			e.answer("verify", path, f.Verify(ctx))
		},
		func() {
			path := e.file()
			data, info, err := ambit.ReadFile(ctx, e.fsys, path)
			e.answer("read file", path, err)
			if err == nil {
				e.info("read file "+path, info)
				e.content("read file "+path, data)
			}
		},
		func() { e.write(e.file(), "write", nil) },
		func() {
			e.write(e.folder()+pick(madeNames...)+pick("/a/b/new", "/f"), "write with parents", &ambit.WriteOptions{Parents: true})
		},
		func() {
			e.write(e.folder()+pick("/new1", "/new2", "/sub/new1", "/made/x/new"), "create", &ambit.WriteOptions{If: ambit.IfAbsent(), Parents: rand.N(2) == 0})
		},
		func() {
			path := e.file()
			info, err := e.fsys.Stat(ctx, path)
			e.answer("stat", path, err)
			if err != nil {
				return
			}
			e.info("stat "+path, info)
			if info.Kind == ambit.KindRegular && info.Version != "" {
				e.write(path, "write a version", &ambit.WriteOptions{If: ambit.IfVersion(info.Version)})
			}
		},
		func() {
			path := e.folder() + pick("/victim", "/sub/victim", "/new1", "/new2", "/made/f")
			e.answer("remove", path, e.fsys.Remove(ctx, path, nil))
		},
		func() {
			path := e.folder() + pick(append([]string{"", "/sub", "/sub/deep", "/made/a"}, madeNames...)...)
			if rand.N(8) == 0 {
				path = pick("tree", "parent", "deep", "file", "parent/mid/sub")
			}
			e.answer("remove all", path, e.fsys.Remove(ctx, path, &ambit.RemoveOptions{Recursive: true}))
		},
		func() {
			d := e.folder()
			names := [][2]string{
				{d + "/f", d + "/renamed"},
				{d + "/renamed", d + "/f"},
				{d + "/victim", "keep/victim"},
				{"keep/victim", d + "/victim"},
				{d + "/sub", "keep/taken"},
				{"keep/taken", d + "/sub"},
				{"keep/f", d + "/made/f"},
				{d + "/sub/f", e.folder() + "/sub/f"},
				{"keep/f", "file"},
				{"file", "keep/f"},
			}
			n := names[rand.N(len(names))]
			info, err := e.fsys.(ambit.Renamer).Rename(ctx, n[0], n[1], &ambit.RenameOptions{Replace: rand.N(2) == 0, Parents: rand.N(2) == 0})
			e.answer("rename", n[0]+" "+n[1], err)
			if err == nil {
				e.info("rename "+n[0]+" "+n[1], info)
			}
		},
		func() {
			path := e.folder() + pick(madeNames...) + pick("", "", "/a/b")
			made, err := e.fsys.(ambit.DirMaker).Mkdir(ctx, path, &ambit.MkdirOptions{Parents: rand.N(2) == 0})
			e.answer("mkdir", path, err)
			e.see("mkdir "+path, strings.Join(made, " "))
		},
		func() {
			path := e.folder() + pick("", "", "/sub", "/made")
			if rand.N(8) == 0 {
				path = pick("/", "parent", "tree", "deep/a", "keep")
			}
			l, err := e.fsys.List(ctx, path, &ambit.ListOptions{Details: rand.N(2) == 0, Limit: rand.N(4)})
			e.answer("list", path, err)
			if err != nil {
				return
			}
			e.see("list "+path, l.Dir+" "+l.Next)
			for _, entry := range l.Entries {
				e.see("list "+path, entry.Name)
				e.info("list "+path, entry.Info)
				if e.denied && path == "/" && entry.Name == "denied" {
					e.faults.add("listed what is denied")
				}
			}
		},
		func() {
			l, ok := e.fsys.(ambit.Linker)
			if !ok {
				return
			}
			path := pick(pick("exchange", "aside", "text", "file", "parent", "moved/up", "moved/updir", "chain", "deep/a/b", "tree/inner"), e.file())
			info, err := l.Lstat(ctx, path)
			e.answer("lstat", path, err)
			if err == nil {
				e.info("lstat "+path, info)
			}
			text, err := l.ReadLink(ctx, path)
			e.answer("read link", path, err)
			e.see("read link "+path, text)
			if strings.Contains(text, "beside") {
				e.faults.add("read link %s: %q", path, text)
			}
		},
		func() {
			path := e.folder() + pick("/f", "/sub/f", "/new3", "/made/log")
			r, err := ambit.Append(ctx, e.fsys, path, bytes.NewReader(wholeUnits('A', 1)), &ambit.AppendOptions{Parents: rand.N(2) == 0})
			e.answer("append", path, err)
			if err == nil {
				e.info("append "+path, r.Info)
			}
		},
		func() {
			path := e.file()
			s, err := ambit.Stage(ctx, e.fsys, path, bytes.NewReader(e.text()), &ambit.WriteOptions{Parents: rand.N(2) == 0})
			e.answer("stage", path, err)
			if err != nil {
				return
			}
			e.info("stage "+path, s.Info())
			pause()
			if rand.N(4) == 0 {
				e.answer("discard", path, s.Discard(ctx))
				return
			}
			r, err := s.Publish(ctx)
			e.answer("publish", path, err)
			if err == nil {
				e.info("publish "+path, r.Info)
			}
		},
		func() {
			a, b := e.folder()+pick("/new4", "/sub/f", "/made/new4"), e.folder()+pick("/new5", "/f", "/made/c/new5")
			changes := []ambit.Change{
				{Op: ambit.OpWrite, Path: a, Content: bytes.NewReader(e.text()), Parents: true},
				{Op: ambit.OpWrite, Path: b, Content: bytes.NewReader(e.text()), Parents: true},
			}
			if rand.N(2) == 0 {
				changes = append(changes, ambit.Change{Op: ambit.OpRemove, Path: e.folder() + "/victim"})
			}
			results, err := ambit.Commit(ctx, e.fsys, changes)
			e.answer("commit", a+" "+b, err)
			for _, r := range results {
				e.see("commit "+a+" "+b, r.Info.Path)
			}
		},
		func() {
			path := e.folder() + pick("", "", "/sub")
			sub, err := ambit.Sub(ctx, e.fsys, path)
			e.answer("sub", path, err)
			if err != nil {
				return
			}
			defer closeIt(sub)
			pause()
			if data, _, err := ambit.ReadFile(ctx, sub, "f"); err == nil {
				e.content("read in the sub "+path, data)
			} else {
				e.answer("read in a sub", path, err)
			}
			if l, err := sub.List(ctx, "/", nil); err == nil {
				for _, entry := range l.Entries {
					e.see("list in the sub "+path, entry.Name)
				}
			} else {
				e.answer("list in a sub", path, err)
			}
			if w, err := ambit.Writable(sub); err == nil {
				_, err := ambit.WriteFile(ctx, w, pick("new6", "sub/new6", "f"), e.text(), nil)
				e.answer("write in a sub", path, err)
				e.answer("remove in a sub", path, w.Remove(ctx, pick("new6", "sub/new6", "victim"), nil))
			}
		},
		func() {
			n := 0
			for entry, err := range ambit.Walk(ctx, e.fsys, pick("/", "tree", "parent", "deep")) {
				if e.answer("walk", "", err); err == nil {
					e.info("walk", entry.Info)
				}
				if n++; n > 20 {
					break
				}
			}
		},
	}
}

func closeIt(x any) {
	if c, ok := x.(io.Closer); ok {
		c.Close()
	}
}

func (e *escaper) write(path, call string, o *ambit.WriteOptions) {
	r, err := ambit.WriteFile(ctx, e.fsys, path, e.text(), o)
	e.answer(call, path, err)
	if err == nil {
		e.info(call+" "+path, r.Info)
		e.see(call+" "+path, strings.Join(r.CreatedDirs, " "))
	}
}

// An escapeVariant is one way to serve the root.
type escapeVariant struct {
	name   string
	denied bool // the machine path /denied is
	host   bool // machine paths are those of the host
	open   func(root string) (ambit.WritableFileSystem, error)
}

func escapeVariants() []escapeVariant {
	type strategy struct {
		name string
		with func(*local.Options) *local.Options
	}
	strategies := []strategy{
		{"", func(o *local.Options) *local.Options { return o }},
		{"portable ", local.Portable},
	}
	var variants []escapeVariant
	for _, s := range strategies {
		serve := func(name string, denied bool, o local.Options) {
			variants = append(variants, escapeVariant{name: s.name + name, denied: denied, open: func(root string) (ambit.WritableFileSystem, error) {
				return local.New(root, s.with(&o))
			}})
		}
		serve("machine", false, local.Options{})
		variants = append(variants, escapeVariant{name: s.name + "host", host: true, open: func(root string) (ambit.WritableFileSystem, error) {
			return local.Host([]string{root, root + "/deep"}, s.with(&local.Options{}))
		}})
		serve("links refused", false, local.Options{Links: ambit.LinksRefused})
		serve("denied folder", true, local.Options{Deny: []string{"/denied"}})
	}
	return variants
}

// While eight strangers swap folders, files and parents for links that lead
// out, by every kind of rename, no call reads, lists, describes, makes,
// changes or removes anything outside, and no answer names it.
func TestEscapeRaces(t *testing.T) {
	for _, v := range escapeVariants() {
		t.Run(v.name, func(t *testing.T) {
			e := newEscapeWorld(t, v.denied)
			fsys, err := v.open(e.root)
			must(t, err)
			defer closeIt(fsys)
			before := e.snapshot(t)
			x := &escaper{escapeWorld: e, fsys: fsys, calls: &sync.Map{}, whys: &sync.Map{}}
			if !v.host {
				x.forbidden = append(x.forbidden, e.base)
			}

			stop := make(chan struct{})
			var wg sync.WaitGroup
			e.swap(&wg, stop)
			actors := x.actors()
			for i := range 8 {
				wg.Go(func() {
					for j := i; ; j++ {
						select {
						case <-stop:
							return
						default:
						}
						actors[(j*7+i)%len(actors)]()
					}
				})
			}
			const patience = 60 * time.Second // on a machine that has other things to do
			for begun := time.Now(); time.Since(begun) < raceTime() || x.idle() != nil && time.Since(begun) < patience; {
				time.Sleep(raceTime() / 10)
			}
			close(stop)
			wg.Wait()

			for _, line := range difference(before, e.snapshot(t)) {
				t.Errorf("outside: %s", line)
			}
			e.faults.report(t)
			for _, what := range x.idle() {
				t.Errorf("%s: the test proves nothing of it", what)
			}
			t.Log(x.tally())
		})
	}
}

// idle lists the parts of the race that have not taken place: kinds of calls
// that were never done, and swappers that have swapped nothing.
func (e *escaper) idle() []string {
	var idle []string
	for _, call := range []string{
		"open", "read file", "write", "write with parents", "create", "write a version", "remove", "remove all",
		"rename", "mkdir", "list", "stat", "append", "stage", "publish", "commit", "sub",
	} {
		if c, ok := e.calls.Load(call); !ok || c.(*[2]atomic.Int64)[0].Load() == 0 {
			idle = append(idle, call+" has never succeeded")
		}
	}
	_, outside := e.whys.Load(ambit.ErrOutside)
	_, denied := e.whys.Load(ambit.ErrDenied)
	if !outside && !denied {
		idle = append(idle, "no call has met a link that leads out")
	}
	for i := range e.swaps {
		if e.swaps[i].Load() == 0 {
			idle = append(idle, fmt.Sprintf("swapper %d has swapped nothing", i))
		}
	}
	return idle
}

// tally is for people: how often what has happened.
func (e *escaper) tally() string {
	var swaps []int64
	for i := range e.swaps {
		swaps = append(swaps, e.swaps[i].Load())
	}
	var calls, reasons []string
	e.calls.Range(func(call, count any) bool {
		c := count.(*[2]atomic.Int64)
		calls = append(calls, fmt.Sprintf("%s %d+%d", call, c[0].Load(), c[1].Load()))
		return true
	})
	e.whys.Range(func(reason, count any) bool {
		reasons = append(reasons, fmt.Sprintf("%s %d", reason, count.(*atomic.Int64).Load()))
		return true
	})
	slices.Sort(calls)
	slices.Sort(reasons)
	return fmt.Sprintf("swaps %d; calls done and refused: %s; reasons: %s", swaps, strings.Join(calls, ", "), strings.Join(reasons, ", "))
}

// The control: the usual check, resolve and compare and then act, reads, makes
// and removes outside in the same world.
func TestEscapeRacesControl(t *testing.T) {
	const limit = 30 * time.Second
	e := newEscapeWorld(t, false)
	c, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	var read, made, removed atomic.Bool
	var wg sync.WaitGroup
	e.swap(&wg, c.Done())
	naive := func(do func(resolved string)) {
		wg.Go(func() {
			for c.Err() == nil {
				resolved, err := filepath.EvalSymlinks(e.host(escapeFolders[rand.N(len(escapeFolders))]))
				if err == nil && strings.HasPrefix(resolved, e.root+"/") {
					do(resolved)
				}
			}
		})
	}
	naive(func(resolved string) {
		f, err := os.Open(resolved + "/f")
		if err != nil {
			return
		}
		defer f.Close()
		if data, err := io.ReadAll(f); err == nil && string(data) == secretText {
			read.Store(true)
		}
	})
	naive(func(resolved string) { os.WriteFile(resolved+"/naive", wholeUnits('n', 1), 0o666) })
	naive(func(resolved string) { os.Remove(resolved + "/sub/victim") })
	for c.Err() == nil && !(read.Load() && made.Load() && removed.Load()) {
		for _, dir := range []string{e.beside + "/out", e.beside + "/mid", e.gone + "/outerdir"} {
			if _, err := os.Lstat(dir + "/naive"); err == nil {
				made.Store(true)
			}
			if _, err := os.Lstat(dir + "/sub/victim"); err != nil {
				removed.Store(true)
			}
		}
		time.Sleep(time.Millisecond)
	}
	cancel()
	wg.Wait()
	if !read.Load() || !made.Load() || !removed.Load() {
		t.Errorf("in %v the naive calls have read outside: %t, made: %t, removed: %t; the races prove nothing", limit, read.Load(), made.Load(), removed.Load())
	}
}
