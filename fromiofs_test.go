// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"archive/zip"
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ambitfs/ambit"
)

//go:embed all:testdata/fromiofs
var embedded embed.FS

var bridgedTime = time.Date(2024, 2, 29, 12, 30, 15, 0, time.UTC)

// bridgedTree has one of every kind.
func bridgedTree() fstest.MapFS {
	m := fstest.MapFS{}
	for name, data := range map[string]string{
		"file": "alpha\nbeta\n", "empty": "", "folder/inner": "inner\n", "folder/deep/leaf": "leaf\n", ".dot": "dot\n",
		`back\slash`: "b", "new\nline": "n", "sib.txt": "s", "sib/x": "x", "sibling/x": "y",
	} {
		m[name] = &fstest.MapFile{Data: []byte(data), Mode: 0o644, ModTime: bridgedTime}
	}
	m["hollow"] = &fstest.MapFile{Mode: fs.ModeDir | 0o755, ModTime: bridgedTime}
	links := map[string]string{
		"link-file": "file", "link-folder": "folder", "link-inner": "folder/inner", "folder/link-up": "../file", "folder/deep/root": "../..", "link-link": "link-folder/deep",
		"link-slash": "folder/", "link-dot": ".", "link-round": "link-folder/../file", "file-slash": "file/", "file-dot": "file/.", "file-beneath": "file/x", "file-up": "file/../file",
		"dangling": "nowhere", "dangling-deep": "nowhere/at/all", "dangling-up": "nowhere/../file", "dangling-link": "dangling", "dangling-nested": "link-folder/none", "dangling-slash": "nowhere/", "folder/dangling": "deep/none",
		"outward": "../beside/secret", "outward-folder": "../beside", "folder/outward": "../../beside", "outward-link": "outward", "out-and-in": "../root/file", "outward-through": "outward-folder/x",
		"absolute": "/file", "absolute-host": "/etc/passwd",
		"loop": "loop", "loop-a": "loop-b", "loop-b": "loop-a", "loop-folder": "loop-folder/x",
		"link-fifo": "fifo", "chain0": "folder",
	}
	for i := 1; i <= 41; i++ {
		links[fmt.Sprintf("chain%d", i)] = fmt.Sprintf("chain%d", i-1)
	}
	for name, text := range links {
		m[name] = &fstest.MapFile{Data: []byte(text), Mode: fs.ModeSymlink | 0o777, ModTime: bridgedTime}
	}
	for _, name := range []string{"fifo", "folder/fifo"} {
		m[name] = &fstest.MapFile{Mode: fs.ModeNamedPipe | 0o644, ModTime: bridgedTime}
	}
	return m
}

// bridgedPaths are all paths of m, and what is beneath, beside and behind them.
func bridgedPaths(m fstest.MapFS) []string {
	paths := []string{
		"/", ".", "", "a\x00b", strings.Repeat("n", 256), "..", "/..", "folder/..", "folder/../file", "folder/.", "folder//deep/../inner", "a/../../b", "none/../file", "file/../file",
		"stray\xff", "folder/stray\xff/x", "stray\xff/", "gone", "gone/", "gone/x", "gone/x/y.z", "gone/x/", "...", "~", "%2e", longPath(4095), longPath(4096), strings.Repeat("a/", 2048),
	}
	for name := range m {
		if strings.HasPrefix(name, "chain") {
			paths = append(paths, name, name+"/inner")
			continue
		}
		paths = append(paths, "/"+name, name+"/", name+"/.", name+"/gone", name+"/gone/deeper", name+"/inner", name+"/deep/leaf/", name+"/..")
	}
	slices.Sort(paths)
	return paths
}

// onDisk lays m out in a folder.
func onDisk(t testing.TB, m fstest.MapFS) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "root")
	for _, dir := range []string{root, filepath.Join(root, "../beside")} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "../beside/secret"), []byte("secret"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		f, path := m[name], filepath.Join(root, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		if err == nil {
			switch f.Mode.Type() {
			case 0:
				err = os.WriteFile(path, f.Data, 0o666)
			case fs.ModeDir:
				err = os.MkdirAll(path, 0o777)
			case fs.ModeSymlink:
				err = os.Symlink(string(f.Data), path)
			case fs.ModeNamedPipe:
				err = makeFIFO(path)
			default:
				err = fmt.Errorf("%s has mode %v", name, f.Mode)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// zipped packs m into a zip file.
func zipped(t testing.TB, m fstest.MapFS) *zip.Reader {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, name := range slices.Sorted(maps.Keys(m)) {
		f := m[name]
		h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: f.ModTime}
		h.SetMode(f.Mode)
		if f.Mode.IsDir() {
			h.Name += "/"
		}
		part, err := w.CreateHeader(h)
		if err == nil {
			_, err = part.Write(f.Data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// openRoot opens dir as a root until the end of the test.
func openRoot(t testing.TB, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

// onlyFS hides all but the methods of fs.FS.
type onlyFS struct{ fs.FS }

// statOnlyFS hides that there are links, and its Stat follows them.
type statOnlyFS struct{ m fstest.MapFS }

func (s statOnlyFS) Open(name string) (fs.File, error)          { return s.m.Open(name) }
func (s statOnlyFS) Stat(name string) (fs.FileInfo, error)      { return s.m.Stat(name) }
func (s statOnlyFS) ReadDir(name string) ([]fs.DirEntry, error) { return s.m.ReadDir(name) }

// mapWithout returns m without what keep refuses.
func mapWithout(m fstest.MapFS, drop func(name string, f *fstest.MapFile) bool) fstest.MapFS {
	m = maps.Clone(m)
	maps.DeleteFunc(m, drop)
	return m
}

func subOf(t testing.TB, fsys fs.FS, dir string) fs.FS {
	t.Helper()
	s, err := fs.Sub(fsys, dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// oneFolderDown returns m one folder down.
func oneFolderDown(m fstest.MapFS) fstest.MapFS {
	deeper := fstest.MapFS{}
	for name, f := range m {
		deeper["top/"+name] = f
	}
	return deeper
}

type bridged struct {
	name  string
	fsys  fs.FS
	holds fstest.MapFS // what fsys can show
	caps  ambit.Capabilities
	exact bool // times and modes are those of holds
}

// everyBridged returns file systems of every kind over bridgedTree.
func everyBridged(t testing.TB) []bridged {
	m := bridgedTree()
	onlyFiles := mapWithout(m, func(_ string, f *fstest.MapFile) bool { return f.Mode.Type()&^fs.ModeDir != 0 })
	// A zip file has no names with a backslash.
	inZip := mapWithout(m, func(name string, _ *fstest.MapFile) bool { return strings.Contains(name, `\`) })
	inEmbed := mapWithout(onlyFiles, func(name string, _ *fstest.MapFile) bool {
		_, err := fs.Stat(embedded, "testdata/fromiofs/"+name)
		return err != nil
	})
	follow := ambit.Capabilities{List: true, Links: ambit.LinksFollowed, ReadLink: true}
	refuse := ambit.Capabilities{List: true, Links: ambit.LinksRefused}
	with := func(c ambit.Capabilities, streams, readAt bool) ambit.Capabilities {
		c.Streams, c.ReadAt = streams, readAt
		return c
	}
	all := []bridged{
		{"MapFS", m, m, with(follow, true, true), true},
		{"Sub of MapFS", subOf(t, oneFolderDown(m), "top"), m, follow, true},
		{"MapFS without its methods", onlyFS{m}, m, refuse, true},
		{"MapFS with Stat", statOnlyFS{m}, m, refuse, true},
		{"zip", zipped(t, inZip), inZip, with(refuse, true, false), false},
		{"Sub of zip", subOf(t, zipped(t, oneFolderDown(inZip)), "top"), inZip, with(refuse, true, false), false},
		{"zip without its type", onlyFS{zipped(t, inZip)}, inZip, refuse, false},
		{"embed", subOf(t, embedded, "testdata/fromiofs"), inEmbed, with(refuse, true, true), false},
		{"embed without its type", onlyFS{subOf(t, embedded, "testdata/fromiofs")}, inEmbed, refuse, false},
	}
	if runtime.GOOS != "windows" {
		root := onDisk(t, m)
		all = append(
			all,
			bridged{"os.DirFS", os.DirFS(root), m, with(follow, true, true), false},
			bridged{"os.Root", openRoot(t, root).FS(), m, with(follow, true, true), false},
			bridged{"Sub of os.DirFS", subOf(t, os.DirFS(filepath.Dir(root)), "root"), m, with(follow, true, true), false},
			bridged{"os.DirFS without its methods", onlyFS{os.DirFS(root)}, m, refuse, false},
		)
	}
	return all
}

func TestFromIOFSClaims(t *testing.T) {
	for _, b := range everyBridged(t) {
		if got := ambit.FromIOFS(b.fsys).Capabilities(); got != b.caps {
			t.Errorf("%s claims %+v\nwant %+v", b.name, got, b.caps)
		}
		if _, err := ambit.Writable(ambit.FromIOFS(b.fsys)); ambit.ReasonOf(err) != ambit.ErrReadOnly {
			t.Errorf("%s is writable: %v", b.name, err)
		}
	}
}

// The cells of docs/contract.md, section 4, and 3 for steps before the last.
func TestFromIOFSKeepsTheReadingCells(t *testing.T) {
	const (
		ok      ambit.Reason = ""
		missing              = ambit.ErrNotFound
		noFile               = ambit.ErrNotAFile
		noDir                = ambit.ErrNotADirectory
		outside              = ambit.ErrOutside
		loop                 = ambit.ErrLoop
		denied               = ambit.ErrDenied
		invalid              = ambit.ErrInvalid
	)
	cells := []struct {
		path                             string
		open, stat, list, lstat, textOf  ambit.Reason
		target                           string // canonical path of success, or the error's Target, of Stat
		missingDirs                      string
		openRefused, statRefused, listRe ambit.Reason // where links are refused, if there is a link
	}{
		{path: "gone", open: missing, stat: missing, list: missing, lstat: missing, textOf: missing, target: "/gone"},
		{path: "gone/x/y", open: missing, stat: missing, list: missing, lstat: missing, textOf: missing, target: "/gone/x/y", missingDirs: "/gone /gone/x"},
		{path: "folder/gone/x", open: missing, stat: missing, list: missing, lstat: missing, textOf: missing, target: "/folder/gone/x", missingDirs: "/folder/gone"},
		{path: "file", list: noDir, textOf: invalid, target: "/file"},
		{path: "folder", open: noFile, textOf: invalid, target: "/folder"},
		{path: "/", open: noFile, textOf: invalid, target: "/"},
		{path: ".", open: noFile, textOf: invalid, target: "/"},
		{path: "link-file", list: noDir, target: "/file", openRefused: denied, statRefused: denied, listRe: denied},
		{path: "link-folder", open: noFile, target: "/folder", openRefused: denied, statRefused: denied, listRe: denied},
		{path: "link-folder/deep/root/link-inner", list: noDir, target: "/folder/inner", openRefused: denied, statRefused: denied, listRe: denied},
		{path: "chain39", open: noFile, target: "/folder", openRefused: denied, statRefused: denied, listRe: denied},
		{path: "chain40", open: loop, stat: loop, list: loop, openRefused: denied, statRefused: denied, listRe: denied},
		{path: "dangling", open: missing, stat: missing, list: missing, target: "/nowhere", openRefused: denied, statRefused: denied, listRe: denied},
		{path: "dangling-deep", open: missing, stat: missing, list: missing, target: "/nowhere/at/all", openRefused: denied, statRefused: denied, listRe: denied},
		{path: "outward", open: outside, stat: outside, list: outside, textOf: outside, target: "/outward", openRefused: denied, statRefused: denied, listRe: denied},
		{path: "outward-link", open: outside, stat: outside, list: outside, textOf: outside, target: "/outward-link", openRefused: denied, statRefused: denied, listRe: denied},
		{path: "absolute", open: outside, stat: outside, list: outside, textOf: outside, target: "/absolute", openRefused: denied, statRefused: denied, listRe: denied},
		{path: "out-and-in", open: outside, stat: outside, list: outside, textOf: outside, target: "/out-and-in", openRefused: denied, statRefused: denied, listRe: denied},
		{path: "loop", open: loop, stat: loop, list: loop, openRefused: denied, statRefused: denied, listRe: denied},
		{path: "fifo", open: noFile, stat: noFile, list: noDir, textOf: invalid, target: "/fifo"},
		{path: "link-fifo", open: noFile, stat: noFile, list: noDir, target: "/fifo", openRefused: denied, statRefused: denied, listRe: denied},
		{path: "stray\xff", open: missing, stat: missing, list: missing, lstat: missing, textOf: missing, target: "/stray\xff"},

		{path: "gone/", open: noDir, stat: noDir, list: noDir, lstat: noDir, textOf: noDir},
		{path: "gone/x/", open: noDir, stat: noDir, list: noDir, lstat: noDir, textOf: noDir},
		{path: "dangling/", open: noDir, stat: noDir, list: noDir, lstat: noDir, textOf: noDir, openRefused: denied, statRefused: denied, listRe: denied},
		{path: "file/", open: noDir, stat: noDir, list: noDir, lstat: noDir, textOf: noDir},
		{path: "file/.", open: noDir, stat: noDir, list: noDir, lstat: noDir, textOf: noDir},
		{path: "link-file/", open: noDir, stat: noDir, list: noDir, lstat: noDir, textOf: noDir, openRefused: denied, statRefused: denied, listRe: denied},
		{path: "fifo/", open: noDir, stat: noDir, list: noDir, lstat: noDir, textOf: noDir},
		{path: "folder/", open: noFile, textOf: invalid, target: "/folder"},
		{path: "link-folder/", open: noFile, textOf: invalid, target: "/folder", openRefused: denied, statRefused: denied, listRe: denied},
		{path: "outward-folder/", open: outside, stat: outside, list: outside, lstat: outside, textOf: outside, openRefused: denied, statRefused: denied, listRe: denied},
		{path: "loop/", open: loop, stat: loop, list: loop, lstat: loop, textOf: loop, openRefused: denied, statRefused: denied, listRe: denied},

		{path: "file/x", open: noDir, stat: noDir, list: noDir, lstat: noDir, textOf: noDir, target: "/file"},
		{path: "link-file/x", open: noDir, stat: noDir, list: noDir, lstat: noDir, textOf: noDir, target: "/file", openRefused: denied, statRefused: denied, listRe: denied},
		{path: "fifo/x", open: noDir, stat: noDir, list: noDir, lstat: noDir, textOf: noDir, target: "/fifo"},
		{path: "dangling/x", open: missing, stat: missing, list: missing, lstat: missing, textOf: missing, target: "/nowhere/x", openRefused: denied, statRefused: denied, listRe: denied},
		{path: "outward-folder/secret", open: outside, stat: outside, list: outside, lstat: outside, textOf: outside, target: "/outward-folder/secret", openRefused: denied, statRefused: denied, listRe: denied},
		{path: "outward-folder/none", open: outside, stat: outside, list: outside, lstat: outside, textOf: outside, target: "/outward-folder/none", openRefused: denied, statRefused: denied, listRe: denied},
		{path: "loop/x", open: loop, stat: loop, list: loop, lstat: loop, textOf: loop, openRefused: denied, statRefused: denied, listRe: denied},
		{path: "folder/../../file", open: outside, stat: outside, list: outside, lstat: outside, textOf: outside},
		{path: "", open: ambit.ErrInvalidPath, stat: ambit.ErrInvalidPath, list: ambit.ErrInvalidPath, lstat: ambit.ErrInvalidPath, textOf: ambit.ErrInvalidPath},
		{path: "fi\x00le", open: ambit.ErrInvalidPath, stat: ambit.ErrInvalidPath, list: ambit.ErrInvalidPath, lstat: ambit.ErrInvalidPath, textOf: ambit.ErrInvalidPath},
	}
	everyone := everyBridged(t)
	for i, b := range everyone {
		fsys := ambit.FromIOFS(b.fsys)
		caps := fsys.Capabilities()
		model := modelTree(caps, b.holds)
		for _, c := range cells {
			clean, _, err := ambit.Resolve("/", c.path)
			name, _, _ := strings.Cut(strings.TrimPrefix(clean, "/"), "/")
			if _, there := model.node("/" + name); err == nil && !there && c.target != clean && c.stat != missing && c.stat != noDir {
				continue // the storage cannot hold it
			}
			if n, there := bridgedTree()[name]; there && b.holds[name] == nil && n.Mode.Type() != fs.ModeDir {
				continue
			}
			open, stat, list, lstat, textOf := c.open, c.stat, c.list, c.lstat, c.textOf
			if !caps.ReadLink {
				lstat, textOf = ambit.ErrUnsupported, ambit.ErrUnsupported
				if c.openRefused != "" {
					open, stat, list = c.openRefused, c.statRefused, c.listRe
				}
			}
			// The model is judged by the same table, once.
			judged := map[string]ambit.FileSystem{b.name: fsys}
			if i == 0 {
				judged["the model"] = model
			}
			for who, fsys := range judged {
				want := func(op string, err error, reason ambit.Reason) {
					t.Helper()
					if ambit.ReasonOf(err) != reason {
						t.Errorf("%s: %s %q: %v, want %q", who, op, c.path, err, reason)
					}
				}
				f, err := fsys.Open(t.Context(), c.path)
				want("Open", err, open)
				if f != nil {
					f.Close()
				}
				info, err := fsys.Stat(t.Context(), c.path)
				want("Stat", err, stat)
				if stat == c.stat && c.target != "" {
					var e *ambit.Error
					if got := info.Path; errors.As(err, &e) && (e.Target != c.target || strings.Join(e.MissingDirs, " ") != c.missingDirs) || err == nil && got != c.target {
						t.Errorf("%s: Stat %q: %q, %+v, want %q %q", who, c.path, got, e, c.target, c.missingDirs)
					}
				}
				_, err = fsys.List(t.Context(), c.path, nil)
				want("List", err, list)
				_, err = fsys.(ambit.Linker).Lstat(t.Context(), c.path)
				want("Lstat", err, lstat)
				_, err = fsys.(ambit.Linker).ReadLink(t.Context(), c.path)
				want("ReadLink", err, textOf)
			}
		}
	}
}

// seenOfPath is all that can be seen of one path.
type seenOfPath struct {
	Path  string
	Calls map[string]string
	Data  string
	Info  []ambit.FileInfo
	List  []ambit.Entry
}

// observeAll calls every method on path. Without exact it leaves out what a
// storage need not keep as it was given: times, modes, and sizes of all but
// files.
func observeAll(ctx context.Context, fsys ambit.FileSystem, path string, exact bool) seenOfPath {
	o := seenOfPath{Path: path, Calls: make(map[string]string)}
	failed := func(op string, err error) bool {
		if err == nil {
			return false
		}
		var e *ambit.Error
		if !errors.As(err, &e) || e.Op != op || e.Path != path {
			o.Calls[op] = fmt.Sprintf("not an error of the contract: %#v", err)
		} else {
			o.Calls[op] = fmt.Sprintf("%s kind=%v target=%q missing=%q rule=%q", e.Reason, e.Kind, e.Target, e.MissingDirs, e.Rule)
			if e.Reason == ambit.ErrLoop {
				o.Calls[op] = string(e.Reason)
			}
		}
		return true
	}
	plain := func(i ambit.FileInfo) ambit.FileInfo {
		if i.Kind != ambit.KindRegular {
			i.Size = 0
		}
		if !exact || i.IsDir() {
			i.ModTime, i.Mode = time.Time{}, 0
		}
		i.ModTime = i.ModTime.UTC()
		return i
	}
	if f, err := fsys.Open(ctx, path); !failed(ambit.OpOpen, err) {
		o.Info = append(o.Info, plain(f.Info()))
		data, err := io.ReadAll(f)
		o.Data = string(data)
		o.Calls[ambit.OpRead] = fmt.Sprint(err, f.Verify(ctx), f.Close())
	}
	if info, err := fsys.Stat(ctx, path); !failed(ambit.OpStat, err) {
		o.Info = append(o.Info, plain(info))
	}
	for _, details := range []bool{false, true} {
		if l, err := fsys.List(ctx, path, &ambit.ListOptions{Details: details}); !failed(ambit.OpList, err) {
			o.Calls[ambit.OpList] = l.Dir + l.Next
			for _, e := range l.Entries {
				if details {
					e.Info = plain(e.Info)
				} else {
					e.Info = ambit.FileInfo{Path: e.Info.Path, Kind: e.Info.Kind}
				}
				o.List = append(o.List, e)
			}
		}
	}
	if fsys.Capabilities().ReadLink {
		l := fsys.(ambit.Linker)
		if info, err := l.Lstat(ctx, path); !failed(ambit.OpLstat, err) {
			o.Info = append(o.Info, plain(info))
		}
		if text, err := l.ReadLink(ctx, path); !failed(ambit.OpReadLink, err) {
			o.Calls[ambit.OpReadLink] = text
		}
	}
	return o
}

// agreeOnAll compares everything that can be seen of fsys and want.
func agreeOnAll(t testing.TB, name string, fsys, want ambit.FileSystem, paths []string, exact bool) {
	t.Helper()
	for _, path := range paths {
		model, seen := observeAll(t.Context(), want, path, exact), observeAll(t.Context(), fsys, path, exact)
		if !reflect.DeepEqual(model, seen) {
			t.Errorf("%s: %q differs from the model (-want +got):\n%s", name, path, cmp.Diff(model, seen))
		}
	}
}

func TestFromIOFSAgreesWithTheModel(t *testing.T) {
	for _, b := range everyBridged(t) {
		t.Run(b.name, func(t *testing.T) {
			fsys := ambit.FromIOFS(b.fsys)
			agreeOnAll(t, b.name, fsys, modelTree(fsys.Capabilities(), b.holds), bridgedPaths(bridgedTree()), b.exact)
		})
	}
}

func TestFromIOFSPages(t *testing.T) {
	m := bridgedTree()
	var names []string
	for name := range m {
		if !strings.Contains(name, "/") {
			names = append(names, name)
		}
	}
	names = append(names, "folder", "sib", "sibling")
	slices.Sort(names)
	for name, fsys := range map[string]fs.FS{"MapFS": m, "shuffled": shuffledFS{m}} {
		from := ambit.FromIOFS(fsys)
		whole, err := from.List(t.Context(), "/", nil)
		if err == nil && !slices.EqualFunc(whole.Entries, names, func(e ambit.Entry, name string) bool { return e.Name == name }) {
			t.Errorf("%s: %+v\nwant %q", name, whole.Entries, names)
		}
		if err != nil || len(whole.Entries) < 30 || !slices.IsSortedFunc(whole.Entries, func(a, b ambit.Entry) int { return strings.Compare(a.Name, b.Name) }) {
			t.Fatalf("%s: %v, %v", name, whole, err)
		}
		for _, details := range []bool{false, true} {
			for _, limit := range []int{1, 7, len(whole.Entries), 1000} {
				var got []string
				for o := (&ambit.ListOptions{Limit: limit, Details: details}); ; {
					l, err := from.List(t.Context(), "/", o)
					if err != nil || len(l.Entries) > limit {
						t.Fatalf("%s: %v, %v", name, l, err)
					}
					for _, e := range l.Entries {
						got = append(got, e.Name)
						if details && (e.Info.ModTime.IsZero() && m[e.Name] != nil || e.Info.Path != "/"+e.Name) {
							t.Errorf("%s: no details of %q: %+v", name, e.Name, e.Info)
						}
					}
					if l.Next == "" {
						break
					}
					o.After = l.Next
				}
				var want []string
				for _, e := range whole.Entries {
					want = append(want, e.Name)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s: pages of %d: %q", name, limit, got)
				}
			}
		}
		l, err := from.List(t.Context(), "/", &ambit.ListOptions{After: "chain", Limit: 1})
		if err != nil || len(l.Entries) != 1 || l.Entries[0].Name != "chain0" {
			t.Errorf("%s: behind a name that is not there: %+v, %v", name, l, err)
		}
		l, err = from.List(t.Context(), "/", &ambit.ListOptions{After: "zzz", Limit: 1, Details: true})
		if err != nil || len(l.Entries) != 0 || l.Next != "" {
			t.Errorf("%s: behind the end: %+v, %v", name, l, err)
		}
	}
}

// shuffledFS lists in no order, some entries twice, and some that are none.
type shuffledFS struct{ fstest.MapFS }

func (s shuffledFS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := s.MapFS.ReadDir(name)
	rand.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	entries = append(entries, nil)
	entries = append(entries, entries[:min(5, len(entries))]...)
	for _, bad := range []string{"", ".", "..", "a/b", "/", "stray\xff", "nul\x00", strings.Repeat("n", 256)} {
		entries = append(entries, namedEntry{bad})
	}
	return entries, err
}

type namedEntry struct{ name string }

func (n namedEntry) Name() string               { return n.name }
func (n namedEntry) IsDir() bool                { return false }
func (n namedEntry) Type() fs.FileMode          { return 0 }
func (n namedEntry) Info() (fs.FileInfo, error) { return nil, nil }

// sharedFS lists by a slice of its own.
type sharedFS struct {
	fstest.MapFS
	entries []fs.DirEntry
}

func (s sharedFS) ReadDir(string) ([]fs.DirEntry, error) { return s.entries, nil }

func TestFromIOFSLeavesAForeignListingAlone(t *testing.T) {
	entries := []fs.DirEntry{namedEntry{"b"}, nil, namedEntry{"a"}, namedEntry{".."}, namedEntry{"a"}}
	before := slices.Clone(entries)
	l, err := ambit.FromIOFS(sharedFS{fstest.MapFS{}, entries}).List(t.Context(), "/", &ambit.ListOptions{Details: true})
	if err != nil || len(l.Entries) != 2 {
		t.Errorf("%+v, %v", l, err)
	}
	if !slices.Equal(entries, before) {
		t.Errorf("the slice holds %v now", entries)
	}
}

// followingEntry describes what a link leads to, as no entry should.
type followingEntry struct{ fs.DirEntry }

func (followingEntry) Info() (fs.FileInfo, error) { return oddInfo{size: 4711}, nil }

type followingFS struct{ m fstest.MapFS }

func (f followingFS) Open(name string) (fs.File, error) { return f.m.Open(name) }

func (f followingFS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := f.m.ReadDir(name)
	for i := range entries {
		entries[i] = followingEntry{entries[i]}
	}
	return entries, err
}

func TestFromIOFSBelievesTheListingOfALink(t *testing.T) {
	fsys := ambit.FromIOFS(followingFS{fstest.MapFS{"f": {Data: []byte("f")}, "l": {Data: []byte("f"), Mode: fs.ModeSymlink}}})
	l, err := fsys.List(t.Context(), "/", &ambit.ListOptions{Details: true})
	if err != nil || len(l.Entries) != 2 || l.Entries[1].Info.Kind != ambit.KindSymlink || l.Entries[1].Info.Size != -1 {
		t.Errorf("%+v, %v", l, err)
	}
	if _, err := fsys.Open(t.Context(), "l"); ambit.ReasonOf(err) != ambit.ErrDenied {
		t.Errorf("through the link: %v", err)
	}
}

// A canonical path is a valid input, so there is none that is over-long.
func TestFromIOFSOverlongPaths(t *testing.T) {
	dir := longPath(4090)
	m := fstest.MapFS{
		dir[1:] + "/abcd": {Data: []byte("at the limit")}, dir[1:] + "/abcde": {Data: []byte("over it")},
		"l": {Data: []byte(dir[1:]), Mode: fs.ModeSymlink},
	}
	fsys := ambit.FromIOFS(m)
	for path, want := range map[string]ambit.Reason{"l": "", "l/abcd": "", dir + "/abcd": "", "l/abcde": ambit.ErrInvalidPath, "l/gone": "", dir + "/abcde": ambit.ErrInvalidPath} {
		if path == "l/gone" {
			want = ambit.ErrNotFound
		}
		if _, err := fsys.Stat(t.Context(), path); ambit.ReasonOf(err) != want {
			t.Errorf("Stat of %d bytes: %v, want %q", len(path), err, want)
		}
	}
	l, err := fsys.List(t.Context(), "l", nil)
	if err != nil || len(l.Entries) != 1 || l.Entries[0].Name != "abcd" {
		t.Errorf("%d entries, %v", len(l.Entries), err)
	}
}

// swappingFS puts a link that leads out in place of a file just before it is
// opened.
type swappingFS struct {
	fs.ReadLinkFS
	swap func()
}

func (s swappingFS) Open(name string) (fs.File, error) {
	s.swap()
	return s.ReadLinkFS.Open(name)
}

func TestFromIOFSSeesAFileSwappedForALink(t *testing.T) {
	top := t.TempDir()
	writeOnDisk(t, filepath.Join(top, "secret"), "secret")
	writeOnDisk(t, filepath.Join(top, "root/f"), "f")
	linkOnDisk(t, "../secret", filepath.Join(top, "link"))
	disk := os.DirFS(filepath.Join(top, "root")).(fs.ReadLinkFS)
	swaps := 0
	fsys := ambit.FromIOFS(swappingFS{disk, func() {
		if swaps++; swaps == 1 {
			if err := os.Rename(filepath.Join(top, "link"), filepath.Join(top, "root/f")); err != nil {
				t.Error(err)
			}
		}
	}})
	if f, err := fsys.Open(t.Context(), "f"); ambit.ReasonOf(err) != ambit.ErrOutside {
		t.Errorf("%v, %v", f, err)
	}
	// The control: opened without a look, it does lead out.
	if data, err := fs.ReadFile(disk, "f"); string(data) != "secret" || err != nil {
		t.Errorf("os.DirFS: %q, %v", data, err)
	}
	if swaps != 1 {
		t.Errorf("%d files were opened", swaps)
	}
}

// Whatever is wrong is judged in the order of docs/contract.md.
func TestFromIOFSOrderOfJudgement(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	negative := &ambit.ListOptions{Limit: -1}
	fsys := ambit.FromIOFS(bridgedTree())
	for _, c := range []struct {
		ctx  context.Context
		path string
		o    *ambit.ListOptions
		want ambit.Reason
	}{
		{canceled, "", negative, ambit.ErrCanceled},
		{t.Context(), "", negative, ambit.ErrInvalidPath},
		{t.Context(), "..", negative, ambit.ErrOutside},
		{t.Context(), "gone", negative, ambit.ErrInvalid},
		{t.Context(), "outward", negative, ambit.ErrInvalid},
		{t.Context(), "gone", nil, ambit.ErrNotFound},
	} {
		if _, err := fsys.List(c.ctx, c.path, c.o); ambit.ReasonOf(err) != c.want {
			t.Errorf("List(%q, %+v): %v, want %s", c.path, c.o, err, c.want)
		}
	}
	refusing := ambit.FromIOFS(onlyFS{bridgedTree()}).(ambit.Linker)
	if _, err := refusing.Lstat(canceled, ""); ambit.ReasonOf(err) != ambit.ErrUnsupported {
		t.Errorf("Lstat without links: %v", err)
	}
}

func TestFromIOFSFile(t *testing.T) {
	for _, b := range everyBridged(t) {
		t.Run(b.name, func(t *testing.T) {
			fsys := ambit.FromIOFS(b.fsys)
			f, err := fsys.Open(t.Context(), "folder/inner")
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := f.(io.ReaderAt); ok != b.caps.ReadAt {
				t.Errorf("an io.ReaderAt: %v", ok)
			}
			if err := iotest.TestReader(f, []byte("inner\n")); err != nil {
				t.Error(err)
			}
			if at, ok := f.(io.ReaderAt); ok {
				p := make([]byte, 4)
				for _, c := range []struct {
					off  int64
					want string
					err  error
				}{{0, "inne", nil}, {3, "er\n", io.EOF}, {6, "", io.EOF}, {7, "", io.EOF}, {1 << 40, "", io.EOF}, {1<<63 - 1, "", io.EOF}} {
					if n, err := at.ReadAt(p, c.off); string(p[:n]) != c.want || err != c.err {
						t.Errorf("ReadAt(%d): %q, %v", c.off, p[:n], err)
					}
				}
				if _, err := at.ReadAt(p, -1); ambit.ReasonOf(err) != ambit.ErrInvalid {
					t.Errorf("ReadAt(-1): %v", err)
				}
			}
			if err := f.Verify(t.Context()); err != nil {
				t.Error(err)
			}
			own, err := fsys.Open(t.Context(), "folder/inner")
			if err != nil {
				t.Fatal(err)
			}
			if data, err := io.ReadAll(own); string(data) != "inner\n" || err != nil {
				t.Errorf("a second File: %q, %v", data, err)
			}
			for range 2 {
				if err := f.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			}
			if err := own.Verify(t.Context()); err != nil {
				t.Errorf("the other File: %v", err)
			}
			own.Close()
			_, readErr := f.Read(make([]byte, 1))
			errs := []error{readErr, f.Verify(t.Context())}
			if at, ok := f.(io.ReaderAt); ok {
				_, err := at.ReadAt(make([]byte, 1), 0)
				errs = append(errs, err)
			}
			for _, err := range errs {
				if ambit.ReasonOf(err) != ambit.ErrClosed {
					t.Errorf("after Close: %v", err)
				}
			}
			if i := f.Info(); i.Path != "/folder/inner" || i.Size != 6 || i.Kind != ambit.KindRegular {
				t.Errorf("Info: %+v", i)
			}
		})
	}
}

func TestFromIOFSVerify(t *testing.T) {
	later := bridgedTime.Add(time.Second)
	regular := func(data string, at time.Time) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(data), Mode: 0o644, ModTime: at}
	}
	for name, change := range map[string]func(m fstest.MapFS){
		"the size":             func(m fstest.MapFS) { m["d/f"] = regular("longer", bridgedTime) },
		"the size in place":    func(m fstest.MapFS) { m["d/f"].Data = []byte("longer") },
		"the time":             func(m fstest.MapFS) { m["d/f"] = regular("bytes", later) },
		"gone":                 func(m fstest.MapFS) { delete(m, "d/f") },
		"gone with its folder": func(m fstest.MapFS) { delete(m, "d/f"); delete(m, "d/g") },
		"a folder": func(m fstest.MapFS) {
			m["d/f"] = &fstest.MapFile{Mode: fs.ModeDir, Data: []byte("bytes"), ModTime: bridgedTime}
		},
		"a folder's folder": func(m fstest.MapFS) { delete(m, "d/f"); m["d/f/x"] = regular("x", bridgedTime) },
		"a link to an equal": func(m fstest.MapFS) {
			m["d/f"] = &fstest.MapFile{Data: []byte("././g"), Mode: fs.ModeSymlink, ModTime: bridgedTime}
		},
		"a FIFO": func(m fstest.MapFS) {
			m["d/f"] = &fstest.MapFile{Mode: fs.ModeNamedPipe, Data: []byte("bytes"), ModTime: bridgedTime}
		},
		"the folder a file":       func(m fstest.MapFS) { m["d"] = regular("", bridgedTime) },
		"the folder a link":       func(m fstest.MapFS) { m["d"] = &fstest.MapFile{Data: []byte("e"), Mode: fs.ModeSymlink} },
		"the folder a link out":   func(m fstest.MapFS) { m["d"] = &fstest.MapFile{Data: []byte("../e"), Mode: fs.ModeSymlink} },
		"the folder a loop":       func(m fstest.MapFS) { m["d"] = &fstest.MapFile{Data: []byte("d"), Mode: fs.ModeSymlink} },
		"nothing":                 func(fstest.MapFS) {},
		"a file beside it, alone": func(m fstest.MapFS) { m["d/g"] = regular("other", later) },
	} {
		for _, hide := range []bool{false, true} {
			m := fstest.MapFS{"d/f": regular("bytes", bridgedTime), "d/g": regular("bytes", bridgedTime), "e/f": regular("bytes", bridgedTime)}
			var fsys fs.FS = m
			if hide {
				fsys = onlyFS{m}
			}
			f, err := ambit.FromIOFS(fsys).Open(t.Context(), "d/f")
			if err != nil {
				t.Fatal(err)
			}
			change(m)
			want := ambit.ErrChanged
			if name == "nothing" || name == "a file beside it, alone" {
				want = ""
			}
			if err := f.Verify(t.Context()); ambit.ReasonOf(err) != want {
				t.Errorf("%s changed (methods hidden: %v): %v, want %q", name, hide, err, want)
			}
			f.Close()
		}
	}
}

// On a disk another file is another file, whatever its size and time.
func TestFromIOFSVerifySeesAnotherFileOfADisk(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	put := func() {
		writeOnDisk(t, path+".new", "bytes")
		if err := os.Chtimes(path+".new", bridgedTime, bridgedTime); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	for name, fsys := range map[string]fs.FS{"os.DirFS": os.DirFS(dir), "os.Root": openRoot(t, dir).FS()} {
		put()
		f, err := ambit.FromIOFS(fsys).Open(t.Context(), "f")
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Verify(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		put()
		if err := f.Verify(t.Context()); ambit.ReasonOf(err) != ambit.ErrChanged {
			t.Errorf("%s: another file of the same size and time: %v", name, err)
		}
		if data, err := io.ReadAll(f); string(data) != "bytes" || err != nil {
			t.Errorf("%s: the file that was opened: %q, %v", name, data, err)
		}
		f.Close()
	}
}

// While a file is replaced again and again, every read gives one version.
func TestFromIOFSReadsOneVersion(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	put := func(i int) error {
		if err := os.WriteFile(path+".new", bytes.Repeat([]byte{byte('a' + i%26)}, 1<<16), 0o666); err != nil {
			return err
		}
		return os.Rename(path+".new", path)
	}
	if err := put(0); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 1; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := put(i); err != nil {
				t.Error(err)
				return
			}
		}
	})
	fsys := ambit.FromIOFS(os.DirFS(dir))
	verified := 0
	for range 500 {
		data, _, err := ambit.ReadFile(t.Context(), fsys, "f")
		switch ambit.ReasonOf(err) {
		case ambit.ErrChanged:
		case "":
			verified++
			if len(data) != 1<<16 || bytes.Count(data, data[:1]) != len(data) {
				t.Fatalf("%d bytes of several versions", len(data))
			}
		default:
			if runtime.GOOS != "windows" {
				t.Fatal(err)
			}
		}
	}
	close(stop)
	writer.Wait()
	if verified == 0 {
		t.Error("no read was verified")
	}
}

// countingFS counts what it is asked.
type countingFS struct {
	fstest.MapFS
	calls  int
	cancel func() // on the call after which the context is done
	after  int
}

func (c *countingFS) count() {
	if c.calls++; c.calls == c.after {
		c.cancel()
	}
}

func (c *countingFS) Open(name string) (fs.File, error) {
	c.count()
	f, err := c.MapFS.Open(name)
	return f, err
}

func (c *countingFS) Lstat(name string) (fs.FileInfo, error) {
	c.count()
	return c.MapFS.Lstat(name)
}

func (c *countingFS) Stat(name string) (fs.FileInfo, error) {
	c.count()
	return c.MapFS.Stat(name)
}

func (c *countingFS) ReadDir(name string) ([]fs.DirEntry, error) {
	c.count()
	return c.MapFS.ReadDir(name)
}

func (c *countingFS) ReadLink(name string) (string, error) {
	c.count()
	return c.MapFS.ReadLink(name)
}

// hiddenCounting has no links.
type hiddenCounting struct{ c *countingFS }

func (h hiddenCounting) Open(name string) (fs.File, error)          { return h.c.Open(name) }
func (h hiddenCounting) ReadDir(name string) ([]fs.DirEntry, error) { return h.c.ReadDir(name) }

// Once its context is done, a call asks for nothing more.
func TestFromIOFSStopsWithItsContext(t *testing.T) {
	why := errors.New("enough")
	for _, links := range []bool{false, true} {
		for after := range 8 {
			for op, call := range map[string]func(ctx context.Context, fsys ambit.FileSystem) error{
				"Open": func(ctx context.Context, fsys ambit.FileSystem) error {
					f, err := fsys.Open(ctx, "folder/deep/leaf")
					if err == nil {
						_, err = f.Read(make([]byte, 1))
					}
					return err
				},
				"Stat": func(ctx context.Context, fsys ambit.FileSystem) error {
					_, err := fsys.Stat(ctx, "folder/deep/leaf")
					return err
				},
				"List": func(ctx context.Context, fsys ambit.FileSystem) error {
					_, err := fsys.List(ctx, "folder/deep", &ambit.ListOptions{Details: true})
					return err
				},
				"Lstat": func(ctx context.Context, fsys ambit.FileSystem) error {
					_, err := fsys.(ambit.Linker).Lstat(ctx, "link-folder/deep")
					return err
				},
				"ReadLink": func(ctx context.Context, fsys ambit.FileSystem) error {
					_, err := fsys.(ambit.Linker).ReadLink(ctx, "link-inner")
					return err
				},
			} {
				ctx, cancel := context.WithCancelCause(t.Context())
				open := func(c *countingFS) fs.FS {
					if links {
						return c
					}
					return hiddenCounting{c}
				}
				whole := &countingFS{MapFS: bridgedTree(), after: -1}
				wholeErr := call(ctx, ambit.FromIOFS(open(whole)))
				counting := &countingFS{MapFS: bridgedTree(), cancel: func() { cancel(why) }, after: after}
				if after == 0 {
					cancel(why)
				}
				err := call(ctx, ambit.FromIOFS(open(counting)))
				switch {
				case !links && (op == "Lstat" || op == "ReadLink"):
					if ambit.ReasonOf(err) != ambit.ErrUnsupported || counting.calls > 0 {
						t.Errorf("%s without links: %v", op, err)
					}
				case after > whole.calls || after == whole.calls && err == nil:
					if err != nil || wholeErr != nil {
						t.Errorf("%s: %v, %v", op, err, wholeErr)
					}
				case ambit.ReasonOf(err) != ambit.ErrCanceled || !errors.Is(err, why) || !errors.Is(err, context.Canceled):
					t.Errorf("%s, canceled in call %d of %d: %v", op, after, whole.calls, err)
				case counting.calls > after:
					t.Errorf("%s, canceled in call %d, made %d", op, after, counting.calls)
				}
				cancel(nil)
			}
		}
	}
}

func TestFromIOFSOpenFileKeepsItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f, err := ambit.FromIOFS(bridgedTree()).Open(ctx, "file")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := f.Verify(canceledContext(t)); ambit.ReasonOf(err) != ambit.ErrCanceled {
		t.Errorf("Verify with its own context done: %v", err)
	}
	cancel()
	_, readErr := f.Read(make([]byte, 1))
	_, readAtErr := f.(io.ReaderAt).ReadAt(make([]byte, 1), 0)
	for op, err := range map[string]error{"Read": readErr, "ReadAt": readAtErr, "Verify": f.Verify(t.Context())} {
		if ambit.ReasonOf(err) != ambit.ErrCanceled {
			t.Errorf("%s after the context of Open: %v", op, err)
		}
	}
	late, cancelLate := context.WithTimeout(t.Context(), -time.Second)
	defer cancelLate()
	if _, err := ambit.FromIOFS(bridgedTree()).Stat(late, "file"); ambit.ReasonOf(err) != ambit.ErrTimeout {
		t.Errorf("Stat after the deadline: %v", err)
	}
}

func canceledContext(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// oddFS does as it is told.
type oddFS struct {
	open func(name string) (fs.File, error)
}

func (o oddFS) Open(name string) (fs.File, error) { return o.open(name) }

type oddStatFS struct {
	oddFS
	stat func(name string) (fs.FileInfo, error)
}

func (o oddStatFS) Stat(name string) (fs.FileInfo, error) { return o.stat(name) }

type oddLinkFS struct {
	oddFS
	lstat    func(name string) (fs.FileInfo, error)
	readLink func(name string) (string, error)
}

func (o oddLinkFS) Lstat(name string) (fs.FileInfo, error)     { return o.lstat(name) }
func (o oddLinkFS) ReadLink(name string) (string, error)       { return o.readLink(name) }
func (o oddLinkFS) ReadDir(name string) ([]fs.DirEntry, error) { return nil, fs.ErrNotExist }

// oddFile reads as it is told.
type oddFile struct {
	fs.File
	stat func() (fs.FileInfo, error)
	read func(p []byte) (int, error)
}

func (o oddFile) Stat() (fs.FileInfo, error) {
	if o.stat != nil {
		return o.stat()
	}
	return o.File.Stat()
}

func (o oddFile) Read(p []byte) (int, error) {
	if o.read != nil {
		return o.read(p)
	}
	return o.File.Read(p)
}

type oddInfo struct {
	fs.FileInfo
	mode fs.FileMode
	size int64
}

func (o oddInfo) Mode() fs.FileMode  { return o.mode }
func (o oddInfo) Size() int64        { return o.size }
func (o oddInfo) ModTime() time.Time { return time.Time{} }

const hostPlace = "/home/somebody/private/place"

// Whatever an fs.FS does, the answer is an error of the contract.
func TestFromIOFSOverAnOddFS(t *testing.T) {
	m := bridgedTree()
	hostError := &fs.PathError{Op: "open", Path: hostPlace, Err: errors.New("odd")}
	openFails := func(err error) fs.FS { return oddFS{func(string) (fs.File, error) { return nil, err }} }
	fileOf := func(change func(f fs.File) fs.File) fs.FS {
		return oddFS{func(name string) (fs.File, error) {
			f, err := m.Open(name)
			if err == nil && name == "file" {
				f = change(f)
			}
			return f, err
		}}
	}
	reading := func(read func(p []byte) (int, error)) fs.FS {
		return fileOf(func(f fs.File) fs.File { return oddFile{File: f, read: read} })
	}
	linkOf := func(text string, err error) fs.FS {
		return oddLinkFS{
			lstat: func(name string) (fs.FileInfo, error) {
				if name == "file" {
					return oddInfo{mode: fs.ModeSymlink}, nil
				}
				return m.Lstat(name)
			},
			readLink: func(string) (string, error) { return text, err },
		}
	}
	for name, c := range map[string]struct {
		fsys             fs.FS
		open, stat, list ambit.Reason
	}{
		"an empty map":         {fstest.MapFS(nil), ambit.ErrNotFound, ambit.ErrNotFound, ""},
		"no file, no error":    {openFails(nil), ambit.ErrIO, ambit.ErrIO, ambit.ErrIO},
		"an error with a path": {openFails(hostError), ambit.ErrIO, ambit.ErrIO, ambit.ErrIO},
		"invalid for all":      {openFails(fs.ErrInvalid), ambit.ErrNotFound, ambit.ErrNotFound, ambit.ErrNotADirectory},
		"permission":           {openFails(&fs.PathError{Op: "open", Path: hostPlace, Err: fs.ErrPermission}), ambit.ErrPermission, ambit.ErrPermission, ambit.ErrPermission},
		"closed":               {openFails(fs.ErrClosed), ambit.ErrClosed, ambit.ErrClosed, ambit.ErrClosed},
		"Stat gives nothing":   {oddStatFS{oddFS{m.Open}, func(string) (fs.FileInfo, error) { return nil, nil }}, ambit.ErrIO, ambit.ErrIO, ambit.ErrIO},
		"File.Stat gives nothing": {fileOf(func(f fs.File) fs.File {
			return oddFile{File: f, stat: func() (fs.FileInfo, error) { return nil, nil }}
		}), ambit.ErrIO, ambit.ErrIO, ""},
		"File.Stat fails": {fileOf(func(f fs.File) fs.File {
			return oddFile{File: f, stat: func() (fs.FileInfo, error) { return nil, hostError }}
		}), ambit.ErrIO, ambit.ErrIO, ""},
		"opens something else":     {oddStatFS{oddFS{func(name string) (fs.File, error) { return m.Open("folder") }}, m.Stat}, ambit.ErrNotAFile, "", ""},
		"no folder can be listed":  {oddStatFS{oddFS{func(name string) (fs.File, error) { return m.Open("file") }}, m.Stat}, "", "", ambit.ErrUnsupported},
		"Lstat gives nothing":      {oddLinkFS{lstat: func(string) (fs.FileInfo, error) { return nil, nil }}, ambit.ErrIO, ambit.ErrIO, ambit.ErrIO},
		"Lstat says a link, alone": {linkOf("", &fs.PathError{Op: "readlink", Path: hostPlace, Err: fs.ErrInvalid}), ambit.ErrDenied, ambit.ErrDenied, ambit.ErrNotFound},
		"no link can be read":      {linkOf("", errors.ErrUnsupported), ambit.ErrDenied, ambit.ErrDenied, ambit.ErrNotFound},
		"a link fails":             {linkOf("", hostError), ambit.ErrIO, ambit.ErrIO, ambit.ErrNotFound},
		"a link says outside":      {linkOf("", &ambit.Error{Op: "x", Path: hostPlace, Target: hostPlace, Reason: ambit.ErrOutside}), ambit.ErrOutside, ambit.ErrOutside, ambit.ErrNotFound},
		"a link to a stray name":   {linkOf("stray\xff", nil), ambit.ErrNotFound, ambit.ErrNotFound, ambit.ErrNotFound},
		"a link to a NUL":          {linkOf("a\x00b", nil), ambit.ErrNotFound, ambit.ErrNotFound, ambit.ErrNotFound},
		"a link to a long name":    {linkOf(strings.Repeat("n", 256), nil), ambit.ErrNotFound, ambit.ErrNotFound, ambit.ErrNotFound},
		"another's error":          {openFails(&ambit.Error{Op: "x", Path: hostPlace, Target: hostPlace, MissingDirs: []string{hostPlace}, Reason: ambit.ErrTooLarge}), ambit.ErrTooLarge, ambit.ErrTooLarge, ambit.ErrTooLarge},
	} {
		fsys := ambit.FromIOFS(c.fsys)
		f, openErr := fsys.Open(t.Context(), "file")
		if (f == nil) == (openErr == nil) {
			t.Errorf("%s: Open gives %v, %v", name, f, openErr)
		}
		_, statErr := fsys.Stat(t.Context(), "file")
		_, listErr := fsys.List(t.Context(), "/", nil)
		for _, r := range []struct {
			op   string
			err  error
			want ambit.Reason
		}{{"open", openErr, c.open}, {"stat", statErr, c.stat}, {"list", listErr, c.list}} {
			if ambit.ReasonOf(r.err) != r.want {
				t.Errorf("%s: %s: %v, want %q", name, r.op, r.err, r.want)
			}
			var e *ambit.Error
			if r.err != nil && (!errors.As(r.err, &e) || e.Op != r.op || strings.Contains(fmt.Sprintf("%v %+v", r.err, *e), hostPlace)) {
				t.Errorf("%s: %s: %#v", name, r.op, r.err)
			}
			for err := r.err; err != nil; err = errors.Unwrap(err) {
				if strings.Contains(err.Error(), hostPlace) {
					t.Errorf("%s: %s: the chain has a path of the host: %v", name, r.op, err)
				}
			}
		}
	}

	for name, c := range map[string]struct {
		fsys fs.FS
		want ambit.Reason
	}{
		"too many bytes":     {reading(func(p []byte) (int, error) { return len(p) + 1, nil }), ambit.ErrIO},
		"less than none":     {reading(func([]byte) (int, error) { return -1, nil }), ambit.ErrIO},
		"less, and the end":  {reading(func([]byte) (int, error) { return -1, io.EOF }), ambit.ErrIO},
		"nothing, for ever":  {reading(func([]byte) (int, error) { return 0, nil }), ambit.ErrIO},
		"an error of a host": {reading(func([]byte) (int, error) { return 0, hostError }), ambit.ErrIO},
		"not found":          {reading(func([]byte) (int, error) { return 0, fs.ErrNotExist }), ambit.ErrNotFound},
	} {
		f, err := ambit.FromIOFS(c.fsys).Open(t.Context(), "file")
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadAll(f)
		if ambit.ReasonOf(err) != c.want || strings.Contains(err.Error(), hostPlace) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		f.Close()
	}
	slow := []string{"al", "", "pha", "", ""}
	f, err := ambit.FromIOFS(reading(func(p []byte) (int, error) {
		if len(slow) == 0 {
			return copy(p, "!"), io.EOF
		}
		n := copy(p, slow[0])
		slow = slow[1:]
		return n, nil
	})).Open(t.Context(), "file")
	if err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(f); string(data) != "alpha!" || err != nil {
		t.Errorf("a slow reader: %q, %v", data, err)
	}
	info, err := ambit.FromIOFS(oddStatFS{oddFS{m.Open}, func(string) (fs.FileInfo, error) { return oddInfo{size: -7}, nil }}).Stat(t.Context(), "file")
	if err != nil || info.Size != -1 {
		t.Errorf("a size below zero: %+v, %v", info, err)
	}
}

// leakingFS counts the files that are open.
type leakingFS struct {
	fs.FS
	open *int
}

func (l leakingFS) Open(name string) (fs.File, error) {
	f, err := l.FS.Open(name)
	if err != nil {
		return nil, err
	}
	*l.open++
	if d, ok := f.(fs.ReadDirFile); ok {
		return leakingDir{d, l.open}, nil
	}
	return leakingFile{f, l.open}, nil
}

type leakingFile struct {
	fs.File
	open *int
}

func (l leakingFile) Close() error {
	*l.open--
	return l.File.Close()
}

type leakingDir struct {
	fs.ReadDirFile
	open *int
}

func (l leakingDir) Close() error {
	*l.open--
	return l.ReadDirFile.Close()
}

func TestFromIOFSClosesWhatItOpens(t *testing.T) {
	m := bridgedTree()
	lying := oddFS{func(string) (fs.File, error) { return m.Open("fifo") }}
	statless := oddFS{func(name string) (fs.File, error) {
		f, err := m.Open(name)
		return oddFile{File: f, stat: func() (fs.FileInfo, error) { return nil, fs.ErrPermission }}, err
	}}
	for name, fsys := range map[string]fs.FS{"MapFS": m, "nothing opens as it is": lying, "nothing opened has a Stat": statless} {
		var open int
		leaking := leakingFS{fsys, &open}
		for _, from := range []ambit.FileSystem{
			ambit.FromIOFS(leaking),
			ambit.FromIOFS(oddStatFS{oddFS{leaking.Open}, m.Stat}),
			ambit.FromIOFS(struct{ oddLinkFS }{oddLinkFS{oddFS{leaking.Open}, m.Lstat, m.ReadLink}}),
		} {
			for _, path := range []string{"file", "folder/inner", "folder", "fifo", "gone", "link-file", "/"} {
				observeAll(t.Context(), from, path, false)
				if open != 0 {
					t.Fatalf("%s: %q: %d files are open", name, path, open)
				}
			}
		}
	}
}

// What Lstat or a listing says is not asked of Open, which may wait for ever.
func TestFromIOFSNeverOpensAFIFO(t *testing.T) {
	m := bridgedTree()
	never := func(name string) (fs.File, error) {
		if info, err := m.Lstat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			t.Errorf("Open(%q), a %v", name, info.Mode().Type())
		}
		return m.Open(name)
	}
	for name, fsys := range map[string]fs.FS{
		"with Lstat":   struct{ oddLinkFS }{oddLinkFS{oddFS{never}, m.Lstat, m.ReadLink}},
		"with nothing": oddFS{never},
		"with Stat": oddStatFS{oddFS{never}, func(name string) (fs.FileInfo, error) {
			return m.Stat(name)
		}},
	} {
		from := ambit.FromIOFS(fsys)
		for _, path := range []string{"fifo", "folder/fifo", "fifo/", "fifo/x", "link-fifo"} {
			for range 2 {
				if f, err := from.Open(t.Context(), path); err == nil {
					f.Close()
					t.Errorf("%s: Open(%q) succeeded", name, path)
				}
				if _, err := from.Stat(t.Context(), path); err == nil {
					t.Errorf("%s: Stat(%q) succeeded", name, path)
				}
				if _, err := from.List(t.Context(), path, nil); err == nil {
					t.Errorf("%s: List(%q) succeeded", name, path)
				}
			}
		}
	}
}

// Maps that package fstest allows and nobody should write.
func TestFromIOFSOverOddMaps(t *testing.T) {
	regular := &fstest.MapFile{Data: []byte("data")}
	m := fstest.MapFS{
		"both": regular, "both/beneath": regular, "//": regular, "a//b": regular, "/abs": regular, "": regular, "../up": regular, "./dot": regular, "d/../x": regular, "end/": regular,
		".": {Mode: fs.ModeDir | 0o700}, "link": {Mode: fs.ModeSymlink, Data: []byte("both")}, "link/beneath": regular, "odd": {Mode: fs.ModeDir | fs.ModeSymlink, Data: []byte("x")},
		"irregular": {Mode: fs.ModeIrregular}, "device": {Mode: fs.ModeDevice | fs.ModeCharDevice},
	}
	fsys := ambit.FromIOFS(m)
	for path, want := range map[string]ambit.Reason{
		"both": "", "both/beneath": ambit.ErrNotADirectory, "link/beneath": ambit.ErrNotADirectory, "link": "", "odd": ambit.ErrNotAFile, "irregular": ambit.ErrNotAFile,
		"device": ambit.ErrNotAFile, "a": ambit.ErrNotAFile, "a/b": ambit.ErrNotFound, "abs": ambit.ErrNotFound, "up": ambit.ErrNotFound, "dot": ambit.ErrNotFound, "x": ambit.ErrNotFound, "/": ambit.ErrNotAFile, "end": ambit.ErrNotAFile,
	} {
		f, err := fsys.Open(t.Context(), path)
		if ambit.ReasonOf(err) != want {
			t.Errorf("Open(%q): %v, want %q", path, err, want)
		}
		if err == nil {
			f.Close()
		}
	}
	for e, err := range ambit.Walk(t.Context(), fsys, "/") {
		if err != nil {
			t.Errorf("%s: %v", e.Info.Path, err)
		}
		if _, err := fsys.(ambit.Linker).Lstat(t.Context(), e.Info.Path); err != nil {
			t.Errorf("%q is listed, but: %v", e.Info.Path, err)
		}
	}
	if err := fstest.TestFS(ambit.IOFS(t.Context(), fsys), "both", "link"); err != nil {
		t.Error(err)
	}
	// "." as a file is no root, and breaks nothing.
	broken := ambit.FromIOFS(fstest.MapFS{".": regular, "a": regular})
	if info, err := broken.Stat(t.Context(), "/"); err != nil || !info.IsDir() {
		t.Errorf("a root that is a file: %+v, %v", info, err)
	}
	if _, err := broken.List(t.Context(), "/", nil); err == nil {
		t.Error("a root that is a file was listed")
	}
}

// A walk by steps ends where the kernel's does.
func TestFromIOFSFollowsLinksAsTheKernelDoes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links are made by privileged users only")
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		m, names := randomTree(random, false)
		root := onDisk(t, m)
		real, err := filepath.EvalSymlinks(root)
		if err != nil {
			t.Fatal(err)
		}
		for which, fsys := range map[string]ambit.FileSystem{"os.DirFS": ambit.FromIOFS(os.DirFS(root)), "os.Root": ambit.FromIOFS(openRoot(t, root).FS())} {
			for range 200 {
				path := "/" + strings.Join([]string{pickName(random, names), pickName(random, names)}[:1+random.IntN(2)], "/")
				info, err := fsys.Stat(t.Context(), path)
				host, hostErr := os.Stat(real + path)
				reason := ambit.ReasonOf(err)
				switch reason {
				case ambit.ErrOutside:
					continue // the kernel knows no root
				case "", ambit.ErrNotAFile:
					target := info.Path
					var e *ambit.Error
					if errors.As(err, &e) {
						target = e.Target
					}
					resolved, evalErr := filepath.EvalSymlinks(real + path)
					if hostErr != nil || evalErr != nil || resolved != strings.TrimSuffix(real+target, "/") {
						t.Errorf("%s: %q leads to %q; on the disk to %q, %v", which, path, target, resolved, evalErr)
					} else if err == nil && (host.IsDir() != info.IsDir() || !host.IsDir() && !host.Mode().IsRegular()) {
						t.Errorf("%s: %q is %v, on the disk %v", which, path, info.Kind, host.Mode())
					}
				default:
					if ambit.ReasonOf(hostErr) != reason {
						t.Errorf("%s: %q: %v, on the disk: %v\n%v", which, path, err, hostErr, m)
					}
				}
			}
		}
	}
}

func pickName(random *rand.Rand, names []string) string { return names[random.IntN(len(names))] }

// randomTree returns a small tree with links of every kind, and all names that
// stand in it. Only a map can be odd: hold what no disk can.
func randomTree(random *rand.Rand, odd bool) (fstest.MapFS, []string) {
	segments := []string{"a", "b", "c", "d.e", "\n", `\`, "ü"}
	texts := append([]string{".", "..", "..", "", "gone"}, segments...)
	if odd {
		segments = append(segments, "x\xff", strings.Repeat("n", 256))
		texts = append(texts, segments[len(segments)-2:]...)
	}
	m := fstest.MapFS{}
	var names []string
	for range 3 + random.IntN(12) {
		var name string
		for i := range 1 + random.IntN(3) {
			if i > 0 {
				name += "/"
			}
			name += pickName(random, segments)
		}
		taken := m[name] != nil
		for other, f := range m {
			// On a disk a name is either a file or a folder.
			if strings.HasPrefix(other, name+"/") && !odd || strings.HasPrefix(name, other+"/") && f.Mode.Type() != fs.ModeDir && !odd {
				taken = true
			}
		}
		if taken {
			continue
		}
		f := &fstest.MapFile{Mode: 0o644, ModTime: bridgedTime}
		switch random.IntN(6) {
		case 0, 1:
			f.Data = []byte(strings.Repeat(name, random.IntN(3)))
		case 2:
			f.Mode |= fs.ModeDir
		case 3, 4:
			f.Mode |= fs.ModeSymlink
			text := make([]string, 1+random.IntN(4))
			for i := range text {
				text[i] = pickName(random, texts)
			}
			f.Data = []byte(strings.Join(text, "/"))
			if len(f.Data) == 0 && !odd {
				f.Data = []byte(".")
			}
			if !odd && f.Data[0] == '/' {
				f.Data = append([]byte("."), f.Data...)
			}
		case 5:
			f.Mode |= fs.ModeNamedPipe
		}
		m[name] = f
		for {
			names = append(names, name, name+"/gone")
			i := strings.LastIndex(name, "/")
			if i < 0 {
				break
			}
			name = name[:i]
		}
	}
	return m, append(names, "gone")
}

// bridgeable leaves out what package io/fs cannot name, but for the folders
// that it makes come to be.
func bridgeable(m fstest.MapFS) fstest.MapFS {
	shown := fstest.MapFS{}
	for name, f := range m {
		segments := strings.Split(name, "/")
		for i, s := range segments {
			if !utf8.ValidString(s) || len(s) > ambit.MaxName {
				if i > 0 {
					dir := strings.Join(segments[:i], "/")
					if m[dir] == nil {
						shown[dir] = &fstest.MapFile{Mode: fs.ModeDir | 0o555}
					}
				}
				segments = nil
				break
			}
		}
		if segments != nil {
			shown[name] = f
		}
	}
	return shown
}

// Both bridges, one after the other, show what the model says can be shown.
func FuzzBridges(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, "a/b")
	}
	f.Add(uint64(99), "a/../b/./c//")
	f.Add(uint64(7), "..")
	f.Add(uint64(8), "x\xff/a")
	f.Fuzz(func(t *testing.T, seed uint64, path string) {
		random := rand.New(rand.NewPCG(seed, 0))
		m, names := randomTree(random, true)
		paths := []string{path, pickName(random, names) + "/" + path, path + "/" + pickName(random, names)}
		for range 20 {
			paths = append(paths, pickName(random, names), pickName(random, names)+"/", pickName(random, names)+"/../"+pickName(random, names), pickName(random, names)+"/"+pickName(random, names))
		}
		from := ambit.FromIOFS(m)
		model := modelTree(from.Capabilities(), bridgeable(m))
		agreeOnAll(t, "MapFS", from, model, paths, true)
		hidden := ambit.FromIOFS(onlyFS{withoutLoops(m)})
		agreeOnAll(t, "MapFS without its methods", hidden, modelTree(hidden.Capabilities(), bridgeable(withoutLoops(m))), paths, true)

		var want []string
		err := fs.WalkDir(m, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if name == "." {
				return nil
			}
			if !utf8.ValidString(d.Name()) || len(d.Name()) > ambit.MaxName || strings.Contains(d.Name(), `\`) {
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
			switch d.Type() {
			case 0, fs.ModeDir:
			case fs.ModeSymlink:
				if _, err := model.Stat(t.Context(), "/"+name); err != nil {
					return nil
				}
			default:
				return nil
			}
			want = append(want, name)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		bridge := ambit.IOFS(t.Context(), from)
		if err := fstest.TestFS(bridge, want...); err != nil {
			t.Error(err)
		}
		var got []string
		err = fs.WalkDir(bridge, ".", func(name string, d fs.DirEntry, err error) error {
			if name == "." || err != nil {
				return err
			}
			got = append(got, name)
			data, err := fs.ReadFile(bridge, name)
			if d.Type() == 0 && (err != nil || !bytes.Equal(data, m[name].Data)) {
				t.Errorf("%q holds %q, %v", name, data, err)
			}
			return nil
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("a walk found %q, %v, want %q", got, err, want)
		}

		// And back again, but for what a first bridge cannot name, in a path or
		// on the way of a link.
		for _, f := range m {
			if f.Mode.Type() == fs.ModeSymlink && bytes.Contains(f.Data, []byte(`\`)) {
				return
			}
		}
		back := ambit.FromIOFS(bridge)
		for _, path := range paths {
			seen, err := from.Stat(t.Context(), path)
			again, againErr := back.Stat(t.Context(), path)
			clean, _, _ := ambit.Resolve("/", path)
			if strings.Contains(clean, `\`) {
				continue
			}
			if ambit.ReasonOf(err) != ambit.ReasonOf(againErr) || err == nil && seen != again && !seen.IsDir() {
				t.Errorf("Stat(%q): %+v, %v; after another round %+v, %v", path, seen, err, again, againErr)
			}
		}
	})
}

// withoutLoops drops links: a MapFS that follows them by itself runs out of
// stack in a loop.
func withoutLoops(m fstest.MapFS) fstest.MapFS {
	return mapWithout(m, func(_ string, f *fstest.MapFile) bool { return f.Mode.Type() == fs.ModeSymlink })
}

// What passes through both bridges is what it was.
func TestBridgesThereAndBack(t *testing.T) {
	nodes := map[string]treeNode{
		"/file": fileNode("alpha\n"), "/empty": fileNode(""), "/folder/inner": fileNode("inner"), "/folder/deep/leaf": fileNode("leaf"), "/hollow": kindNode(ambit.KindDirectory),
		"/link-file": linkNode("file"), "/link-folder": linkNode("folder"), "/folder/up": linkNode("../file"), "/dangling": linkNode("none"), "/out": linkNode("../x"), "/loop": linkNode("loop"),
		"/folder/out": linkNode("../../x"), "/chain": linkNode("folder/out"),
		"/fifo": kindNode(ambit.KindFIFO), "/folder/socket": kindNode(ambit.KindSocket),
	}
	for _, readLink := range []bool{true, false} {
		caps := ambit.Capabilities{List: true, Links: ambit.LinksFollowed, ReadLink: true}
		if !readLink {
			caps = ambit.Capabilities{List: true, Links: ambit.LinksRefused}
		}
		there := newTree(caps, nodes)
		back := ambit.FromIOFS(ambit.IOFS(t.Context(), there))
		if got := back.Capabilities(); got.Links != caps.Links || got.ReadLink != caps.ReadLink {
			t.Errorf("claims %+v", got)
		}
		for path := range nodes {
			for _, path := range []string{path, path + "/", path + "/x", path + "/inner"} {
				for op, call := range map[string]func(ambit.FileSystem) (any, error){
					"Open": func(fsys ambit.FileSystem) (any, error) {
						data, info, err := ambit.ReadFile(t.Context(), fsys, path)
						return fmt.Sprint(string(data), info), err
					},
					"Stat": func(fsys ambit.FileSystem) (any, error) {
						info, err := fsys.Stat(t.Context(), path)
						return info, err
					},
					"List": func(fsys ambit.FileSystem) (any, error) {
						l, err := fsys.List(t.Context(), path, nil)
						if err != nil {
							return nil, err
						}
						var names []string
						for _, e := range l.Entries {
							if _, err := fsys.Stat(t.Context(), e.Info.Path); err == nil {
								names = append(names, e.Name)
							}
						}
						return fmt.Sprint(l.Dir, names), nil
					},
					"Lstat": func(fsys ambit.FileSystem) (any, error) {
						info, err := fsys.(ambit.Linker).Lstat(t.Context(), path)
						return info, err
					},
					"ReadLink": func(fsys ambit.FileSystem) (any, error) {
						text, err := fsys.(ambit.Linker).ReadLink(t.Context(), path)
						return text, err
					},
				} {
					want, wantErr := call(there)
					got, gotErr := call(back)
					if !readLink && ambit.ReasonOf(wantErr) == ambit.ErrDenied {
						// A link that is refused is left out by the first bridge, and
						// may be missing or refused behind the second.
						if gotErr == nil {
							t.Errorf("%s %q succeeds behind both bridges", op, path)
						}
						continue
					}
					var gotFacts, wantFacts *ambit.Error
					if errors.As(gotErr, &gotFacts) && errors.As(wantErr, &wantFacts) &&
						(gotFacts.Kind != wantFacts.Kind || gotFacts.Target != wantFacts.Target && wantFacts.Reason != ambit.ErrLoop || !slices.Equal(gotFacts.MissingDirs, wantFacts.MissingDirs)) {
						t.Errorf("%s %q: %+v\nbehind both bridges: %+v", op, path, wantFacts, gotFacts)
					}
					if ambit.ReasonOf(gotErr) != ambit.ReasonOf(wantErr) || fmt.Sprint(got) != fmt.Sprint(want) {
						t.Errorf("%s %q: %v, %v\nbehind both bridges: %v, %v", op, path, want, wantErr, got, gotErr)
					}
				}
			}
		}
	}
	for _, b := range everyBridged(t) {
		bridge := ambit.IOFS(t.Context(), ambit.FromIOFS(b.fsys))
		if err := fstest.TestFS(bridge, "file", "empty", "folder/inner", "folder/deep/leaf", ".dot"); err != nil {
			t.Errorf("%s: %v", b.name, err)
		}
		if _, ok := bridge.(fs.ReadLinkFS); ok != b.caps.ReadLink {
			t.Errorf("%s: an fs.ReadLinkFS: %v", b.name, ok)
		}
	}
}

func ExampleFromIOFS() {
	files := fstest.MapFS{
		"docs/intro.txt":  {Data: []byte("Read me first.\n")},
		"docs/latest.txt": {Data: []byte("intro.txt"), Mode: fs.ModeSymlink},
		"secret":          {Data: []byte("/etc/passwd"), Mode: fs.ModeSymlink},
	}
	fsys := ambit.FromIOFS(files)
	ctx := context.Background()

	data, info, err := ambit.ReadFile(ctx, fsys, "docs/latest.txt")
	fmt.Printf("%s %q %v\n", info.Path, data, err)

	_, err = fsys.Stat(ctx, "docs/none/today.txt")
	var e *ambit.Error
	if errors.As(err, &e) {
		fmt.Println(e.Reason, e.Target, e.MissingDirs)
	}
	_, err = fsys.Open(ctx, "docs/intro.txt/")
	fmt.Println(ambit.ReasonOf(err))
	_, err = fsys.Open(ctx, "secret")
	fmt.Println(ambit.ReasonOf(err))
	// Output:
	// /docs/intro.txt "Read me first.\n" <nil>
	// not-found /docs/none/today.txt [/docs/none]
	// not-a-directory
	// outside
}

// TestFromIOFSOfNothing: without an fs.FS there is nothing, and no panic. A nil map is an empty tree.
func TestFromIOFSOfNothing(t *testing.T) {
	ctx := t.Context()
	for name, none := range map[string]fs.FS{
		"nothing":    nil,
		"nil MapFS":  (*fstest.MapFS)(nil),
		"nil Reader": (*zip.Reader)(nil),
	} {
		fsys := ambit.FromIOFS(none)
		if c := fsys.Capabilities(); c != (ambit.Capabilities{}) {
			t.Errorf("%s: claimed %+v", name, c)
		}
		_, err := fsys.Stat(ctx, "/")
		wantReason(t, err, ambit.OpStat, "/", ambit.ErrUnsupported)
		_, err = fsys.Open(ctx, "a")
		wantReason(t, err, ambit.OpOpen, "a", ambit.ErrUnsupported)
		_, err = fsys.List(ctx, "/", nil)
		wantReason(t, err, ambit.OpList, "/", ambit.ErrUnsupported)
	}
	if l, err := ambit.FromIOFS(fstest.MapFS(nil)).List(ctx, "/", nil); err != nil || len(l.Entries) != 0 {
		t.Errorf("a nil map: %+v, %v", l, err)
	}
}
