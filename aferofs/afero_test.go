// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/aferofs"
	"github.com/ambitfs/ambit/memory"
	"github.com/spf13/afero"
)

// outcome is an error as code that uses afero can tell it apart.
func outcome(err error) string {
	var errno syscall.Errno
	switch {
	case err == nil:
		return "ok"
	case err == io.EOF:
		return "EOF"
	case errors.As(err, &errno):
		return errno.Error()
	case errors.Is(err, os.ErrClosed):
		return "closed"
	}
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// A pair is one sequence of operations on a disk and on a contract.
type pair struct {
	*testing.T
	rng   *rand.Rand
	disk  string
	mem   afero.Fs
	files [3][2]afero.File
	log   []string
}

func (p *pair) fail(format string, args ...any) {
	p.Helper()
	p.Fatalf("%s\nafter:\n  %s", fmt.Sprintf(format, args...), strings.Join(p.log, "\n  "))
}

// same fails where the two sides differ; disk is the one that is right.
func (p *pair) same(what string, disk, mem any) {
	p.Helper()
	if fmt.Sprint(disk) != fmt.Sprint(mem) {
		p.fail("%s: %v; on a disk it is %v", what, mem, disk)
	}
}

func (p *pair) both(format string, args ...any) func(f func(fs afero.Fs, root string) string) {
	p.log = append(p.log, fmt.Sprintf(format, args...))
	return func(f func(fs afero.Fs, root string) string) {
		p.Helper()
		disk := strings.ReplaceAll(f(afero.NewOsFs(), p.disk), p.disk, "")
		p.same(p.log[len(p.log)-1], disk, f(p.mem, ""))
	}
}

var afNames = []string{"/a", "/b", "/d", "/d/a", "/d/b", "/d/d", "/d/d/a", "/e/x", "/a/x", "/ab"}

func (p *pair) name() string { return afNames[p.rng.IntN(len(afNames))] }

var afFlags = []int{
	os.O_RDONLY, os.O_RDWR, os.O_WRONLY,
	os.O_RDWR | os.O_CREATE, os.O_RDWR | os.O_CREATE | os.O_TRUNC, os.O_WRONLY | os.O_CREATE | os.O_APPEND,
	os.O_RDWR | os.O_APPEND, os.O_RDWR | os.O_CREATE | os.O_EXCL, os.O_WRONLY | os.O_TRUNC, os.O_RDONLY | os.O_CREATE,
}

// differs reports whether a rename fails in another way than on a disk: a
// folder over a file, over itself or over something within itself.
func differs(fs afero.Fs, root, from, to string) bool {
	source, err := fs.Stat(root + from)
	if err != nil {
		// Which of two faults is told: the contract judges from first.
		above, err := fs.Stat(root + to[:strings.LastIndexByte(to, '/')])
		return err != nil || !above.IsDir()
	}
	if !source.IsDir() {
		return false
	}
	target, err := fs.Stat(root + to)
	return strings.HasPrefix(to+"/", from+"/") || err == nil && !target.IsDir()
}

func (p *pair) step() {
	switch p.rng.IntN(20) {
	case 0, 1, 2:
		i, name, flag := p.rng.IntN(3), p.name(), afFlags[p.rng.IntN(len(afFlags))]
		p.closeFile(i)
		var got [2]afero.File
		p.both("open %d %s %#x", i, name, flag)(func(fs afero.Fs, root string) string {
			f, err := fs.OpenFile(root+name, flag, 0o644)
			if err == nil {
				if root == "" {
					got[1] = f
				} else {
					got[0] = f
				}
			}
			return outcome(err)
		})
		p.files[i] = got
	case 3, 4, 5:
		text := strings.Repeat(string(rune('a'+p.rng.IntN(26))), p.rng.IntN(6))
		p.handle("write "+text, func(f afero.File) string {
			n, err := f.Write([]byte(text))
			return fmt.Sprint(n, outcome(err))
		})
	case 6, 7:
		n := p.rng.IntN(8)
		p.handle(fmt.Sprint("read ", n), func(f afero.File) string {
			if isDir(f) {
				return "an errno that depends on what was listed before"
			}
			b := make([]byte, n)
			n, err := f.Read(b)
			return fmt.Sprintf("%d %q %s", n, b[:max(n, 0)], outcome(err))
		})
	case 8:
		off, n := int64(p.rng.IntN(12)-1), p.rng.IntN(8)
		p.handle(fmt.Sprint("read at ", off, n), func(f afero.File) string {
			if isDir(f) {
				return "an errno that depends on the offset"
			}
			b := make([]byte, n)
			n, err := f.ReadAt(b, off)
			return fmt.Sprintf("%d %q %s", n, b[:max(n, 0)], outcome(err))
		})
	case 9:
		off := int64(p.rng.IntN(12) - 1)
		p.handle(fmt.Sprint("write at ", off), func(f afero.File) string {
			n, err := f.WriteAt([]byte("W"), off)
			return fmt.Sprint(n, outcome(err))
		})
	case 10:
		off, whence := int64(p.rng.IntN(12)-4), p.rng.IntN(3)
		p.handle(fmt.Sprint("seek ", off, whence), func(f afero.File) string {
			if isDir(f) {
				return "a folder's offsets are its own"
			}
			n, err := f.Seek(off, whence)
			return fmt.Sprint(n, outcome(err))
		})
	case 11:
		size := int64(p.rng.IntN(12) - 1)
		p.handle(fmt.Sprint("truncate ", size), func(f afero.File) string { return outcome(f.Truncate(size)) })
	case 12:
		p.handle("sync", func(f afero.File) string {
			return outcome(f.Sync())
		})
	case 13:
		p.closeFile(p.rng.IntN(3))
	case 14:
		name := p.name()
		if p.rng.IntN(2) == 0 {
			p.both("mkdir %s", name)(func(fs afero.Fs, root string) string { return outcome(fs.Mkdir(root+name, 0o755)) })
		} else {
			p.both("mkdirall %s", name)(func(fs afero.Fs, root string) string { return outcome(fs.MkdirAll(root+name, 0o755)) })
		}
	case 15, 16:
		name := p.name()
		if p.rng.IntN(2) == 0 {
			p.both("remove %s", name)(func(fs afero.Fs, root string) string { return outcome(fs.Remove(root + name)) })
		} else {
			p.both("removeall %s", name)(func(fs afero.Fs, root string) string { return outcome(fs.RemoveAll(root + name)) })
		}
	case 17:
		from, to := p.name(), p.name()
		if differs(afero.NewOsFs(), p.disk, from, to) {
			return
		}
		p.both("rename %s %s", from, to)(func(fs afero.Fs, root string) string {
			return outcome(fs.Rename(root+from, root+to))
		})
	case 18:
		p.handle("stat", func(f afero.File) string {
			info, err := f.Stat()
			if err != nil {
				return outcome(err)
			}
			return describe(info)
		})
	case 19:
		p.handle("readdir", func(f afero.File) string {
			infos, err := f.Readdir(-1)
			return fmt.Sprint(describeAll(infos), outcome(err))
		})
	}
}

func isDir(f afero.File) bool {
	info, err := f.Stat()
	return err == nil && info.IsDir()
}

func describe(info os.FileInfo) string {
	if info.IsDir() {
		return info.Name() + "/"
	}
	return fmt.Sprint(info.Name(), info.Size(), info.Mode())
}

func describeAll(infos []os.FileInfo) []string {
	all := make([]string, 0, len(infos))
	for _, info := range infos {
		all = append(all, describe(info))
	}
	slices.Sort(all)
	return all
}

func (p *pair) handle(what string, f func(afero.File) string) {
	p.Helper()
	i := p.rng.IntN(3)
	if p.files[i][0] == nil || p.files[i][1] == nil {
		return
	}
	p.log = append(p.log, fmt.Sprintf("%d: %s", i, what))
	disk := f(p.files[i][0])
	p.same(p.log[len(p.log)-1], disk, f(p.files[i][1]))
}

func (p *pair) closeFile(i int) {
	p.Helper()
	if p.files[i][0] == nil || p.files[i][1] == nil {
		return
	}
	p.log = append(p.log, fmt.Sprintf("%d: close twice", i))
	for range 2 {
		disk := outcome(p.files[i][0].Close())
		p.same(p.log[len(p.log)-1], disk, outcome(p.files[i][1].Close()))
	}
	p.files[i] = [2]afero.File{}
}

// compare walks both trees when nothing is open.
func (p *pair) compare() {
	p.Helper()
	for i := range p.files {
		p.closeFile(i)
	}
	tree := func(fs afero.Fs, root string) string {
		var all []string
		err := afero.Walk(fs, root+"/", func(path string, info os.FileInfo, err error) error {
			if err != nil {
				return err
			}
			line := strings.TrimPrefix(path, root) + " "
			if info.IsDir() {
				line += "/"
			} else {
				data, err := afero.ReadFile(fs, path)
				line += fmt.Sprintf("%q %s", data, outcome(err))
			}
			all = append(all, line)
			return nil
		})
		slices.Sort(all)
		return fmt.Sprint(all, err)
	}
	p.same("the tree", tree(afero.NewOsFs(), p.disk), tree(p.mem, ""))
}

// Random sequences of operations behave as on a disk.
func TestAferoAgainstDisk(t *testing.T) {
	if os.PathSeparator != '/' {
		t.Skip("the names and errnos compared are those of Unix")
	}
	const rounds, steps = 200, 60
	for seed := range rounds {
		p := &pair{T: t, rng: rand.New(rand.NewPCG(uint64(seed), 1)), disk: t.TempDir(), mem: aferofs.Afero(memory.New(nil, nil))}
		for range steps {
			p.step()
		}
		p.compare()
	}
}

// Two handles of one file have a position each and share its bytes.
func TestAferoPositions(t *testing.T) {
	fsys := memory.New(nil, nil)
	af := aferofs.Afero(fsys)
	h1, err := af.Create("f")
	if err != nil {
		t.Fatal(err)
	}
	write := func(f afero.File, text string) {
		t.Helper()
		if n, err := f.WriteString(text); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
	}
	write(h1, "test")
	if _, err := h1.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	h2, err := af.OpenFile("f", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if at, err := h2.Seek(0, io.SeekEnd); at != 4 || err != nil {
		t.Fatalf("the end is at %d, %v", at, err)
	}
	write(h2, "data")
	if err := h2.Close(); err != nil {
		t.Fatal(err)
	}
	write(h1, "data")
	if err := h1.Close(); err != nil {
		t.Fatal(err)
	}
	if got, _ := fsys.Peek("f"); got != "datadata" {
		t.Errorf("the file holds %q", got)
	}
}

// Sync and Close publish only over what was opened.
func TestAferoCompareAndSwap(t *testing.T) {
	fsys := memory.New(map[string]string{"f": "one"}, nil)
	af := aferofs.Afero(fsys)
	open := func() afero.File {
		t.Helper()
		f, err := af.OpenFile("f", os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := open()
	f.WriteString("mine")
	if got, _ := fsys.Peek("f"); got != "one" {
		t.Errorf("before Sync others see %q", got)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if got, _ := fsys.Peek("f"); got != "mine" {
		t.Errorf("after Sync others see %q", got)
	}
	fsys.SetFile("f", "theirs")
	f.WriteString("!")
	if err := f.Close(); !errors.Is(err, ambit.ErrChanged) {
		t.Errorf("Close over another's change is %v", err)
	}
	if got, _ := fsys.Peek("f"); got != "theirs" {
		t.Errorf("another's change is lost: %q", got)
	}
	again := open()
	defer again.Close()
	if got, err := io.ReadAll(again); string(got) != "theirs" || err != nil {
		t.Errorf("opened anew it reads %q, %v", got, err)
	}
	// A handle that only read never writes.
	if err := again.Sync(); err != nil {
		t.Error(err)
	}
}

// What the contract has no word for is refused, and a folder's own faults are
// told as package os tells them.
func TestAferoUnsupported(t *testing.T) {
	fsys := memory.New(map[string]string{"d/f": "x"}, nil)
	af := aferofs.Afero(fsys)
	for name, err := range map[string]error{
		"chmod":   af.Chmod("d/f", 0o600),
		"chown":   af.Chown("d/f", 1, 1),
		"chtimes": af.Chtimes("d/f", time.Now(), time.Now()),
	} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := af.Chmod("none", 0o600); !os.IsNotExist(err) {
		t.Errorf("chmod of nothing: %v", err)
	}
	if err := af.Remove("d"); outcome(err) != syscall.ENOTEMPTY.Error() {
		t.Errorf("removal of a full folder: %v", err)
	}
	if _, err := af.OpenFile("d/f", os.O_WRONLY, 0); err != nil {
		t.Error(err)
	}
	readOnly := aferofs.Afero(ambit.ReadOnly(fsys))
	if _, err := readOnly.Create("new"); outcome(err) != syscall.EROFS.Error() {
		t.Errorf("creation on a read-only file system: %v", err)
	}
	if _, err := readOnly.Open("d/f"); err != nil {
		t.Error(err)
	}
}

// An empty folder is removed, one that is filled at the same moment is not.
func TestAferoRemoveFolderKeepsWhatComes(t *testing.T) {
	for range 200 {
		fsys := memory.New(map[string]string{"d/": ""}, nil)
		af := aferofs.Afero(fsys)
		done := make(chan error)
		go func() {
			f, err := af.OpenFile("d/f", os.O_CREATE|os.O_WRONLY, 0o644)
			if err == nil {
				err = f.Close()
			}
			done <- err
		}()
		removed := af.Remove("d")
		made := <-done
		if _, there := fsys.Peek("d/f"); (made == nil) != there || removed == nil && made == nil {
			t.Fatalf("removal %v, creation %v, there %v", removed, made, there)
		}
	}
}

// What it holds can be put under the contract again.
func TestAferoRoundTrip(t *testing.T) {
	inner := memory.New(map[string]string{"d/f": "x"}, nil)
	outer := aferofs.New(aferofs.Afero(inner), nil)
	ctx := t.Context()
	if data, _, err := ambit.ReadFile(ctx, outer, "d/f"); string(data) != "x" || err != nil {
		t.Fatalf("%q, %v", data, err)
	}
	if _, err := ambit.WriteFile(ctx, outer, "d/g", []byte("y"), nil); err != nil {
		t.Fatal(err)
	}
	if got, _ := inner.Peek("d/g"); got != "y" {
		t.Errorf("%q", got)
	}
	_, err := ambit.WriteFile(ctx, outer, "d/f/x", nil, nil)
	if ambit.ReasonOf(err) != ambit.ErrNotADirectory {
		t.Error(err)
	}
}
