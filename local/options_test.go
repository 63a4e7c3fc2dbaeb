// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package local_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

// strategies runs a test with each way of opening that this system has. with
// turns options into those of the way.
func strategies(t *testing.T, test func(t *testing.T, with func(*local.Options) *local.Options)) {
	t.Helper()
	t.Run("native", func(t *testing.T) { test(t, func(o *local.Options) *local.Options { return o }) })
	t.Run("portable", func(t *testing.T) { test(t, local.Portable) })
}

// An act is one call at a path, by itself or with what it needs beside.
type act struct {
	name    string
	op      string
	changes bool
	follows bool // follows a link that is the last step
	do      func(fsys ambit.FileSystem, path string) error
}

// acts are all that can be done at a path. source is a file that one is moved
// from.
func acts(source string) []act {
	write := func(o *ambit.WriteOptions) func(ambit.FileSystem, string) error {
		return func(fsys ambit.FileSystem, path string) error {
			return second(ambit.WriteFile(ctx, fsys, path, []byte("N"), o))
		}
	}
	remove := func(o *ambit.RemoveOptions) func(ambit.FileSystem, string) error {
		return func(fsys ambit.FileSystem, path string) error { return ambit.Remove(ctx, fsys, path, o) }
	}
	renameTo := func(o *ambit.RenameOptions) func(ambit.FileSystem, string) error {
		return func(fsys ambit.FileSystem, path string) error {
			return second(ambit.Rename(ctx, fsys, source, path, o))
		}
	}
	mkdir := func(o *ambit.MkdirOptions) func(ambit.FileSystem, string) error {
		return func(fsys ambit.FileSystem, path string) error {
			return second(ambit.Mkdir(ctx, fsys, path, o))
		}
	}
	commit := func(changes func(path string) []ambit.Change) func(ambit.FileSystem, string) error {
		return func(fsys ambit.FileSystem, path string) error {
			return second(ambit.Commit(ctx, fsys, changes(path)))
		}
	}
	return []act{
		{name: "open", op: ambit.OpOpen, follows: true, do: func(fsys ambit.FileSystem, path string) error {
			f, err := fsys.Open(ctx, path)
			if err == nil {
				f.Close()
			}
			return err
		}},
		{name: "stat", op: ambit.OpStat, follows: true, do: func(fsys ambit.FileSystem, path string) error { return second(fsys.Stat(ctx, path)) }},
		{name: "list", op: ambit.OpList, follows: true, do: func(fsys ambit.FileSystem, path string) error {
			return second(fsys.List(ctx, path, &ambit.ListOptions{Details: true}))
		}},
		{name: "sub", op: ambit.OpSub, follows: true, do: func(fsys ambit.FileSystem, path string) error {
			sub, err := ambit.Sub(ctx, fsys, path)
			if c, ok := sub.(io.Closer); ok && err == nil {
				c.Close()
			}
			return err
		}},
		{name: "lstat", op: ambit.OpLstat, do: func(fsys ambit.FileSystem, path string) error {
			return second(fsys.(ambit.Linker).Lstat(ctx, path))
		}},
		{name: "readlink", op: ambit.OpReadLink, do: func(fsys ambit.FileSystem, path string) error {
			return second(fsys.(ambit.Linker).ReadLink(ctx, path))
		}},
		{name: "write", op: ambit.OpWrite, changes: true, follows: true, do: write(nil)},
		{name: "write with parents", op: ambit.OpWrite, changes: true, follows: true, do: write(&ambit.WriteOptions{Parents: true})},
		{name: "write another version", op: ambit.OpWrite, changes: true, follows: true, do: write(&ambit.WriteOptions{If: ambit.IfVersion("another")})},
		{name: "create", op: ambit.OpWrite, changes: true, do: write(&ambit.WriteOptions{If: ambit.IfAbsent()})},
		{name: "append", op: ambit.OpAppend, changes: true, follows: true, do: func(fsys ambit.FileSystem, path string) error {
			return second(ambit.Append(ctx, fsys, path, readerOf("N"), nil))
		}},
		{name: "stage", op: ambit.OpStage, changes: true, follows: true, do: func(fsys ambit.FileSystem, path string) error {
			s, err := ambit.Stage(ctx, fsys, path, readerOf("N"), nil)
			if err == nil {
				_, err = s.Publish(ctx)
			}
			return err
		}},
		{name: "remove", op: ambit.OpRemove, changes: true, do: remove(nil)},
		{name: "remove all", op: ambit.OpRemove, changes: true, do: remove(&ambit.RemoveOptions{Recursive: true})},
		{name: "remove if there", op: ambit.OpRemove, changes: true, do: remove(&ambit.RemoveOptions{Recursive: true, MissingOK: true})},
		{name: "rename from", op: ambit.OpRename, changes: true, do: func(fsys ambit.FileSystem, path string) error {
			return second(ambit.Rename(ctx, fsys, path, "renamed", nil))
		}},
		{name: "rename to", op: ambit.OpRename, changes: true, do: renameTo(nil)},
		{name: "rename over", op: ambit.OpRename, changes: true, do: renameTo(&ambit.RenameOptions{Replace: true, Parents: true})},
		{name: "mkdir", op: ambit.OpMkdir, changes: true, do: mkdir(nil)},
		{name: "mkdir with parents", op: ambit.OpMkdir, changes: true, do: mkdir(&ambit.MkdirOptions{Parents: true})},
		{name: "commit of a write", op: ambit.OpCommit, changes: true, follows: true, do: commit(func(path string) []ambit.Change {
			return []ambit.Change{
				{Op: ambit.OpWrite, Path: "committed", Content: readerOf("N")},
				{Op: ambit.OpWrite, Path: path, Content: readerOf("N")},
			}
		})},
		{name: "commit of a removal", op: ambit.OpCommit, changes: true, do: commit(func(path string) []ambit.Change {
			return []ambit.Change{
				{Op: ambit.OpRemove, Path: path},
				{Op: ambit.OpWrite, Path: "committed", Content: readerOf("N")},
			}
		})},
	}
}

// publications are the ways to give a file a content. The result is that of
// the change.
var publications = []struct {
	name    string
	appends bool
	do      func(fsys ambit.FileSystem, path, text string, o *ambit.WriteOptions) (ambit.WriteResult, error)
}{
	{name: "write", do: func(fsys ambit.FileSystem, path, text string, o *ambit.WriteOptions) (ambit.WriteResult, error) {
		return ambit.WriteFile(ctx, fsys, path, []byte(text), o)
	}},
	{name: "write a version", do: func(fsys ambit.FileSystem, path, text string, o *ambit.WriteOptions) (ambit.WriteResult, error) {
		with := *o
		if info, err := fsys.Stat(ctx, path); with.If.IsZero() && err == nil {
			with.If = ambit.IfVersion(info.Version)
		} else if with.If.IsZero() {
			with.If = ambit.IfAbsent()
		}
		return ambit.WriteFile(ctx, fsys, path, []byte(text), &with)
	}},
	{name: "stage", do: func(fsys ambit.FileSystem, path, text string, o *ambit.WriteOptions) (ambit.WriteResult, error) {
		s, err := ambit.Stage(ctx, fsys, path, readerOf(text), o)
		if err != nil {
			return ambit.WriteResult{}, err
		}
		return s.Publish(ctx)
	}},
	{name: "commit", do: func(fsys ambit.FileSystem, path, text string, o *ambit.WriteOptions) (ambit.WriteResult, error) {
		r, err := ambit.Commit(ctx, fsys, []ambit.Change{{Op: ambit.OpWrite, Path: path, Content: readerOf(text), If: o.If, Parents: o.Parents, Mode: o.Mode}})
		if err != nil {
			return ambit.WriteResult{}, err
		}
		return r[0], nil
	}},
	{name: "append", appends: true, do: func(fsys ambit.FileSystem, path, text string, o *ambit.WriteOptions) (ambit.WriteResult, error) {
		return ambit.Append(ctx, fsys, path, readerOf(text), &ambit.AppendOptions{If: o.If, Parents: o.Parents, Mode: o.Mode})
	}},
}

// modeOf returns the permission bits and set bits of a path of the host.
func modeOf(t testing.TB, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	must(t, err)
	return info.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
}

func inodeOf(t testing.TB, path string) uint64 {
	t.Helper()
	info, err := os.Lstat(path)
	must(t, err)
	return uint64(info.Sys().(*syscall.Stat_t).Ino)
}

func bytesOf(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

// withUmask sets the umask of this process for one test.
func withUmask(t testing.TB, mask int) {
	t.Helper()
	old := syscall.Umask(mask)
	t.Cleanup(func() { syscall.Umask(old) })
}

// A value that cannot be kept is refused by New, and the error tells nothing
// of the host that the caller has not written.
func TestBadOptions(t *testing.T) {
	base := fastDir(t)
	must(t, os.MkdirAll(filepath.Join(base, "root/d"), 0o777))
	must(t, os.WriteFile(filepath.Join(base, "root/f"), []byte("F"), 0o666))
	must(t, os.Symlink(base, filepath.Join(base, "root/out")))
	t.Chdir(base)
	one := []ambit.Reason{ambit.ErrInvalid}
	outside := []ambit.Reason{ambit.ErrOutside, ambit.ErrInvalid}
	text := []ambit.Reason{ambit.ErrInvalidPath, ambit.ErrInvalid}
	for name, c := range map[string]struct {
		o    local.Options
		want []ambit.Reason
	}{
		"a file mode with set-uid":        {local.Options{NewFileMode: 0o644 | fs.ModeSetuid}, one},
		"a file mode with a sticky bit":   {local.Options{NewFileMode: 0o644 | fs.ModeSticky}, one},
		"a file mode of a folder":         {local.Options{NewFileMode: 0o644 | fs.ModeDir}, one},
		"a file mode of unknown bits":     {local.Options{NewFileMode: 0o1644}, one},
		"a folder mode with the type bit": {local.Options{NewDirMode: 0o755 | fs.ModeDir}, one},
		"a folder mode with set-gid":      {local.Options{NewDirMode: 0o755 | fs.ModeSetgid}, one},
		"a folder mode of unknown bits":   {local.Options{NewDirMode: 0o2755}, one},
		"a negative size":                 {local.Options{MaxFileSize: -1}, one},
		"no links":                        {local.Options{Links: ambit.LinksNone}, one},
		"an unknown link rule":            {local.Options{Links: 99}, one},
		"an unknown rule of hard links":   {local.Options{HardLinks: 99}, one},
		"an unknown durability":           {local.Options{Durability: 99}, one},
		"a working directory above":       {local.Options{Cwd: ".."}, outside},
		"a working directory outside":     {local.Options{Cwd: "out"}, outside},
		"no name denied":                  {local.Options{Deny: []string{""}}, text},
		"a NUL denied":                    {local.Options{Deny: []string{"a\x00b"}}, text},
		"a long name denied":              {local.Options{Deny: []string{strings.Repeat("n", 256)}}, text},
		"something above denied":          {local.Options{Deny: []string{"../x"}}, outside},
		"something outside denied":        {local.Options{Deny: []string{"out/x"}}, outside},
		"the root denied":                 {local.Options{Deny: []string{"/"}}, one},
		"the root denied by a dot":        {local.Options{Deny: []string{"."}}, one},
		"the root denied from a folder":   {local.Options{Deny: []string{"d/.."}}, one},
		"one good and one bad denied":     {local.Options{Deny: []string{"f", ""}}, text},
		"no name read-only":               {local.Options{ReadOnly: []string{""}}, text},
		"a NUL read-only":                 {local.Options{ReadOnly: []string{"a\x00b"}}, text},
		"something above read-only":       {local.Options{ReadOnly: []string{"../x"}}, outside},
		"something outside read-only":     {local.Options{ReadOnly: []string{"out/x"}}, outside},
	} {
		fsys, err := local.New("root", &c.o)
		if fsys != nil || !slices.Contains(c.want, ambit.ReasonOf(err)) {
			t.Errorf("%s: %v, %v, want one of %q", name, fsys, err, c.want)
		}
		if err == nil {
			fsys.Close()
			continue
		}
		var e *ambit.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v is no *ambit.Error", name, err)
		}
		if told := fmt.Sprintf("%v %+v %#v", err, err, e); strings.Contains(told, base) {
			t.Errorf("%s shows the host: %s", name, told)
		}
	}
	for name, o := range map[string]*local.Options{
		"nil": nil, "the defaults": {}, "all by name": {
			Cwd: "/d", Deny: []string{"/nothing/yet"}, ReadOnly: []string{"/d"}, Links: ambit.LinksFollowed, HardLinks: local.HardLinksRefused,
			Durability: local.Durable, NewFileMode: 0o600, NewDirMode: 0o700, MaxFileSize: 1,
		},
	} {
		fsys, err := local.New("root", o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		fsys.Close()
	}
}

// An options value is the caller's: changed after New it changes nothing.
func TestOptionsAreCopied(t *testing.T) {
	w := newWorldIn(t, fastDir(t), "secret = S\nfixed/\nfixed/f = F\nopen = O")
	o := local.Options{Deny: []string{"/secret"}, ReadOnly: []string{"/fixed"}}
	fsys := serve(t, w.root, &o)
	o.Deny[0], o.ReadOnly[0] = "/open", "/open"
	o.MaxFileSize = 1
	if err := second(fsys.Open(ctx, "secret")); sketch(err) != "denied deny" {
		t.Errorf("open of what was denied: %v", err)
	}
	if err := second(ambit.WriteFile(ctx, fsys, "fixed/f", []byte("N"), nil)); ambit.ReasonOf(err) != ambit.ErrReadOnly {
		t.Errorf("a write of what was read-only: %v", err)
	}
	write(t, fsys, "open", "longer", nil)
}

func TestNewModes(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		for _, c := range []struct {
			umask               int
			file, dir           fs.FileMode // options
			wantFile, wantDir   fs.FileMode
			given, wantGiven    fs.FileMode
			existing, unchanged fs.FileMode
		}{
			{umask: 0o022, wantFile: 0o644, wantDir: 0o755, given: 0o666, wantGiven: 0o666, existing: 0o640, unchanged: 0o640},
			{umask: 0o077, wantFile: 0o600, wantDir: 0o700, given: 0o640, wantGiven: 0o640, existing: 0o666, unchanged: 0o666},
			{umask: 0, wantFile: 0o666, wantDir: 0o777, given: 0o600, wantGiven: 0o600, existing: 0o751, unchanged: 0o751},
			{umask: 0o077, file: 0o664, dir: 0o775, wantFile: 0o664, wantDir: 0o775, given: 0o604, wantGiven: 0o604, existing: 0o606, unchanged: 0o606},
			{umask: 0, file: 0o600, dir: 0o700, wantFile: 0o600, wantDir: 0o700, given: 0o660, wantGiven: 0o660, existing: 0o660, unchanged: 0o660},
			{umask: 0o022, file: 0o755, wantFile: 0o755, wantDir: 0o755, given: 0o644, wantGiven: 0o644, existing: 0o644, unchanged: 0o644},
			{umask: 0o027, dir: 0o711, wantFile: 0o640, wantDir: 0o711, given: 0o444, wantGiven: 0o444, existing: 0o600, unchanged: 0o600},
		} {
			for _, p := range publications {
				t.Run(fmt.Sprintf("%s/umask %03o file %03o folder %03o", p.name, c.umask, c.file, c.dir), func(t *testing.T) {
					w := newWorldIn(t, fastDir(t), "old = O")
					must(t, os.Chmod(w.host("old"), c.existing))
					withUmask(t, c.umask)
					fsys := serve(t, w.root, with(&local.Options{NewFileMode: c.file, NewDirMode: c.dir}))
					shows := func(path string, want fs.FileMode, r *ambit.WriteResult) {
						t.Helper()
						if got := modeOf(t, w.host(path)); got != want {
							t.Errorf("%s has mode %o, want %o", path, got, want)
						}
						info, err := fsys.Stat(ctx, path)
						must(t, err)
						if info.Mode != want || r != nil && r.Info.Mode != want {
							t.Errorf("%s is described with mode %o, want %o, the result is %+v", path, info.Mode, want, r)
						}
					}
					r, err := p.do(fsys, "a/b/new", "N", &ambit.WriteOptions{Parents: true})
					must(t, err)
					shows("a", c.wantDir, nil)
					shows("a/b", c.wantDir, nil)
					shows("a/b/new", c.wantFile, &r)
					r, err = p.do(fsys, "given", "N", &ambit.WriteOptions{Mode: c.given})
					must(t, err)
					shows("given", c.wantGiven, &r)
					r, err = p.do(fsys, "old", "N", &ambit.WriteOptions{})
					must(t, err)
					shows("old", c.unchanged, &r)
					must(t, second(fsys.Mkdir(ctx, "made/deep", &ambit.MkdirOptions{Parents: true})))
					shows("made", c.wantDir, nil)
					shows("made/deep", c.wantDir, nil)
					must(t, second(fsys.Rename(ctx, "old", "moved/old", &ambit.RenameOptions{Parents: true})))
					shows("moved", c.wantDir, nil)
					shows("moved/old", c.unchanged, nil)
				})
			}
		}
	})
}

// A file that gets a mode nobody may write is made, and then it is kept.
func TestNewFileModeWithoutWriting(t *testing.T) {
	w := newWorldIn(t, fastDir(t), "")
	fsys := serve(t, w.root, &local.Options{NewFileMode: 0o444})
	write(t, fsys, "f", "F", nil)
	for _, p := range publications {
		if _, err := p.do(fsys, "f", "N", &ambit.WriteOptions{}); ambit.ReasonOf(err) != ambit.ErrPermission {
			t.Errorf("%s: %v", p.name, err)
		}
	}
	if text := bytesOf(t, w.host("f")); text != "F" {
		t.Errorf("the file holds %q", text)
	}
}

// endless is a reader that has more than anybody wants.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read += int64(len(p))
	if e.read > 1<<30 {
		return 0, errors.New("read on and on")
	}
	return len(p), nil
}

func TestMaxFileSize(t *testing.T) {
	const limit = 8
	exact, over := strings.Repeat("x", limit), strings.Repeat("x", limit+1)
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		for _, p := range publications {
			t.Run(p.name, func(t *testing.T) {
				w := newWorldIn(t, fastDir(t), "f = old\nlarge = larger than it may be\nd/")
				fsys := serve(t, w.root, with(&local.Options{MaxFileSize: limit}))
				if c := fsys.Capabilities(); c.MaxFileSize != limit {
					t.Errorf("the limit is told as %d", c.MaxFileSize)
				}
				before := w.snapshot(t)
				for _, path := range []string{"f", "new", "a/b/new", "d/new"} {
					_, err := p.do(fsys, path, over, &ambit.WriteOptions{Parents: true})
					var e *ambit.Error
					if !errors.As(err, &e) || e.Reason != ambit.ErrTooLarge || e.Limit != limit || e.Size != 0 && e.Size <= limit {
						t.Errorf("%s: %v (%+v), want too-large with Limit %d and Size over it", path, err, e, limit)
					}
					if diff := difference(before, w.snapshot(t)); diff != nil {
						t.Errorf("%s: left %q", path, diff)
					}
				}
				fill := exact
				if p.appends {
					fill = exact[len("old"):]
					if err := second(p.do(fsys, "f", fill+"x", &ambit.WriteOptions{})); ambit.ReasonOf(err) != ambit.ErrTooLarge {
						t.Errorf("appending one byte too many: %v", err)
					}
					if err := second(p.do(fsys, "large", "x", &ambit.WriteOptions{})); ambit.ReasonOf(err) != ambit.ErrTooLarge {
						t.Errorf("appending to a file over the limit: %v", err)
					}
					if diff := difference(before, w.snapshot(t)); diff != nil {
						t.Errorf("a refused append left %q", diff)
					}
				} else {
					must(t, second(p.do(fsys, "large", exact, &ambit.WriteOptions{})))
				}
				r, err := p.do(fsys, "f", fill, &ambit.WriteOptions{})
				must(t, err)
				if info, err := os.Stat(w.host("f")); err != nil || info.Size() != limit || r.Info.Size != limit {
					t.Errorf("a file of just the limit: %+v, %v", r, err)
				}
				must(t, second(p.do(fsys, "fresh", exact, &ambit.WriteOptions{})))
				must(t, second(p.do(fsys, "empty", "", &ambit.WriteOptions{})))
				leftovers(t, w.root)
			})
		}
		// What has no end is refused before it fills the disk.
		w := newWorldIn(t, fastDir(t), "f = old")
		fsys := serve(t, w.root, with(&local.Options{MaxFileSize: limit}))
		before := w.snapshot(t)
		for name, do := range map[string]func(content io.Reader) error{
			"write":  func(r io.Reader) error { return second(fsys.Write(ctx, "f", r, nil)) },
			"stage":  func(r io.Reader) error { return second(fsys.Stage(ctx, "f", r, nil)) },
			"append": func(r io.Reader) error { return second(ambit.Append(ctx, fsys, "f", r, nil)) },
			"commit": func(r io.Reader) error {
				return second(ambit.Commit(ctx, fsys, []ambit.Change{{Op: ambit.OpWrite, Path: "f", Content: r}}))
			},
		} {
			content := &endless{}
			if err := do(content); ambit.ReasonOf(err) != ambit.ErrTooLarge {
				t.Errorf("%s without end: %v", name, err)
			}
			if content.read > 16<<20 {
				t.Errorf("%s without end: %d bytes were read", name, content.read)
			}
			if diff := difference(before, w.snapshot(t)); diff != nil {
				t.Errorf("%s without end left %q", name, diff)
			}
		}
		// The content's own fault comes first where it does.
		cause := errors.New("the reader's own")
		err := second(fsys.Write(ctx, "f", io.MultiReader(readerOf("x"), readerFunc(func([]byte) (int, error) { return 0, cause })), nil))
		if ambit.ReasonOf(err) != ambit.ErrIO || !errors.Is(err, cause) {
			t.Errorf("a reader that fails within the limit: %v", err)
		}
	})
	if c := serve(t, fastDir(t), nil).Capabilities(); c.MaxFileSize != 0 {
		t.Errorf("without the option the limit is told as %d", c.MaxFileSize)
	}
}

func TestDurability(t *testing.T) {
	w := newWorldIn(t, fastDir(t), "f = F")
	durable, fast := serve(t, w.root, nil), serve(t, w.root, &local.Options{Durability: local.NotDurable})
	if fast.Capabilities().Durable {
		t.Error("durable is claimed where nothing is synced")
	}
	for _, p := range publications {
		must(t, second(p.do(fast, "f", "by "+p.name, &ambit.WriteOptions{})))
		if text, _ := read(t, durable, "f"); !strings.HasSuffix(text, "by "+p.name) {
			t.Errorf("after %s there is %q", p.name, text)
		}
	}
	leftovers(t, w.root)
}

// A file with several names is not written where hard links are refused; all
// else is free.
func TestHardLinksRefused(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		for name, o := range map[string]*local.Options{"default": {}, "by name": {HardLinks: local.HardLinksRefused}} {
			t.Run(name, func(t *testing.T) {
				w := newWorldIn(t, fastDir(t), "f = F\nsingle = S\nlink -> f\nd/")
				must(t, os.Link(w.host("f"), w.host("d/twin")))
				must(t, os.Link(w.host("f"), filepath.Join(w.outside, "abroad")))
				fsys := serve(t, w.root, with(o))
				before := w.snapshot(t)
				for _, path := range []string{"f", "d/twin", "link"} {
					for _, p := range publications {
						_, err := p.do(fsys, path, "N", &ambit.WriteOptions{})
						var e *ambit.Error
						if sketch(err) != "denied hard-links" || !errors.As(err, &e) || e.Detail == "" {
							t.Errorf("%s of %s: %v, want denied by the rule hard-links with a Detail", p.name, path, err)
						}
						if diff := difference(before, w.snapshot(t)); diff != nil {
							t.Fatalf("%s of %s changed %q", p.name, path, diff)
						}
					}
					if text, info := read(t, fsys, path); text != "F" || info.Links != 3 {
						t.Errorf("%s is read as %q, %+v", path, text, info)
					}
				}
				// All or none.
				err := second(ambit.Commit(ctx, fsys, []ambit.Change{
					{Op: ambit.OpWrite, Path: "single", Content: readerOf("N")},
					{Op: ambit.OpWrite, Path: "f", Content: readerOf("N")},
				}))
				if sketch(err) != "denied hard-links" {
					t.Errorf("commit of one of them: %v", err)
				}
				if diff := difference(before, w.snapshot(t)); diff != nil {
					t.Errorf("a refused commit changed %q", diff)
				}
				// A second name that comes between Stage and Publish.
				s, err := fsys.Stage(ctx, "single", readerOf("N"), nil)
				must(t, err)
				must(t, os.Link(w.host("single"), w.host("second")))
				if err := second(s.Publish(ctx)); ambit.ReasonOf(err) != ambit.ErrDenied {
					t.Errorf("Publish over a file that has got a second name: %v", err)
				}
				if text := bytesOf(t, w.host("second")); text != "S" {
					t.Errorf("the second name has %q", text)
				}
				// Names are free.
				must(t, second(fsys.Rename(ctx, "d/twin", "twin", nil)))
				must(t, fsys.Remove(ctx, "second", nil))
				must(t, second(fsys.Rename(ctx, "single", "twin", &ambit.RenameOptions{Replace: true})))
				if text := bytesOf(t, filepath.Join(w.outside, "abroad")); text != "F" {
					t.Errorf("the name outside has %q", text)
				}
				must(t, os.Remove(filepath.Join(w.outside, "abroad")))
				// The last name is written as any other.
				for _, p := range publications {
					if _, err := p.do(fsys, "f", "N", &ambit.WriteOptions{}); err != nil {
						t.Errorf("%s of the last name: %v", p.name, err)
					}
				}
				must(t, os.Link(w.host("f"), w.host("again")))
				if fsys.Capabilities().Commit {
					must(t, second(fsys.Commit(ctx, []ambit.Change{{Op: ambit.OpRemove, Path: "again"}})))
				}
				leftovers(t, w.root)
			})
		}
	})
}

// Where hard links are broken the written name gets a file of its own, and no
// other name is touched.
func TestHardLinksBroken(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		for _, p := range publications {
			t.Run(p.name, func(t *testing.T) {
				w := newWorldIn(t, fastDir(t), "f = F\nlink -> f\nd/")
				must(t, os.Chmod(w.host("f"), 0o640))
				must(t, os.Link(w.host("f"), w.host("d/twin")))
				must(t, os.Link(w.host("f"), filepath.Join(w.outside, "abroad")))
				shared := inodeOf(t, w.host("f"))
				fsys := serve(t, w.root, with(&local.Options{HardLinks: local.HardLinksBroken}))
				r, err := p.do(fsys, "link", "N", &ambit.WriteOptions{})
				must(t, err)
				want := "N"
				if p.appends {
					want = "FN"
				}
				if text, info := read(t, fsys, "f"); text != want || info != r.Info || info.Links != 1 || r.Created {
					t.Errorf("there is %q, %+v, the result was %+v", text, info, r)
				}
				for _, other := range []string{w.host("d/twin"), filepath.Join(w.outside, "abroad")} {
					if text := bytesOf(t, other); text != "F" || inodeOf(t, other) != shared || modeOf(t, other) != 0o640 {
						t.Errorf("another name has %q", text)
					}
				}
				if inodeOf(t, w.host("f")) == shared || modeOf(t, w.host("f")) != 0o640 {
					t.Errorf("the written name has mode %o and is still the shared file, or not", modeOf(t, w.host("f")))
				}
				leftovers(t, w.root)
			})
		}
	})
}

// linksRefused is what the tables of docs/contract.md say of links where they
// are refused: Open, Stat, List, Lstat, ReadLink.
const linksRefused = `
	file           | F /file | file /file | not-a-directory | file /file | invalid
	dir/inner      | I /dir/inner | file /dir/inner | not-a-directory | file /dir/inner | invalid
	missing        | not-found T=/missing | = | = | = | =
	lfile          | denied links | = | = | symlink /lfile | text file
	ldir           | denied links | = | = | symlink /ldir | text dir
	dangling       | denied links | = | = | symlink /dangling | text nowhere
	ldeep          | denied links | = | = | symlink /ldeep | text no/where
	out            | denied links | = | = | symlink /out | outside
	outdir         | denied links | = | = | symlink /outdir | outside
	outmissing     | denied links | = | = | symlink /outmissing | outside
	climb          | denied links | = | = | symlink /climb | outside
	loop           | denied links | = | = | symlink /loop | text loop
	ping           | denied links | = | = | symlink /ping | text pong
	abs            | denied links | = | = | symlink /abs | text /dir
	up             | denied links | = | = | symlink /up | text /dir
	absdangling    | denied links | = | = | symlink /absdangling | text /nowhere
	lfile/x        | denied links | = | = | = | =
	ldir/inner     | denied links | = | = | = | =
	ldir/missing   | denied links | = | = | = | =
	ldir/no/where  | denied links | = | = | = | =
	abs/inner      | denied links | = | = | = | =
	dangling/x     | denied links | = | = | = | =
	outdir/secret-name | denied links | = | = | = | =
	outdir/nothing | denied links | = | = | = | =
	loop/x         | denied links | = | = | = | =
	ldir/..        | not-a-file directory T=/ | directory / | /: * | directory / | invalid
`

// linked are the links of tree.
var linked = []string{"lfile", "ldir", "dangling", "ldeep", "out", "outdir", "outmissing", "climb", "chainout", "loop", "ping", "abs", "up", "absdangling"}

func TestLinksRefused(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		world := func(t *testing.T) (*world, []string) {
			w := newWorldIn(t, fastDir(t), tree+"\n\tsource = S")
			w.fsys = serve(t, w.root, with(&local.Options{Links: ambit.LinksRefused}))
			return w, w.snapshot(t)
		}
		w, before := world(t)
		if c := w.fsys.Capabilities(); c.Links != ambit.LinksRefused {
			t.Errorf("the links are %v", c.Links)
		}
		for line := range strings.Lines(linksRefused) {
			path, row, ok := strings.Cut(strings.TrimSpace(line), "|")
			if path = strings.TrimSpace(path); !ok {
				continue
			}
			cells := strings.Split(row, "|")
			for i, op := range []string{ambit.OpOpen, ambit.OpStat, ambit.OpList, ambit.OpLstat, ambit.OpReadLink} {
				want := strings.TrimSpace(cells[i])
				if want == "=" {
					cells[i] = cells[i-1]
					want = strings.TrimSpace(cells[i])
				}
				got := w.look(t, op, path)
				if prefix, any := strings.CutSuffix(want, "*"); any {
					got, want = got[:min(len(got), len(prefix))], prefix
				}
				if got != want {
					t.Errorf("%s %q: %s, want %s", op, path, got, want)
				}
			}
		}
		// A trailing slash asks for what the link leads to: that is no way round.
		for _, link := range linked {
			for _, slash := range []string{"/", "//", "/."} {
				for _, op := range []string{ambit.OpOpen, ambit.OpStat, ambit.OpList, ambit.OpLstat, ambit.OpReadLink} {
					if got := w.look(t, op, link+slash); got != "denied links" {
						t.Errorf("%s %q: %s, want denied by the rule links", op, link+slash, got)
					}
				}
			}
		}
		var listed []string
		for _, name := range names(t, w.fsys, "/") {
			if slices.Contains(linked, name) {
				listed = append(listed, name)
			}
		}
		if len(listed) != len(linked) {
			t.Errorf("the listing has only the links %q", listed)
		}
		for _, a := range acts("source") {
			for _, link := range linked {
				// Within what an earlier link leads to nothing is done.
				for _, path := range []string{link + "/x", link + "/x/y", "./" + link + "/inner"} {
					err := a.do(w.fsys, path)
					if sketch(err) != "denied links" {
						t.Errorf("%s %q: %v, want denied by the rule links", a.name, path, err)
					}
					w.clean(t, err, a.op, path)
				}
				if a.follows {
					if err := a.do(w.fsys, link); sketch(err) != "denied links" {
						t.Errorf("%s %q: %v, want denied by the rule links", a.name, link, err)
					}
				}
			}
			if diff := difference(before, w.snapshot(t)); diff != nil {
				t.Errorf("%s changed %q", a.name, diff)
				w, before = world(t)
			}
		}
		for _, link := range linked {
			for what, err := range map[string]error{
				"create":             second(w.fsys.Write(ctx, link, readerOf("N"), &ambit.WriteOptions{If: ambit.IfAbsent()})),
				"stage to create":    second(w.fsys.Stage(ctx, link, readerOf("N"), &ambit.WriteOptions{If: ambit.IfAbsent()})),
				"mkdir":              second(w.fsys.Mkdir(ctx, link, nil)),
				"mkdir with parents": second(w.fsys.Mkdir(ctx, link, &ambit.MkdirOptions{Parents: true})),
				"rename to":          second(w.fsys.Rename(ctx, "source", link, nil)),
			} {
				if sketch(err) != "exists symlink" {
					t.Errorf("%s %q: %v", what, link, err)
				}
			}
			if err := w.fsys.Remove(ctx, link+"/", &ambit.RemoveOptions{Recursive: true}); err == nil {
				t.Errorf("%s/ was removed", link)
			}
			if diff := difference(before, w.snapshot(t)); diff != nil {
				t.Fatalf("%s: changed %q", link, diff)
			}
		}
		// The link itself is moved, replaced and removed.
		for _, link := range linked {
			text, err := os.Readlink(w.host(link))
			must(t, err)
			if info, err := w.fsys.Rename(ctx, link, "moved", nil); err != nil || info.Kind != ambit.KindSymlink || info.Path != "/moved" {
				t.Errorf("rename %q: %+v, %v", link, info, err)
				continue
			}
			if now, err := os.Readlink(w.host("moved")); err != nil || now != text {
				t.Errorf("%s was moved as %q, %v", link, now, err)
			}
			must(t, os.WriteFile(w.host("spare"), []byte("S"), 0o666))
			if err := second(w.fsys.Rename(ctx, "spare", "moved", &ambit.RenameOptions{Replace: true})); err != nil {
				t.Errorf("rename over %q: %v", link, err)
			}
			must(t, os.Remove(w.host("moved")))
			must(t, os.Symlink(text, w.host(link)))
			if err := w.fsys.Remove(ctx, link, nil); err != nil {
				t.Errorf("remove %q: %v", link, err)
			}
		}
		left := slices.DeleteFunc(slices.Clone(before), func(line string) bool {
			name, _, isLink := strings.Cut(line, " -> ")
			return isLink && slices.Contains(linked, name)
		})
		if diff := difference(left, w.snapshot(t)); diff != nil {
			t.Errorf("beside the links this changed: %q", diff)
		}
	})
}

// The positive control of the refusals: where links are followed the same
// calls get through.
func TestLinksFollowedByName(t *testing.T) {
	w := newWorldIn(t, fastDir(t), tree)
	fsys := serve(t, w.root, &local.Options{Links: ambit.LinksFollowed})
	if c := fsys.Capabilities(); c.Links != ambit.LinksFollowed || c != w.fsys.Capabilities() {
		t.Errorf("the capabilities are %+v", c)
	}
	if text, info := read(t, fsys, "abs/inner"); text != "I" || info.Path != "/dir/inner" {
		t.Errorf("read %q at %s", text, info.Path)
	}
	write(t, fsys, "lfile", "N", nil)
	if text := bytesOf(t, w.host("file")); text != "N" {
		t.Errorf("the target holds %q", text)
	}
}

// A part that is read-only is refused for every change, and a change of what
// it lies in with it.
func TestReadOnlySubtree(t *testing.T) {
	const tree = `
		source = S
		free = F
		box/
		box/other = O
		box/fixed/
		box/fixed/f = X
		box/fixed/d/
		box/fixed/d/leaf = L
		box/fixed/empty/
		box/fixed/inward -> f
		box/fixed/outward -> ../other
		single/
		single/s = T
		lfixed -> box/fixed
		lf -> box/fixed/f
		lsingle -> $ROOT/single/s
		ldangling -> box/fixed/nothing
	`
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		w := newWorldIn(t, fastDir(t), tree)
		w.fsys = serve(t, w.root, with(&local.Options{ReadOnly: []string{"/box/fixed/", "single"}}))
		fsys := w.fsys
		if c := fsys.Capabilities(); !c.Write || !c.Rename || !c.Commit {
			t.Errorf("what can be changed elsewhere claims %+v", c)
		}
		before := w.snapshot(t)
		refused := func(a act, path string) {
			t.Helper()
			err := a.do(fsys, path)
			if ambit.ReasonOf(err) != ambit.ErrReadOnly || !errors.Is(err, fs.ErrPermission) {
				t.Errorf("%s %q: %v, want read-only", a.name, path, err)
			}
			w.clean(t, err, a.op, path)
			if diff := difference(before, w.snapshot(t)); diff != nil {
				t.Fatalf("%s %q changed %q", a.name, path, diff)
			}
		}
		for _, a := range acts("source") {
			if !a.changes {
				continue
			}
			for _, path := range []string{
				"box/fixed", "box/fixed/", "box/fixed/f", "box/fixed/new", "box/fixed/no/where", "box/fixed/d", "box/fixed/d/leaf", "box/fixed/empty",
				"box/fixed/f/x", "box/fixed/inward", "box/fixed/outward", "./box//fixed/d/../f", "lfixed/f", "lfixed/new", "lfixed/d/leaf", "single", "single/s", "free/../single/s",
			} {
				refused(a, path)
			}
			if a.follows {
				for _, path := range []string{"lf", "lsingle"} {
					refused(a, path)
				}
			}
			if strings.HasPrefix(a.name, "remove all") || strings.HasPrefix(a.name, "remove if") || a.name == "rename from" {
				refused(a, "box")
				refused(a, "box/")
			}
		}
		if err := fsys.Remove(ctx, "box", nil); ambit.ReasonOf(err) != ambit.ErrReadOnly && ambit.ReasonOf(err) != ambit.ErrNotEmpty {
			t.Errorf("plain removal of the folder above: %v", err)
		}
		if err := second(fsys.Write(ctx, "ldangling", readerOf("N"), nil)); err == nil {
			t.Error("a file was made through a dangling link")
		}
		// Moves out, into and within.
		for _, c := range [][2]string{{"box/fixed/f", "stolen"}, {"free", "box/fixed/in"}, {"box/fixed/f", "box/fixed/g"}, {"single/s", "s"}, {"free", "single/t"}} {
			for _, o := range []*ambit.RenameOptions{nil, {Replace: true}} {
				if err := second(fsys.Rename(ctx, c[0], c[1], o)); ambit.ReasonOf(err) != ambit.ErrReadOnly {
					t.Errorf("rename %q to %q: %v", c[0], c[1], err)
				}
			}
		}
		if diff := difference(before, w.snapshot(t)); diff != nil {
			t.Fatalf("refused calls changed %q", diff)
		}
		// It reads as ever.
		if text, info := read(t, fsys, "lf"); text != "X" || info.Path != "/box/fixed/f" {
			t.Errorf("read %q at %s", text, info.Path)
		}
		if got := fmt.Sprint(names(t, fsys, "box/fixed")); got != "[d empty f inward outward]" {
			t.Errorf("listed %s", got)
		}
		// What is not in it is free, links into it included.
		write(t, fsys, "box/other", "N", nil)
		write(t, fsys, "box/fixedly", "N", nil)
		write(t, fsys, "singles", "N", nil)
		must(t, second(fsys.Rename(ctx, "lf", "lmoved", nil)))
		must(t, fsys.Remove(ctx, "lfixed", nil))
		// And in a Sub the part is the same.
		sub, err := ambit.Sub(ctx, fsys, "box")
		must(t, err)
		defer sub.(io.Closer).Close()
		for path, want := range map[string]ambit.Reason{"fixed/f": ambit.ErrReadOnly, "fixed/new": ambit.ErrReadOnly, "other": ""} {
			if err := second(ambit.WriteFile(ctx, sub, path, []byte("N"), nil)); ambit.ReasonOf(err) != want {
				t.Errorf("write %q in the Sub: %v, want %q", path, err, want)
			}
		}
		inside, err := ambit.Sub(ctx, fsys, "box/fixed/d")
		must(t, err)
		defer inside.(io.Closer).Close()
		if inside.Capabilities().Write {
			t.Error("a Sub of the read-only part claims Write")
		}
		if err := second(ambit.WriteFile(ctx, inside, "leaf", []byte("N"), nil)); ambit.ReasonOf(err) != ambit.ErrReadOnly {
			t.Errorf("write in the Sub of the read-only part: %v", err)
		}
		if text := bytesOf(t, w.host("box/fixed/d/leaf")); text != "L" {
			t.Errorf("the leaf holds %q", text)
		}
	})
}

// With everything read-only nothing that changes is claimed.
func TestReadOnlyRoot(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		for _, root := range []string{"/", ".", "d/.."} {
			w := newWorldIn(t, fastDir(t), "source = S\nf = F\nd/\nd/x = X")
			w.fsys = serve(t, w.root, with(&local.Options{ReadOnly: []string{root}}))
			writable := serve(t, w.root, with(&local.Options{})).Capabilities()
			c := w.fsys.Capabilities()
			if want := writable.ReadOnly(); c != want {
				t.Errorf("%q: claims %+v, want %+v", root, c, want)
			}
			if _, err := ambit.Writable(w.fsys); ambit.ReasonOf(err) != ambit.ErrReadOnly {
				t.Errorf("%q: Writable: %v", root, err)
			}
			before := w.snapshot(t)
			for _, a := range acts("source") {
				for _, path := range []string{"f", "new", "d", "d/x", "/", "..", ""} {
					err := a.do(w.fsys, path)
					if a.changes && ambit.ReasonOf(err) != ambit.ErrReadOnly {
						t.Errorf("%q: %s %q: %v", root, a.name, path, err)
					}
				}
			}
			for what, err := range map[string]error{
				"write":  second(w.fsys.Write(ctx, "f", readerOf("N"), nil)),
				"remove": w.fsys.Remove(ctx, "f", nil),
				"rename": second(w.fsys.Rename(ctx, "f", "g", nil)),
				"mkdir":  second(w.fsys.Mkdir(ctx, "g", nil)),
				"stage":  second(w.fsys.Stage(ctx, "f", readerOf("N"), nil)),
			} {
				if ambit.ReasonOf(err) != ambit.ErrReadOnly {
					t.Errorf("%q: %s: %v", root, what, err)
				}
			}
			if diff := difference(before, w.snapshot(t)); diff != nil {
				t.Errorf("%q: changed %q", root, diff)
			}
			if text, _ := read(t, w.fsys, "d/x"); text != "X" {
				t.Errorf("read %q", text)
			}
		}
	})
}

// What does not exist yet cannot be made behind the back of the rule, if the
// rule is taken at all.
func TestReadOnlyBeforeItExists(t *testing.T) {
	w := newWorldIn(t, fastDir(t), "source = S")
	fsys, err := local.New(w.root, &local.Options{ReadOnly: []string{"/later/part"}})
	if err != nil {
		if r := ambit.ReasonOf(err); r != ambit.ErrNotFound && r != ambit.ErrInvalid {
			t.Errorf("New: %v", err)
		}
		return
	}
	defer fsys.Close()
	before := w.snapshot(t)
	for _, a := range acts("source") {
		if !a.changes || strings.HasPrefix(a.name, "remove") || a.name == "rename from" || a.name == "commit of a removal" {
			continue
		}
		for _, path := range []string{"later/part", "later/part/x"} {
			if err := a.do(fsys, path); ambit.ReasonOf(err) != ambit.ErrReadOnly {
				t.Errorf("%s %q: %v", a.name, path, err)
			}
			if diff := difference(before, w.snapshot(t)); diff != nil {
				t.Fatalf("%s %q changed %q", a.name, path, diff)
			}
		}
	}
	write(t, fsys, "later/other", "O", &ambit.WriteOptions{Parents: true})
}

// A reader's buffer is the caller's own: what a publication has read is not
// changed when the buffer is used again.
func TestContentIsNotKept(t *testing.T) {
	w := newWorldIn(t, fastDir(t), "")
	data := bytes.Repeat([]byte("x"), 1<<16)
	s, err := w.fsys.Stage(ctx, "f", bytes.NewReader(data), nil)
	must(t, err)
	for i := range data {
		data[i] = 'y'
	}
	must(t, second(s.Publish(ctx)))
	if text := bytesOf(t, w.host("f")); text != strings.Repeat("x", 1<<16) {
		t.Error("what was staged has changed with the caller's buffer")
	}
}
