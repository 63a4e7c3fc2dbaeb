// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package local_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

const namable = `
	d/
	d/f = F
	d/deep/
	lfile -> d/f
	ldir -> d
	labs -> $ROOT/d
	lnew -> d/new
	out -> $OUT/secret-name
	outdir -> $OUT
	loop -> loop
	secret/
	secret/key = K
	lkey -> secret/key
`

// naming are the two ways from a machine path to the host.
func naming(fsys *local.FileSystem) map[string]func(string) (string, error) {
	return map[string]func(string) (string, error){
		"HostPath": fsys.HostPath,
		"FileURL": func(path string) (string, error) {
			text, err := fsys.FileURL(path)
			if err != nil {
				return text, err
			}
			u, err := url.Parse(text)
			if err != nil {
				return text, err
			}
			if u.Scheme != "file" || u.Host != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil || u.Opaque != "" || !strings.HasPrefix(text, "file:///") {
				return text, fmt.Errorf("%q is no URL of a file", text)
			}
			return u.Path, nil
		},
	}
}

func TestHostPathOf(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		w := newWorldIn(t, fastDir(t), namable)
		fsys := serve(t, w.root, with(&local.Options{Cwd: "/d", Deny: []string{"/secret"}}))
		before := w.snapshot(t)
		for way, name := range naming(fsys) {
			for path, want := range map[string]string{
				"/": w.root, "/d": w.host("d"), "/d/": w.host("d"), "f": w.host("d/f"), "/d/f": w.host("d/f"), ".": w.host("d"), "..": w.root, "../d//./f": w.host("d/f"),
				"/lfile": w.host("d/f"), "/ldir/f": w.host("d/f"), "/labs/f": w.host("d/f"), "/ldir": w.host("d"), "/labs/deep/": w.host("d/deep"),
				"/new": w.host("new"), "/no/where/new": w.host("no/where/new"), "new": w.host("d/new"), "/ldir/new": w.host("d/new"), "/ldir/no/where": w.host("d/no/where"),
			} {
				if got, err := name(path); err != nil || got != want {
					t.Errorf("%s(%q): %q, %v, want %q", way, path, got, err, want)
				}
			}
			for path, want := range map[string]ambit.Reason{
				"": ambit.ErrInvalidPath, "a\x00b": ambit.ErrInvalidPath, strings.Repeat("n", 256): ambit.ErrInvalidPath,
				"../..": ambit.ErrOutside, "/..": ambit.ErrOutside, "/out": ambit.ErrOutside, "/outdir": ambit.ErrOutside, "/outdir/nothing": ambit.ErrOutside, "/outdir/" + secretName: ambit.ErrOutside,
				"/loop": ambit.ErrLoop, "/loop/x": ambit.ErrLoop, "/d/f/x": ambit.ErrNotADirectory,
				"/secret": ambit.ErrDenied, "/secret/key": ambit.ErrDenied, "/secret/none": ambit.ErrDenied, "/lkey": ambit.ErrDenied, "../secret/key": ambit.ErrDenied,
			} {
				got, err := name(path)
				var e *ambit.Error
				if got != "" || !errors.As(err, &e) || e.Reason != want || e.Path != path {
					t.Errorf("%s(%q): %q, %v, want %s", way, path, got, err, want)
				}
				if err != nil && strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, e), filepath.Dir(w.root)) {
					t.Errorf("%s(%q) shows the host in its error: %v", way, path, err)
				}
			}
			// A link to what is missing may be refused, or name what would be there.
			if got, err := name("/lnew"); err == nil && got != w.host("d/new") {
				t.Errorf("%s of a dangling link: %q", way, got)
			}
		}
		if diff := difference(before, w.snapshot(t)); diff != nil {
			t.Errorf("changed %q", diff)
		}
		must(t, fsys.Close())
		for way, name := range naming(fsys) {
			if got, err := name("/d"); ambit.ReasonOf(err) != ambit.ErrClosed || got != "" {
				t.Errorf("%s after Close: %q, %v", way, got, err)
			}
		}
		if got, err := fsys.MachinePath(w.root); ambit.ReasonOf(err) != ambit.ErrClosed || got != "" {
			t.Errorf("MachinePath after Close: %q, %v", got, err)
		}
	})
}

func TestMachinePathOf(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		base := fastDir(t)
		w := newWorldIn(t, base, namable)
		must(t, os.Symlink("root", filepath.Join(base, "alias")))
		alias := filepath.Join(base, "alias")
		fsys := serve(t, alias, with(&local.Options{Cwd: "/d", Deny: []string{"/secret"}}))
		for path, want := range map[string]string{
			w.root: "/", w.root + "/": "/", alias: "/", alias + "/": "/", w.host("d"): "/d", w.host("d/f"): "/d/f", alias + "/d/f": "/d/f", w.root + "//d/./f": "/d/f",
			w.root + "/x/../d/f": "/d/f", w.root + "/../root/d/f": "/d/f", base + "/else/../root/d": "/d",
			w.host("lfile"): "/d/f", alias + "/ldir/f": "/d/f", w.host("labs/f"): "/d/f", w.host("ldir"): "/d",
			w.host("new"): "/new", w.host("no/where/new"): "/no/where/new", w.host("ldir/new"): "/d/new",
		} {
			got, err := fsys.MachinePath(path)
			if err != nil || got != want {
				t.Errorf("MachinePath(%q): %q, %v, want %q", path, got, err, want)
			}
		}
		for path, want := range map[string][]ambit.Reason{
			"": {ambit.ErrInvalid, ambit.ErrInvalidPath}, "d": {ambit.ErrInvalid}, "d/f": {ambit.ErrInvalid}, ".": {ambit.ErrInvalid}, "..": {ambit.ErrInvalid}, "./d": {ambit.ErrInvalid},
			"file://" + w.host("d/f"): {ambit.ErrInvalid},
			w.host("a\x00b"):          {ambit.ErrInvalidPath, ambit.ErrInvalid},
			base:                      {ambit.ErrOutside}, "/": {ambit.ErrOutside}, w.outside: {ambit.ErrOutside}, w.outside + "/" + secretName: {ambit.ErrOutside}, w.root + "-not/d": {ambit.ErrOutside},
			w.root + "x": {ambit.ErrOutside}, w.root + "/..": {ambit.ErrOutside}, w.root + "/../beside": {ambit.ErrOutside}, "/d/f": {ambit.ErrOutside}, "/..": {ambit.ErrOutside},
			w.host("out"): {ambit.ErrOutside}, w.host("outdir/nothing"): {ambit.ErrOutside}, w.host("loop"): {ambit.ErrLoop},
			w.host("secret"): {ambit.ErrDenied}, w.host("secret/key"): {ambit.ErrDenied}, w.host("secret/none"): {ambit.ErrDenied}, alias + "/lkey": {ambit.ErrDenied},
		} {
			got, err := fsys.MachinePath(path)
			ok := false
			for _, r := range want {
				ok = ok || ambit.ReasonOf(err) == r
			}
			if got != "" || !ok {
				t.Errorf("MachinePath(%q): %q, %v, want one of %q", path, got, err, want)
			}
			var e *ambit.Error
			if err != nil && !errors.As(err, &e) {
				t.Errorf("MachinePath(%q): %v is no *ambit.Error", path, err)
			}
		}
		// What is outside is told the same whether or not anything is there, and
		// so is what is denied.
		for _, pair := range [][2]string{{w.outside + "/" + secretName, w.outside + "/another-name"}, {w.host("secret/key"), w.host("secret/yek")}} {
			_, is := fsys.MachinePath(pair[0])
			_, not := fsys.MachinePath(pair[1])
			if a, b := strings.ReplaceAll(fmt.Sprint(is), filepath.Base(pair[0]), "NAME"), strings.ReplaceAll(fmt.Sprint(not), filepath.Base(pair[1]), "NAME"); a != b {
				t.Errorf("of what is there %q is told, of what is not %q", a, b)
			}
		}
		// A relative one is invalid wherever the process is.
		t.Chdir(w.root)
		if got, err := fsys.MachinePath("d/f"); ambit.ReasonOf(err) != ambit.ErrInvalid || got != "" {
			t.Errorf("a relative path in the root itself: %q, %v", got, err)
		}
	})
}

// Odd names come through all three, in a URL as its rules want.
func TestOddNames(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the disks of this system refuse or fold some names themselves")
	}
	w := newWorldIn(t, fastDir(t), "")
	names := []string{
		"with space", "a+b", "a#b", "a?b", "a%b", "a%20b", "a%2fb", "a&b=c;d", "a:b", "a@b", "[a]", "caf\u00e9", "\u65e5\u672c", "\xff\xfe", "a\xc3", "a\nb", "a\tb", `a\b`, "~", "-", "..x", "...", "\x01\x7f",
		"'\"`", "{}|^<>", "\u202e", "file:", "con ", "a.",
	}
	for _, name := range names {
		must(t, os.Mkdir(w.host(name), 0o777))
		must(t, os.WriteFile(filepath.Join(w.host(name), name), []byte(name), 0o666))
		path := "/" + name + "/" + name
		host, err := w.fsys.HostPath(path)
		if err != nil || host != w.root+path {
			t.Errorf("HostPath(%q): %q, %v", path, host, err)
			continue
		}
		if text := bytesOf(t, host); text != name {
			t.Errorf("%q holds %q", host, text)
		}
		if back, err := w.fsys.MachinePath(host); err != nil || back != path {
			t.Errorf("MachinePath(%q): %q, %v", host, back, err)
		}
		text, err := w.fsys.FileURL(path)
		if err != nil {
			t.Errorf("FileURL(%q): %v", path, err)
			continue
		}
		for _, c := range []byte(text) {
			if c <= ' ' || c >= 0x7f || strings.IndexByte(`"<>\^{|}`+"`", c) >= 0 {
				t.Errorf("FileURL(%q): %q holds the byte %q, which no URL does", path, text, c)
			}
		}
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "file" || u.Host != "" || u.Path != host || u.RawQuery != "" || u.Fragment != "" {
			t.Errorf("FileURL(%q): %q is parsed as %+v, %v", path, text, u, err)
		}
	}
	if text, err := w.fsys.FileURL("/a b#c?d%e"); err != nil || !strings.HasSuffix(text, "/a%20b%23c%3Fd%25e") {
		t.Errorf("FileURL: %q, %v", text, err)
	}
	if text, err := w.fsys.FileURL("/\xff"); err != nil || !strings.HasSuffix(strings.ToUpper(text), "/%FF") {
		t.Errorf("FileURL: %q, %v", text, err)
	}
}

// In a Host the two namings are one, and in a Sub it is the parent's.
func TestNamingOfHostAndSub(t *testing.T) {
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		h := newHousehold(t, twoRoots+"one/to-two -> ../way/to/two\n")
		fsys := h.serve(t, with(&local.Options{Deny: []string{h.host("one/d/x")}}), "one", "way/to/two")
		for path, want := range map[string]string{
			"f": "one/f", h.host("one/f"): "one/f", h.host("way/to/two/new"): "way/to/two/new", "to-two/g": "way/to/two/g", "../one": "one", h.host("way/to/two") + "/": "way/to/two",
		} {
			if got, err := fsys.HostPath(path); err != nil || got != h.host(want) {
				t.Errorf("HostPath(%q): %q, %v", path, got, err)
			}
			if !strings.HasPrefix(path, "/") {
				continue
			}
			if got, err := fsys.MachinePath(path); err != nil || got != h.host(want) {
				t.Errorf("MachinePath(%q): %q, %v", path, got, err)
			}
		}
		for _, path := range []string{h.host("unlisted/u"), h.host("unlisted"), h.host("way/to/beside"), "/etc/passwd", h.host("one-secret")} {
			if got, err := fsys.HostPath(path); ambit.ReasonOf(err) != ambit.ErrOutside || got != "" {
				t.Errorf("HostPath(%q): %q, %v", path, got, err)
			}
			if got, err := fsys.MachinePath(path); ambit.ReasonOf(err) != ambit.ErrOutside || got != "" {
				t.Errorf("MachinePath(%q): %q, %v", path, got, err)
			}
		}
		if got, err := fsys.HostPath("d/x"); ambit.ReasonOf(err) != ambit.ErrDenied || got != "" {
			t.Errorf("HostPath of what is denied: %q, %v", got, err)
		}
		s, err := ambit.Sub(ctx, fsys, "d")
		must(t, err)
		sub, ok := s.(*local.FileSystem)
		if !ok {
			t.Fatalf("Sub returned a %T", s)
		}
		defer sub.Close()
		if got, err := sub.HostPath("/deep/new"); err != nil || got != h.host("one/d/deep/new") {
			t.Errorf("HostPath in the Sub: %q, %v", got, err)
		}
		if got, err := sub.MachinePath(h.host("one/d/deep")); err != nil || got != "/deep" {
			t.Errorf("MachinePath in the Sub: %q, %v", got, err)
		}
		if got, err := sub.HostPath("x"); ambit.ReasonOf(err) != ambit.ErrDenied || got != "" {
			t.Errorf("HostPath of what is denied in the Sub: %q, %v", got, err)
		}
		if got, err := sub.MachinePath(h.host("one/f")); ambit.ReasonOf(err) != ambit.ErrOutside || got != "" {
			t.Errorf("MachinePath of what is above the Sub: %q, %v", got, err)
		}
	})
}

// A rule that refuses a path does not tell where it is on the host either.
func TestNamingUnderARule(t *testing.T) {
	w := newWorldIn(t, fastDir(t), "secret = S\nopen = O\nl -> secret\n")
	g, ok := any(w.fsys).(ambit.Guarder)
	if !ok {
		t.Fatal("there is no Guard")
	}
	guarded := g.Guard(func(_ context.Context, _ ambit.Op, path string) error {
		if path == "/secret" {
			return ambit.ErrDenied
		}
		return nil
	})
	named, ok := guarded.(interface {
		HostPath(path string) (string, error)
		FileURL(path string) (string, error)
		MachinePath(hostPath string) (string, error)
	})
	if !ok {
		return // a guarded file system may do without names of the host
	}
	for _, path := range []string{"/secret", "l"} {
		if got, err := named.HostPath(path); ambit.ReasonOf(err) != ambit.ErrDenied || got != "" {
			t.Errorf("HostPath(%q): %q, %v", path, got, err)
		}
		if got, err := named.FileURL(path); ambit.ReasonOf(err) != ambit.ErrDenied || got != "" {
			t.Errorf("FileURL(%q): %q, %v", path, got, err)
		}
	}
	if got, err := named.MachinePath(w.host("secret")); ambit.ReasonOf(err) != ambit.ErrDenied || got != "" {
		t.Errorf("MachinePath: %q, %v", got, err)
	}
	if got, err := named.HostPath("open"); err != nil || got != w.host("open") {
		t.Errorf("HostPath of what is allowed: %q, %v", got, err)
	}
}

// MachinePath undoes HostPath for every path that has a place, and neither
// leaves the root.
func FuzzNaming(f *testing.F) {
	for _, path := range []string{
		"", "/", ".", "..", "a", "/a/b", "d/f", "ldir/x", "labs/../x", "out", "outdir/x", "loop", "a//b/./c/../d", "a b#c?d%e", "\xff/\n", "%2e%2e/x", `..\x`, "file:///d/f", "secret/key", "/../x", "a\x00b",
		strings.Repeat("n", 256), strings.Repeat("d/", 2100),
	} {
		f.Add(path)
	}
	w := newWorldIn(f, fastDir(f), namable)
	fsys := serve(f, w.root, &local.Options{Deny: []string{"/secret"}})
	f.Fuzz(func(t *testing.T, path string) {
		host, err := fsys.HostPath(path)
		link, urlErr := fsys.FileURL(path)
		if ambit.ReasonOf(err) != ambit.ReasonOf(urlErr) {
			t.Fatalf("HostPath(%q): %v, FileURL: %v", path, err, urlErr)
		}
		if err != nil {
			if host != "" || link != "" || strings.Contains(strings.ReplaceAll(err.Error(), path, ""), filepath.Dir(w.root)) && !strings.Contains(path, filepath.Dir(w.root)) {
				t.Fatalf("HostPath(%q): %q, %q, %v", path, host, link, err)
			}
			return
		}
		if host != w.root && !strings.HasPrefix(host, w.root+"/") || filepath.Clean(host) != host {
			t.Fatalf("HostPath(%q): %q is not in the root, or not clean", path, host)
		}
		if host == w.host("secret") || strings.HasPrefix(host, w.host("secret")+"/") {
			t.Fatalf("HostPath(%q): %q is denied", path, host)
		}
		back, err := fsys.MachinePath(host)
		if err != nil {
			t.Fatalf("MachinePath(%q): %v", host, err)
		}
		if w.root+strings.TrimSuffix(back, "/") != host {
			t.Fatalf("HostPath(%q) is %q, MachinePath of that %q", path, host, back)
		}
		if again, dir, err := ambit.Resolve("/", back); err != nil || again != back || dir && back != "/" {
			t.Fatalf("MachinePath(%q): %q is not canonical: %q, %v", host, back, again, err)
		}
		if info, err := fsys.Lstat(ctx, path); err == nil && info.Kind != ambit.KindSymlink && info.Path != back {
			t.Fatalf("Lstat(%q) says %q, the namings %q", path, info.Path, back)
		}
		u, err := url.Parse(link)
		if err != nil || u.Scheme != "file" || u.Path != host || u.Host != "" || u.RawQuery != "" || u.Fragment != "" {
			t.Fatalf("FileURL(%q): %q is parsed as %+v, %v", path, link, u, err)
		}
	})
}
