// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ambitfs/ambit"
)

// treeFS is a file system over a map from canonical paths to nodes, written
// for clearness alone: the model that the bridges are compared with. It can
// hold every kind of node and every name.
type treeFS struct {
	nodes    map[string]treeNode
	caps     ambit.Capabilities
	absolute bool // an absolute link text is a path of the tree; else it leads out
}

type treeNode struct {
	kind ambit.Kind
	data string // content of a file, text of a link
	time time.Time
	mode fs.FileMode
}

func (t treeFS) Capabilities() ambit.Capabilities { return t.caps }

func (t treeFS) node(path string) (treeNode, bool) {
	n, ok := t.nodes[path]
	if ok || path == "/" {
		if !ok {
			n = treeNode{kind: ambit.KindDirectory}
		}
		return n, true
	}
	for p := range t.nodes {
		if strings.HasPrefix(p, path+"/") {
			return treeNode{kind: ambit.KindDirectory}, true
		}
	}
	return n, false
}

// resolve returns the canonical path of what the clean path leads to.
func (t treeFS) resolve(path string, follow bool, links *int) (string, *ambit.Error) {
	if path == "/" {
		return path, nil
	}
	dir, err := t.resolve(ambit.Dir(path), true, links)
	if err != nil {
		if err.Reason == ambit.ErrNotFound {
			// The folder is missing too, which a caller can make unless it
			// is where a link leads.
			if err.Detail == "" {
				err.MissingDirs = append(err.MissingDirs, err.Target)
			}
			err.Target = ambit.Join(err.Target, ambit.Base(path))
		}
		return "", err
	}
	if n, _ := t.node(dir); n.kind != ambit.KindDirectory {
		return "", &ambit.Error{Reason: ambit.ErrNotADirectory, Kind: n.kind, Target: dir}
	}
	path = ambit.Join(dir, ambit.Base(path))
	n, ok := t.node(path)
	switch {
	case !ok:
		return "", &ambit.Error{Reason: ambit.ErrNotFound, Target: path}
	case n.kind != ambit.KindSymlink || !follow:
		return path, nil
	case t.caps.Links == ambit.LinksRefused:
		return "", &ambit.Error{Reason: ambit.ErrDenied, Rule: "links"}
	}
	if *links++; *links > 40 {
		return "", &ambit.Error{Reason: ambit.ErrLoop}
	}
	if n.data == "" {
		return "", &ambit.Error{Reason: ambit.ErrNotFound, Target: path, Detail: "dangling"}
	}
	at := dir
	if strings.HasPrefix(n.data, "/") {
		if !t.absolute {
			return "", &ambit.Error{Reason: ambit.ErrOutside}
		}
		at = "/"
	}
	steps := strings.Split(n.data, "/")
	for i, step := range steps {
		if n, _ := t.node(at); n.kind != ambit.KindDirectory {
			return "", &ambit.Error{Reason: ambit.ErrNotADirectory, Kind: n.kind, Target: at}
		}
		switch step {
		case "", ".":
			continue
		case "..":
			if at == "/" {
				return "", &ambit.Error{Reason: ambit.ErrOutside}
			}
			at = ambit.Dir(at)
			continue
		}
		next, err := t.resolve(ambit.Join(at, step), true, links)
		if err != nil {
			if err.Reason == ambit.ErrNotFound {
				err.Detail, err.MissingDirs = "dangling", nil
				for _, s := range steps[i+1:] {
					switch s {
					case "", ".":
					case "..":
						err.Target = ambit.Dir(err.Target)
					default:
						err.Target = ambit.Join(err.Target, s)
					}
				}
			}
			return "", err
		}
		at = next
	}
	return at, nil
}

// find is resolve with the rules for the text, and the trailing slash.
func (t treeFS) find(ctx context.Context, op, path string, follow bool) (string, treeNode, error) {
	if err := ctx.Err(); err != nil {
		return "", treeNode{}, ambit.Wrap(op, path, err)
	}
	clean, dir, err := ambit.Resolve("/", path)
	if err != nil {
		return "", treeNode{}, ambit.Wrap(op, path, err)
	}
	var links int
	at, fault := t.resolve(clean, follow || dir, &links)
	if fault != nil {
		fault.Detail = ""
		switch fault.Reason {
		case ambit.ErrNotFound:
			if dir {
				fault.Reason, fault.MissingDirs = ambit.ErrNotADirectory, nil
			}
		case ambit.ErrOutside, ambit.ErrDenied, ambit.ErrLoop:
			fault.Target = clean
		}
		return "", treeNode{}, ambit.Wrap(op, path, fault)
	}
	n, _ := t.node(at)
	if dir && n.kind != ambit.KindDirectory {
		return "", n, &ambit.Error{Op: op, Path: path, Reason: ambit.ErrNotADirectory, Kind: n.kind, Target: at}
	}
	return at, n, nil
}

func (t treeFS) info(path string, n treeNode) ambit.FileInfo {
	return ambit.FileInfo{Path: path, Kind: n.kind, Size: int64(len(n.data)), ModTime: n.time, Mode: n.mode}
}

func (t treeFS) Open(ctx context.Context, path string) (ambit.File, error) {
	at, n, err := t.find(ctx, ambit.OpOpen, path, true)
	if err != nil {
		return nil, err
	}
	if n.kind != ambit.KindRegular {
		return nil, &ambit.Error{Op: ambit.OpOpen, Path: path, Reason: ambit.ErrNotAFile, Kind: n.kind, Target: at}
	}
	f := &treeFile{ctx: ctx, path: path, r: strings.NewReader(n.data), info: t.info(at, n)}
	if t.caps.ReadAt {
		return treeReaderAt{f}, nil
	}
	return f, nil
}

func (t treeFS) Stat(ctx context.Context, path string) (ambit.FileInfo, error) {
	at, n, err := t.find(ctx, ambit.OpStat, path, true)
	if err != nil {
		return ambit.FileInfo{}, err
	}
	if n.kind != ambit.KindRegular && n.kind != ambit.KindDirectory {
		return ambit.FileInfo{}, &ambit.Error{Op: ambit.OpStat, Path: path, Reason: ambit.ErrNotAFile, Kind: n.kind, Target: at}
	}
	return t.info(at, n), nil
}

func (t treeFS) List(ctx context.Context, dir string, o *ambit.ListOptions) (*ambit.Listing, error) {
	if !t.caps.List {
		return nil, ambit.Unsupported(ambit.OpList, dir)
	}
	at, n, err := t.find(ctx, ambit.OpList, dir, true)
	if err != nil {
		return nil, err
	}
	if err := o.Check(); err != nil {
		return nil, ambit.Wrap(ambit.OpList, dir, err)
	}
	if n.kind != ambit.KindDirectory {
		return nil, &ambit.Error{Op: ambit.OpList, Path: dir, Reason: ambit.ErrNotADirectory, Kind: n.kind, Target: at}
	}
	names := make(map[string]bool)
	for p := range t.nodes {
		if p != "/" && ambit.Contains(at, p) && p != at {
			name, _, _ := strings.Cut(strings.TrimPrefix(p[len(at):], "/"), "/")
			names[name] = true
		}
	}
	var entries []ambit.Entry
	for name := range names {
		p := ambit.Join(at, name)
		n, _ := t.node(p)
		info := ambit.FileInfo{Path: p, Kind: n.kind, Size: -1}
		if o != nil && o.Details {
			info = t.info(p, n)
		}
		entries = append(entries, ambit.Entry{Name: name, Info: info})
	}
	return ambit.Page(at, entries, o), nil
}

func (t treeFS) Lstat(ctx context.Context, path string) (ambit.FileInfo, error) {
	if !t.caps.ReadLink {
		return ambit.FileInfo{}, ambit.Unsupported(ambit.OpLstat, path)
	}
	at, n, err := t.find(ctx, ambit.OpLstat, path, false)
	if err != nil {
		return ambit.FileInfo{}, err
	}
	return t.info(at, n), nil
}

func (t treeFS) ReadLink(ctx context.Context, path string) (string, error) {
	if !t.caps.ReadLink {
		return "", ambit.Unsupported(ambit.OpReadLink, path)
	}
	at, n, err := t.find(ctx, ambit.OpReadLink, path, false)
	if err != nil {
		return "", err
	}
	if n.kind != ambit.KindSymlink {
		return "", &ambit.Error{Op: ambit.OpReadLink, Path: path, Reason: ambit.ErrInvalid, Kind: n.kind, Target: at}
	}
	if _, _, err := t.find(ctx, ambit.OpReadLink, path, true); ambit.ReasonOf(err) == ambit.ErrOutside {
		return "", err
	}
	return n.data, nil
}

type treeFile struct {
	ctx    context.Context
	path   string
	r      *strings.Reader
	info   ambit.FileInfo
	closed bool
}

func (f *treeFile) usable(op string) error {
	if f.closed {
		return ambit.Wrap(op, f.path, ambit.ErrClosed)
	}
	return ambit.Wrap(op, f.path, f.ctx.Err())
}

func (f *treeFile) Read(p []byte) (int, error) {
	if err := f.usable(ambit.OpRead); err != nil {
		return 0, err
	}
	return f.r.Read(p)
}

func (f *treeFile) Close() error {
	f.closed = true
	return nil
}

func (f *treeFile) Info() ambit.FileInfo         { return f.info }
func (f *treeFile) Verify(context.Context) error { return f.usable(ambit.OpVerify) }

type treeReaderAt struct{ *treeFile }

func (f treeReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if err := f.usable(ambit.OpRead); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, ambit.Wrap(ambit.OpRead, f.path, ambit.ErrInvalid)
	}
	return f.r.ReadAt(p, off)
}

var followsLinks = ambit.Capabilities{List: true, Links: ambit.LinksFollowed, ReadLink: true, ReadAt: true}

// fileNode, linkNode and kindNode make nodes.
func fileNode(data string) treeNode {
	return treeNode{kind: ambit.KindRegular, data: data, mode: 0o644, time: time.Unix(1e9, 5).UTC()}
}

func linkNode(text string) treeNode {
	return treeNode{kind: ambit.KindSymlink, data: text, mode: 0o777}
}

func kindNode(k ambit.Kind) treeNode { return treeNode{kind: k, mode: 0o700} }

func newTree(caps ambit.Capabilities, nodes map[string]treeNode) treeFS {
	return treeFS{nodes: nodes, caps: caps}
}

// longPath is a path of names of 200 bytes that is n bytes long.
func longPath(n int) string {
	path := strings.Repeat("/"+strings.Repeat("d", 200), n/201)
	return path + "/" + strings.Repeat("e", n-len(path)-1)
}

// A hostileTree is a tree with what package io/fs can show of it.
type hostileTree struct {
	name   string
	nodes  map[string]treeNode
	shown  []string // with links followed
	absent []string // listed by the file system, and not by the bridge
}

var hostileTrees = []hostileTree{
	{name: "empty"},
	{
		name:  "plain",
		nodes: map[string]treeNode{"/a": fileNode("alpha\nbeta\n"), "/empty": fileNode(""), "/d/b": fileNode("b"), "/d/e/f": fileNode("f"), "/h": kindNode(ambit.KindDirectory), "/.dot": fileNode("dot")},
		shown: []string{"a", "empty", "d", "d/b", "d/e", "d/e/f", "h", ".dot"},
	},
	{
		name: "odd but expressible names",
		nodes: map[string]treeNode{
			"/new\nline": fileNode("1"), "/tab\t": fileNode("2"), "/*[?]": fileNode("3"), "/ ": fileNode("4"), "/...": fileNode("5"), "/..x/~": fileNode("6"),
			"/%2e%2e": fileNode("7"), "/#?": fileNode("8"), "/ünïcode": fileNode("9"), "/\x01\x7f": fileNode("10"), "/a:b": fileNode("11"), "/con": fileNode("12"), "/" + strings.Repeat("n", 255): fileNode("13"),
		},
		shown: []string{"new\nline", "tab\t", "*[?]", " ", "...", "..x", "..x/~", "%2e%2e", "#?", "ünïcode", "\x01\x7f", "a:b", "con", strings.Repeat("n", 255)},
	},
	{
		name:   "inexpressible names",
		nodes:  map[string]treeNode{"/ok": fileNode("ok"), "/stray\xff": fileNode("1"), `/back\slash`: fileNode("2"), "/d\xfe/x": fileNode("3"), `/e\/x`: fileNode("4"), "/d/cut\xe2\x82": fileNode("5"), `/\`: fileNode("6")},
		shown:  []string{"ok", "d"},
		absent: []string{"stray\xff", `back\slash`, "d\xfe", `e\`, "d/cut\xe2\x82", `\`},
	},
	{
		name: "good links",
		nodes: map[string]treeNode{
			"/f": fileNode("f"), "/d/g": fileNode("g"), "/l": linkNode("f"), "/ld": linkNode("d"), "/d/up": linkNode("../f"), "/d/self": linkNode("."), "/ll": linkNode("l"),
			"/slash": linkNode("d/"), "/lg": linkNode("ld/g"), "/round": linkNode("d/../f"), "/top": linkNode("d/.."), "/new\nlink": linkNode("f"),
		},
		shown: []string{"f", "d", "d/g", "l", "ld", "d/up", "d/self", "ll", "slash", "lg", "round", "top", "new\nlink"},
	},
	{
		name: "bad links",
		nodes: map[string]treeNode{
			"/f": fileNode("f"), "/d/x": fileNode("x"), "/dangling": linkNode("none"), "/deep": linkNode("none/at/all"), "/out": linkNode("../f"), "/d/out": linkNode("../../f"),
			"/abs": linkNode("/etc/passwd"), "/loop": linkNode("loop"), "/a": linkNode("b"), "/b": linkNode("a"), "/through": linkNode("f/x"), "/notdir": linkNode("f/"),
			"/empty": linkNode(""), "/chain": linkNode("out"), "/d/inout": linkNode("../d/../../d/x"), "/back": linkNode("none/../f"),
		},
		shown:  []string{"f", "d", "d/x"},
		absent: []string{"dangling", "deep", "out", "d/out", "abs", "loop", "a", "b", "through", "notdir", "empty", "chain", "d/inout", "back"},
	},
	{
		name: "neither file nor folder",
		nodes: map[string]treeNode{
			"/f": fileNode("f"), "/fifo": kindNode(ambit.KindFIFO), "/socket": kindNode(ambit.KindSocket), "/dev": kindNode(ambit.KindDevice), "/unknown": kindNode(ambit.KindUnknown),
			"/d/fifo": kindNode(ambit.KindFIFO), "/lf": linkNode("fifo"), "/ls": linkNode("d/fifo"),
		},
		shown:  []string{"f", "d"},
		absent: []string{"fifo", "socket", "dev", "unknown", "d/fifo", "lf", "ls"},
	},
	{
		name:   "over-long paths",
		nodes:  map[string]treeNode{"/f": fileNode("f"), longPath(4095): fileNode("at the limit"), longPath(4090) + "/abcd": fileNode("at the limit"), longPath(4090) + "/abcde": fileNode("over it")},
		shown:  []string{"f", strings.Repeat("d", 200), longPath(4095)[1:], longPath(4090)[1:] + "/abcd"},
		absent: []string{longPath(4090)[1:] + "/abcde"},
	},
}

func TestIOFSPassesTestFS(t *testing.T) {
	for _, h := range hostileTrees {
		for _, readAt := range []bool{false, true} {
			for _, readLink := range []bool{false, true} {
				for _, links := range []ambit.LinkRule{ambit.LinksFollowed, ambit.LinksRefused} {
					caps := ambit.Capabilities{List: true, Links: links, ReadLink: readLink, ReadAt: readAt}
					t.Run(fmt.Sprintf("%s/readAt=%v,readLink=%v,links=%v", h.name, readAt, readLink, links), func(t *testing.T) {
						passesTestFS(t, h, caps)
					})
				}
			}
		}
	}
}

func passesTestFS(t *testing.T, h hostileTree, caps ambit.Capabilities) {
	fsys := newTree(caps, h.nodes)
	shown := h.shown
	if caps.Links == ambit.LinksRefused {
		shown = slices.DeleteFunc(slices.Clone(shown), func(name string) bool { return fsys.nodes["/"+name].kind == ambit.KindSymlink })
	}
	bridge := ambit.IOFS(t.Context(), fsys)
	if err := fstest.TestFS(bridge, shown...); err != nil {
		t.Error(shorten(err.Error()))
	}
	var walked []string
	err := fs.WalkDir(bridge, ".", func(name string, d fs.DirEntry, err error) error {
		if name != "." {
			walked = append(walked, name)
		}
		return err
	})
	want := slices.Clone(shown)
	for _, name := range shown {
		for dir := name; strings.Contains(dir, "/"); {
			dir = dir[:strings.LastIndex(dir, "/")]
			want = append(want, dir)
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	slices.Sort(walked)
	if err != nil || !slices.Equal(walked, want) {
		t.Errorf("a walk found %s, %v\nwant %s", shorten(fmt.Sprintf("%q", walked)), err, shorten(fmt.Sprintf("%q", want)))
	}
	for _, name := range h.absent {
		// The control: the file system itself does list it.
		l, err := fsys.List(t.Context(), ambit.Dir("/"+name), nil)
		if err != nil || !slices.ContainsFunc(l.Entries, func(e ambit.Entry) bool { return e.Name == ambit.Base("/"+name) }) {
			t.Errorf("the tree itself does not list %q: %v", name, err)
		}
		if f, err := bridge.Open(name); err == nil {
			f.Close()
			t.Errorf("Open(%q) succeeded, though it is not listed", name)
		}
	}
}

func shorten(s string) string {
	if len(s) <= 3000 {
		return s
	}
	return s[:1500] + " … " + s[len(s)-1500:]
}

// A bridge that leaves nothing out fails: TestFS does look at these trees.
func TestTestFSSeesWhatIOFSLeavesOut(t *testing.T) {
	dir := t.TempDir()
	writeOnDisk(t, filepath.Join(dir, "f"), "f")
	linkOnDisk(t, "none", filepath.Join(dir, "dangling"))
	if err := fstest.TestFS(os.DirFS(dir), "f"); err == nil {
		t.Fatal("TestFS passes a file system that lists a dangling link")
	}
	if err := fstest.TestFS(ambit.IOFS(t.Context(), ambit.FromIOFS(os.DirFS(dir))), "f"); err != nil {
		t.Error(err)
	}
}

func writeOnDisk(t *testing.T, path, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
		t.Fatal(err)
	}
}

func linkOnDisk(t *testing.T, text, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(text, path); err != nil {
		t.Skipf("this system makes no links: %v", err)
	}
}

func TestIOFSHasLinksExactlyWithTheCapability(t *testing.T) {
	nodes := map[string]treeNode{"/f": fileNode("f"), "/d/l": linkNode("../f"), "/d/g": fileNode("g")}
	for _, readLink := range []bool{false, true} {
		caps := followsLinks
		caps.ReadLink = readLink
		bridge := ambit.IOFS(t.Context(), newTree(caps, nodes))
		sub, err := fs.Sub(bridge, "d")
		if err != nil {
			t.Fatal(err)
		}
		for where, fsys := range map[string]fs.FS{"IOFS": bridge, "Sub": sub} {
			if _, ok := fsys.(fs.ReadLinkFS); ok != readLink {
				t.Errorf("%s with ReadLink %v is an fs.ReadLinkFS: %v", where, readLink, ok)
			}
		}
	}
	bridge := ambit.IOFS(t.Context(), newTree(followsLinks, nodes))
	text, err := fs.ReadLink(bridge, "d/l")
	if err != nil || text != "../f" {
		t.Errorf("ReadLink: %q, %v", text, err)
	}
	info, err := fs.Lstat(bridge, "d/l")
	if err != nil || info.Mode().Type() != fs.ModeSymlink || info.Name() != "l" {
		t.Errorf("Lstat: %v, %v", info, err)
	}
	info, err = fs.Stat(bridge, "d/l")
	if err != nil || !info.Mode().IsRegular() || info.Name() != "l" || info.Size() != 1 {
		t.Errorf("Stat of a link: %v, %v, want the target under the link's name", info, err)
	}
	if got := info.Sys().(ambit.FileInfo).Path; got != "/f" {
		t.Errorf("Stat of a link: Sys has the path %q, want the target's", got)
	}
}

// An absolute text names a place of the machine, which package io/fs can only
// be told by a relative one.
func TestIOFSRewritesAbsoluteLinks(t *testing.T) {
	nodes := map[string]treeNode{"/f": fileNode("f"), "/d/e/g": fileNode("g"), "/d/x": fileNode("x"), "/ld": linkNode("d/e")}
	for name, text := range map[string][2]string{
		"/top":        {"/f", "f"},
		"/d/up":       {"/f", "../f"},
		"/d/e/up":     {"/f", "../../f"},
		"/d/e/beside": {"/d/x", "../x"},
		"/d/down":     {"/d/e/g", "e/g"},
		"/d/e/parent": {"/d", ".."},
		"/d/e/self":   {"/d/e", "."},
		"/d/e/root":   {"/", "../.."},
		"/root":       {"/", "."},
		"/slash":      {"/d/", "d/"},
		"/dd":         {"/d/../f", "d/../f"},
		"/d/ee":       {"/d/e", "e"},
		"/rel":        {"d/x", "d/x"},
		"/d/e/deep":   {"/d/e/../../d/e/g", "../../d/e/g"},
	} {
		nodes[name] = linkNode(text[0])
		fsys := newTree(followsLinks, nodes)
		fsys.absolute = true
		bridge := ambit.IOFS(t.Context(), fsys)
		got, err := fs.ReadLink(bridge, name[1:])
		if err != nil || got != text[1] {
			t.Errorf("ReadLink(%q -> %q): %q, %v, want %q", name, text[0], got, err, text[1])
		}
		want, err := fsys.Stat(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		// It leads to the same place, also for one who follows it alone.
		back, err := ambit.FromIOFS(bridge).Stat(t.Context(), name)
		if err != nil || back.Path != want.Path {
			t.Errorf("%q -> %q leads to %q, %v, want %q", name, got, back.Path, err, want.Path)
		}
		delete(nodes, name)
	}
	// The text counts from where the link is, not from where it was asked for.
	nodes["/d/e/up"] = linkNode("/f")
	fsys := newTree(followsLinks, nodes)
	fsys.absolute = true
	if got, err := fs.ReadLink(ambit.IOFS(t.Context(), fsys), "ld/up"); err != nil || got != "../../f" {
		t.Errorf("ReadLink through a link: %q, %v", got, err)
	}
}

func TestIOFSErrors(t *testing.T) {
	ctx := t.Context()
	fsys := newTree(followsLinks, map[string]treeNode{
		"/f": fileNode("f"), "/d/x": fileNode("x"), "/fifo": kindNode(ambit.KindFIFO), "/out": linkNode("../x"), "/loop": linkNode("loop"), "/dangling": linkNode("none"), `/a\b`: fileNode("ab"),
	})
	bridge := ambit.IOFS(ctx, fsys).(interface {
		fs.StatFS
		fs.ReadDirFS
		fs.ReadFileFS
		fs.SubFS
		fs.ReadLinkFS
	})
	calls := map[string]func(name string) error{
		"open": func(name string) error {
			f, err := bridge.Open(name)
			if (f == nil) != (err != nil) {
				t.Errorf("Open(%q): %v, %v", name, f, err)
			}
			return err
		},
		"stat":     func(name string) error { _, err := bridge.Stat(name); return err },
		"readdir":  func(name string) error { _, err := bridge.ReadDir(name); return err },
		"readfile": func(name string) error { _, err := bridge.ReadFile(name); return err },
		"sub":      func(name string) error { _, err := bridge.Sub(name); return err },
		"lstat":    func(name string) error { _, err := bridge.Lstat(name); return err },
		"readlink": func(name string) error { _, err := bridge.ReadLink(name); return err },
	}
	check := func(op, name string, want ambit.Reason) {
		t.Helper()
		err := calls[op](name)
		if want == "" {
			if err != nil {
				t.Errorf("%s %q: %v", op, name, err)
			}
			return
		}
		outer, ok := err.(*fs.PathError)
		if !ok {
			t.Errorf("%s %q: %T %v, want a *fs.PathError", op, name, err, err)
			return
		}
		inner, ok := outer.Err.(*ambit.Error)
		if !ok {
			t.Errorf("%s %q: the error's Err is a %T", op, name, outer.Err)
			return
		}
		if op == "readfile" {
			op = "open"
		}
		if outer.Op != op || outer.Path != name || inner.Path != name || inner.Reason != want {
			t.Errorf("%s %q: %+v in %+v, want reason %s", op, name, *inner, *outer, want)
		}
	}
	for op := range calls {
		for _, name := range []string{"", "/", "/f", "f/", "./f", "d/../f", "d//x", "..", "../f", "stray\xff", `a\b`, `d\x`, `\`, "d/.", "nul\x00"} {
			check(op, name, ambit.ErrInvalidPath)
			if err := calls[op](name); !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("%s %q: %v is not fs.ErrInvalid", op, name, err)
			}
		}
		check(op, "gone", ambit.ErrNotFound)
		check(op, "gone/x", ambit.ErrNotFound)
		check(op, "f/x", ambit.ErrNotADirectory)
		check(op, "out/x", ambit.ErrOutside)
		check(op, "loop/x", ambit.ErrLoop)
		if err := calls[op]("gone"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v is not fs.ErrNotExist", op, err)
		}
	}
	for _, cell := range []struct {
		name                                              string
		open, stat, readDir, readFile, sub, lstat, readLn ambit.Reason
	}{
		{"f", "", "", ambit.ErrNotADirectory, "", ambit.ErrNotADirectory, "", ambit.ErrInvalid},
		{"d", "", "", "", ambit.ErrNotAFile, "", "", ambit.ErrInvalid},
		{".", "", "", "", ambit.ErrNotAFile, "", "", ambit.ErrInvalid},
		{"fifo", ambit.ErrNotAFile, ambit.ErrNotAFile, ambit.ErrNotADirectory, ambit.ErrNotAFile, ambit.ErrNotAFile, "", ambit.ErrInvalid},
		{"out", ambit.ErrOutside, ambit.ErrOutside, ambit.ErrOutside, ambit.ErrOutside, ambit.ErrOutside, "", ambit.ErrOutside},
		{"loop", ambit.ErrLoop, ambit.ErrLoop, ambit.ErrLoop, ambit.ErrLoop, ambit.ErrLoop, "", ""},
		{"dangling", ambit.ErrNotFound, ambit.ErrNotFound, ambit.ErrNotFound, ambit.ErrNotFound, ambit.ErrNotFound, "", ""},
	} {
		check("open", cell.name, cell.open)
		check("stat", cell.name, cell.stat)
		check("readdir", cell.name, cell.readDir)
		check("readfile", cell.name, cell.readFile)
		check("sub", cell.name, cell.sub)
		check("lstat", cell.name, cell.lstat)
		check("readlink", cell.name, cell.readLn)
	}
}

func TestIOFSOpenFile(t *testing.T) {
	fsys := newTree(followsLinks, map[string]treeNode{"/d/f": fileNode("0123456789")})
	f, err := ambit.IOFS(t.Context(), fsys).Open("d/f")
	if err != nil {
		t.Fatal(err)
	}
	r := f.(interface {
		io.ReadSeeker
		io.ReaderAt
	})
	read := func(n int, want string, wantErr error) {
		t.Helper()
		p := make([]byte, n)
		got, err := io.ReadFull(r, p)
		if string(p[:got]) != want || err != wantErr {
			t.Errorf("read %q, %v, want %q, %v", p[:got], err, want, wantErr)
		}
	}
	seek := func(off int64, whence int, want int64) {
		t.Helper()
		if got, err := r.Seek(off, whence); got != want || err != nil {
			t.Errorf("Seek(%d, %d) = %d, %v, want %d", off, whence, got, err, want)
		}
	}
	read(3, "012", nil)
	seek(-2, io.SeekCurrent, 1)
	read(2, "12", nil)
	read(2, "34", nil) // past where the stream was
	seek(3, io.SeekStart, 3)
	read(1, "3", nil) // on the stream again
	seek(-1, io.SeekEnd, 9)
	read(2, "9", io.ErrUnexpectedEOF)
	read(1, "", io.EOF)
	seek(5, io.SeekEnd, 15)
	read(1, "", io.EOF)
	seek(4, io.SeekStart, 4)
	p := make([]byte, 4)
	if n, err := r.ReadAt(p, 8); n != 2 || err != io.EOF || string(p[:n]) != "89" {
		t.Errorf("ReadAt: %q, %v", p[:n], err)
	}
	read(9, "456789", io.ErrUnexpectedEOF)
	for _, bad := range []struct {
		off    int64
		whence int
	}{{-1, io.SeekStart}, {-11, io.SeekEnd}, {-99, io.SeekCurrent}, {0, 3}, {1<<63 - 1, io.SeekEnd}} {
		if n, err := r.Seek(bad.off, bad.whence); ambit.ReasonOf(err) != ambit.ErrInvalid || n != 0 {
			t.Errorf("Seek(%d, %d): %d, %v, want invalid", bad.off, bad.whence, n, err)
		}
	}
	_, err = r.ReadAt(p, -1)
	var pathErr *fs.PathError
	if ambit.ReasonOf(err) != ambit.ErrInvalid || !errors.As(err, &pathErr) || pathErr.Path != "d/f" {
		t.Errorf("ReadAt(-1): %v", err)
	}
	info, err := f.Stat()
	if err != nil || info.Name() != "f" || info.Size() != 10 || info.Mode() != 0o644 || !info.ModTime().Equal(time.Unix(1e9, 5)) || info.IsDir() {
		t.Errorf("Stat: %v, %v", info, err)
	}
	for range 2 {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	_, readErr := r.Read(p)
	_, readAtErr := r.ReadAt(p, 0)
	_, seekErr := r.Seek(0, io.SeekStart)
	for op, err := range map[string]error{"Read": readErr, "ReadAt": readAtErr, "Seek": seekErr} {
		if !errors.Is(err, fs.ErrClosed) || !errors.As(err, &pathErr) || pathErr.Path != "d/f" {
			t.Errorf("%s after Close: %v", op, err)
		}
	}
}

// Without ReadAt there is no promise that a seek could rest on.
func TestIOFSFileWithoutReadAt(t *testing.T) {
	caps := followsLinks
	caps.ReadAt = false
	f, err := ambit.IOFS(t.Context(), newTree(caps, map[string]treeNode{"/f": fileNode("f")})).Open("f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, ok := f.(io.Seeker); ok {
		t.Error("the file is an io.Seeker")
	}
	if _, ok := f.(io.ReaderAt); ok {
		t.Error("the file is an io.ReaderAt")
	}
	// The capability decides, not the type.
	unclaimed, err := ambit.IOFS(t.Context(), unclaimedFS{newTree(followsLinks, map[string]treeNode{"/f": fileNode("f")})}).Open("f")
	if err != nil {
		t.Fatal(err)
	}
	defer unclaimed.Close()
	if _, ok := unclaimed.(io.Seeker); ok {
		t.Error("a file whose ReadAt is not claimed is an io.Seeker")
	}
}

// unclaimedFS does not claim what its files can do.
type unclaimedFS struct{ treeFS }

func (unclaimedFS) Capabilities() ambit.Capabilities { return ambit.Capabilities{} }

// eagerFS has files that tell of their end before they are asked for a byte.
type eagerFS struct{ treeFS }

func (e eagerFS) Open(ctx context.Context, path string) (ambit.File, error) {
	f, err := e.treeFS.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	return eagerFile{f.(treeReaderAt)}, nil
}

type eagerFile struct{ treeReaderAt }

func (e eagerFile) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, io.EOF
	}
	return e.treeReaderAt.Read(p)
}

func TestIOFSReadOfNothing(t *testing.T) {
	if err := fstest.TestFS(ambit.IOFS(t.Context(), eagerFS{newTree(followsLinks, map[string]treeNode{"/f": fileNode("data")})}), "f"); err != nil {
		t.Error(err)
	}
}

func TestIOFSOpenFolder(t *testing.T) {
	nodes := map[string]treeNode{"/bad": linkNode("none")}
	var want []string
	for i := range 25 {
		name := fmt.Sprintf("n%02d", i)
		nodes["/d/"+name] = fileNode(name)
		nodes["/d/x"+name] = linkNode("gone")
		want = append(want, name)
	}
	paging := &pagingFS{treeFS: newTree(followsLinks, nodes), page: 4}
	for _, n := range []int{1, 2, 3, 7, 25, 26, 100} {
		f, err := ambit.IOFS(t.Context(), paging).Open("d")
		if err != nil {
			t.Fatal(err)
		}
		d := f.(fs.ReadDirFile)
		var got []string
		for {
			entries, err := d.ReadDir(n)
			for _, e := range entries {
				got = append(got, e.Name())
			}
			_ = append(entries, nil) // what the caller appends is no entry of the next page
			if err == io.EOF && len(entries) == 0 {
				break
			}
			if err != nil || len(entries) == 0 || len(entries) > n {
				t.Fatalf("ReadDir(%d): %d entries, %v", n, len(entries), err)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("ReadDir(%d) gave %q", n, got)
		}
		if entries, err := d.ReadDir(-1); len(entries) != 0 || err != nil {
			t.Errorf("ReadDir(-1) at the end: %v, %v", entries, err)
		}
	}
	f, err := ambit.IOFS(t.Context(), paging).Open("d")
	if err != nil {
		t.Fatal(err)
	}
	d := f.(fs.ReadDirFile)
	if entries, err := d.ReadDir(5); len(entries) != 5 || err != nil {
		t.Fatalf("ReadDir(5): %v, %v", entries, err)
	}
	if entries, err := d.ReadDir(0); len(entries) != 20 || err != nil || entries[0].Name() != "n05" {
		t.Errorf("ReadDir(0) after 5: %v, %v", entries, err)
	}
	if _, err := d.Read(make([]byte, 1)); ambit.ReasonOf(err) != ambit.ErrNotAFile {
		t.Errorf("Read of a folder: %v", err)
	}
	if info, err := d.Stat(); err != nil || !info.IsDir() || info.Name() != "d" {
		t.Errorf("Stat of a folder: %v, %v", info, err)
	}
	for range 2 {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	_, readErr := d.Read(make([]byte, 1))
	_, listErr := d.ReadDir(1)
	if !errors.Is(readErr, fs.ErrClosed) || !errors.Is(listErr, fs.ErrClosed) {
		t.Errorf("after Close: %v, %v", readErr, listErr)
	}
}

// pagingFS gives no more than page entries at a time, and fails as it is told.
type pagingFS struct {
	treeFS
	page   int
	broken func(o *ambit.ListOptions) (*ambit.Listing, error, bool)
}

func (p *pagingFS) List(ctx context.Context, dir string, o *ambit.ListOptions) (*ambit.Listing, error) {
	if p.broken != nil {
		if l, err, ok := p.broken(o); ok {
			return l, err
		}
	}
	paged := *o
	if paged.Limit == 0 || paged.Limit > p.page {
		paged.Limit = p.page
	}
	return p.treeFS.List(ctx, dir, &paged)
}

func TestIOFSListingFails(t *testing.T) {
	nodes := map[string]treeNode{"/a": fileNode("a"), "/b": fileNode("b"), "/c": fileNode("c"), "/d": fileNode("d"), "/e": fileNode("e")}
	disk := ambit.Wrap(ambit.OpList, "/", ambit.ErrIO)
	second := func(l *ambit.Listing, err error) func(o *ambit.ListOptions) (*ambit.Listing, error, bool) {
		return func(o *ambit.ListOptions) (*ambit.Listing, error, bool) { return l, err, o.After != "" }
	}
	for name, broken := range map[string]func(o *ambit.ListOptions) (*ambit.Listing, error, bool){
		"an error":             second(nil, disk),
		"nothing at all":       second(nil, nil),
		"a cursor that stands": second(&ambit.Listing{Next: "b"}, nil),
		"a cursor backwards":   second(&ambit.Listing{Next: "a"}, nil),
	} {
		bridge := ambit.IOFS(t.Context(), &pagingFS{treeFS: newTree(followsLinks, nodes), page: 2, broken: broken})
		entries, err := fs.ReadDir(bridge, ".")
		var pathErr *fs.PathError
		if len(entries) != 2 || ambit.ReasonOf(err) != ambit.ErrIO || !errors.As(err, &pathErr) || pathErr.Op != "readdir" || pathErr.Path != "." {
			t.Errorf("%s: %v, %v, want the first page and an error", name, entries, err)
		}
	}
	caps := followsLinks
	caps.List = false
	bridge := ambit.IOFS(t.Context(), newTree(caps, nodes))
	if _, err := fs.ReadDir(bridge, "."); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("ReadDir without List: %v", err)
	}
	f, err := bridge.Open(".")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.(fs.ReadDirFile).ReadDir(1); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("ReadDir without List: %v", err)
	}
	if data, err := fs.ReadFile(bridge, "a"); string(data) != "a" || err != nil {
		t.Errorf("ReadFile without List: %q, %v", data, err)
	}
}

// What broken backends list is no way to a name that package io/fs forbids.
func TestIOFSListingOfForbiddenNames(t *testing.T) {
	entries := make([]ambit.Entry, 0)
	for _, name := range []string{"", ".", "..", "a/b", "/", "ok"} {
		entries = append(entries, ambit.Entry{Name: name, Info: ambit.FileInfo{Path: "/x", Kind: ambit.KindRegular}})
	}
	bridge := ambit.IOFS(t.Context(), &pagingFS{broken: func(*ambit.ListOptions) (*ambit.Listing, error, bool) {
		return &ambit.Listing{Dir: "/", Entries: entries}, nil, true
	}})
	got, err := fs.ReadDir(bridge, ".")
	if err != nil || len(got) != 1 || got[0].Name() != "ok" {
		t.Errorf("%v, %v", got, err)
	}
}

// restlessFS has a folder that is a file when it is looked at again, and sizes
// of folders that mean nothing.
type restlessFS struct {
	treeFS
	looks int64
}

func (r *restlessFS) Stat(ctx context.Context, path string) (ambit.FileInfo, error) {
	info, err := r.treeFS.Stat(ctx, path)
	r.looks++
	if path == "/swapped" {
		info.Kind = ambit.KindRegular
	}
	if info.IsDir() {
		info.Size = r.looks
	}
	return info, err
}

func TestIOFSOverARestlessTree(t *testing.T) {
	bridge := ambit.IOFS(t.Context(), &restlessFS{treeFS: newTree(followsLinks, map[string]treeNode{"/d/e/f": fileNode("f"), "/swapped": kindNode(ambit.KindDirectory)})})
	if f, err := bridge.Open("swapped"); ambit.ReasonOf(err) != ambit.ErrNotAFile {
		t.Errorf("a folder that is a file by now: %v, %v", f, err)
	}
	folder, err := fs.Sub(bridge, "d")
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(folder, "e/f"); err != nil {
		t.Error(err)
	}
}

// changingFS has files that change while they are read.
type changingFS struct{ treeFS }

func (c changingFS) Open(ctx context.Context, path string) (ambit.File, error) {
	f, err := c.treeFS.Open(ctx, path)
	return changingFile{f}, err
}

type changingFile struct{ ambit.File }

func (changingFile) Verify(context.Context) error {
	return ambit.Wrap(ambit.OpVerify, "x", ambit.ErrChanged)
}

func TestIOFSReadFileIsVerified(t *testing.T) {
	bridge := ambit.IOFS(t.Context(), changingFS{newTree(followsLinks, map[string]treeNode{"/f": fileNode("f")})})
	data, err := fs.ReadFile(bridge, "f")
	var pathErr *fs.PathError
	if data != nil || ambit.ReasonOf(err) != ambit.ErrChanged || !errors.As(err, &pathErr) || pathErr.Op != "verify" || pathErr.Path != "f" {
		t.Errorf("ReadFile of a file that changed: %q, %v", data, err)
	}
}

func TestIOFSKeepsItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	bridge := ambit.IOFS(ctx, newTree(followsLinks, map[string]treeNode{"/f": fileNode("f"), "/l": linkNode("f")})).(fs.ReadLinkFS)
	f, err := bridge.Open("f")
	if err != nil {
		t.Fatal(err)
	}
	d, err := bridge.Open(".")
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for op, call := range map[string]func() error{
		"Open":     func() error { _, err := bridge.Open("f"); return err },
		"Stat":     func() error { _, err := fs.Stat(bridge, "f"); return err },
		"ReadFile": func() error { _, err := fs.ReadFile(bridge, "f"); return err },
		"ReadDir":  func() error { _, err := fs.ReadDir(bridge, "."); return err },
		"Sub":      func() error { _, err := fs.Sub(bridge, "d"); return err },
		"ReadLink": func() error { _, err := bridge.ReadLink("l"); return err },
		"Lstat":    func() error { _, err := bridge.Lstat("l"); return err },
		"a read":   func() error { _, err := f.Read(make([]byte, 1)); return err },
		"a page":   func() error { _, err := d.(fs.ReadDirFile).ReadDir(1); return err },
	} {
		if err := call(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s with its context done: %v", op, err)
		}
	}
}

// A context that ends while links are looked at fails the listing: nothing is
// known of the link then.
func TestIOFSListingDoesNotLoseLinksToTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	fsys := &cancelingFS{treeFS: newTree(followsLinks, map[string]treeNode{"/f": fileNode("f"), "/l": linkNode("f")}), cancel: cancel}
	if entries, err := fs.ReadDir(ambit.IOFS(ctx, fsys), "."); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", entries, err)
	}
}

type cancelingFS struct {
	treeFS
	cancel func()
}

func (c *cancelingFS) List(ctx context.Context, dir string, o *ambit.ListOptions) (*ambit.Listing, error) {
	defer c.cancel()
	return c.treeFS.List(ctx, dir, o)
}

// subTreeFS can anchor a folder anew.
type subTreeFS struct{ treeFS }

func (s subTreeFS) Sub(ctx context.Context, dir string) (ambit.FileSystem, error) {
	info, err := s.Stat(ctx, dir)
	if err != nil {
		return nil, ambit.Wrap(ambit.OpSub, dir, err)
	}
	if !info.IsDir() {
		return nil, ambit.Wrap(ambit.OpSub, dir, ambit.ErrNotADirectory)
	}
	nodes := make(map[string]treeNode)
	for p, n := range s.nodes {
		if info.Path == "/" {
			nodes[p] = n
		} else if below, ok := strings.CutPrefix(p, info.Path+"/"); ok {
			nodes["/"+below] = n
		}
	}
	return subTreeFS{newTree(s.caps, nodes)}, nil
}

func TestIOFSSub(t *testing.T) {
	nodes := map[string]treeNode{
		"/f": fileNode("f"), "/d/g": fileNode("g"), "/d/e/h": fileNode("h"), "/d/in": linkNode("e/h"), "/d/up": linkNode("../f"), "/ld": linkNode("d"), "/d/abs": linkNode("/d/g"), "/d/e/up": linkNode("../g"),
	}
	caps := followsLinks
	caps.Sub = true
	refused := ambit.Capabilities{List: true, Links: ambit.LinksRefused}
	for _, c := range []struct {
		name  string
		fsys  ambit.FileSystem
		shown []string
		up    bool // a link leads up out of the folder
	}{
		{"a file system that could anchor it anew", subTreeFS{newTree(caps, nodes)}, []string{"g", "e", "e/h", "in", "up", "e/up"}, true},
		{"links refused", newTree(refused, nodes), []string{"g", "e", "e/h"}, false},
		{"links followed", newTree(followsLinks, nodes), []string{"g", "e", "e/h", "in", "up", "e/up"}, true},
	} {
		for _, dir := range []string{"d", "ld"} {
			if dir == "ld" && c.fsys.Capabilities().Links == ambit.LinksRefused {
				continue
			}
			sub, err := fs.Sub(ambit.IOFS(t.Context(), c.fsys), dir)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			if err := fstest.TestFS(sub, c.shown...); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			if _, err := fs.Stat(sub, "up"); (err == nil) != c.up {
				t.Errorf("%s: a link that leads out of the folder: %v", c.name, err)
			}
			again, err := fs.Sub(sub, "e")
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			if data, err := fs.ReadFile(again, "h"); string(data) != "h" || err != nil {
				t.Errorf("%s: the Sub of a Sub: %q, %v", c.name, data, err)
			}
			if _, err := fs.Stat(again, "../g"); !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("%s: above the Sub: %v", c.name, err)
			}
		}
		same, err := ambit.IOFS(t.Context(), c.fsys).(fs.SubFS).Sub(".")
		if err != nil {
			t.Errorf("%s: Sub of the root: %v", c.name, err)
			continue
		}
		if data, err := fs.ReadFile(same, "f"); string(data) != "f" || err != nil {
			t.Errorf("%s: Sub of the root: %q, %v", c.name, data, err)
		}
	}
}

// A Sub is the folder that was there, not the link that led to it.
func TestIOFSSubOutlivesTheLinkToIt(t *testing.T) {
	nodes := map[string]treeNode{"/d/f": fileNode("f"), "/e/f": fileNode("other"), "/l": linkNode("d")}
	sub, err := fs.Sub(ambit.IOFS(t.Context(), newTree(followsLinks, nodes)), "l")
	if err != nil {
		t.Fatal(err)
	}
	nodes["/l"] = linkNode("e")
	if data, err := fs.ReadFile(sub, "f"); string(data) != "f" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
}

func TestIOFSServesHTTP(t *testing.T) {
	content := strings.Repeat("0123456789", 30000)
	fsys := newTree(followsLinks, map[string]treeNode{
		"/big": fileNode(content), "/d/page.html": fileNode("<p>page</p>"), "/d/index.html": fileNode("<p>index</p>"), "/plain/x y": fileNode("x"),
		"/plain/stray\xff": fileNode("x"), "/plain/out": linkNode("../../x"), "/fifo": kindNode(ambit.KindFIFO), "/l": linkNode("big"),
	})
	for name, handler := range map[string]http.Handler{
		"FileServerFS":        http.FileServerFS(ambit.IOFS(t.Context(), fsys)),
		"FileServer(http.FS)": http.FileServer(http.FS(ambit.IOFS(t.Context(), fsys))),
	} {
		get := func(path, byteRange string) *http.Response {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			if byteRange != "" {
				r.Header.Set("Range", byteRange)
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			return w.Result()
		}
		for _, c := range []struct {
			path, byteRange string
			status          int
			body            string
		}{
			{"/big", "", 200, content},
			{"/l", "", 200, content},
			{"/big", "bytes=5-14", 206, "5678901234"},
			{"/big", "bytes=-7", 206, "3456789"},
			{"/big", "bytes=299990-", 206, "0123456789"},
			{"/big", "bytes=100000-249999", 206, content[100000:250000]},
			{"/big", "bytes=300000-", 416, ""},
			{"/d/", "", 200, "<p>index</p>"},
			{"/d/page.html", "", 200, "<p>page</p>"},
			{"/plain/x%20y", "", 200, "x"},
			{"/gone", "", 404, ""},
			{"/plain/x%20y/z", "", 404, ""},
			{"/plain/out", "", 403, ""},
		} {
			res := get(c.path, c.byteRange)
			body, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode != c.status || c.body != "" && string(body) != c.body {
				t.Errorf("%s: GET %s %s: %d, %d bytes, %v", name, c.path, c.byteRange, res.StatusCode, len(body), err)
			}
			if c.status == 200 && res.Header.Get("Last-Modified") == "" {
				t.Errorf("%s: GET %s: no Last-Modified", name, c.path)
			}
		}
		res := get("/big", "bytes=0-1,299998-299999")
		body, _ := io.ReadAll(res.Body)
		if res.StatusCode != 206 || !bytes.Contains(body, []byte("\r\n\r\n01\r\n")) || !bytes.Contains(body, []byte("\r\n\r\n89\r\n")) {
			t.Errorf("%s: several ranges: %d %q", name, res.StatusCode, shorten(string(body)))
		}
		body, _ = io.ReadAll(get("/plain/", "").Body)
		if !bytes.Contains(body, []byte(`<a href="x%20y">x y</a>`)) || bytes.Contains(body, []byte("stray")) || bytes.Contains(body, []byte("out")) {
			t.Errorf("%s: the folder's page: %q", name, body)
		}
	}
}

// modelTree turns a map of package fstest into the model's tree.
func modelTree(caps ambit.Capabilities, m fstest.MapFS) treeFS {
	nodes := make(map[string]treeNode)
	for name, f := range m {
		n := treeNode{kind: ambit.KindOf(f.Mode), data: string(f.Data), time: f.ModTime, mode: f.Mode.Perm()}
		nodes["/"+name] = n
	}
	return newTree(caps, nodes)
}

func ExampleIOFS() {
	site := ambit.FromIOFS(fstest.MapFS{
		"index.html":     {Data: []byte("<h1>Hello</h1>")},
		"docs/intro.txt": {Data: []byte("Read me first.")},
	})
	bridge := ambit.IOFS(context.Background(), site)

	server := httptest.NewServer(http.FileServerFS(bridge))
	defer server.Close()
	request, _ := http.NewRequest(http.MethodGet, server.URL+"/docs/intro.txt", nil)
	request.Header.Set("Range", "bytes=0-6")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	part, _ := io.ReadAll(response.Body)
	fmt.Printf("%s: %q\n", response.Status, part)

	_, err = fs.Stat(bridge, "docs/gone.txt")
	fmt.Println(ambit.ReasonOf(err), errors.Is(err, fs.ErrNotExist))
	// Output:
	// 206 Partial Content: "Read me"
	// not-found true
}
