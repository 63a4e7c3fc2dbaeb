// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
)

func TestResolve(t *testing.T) {
	long := strings.Repeat("n", ambit.MaxName)
	deep := strings.Repeat("/"+long, ambit.MaxPath/(ambit.MaxName+1)) // as deep as whole names of 255 bytes go
	deep += "/" + strings.Repeat("e", ambit.MaxPath-len(deep)-1)
	for _, test := range []struct {
		cwd, path string
		clean     string
		dir       bool
		reason    ambit.Reason
	}{
		{path: "/", clean: "/", dir: true},
		{path: ".", clean: "/", dir: true},
		{path: "./", clean: "/", dir: true},
		{path: "//", clean: "/", dir: true},
		{path: "///a///b", clean: "/a/b"},
		{path: "a", clean: "/a"},
		{path: "./a", clean: "/a"},
		{path: "a/.", clean: "/a", dir: true},
		{path: "a/", clean: "/a", dir: true},
		{path: "a//", clean: "/a", dir: true},
		{path: "a/..", clean: "/", dir: true},
		{path: "a/../b", clean: "/b"},
		{path: "a/b/..", clean: "/a", dir: true},
		{path: "a/./b", clean: "/a/b"},
		{path: "a/../b/../c", clean: "/c"},
		{path: "a//b", clean: "/a/b"},

		{cwd: "/w/x", path: "a", clean: "/w/x/a"},
		{cwd: "/w/x", path: ".", clean: "/w/x", dir: true},
		{cwd: "/w/x", path: "..", clean: "/w", dir: true},
		{cwd: "/w/x", path: "../..", clean: "/", dir: true},
		{cwd: "/w/x", path: "../../../y", reason: ambit.ErrOutside},
		{cwd: "/w/x", path: "/a", clean: "/a"},
		{cwd: "/w/x", path: "/../a", reason: ambit.ErrOutside},
		{cwd: "/w/x", path: "", reason: ambit.ErrInvalidPath},

		{path: "foo..bar", clean: "/foo..bar"},
		{path: "...", clean: "/..."},
		{path: "..x", clean: "/..x"},
		{path: "x..", clean: "/x.."},
		{path: `a\b`, clean: `/a\b`},
		{path: `..\b`, clean: `/..\b`},
		{path: "~", clean: "/~"},
		{path: "~/x", clean: "/~/x"},
		{path: "%2e%2e/x", clean: "/%2e%2e/x"},
		{path: "#", clean: "/#"},
		{path: "?x=1", clean: "/?x=1"},
		{path: "C:", clean: "/C:"},
		{path: " ", clean: "/ "},
		{path: "a\nb", clean: "/a\nb"},
		{path: "\xff\xfe/\x80", clean: "/\xff\xfe/\x80"},
		{path: "caf\u00e9", clean: "/caf\u00e9"},
		{path: "cafe\u0301", clean: "/cafe\u0301"},

		{path: "", reason: ambit.ErrInvalidPath},
		{path: "\x00", reason: ambit.ErrInvalidPath},
		{path: "/a\x00", reason: ambit.ErrInvalidPath},
		{path: "a/\x00/../b", reason: ambit.ErrInvalidPath},
		{path: long, clean: "/" + long},
		{path: long + "n", reason: ambit.ErrInvalidPath},
		{path: "/a/" + long + "n", reason: ambit.ErrInvalidPath},
		{path: long + "n/..", reason: ambit.ErrInvalidPath},
		{path: deep, clean: deep},
		{path: deep[1:], clean: deep},
		{path: deep + "x", reason: ambit.ErrInvalidPath},
		{cwd: "/w", path: deep[1:], reason: ambit.ErrInvalidPath},
		{cwd: "/w", path: deep[3:], clean: "/w/" + deep[3:]},
		{path: strings.Repeat("./", 3000) + "a", reason: ambit.ErrInvalidPath},
		{path: strings.Repeat("a/../", 1000), reason: ambit.ErrInvalidPath},
		{path: strings.Repeat("a/../", 800), clean: "/", dir: true},

		{path: "..", reason: ambit.ErrOutside},
		{path: "/..", reason: ambit.ErrOutside},
		{path: "a/../../b", reason: ambit.ErrOutside},
		{path: "../a", reason: ambit.ErrOutside},
		{path: "/../../..", reason: ambit.ErrOutside},
		{path: "../a/../../b/c/d", reason: ambit.ErrOutside},

		// Wrong in both ways: invalid-path comes first.
		{path: "../" + long + "n", reason: ambit.ErrInvalidPath},
		{path: "../\x00", reason: ambit.ErrInvalidPath},
		{path: strings.Repeat("../", 2000), reason: ambit.ErrInvalidPath},
	} {
		clean, dir, err := ambit.Resolve(test.cwd, test.path)
		if test.reason != "" {
			if clean != "" || dir {
				t.Errorf("Resolve(%q, %.40q) = %.40q, %t beside an error", test.cwd, test.path, clean, dir)
			}
			wantReason(t, err, "resolve", test.path, test.reason)
			continue
		}
		if err != nil || clean != test.clean || dir != test.dir {
			t.Errorf("Resolve(%q, %.40q) = %.40q, %t, %v, want %.40q, %t", test.cwd, test.path, clean, dir, err, test.clean, test.dir)
		}
	}
}

// resolveByStack is Resolve done as plainly as it goes: a stack of names.
func resolveByStack(cwd, path string) (clean string, dir bool, reason ambit.Reason) {
	if path == "" || strings.Contains(path, "\x00") || len(path) > 4095 {
		return "", false, ambit.ErrInvalidPath
	}
	segments := strings.Split(path, "/")
	for _, s := range segments {
		if len(s) > 255 {
			return "", false, ambit.ErrInvalidPath
		}
	}
	var stack []string
	if path[0] != '/' {
		for _, s := range strings.Split(cwd, "/") {
			if s != "" {
				stack = append(stack, s)
			}
		}
	}
	for _, s := range segments {
		switch {
		case s == "" || s == ".":
		case s == ".." && len(stack) == 0:
			return "", false, ambit.ErrOutside
		case s == "..":
			stack = stack[:len(stack)-1]
		default:
			stack = append(stack, s)
		}
	}
	clean = "/" + strings.Join(stack, "/")
	if len(clean) > 4095 {
		return "", false, ambit.ErrInvalidPath
	}
	last := segments[len(segments)-1]
	return clean, last == "" || last == "." || last == "..", ""
}

// checkResolve judges one call by three independent models and by the laws that hold of every result.
func checkResolve(t *testing.T, cwd, written string) {
	t.Helper()
	clean, dir, err := ambit.Resolve(cwd, written)

	wantClean, wantDir, wantReason := resolveByStack(cwd, written)
	if got := ambit.ReasonOf(err); got != wantReason || clean != wantClean || dir != wantDir {
		t.Fatalf("Resolve(%q, %q) = %q, %t, %q, the stack of names says %q, %t, %q", cwd, written, clean, dir, got, wantClean, wantDir, wantReason)
	}
	if wantReason == ambit.ErrInvalidPath {
		return
	}

	joined := written
	if written[0] != '/' {
		joined = cwd + "/" + written
	}
	// A relative path is local exactly when it does not climb above where it starts. filepath's own text is the host's.
	if filepath.Separator == '/' {
		relative := strings.TrimLeft(joined, "/")
		if local := relative == "" || filepath.IsLocal(relative); local != (err == nil) {
			t.Fatalf("Resolve(%q, %q): %v, and filepath.IsLocal(%q) is %t", cwd, written, err, relative, local)
		}
	}
	if err != nil {
		return
	}
	if want := path.Clean("/" + joined); clean != want {
		t.Fatalf("Resolve(%q, %q) = %q, path.Clean says %q", cwd, written, clean, want)
	}

	again, againDir, err := ambit.Resolve("/elsewhere", clean)
	if err != nil || again != clean || againDir != (clean == "/") {
		t.Fatalf("Resolve of the result %q is %q, %t, %v", clean, again, againDir, err)
	}
	if !ambit.Contains("/", clean) || !ambit.Contains(clean, clean) {
		t.Fatalf("%q is not within / or itself", clean)
	}
	if clean != "/" {
		if up, down := ambit.Dir(clean), ambit.Base(clean); ambit.Join(up, down) != clean || !ambit.Contains(up, clean) || ambit.Contains(clean, up) {
			t.Fatalf("%q falls into %q and %q", clean, up, down)
		}
	}
}

func FuzzResolve(f *testing.F) {
	for _, cwd := range []string{"/", "/w", "/w/x"} {
		for _, path := range []string{
			"/", "", ".", "..", "a/../b", "a/../../b", "/a//b/./c/", "...", "..x/..", "a\x00b", "\xff/..", `a\..\b`,
			strings.Repeat("a/", 2048), strings.Repeat("x", 256), "../" + strings.Repeat("x", 256),
		} {
			f.Add(cwd, path)
		}
	}
	f.Fuzz(func(t *testing.T, cwd, path string) {
		// A working directory is a clean absolute path by its nature.
		cwd, _, err := ambit.Resolve("", cwd)
		if err != nil {
			return
		}
		checkResolve(t, cwd, path)
	})
}

// TestResolveWholly goes through every text of up to seven of the characters that matter.
func TestResolveWholly(t *testing.T) {
	var texts func(prefix string, n int)
	count := 0
	texts = func(prefix string, n int) {
		for _, cwd := range []string{"/", "/w/x"} {
			checkResolve(t, cwd, prefix)
		}
		count++
		if n > 0 {
			for _, c := range []string{"/", ".", "a", "\x00"} {
				texts(prefix+c, n-1)
			}
		}
	}
	texts("", 7)
	if want := (4*4*4*4*4*4*4*4 - 1) / 3; count != want {
		t.Errorf("%d texts, want %d", count, want)
	}
}

func TestResolveAllocatesNothingForCleanPaths(t *testing.T) {
	for _, path := range []string{"/", "/a", "/a/b.txt", "/..x/...", strings.Repeat("/abc", 1000)} {
		if n := testing.AllocsPerRun(10, func() { ambit.Resolve("/w", path) }); n != 0 {
			t.Errorf("Resolve(%.20q) allocates %v times", path, n)
		}
	}
}

func TestPathParts(t *testing.T) {
	for _, test := range []struct{ path, dir, base string }{
		{"/", "/", "/"},
		{"/a", "/", "a"},
		{"/a/b", "/a", "b"},
		{"/a/..b", "/a", "..b"},
		{"/a/\xff", "/a", "\xff"},
	} {
		if dir, base := ambit.Dir(test.path), ambit.Base(test.path); dir != test.dir || base != test.base {
			t.Errorf("Dir and Base of %q are %q and %q, want %q and %q", test.path, dir, base, test.dir, test.base)
		}
	}
	for _, test := range []struct {
		dir, path string
		want      bool
	}{
		{"/", "/", true},
		{"/", "/a", true},
		{"/a", "/a", true},
		{"/a", "/a/b", true},
		{"/a", "/a/b/c", true},
		{"/a", "/ab", false},
		{"/a", "/ab/c", false},
		{"/a", "/", false},
		{"/a", "/A", false},
		{"/a/b", "/a", false},
		{"/srv/share", "/srv/share-secret", false},
		{"/srv/share", "/srv/share-secret/loot.md", false},
		{"/a", "/a\x00", false},
		{"/", "", false},
		{"/a", "", false},
	} {
		if got := ambit.Contains(test.dir, test.path); got != test.want {
			t.Errorf("Contains(%q, %q) = %t", test.dir, test.path, got)
		}
	}
}

// TestContainsBySegments compares Contains with a comparison of names, over all pairs of short paths.
func TestContainsBySegments(t *testing.T) {
	paths := []string{"/"}
	for i := 0; i < len(paths) && len(paths) < 400; i++ {
		for _, name := range []string{"a", "ab", "b", "a.", "-"} {
			paths = append(paths, ambit.Join(paths[i], name))
		}
	}
	names := func(path string) []string { return strings.FieldsFunc(path, func(r rune) bool { return r == '/' }) }
	contained := 0
	for _, dir := range paths {
		for _, path := range paths {
			d, p := names(dir), names(path)
			want := len(d) <= len(p)
			for i := 0; want && i < len(d); i++ {
				want = d[i] == p[i]
			}
			if got := ambit.Contains(dir, path); got != want {
				t.Fatalf("Contains(%q, %q) = %t", dir, path, got)
			}
			if want {
				contained++
			}
		}
	}
	if contained <= len(paths) {
		t.Errorf("only %d of the pairs are contained", contained)
	}
}
