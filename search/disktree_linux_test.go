// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
	"github.com/ambitfs/ambit/memory"
)

// diskTree is a tree on the disk that other programs search as well.
type diskTree struct {
	name    string
	root    string
	crlf    bool // all its lines end so
	outside bool // what is above the root may have rules of its own
	engines map[string]ambit.FileSystem
}

// serve makes the engines. inMemory loads the tree as well.
func (tree *diskTree) serve(t *testing.T, inMemory bool) {
	t.Helper()
	disk, err := local.New(tree.root, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disk.Close() })
	tree.engines = map[string]ambit.FileSystem{"local": disk, "local, by List": withoutSearch(disk)}
	if !inMemory {
		return
	}
	contents := map[string]string{}
	err = filepath.WalkDir(tree.root, func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == tree.root {
			return err
		}
		path, _ := filepath.Rel(tree.root, name)
		switch {
		case e.IsDir():
			contents[path+"/"] = ""
		case e.Type().IsRegular():
			content, err := os.ReadFile(name)
			contents[path] = string(content)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path := range contents {
		for dir := filepath.Dir(strings.TrimSuffix(path, "/")); dir != "."; dir = filepath.Dir(dir) {
			delete(contents, dir+"/")
		}
	}
	tree.engines["memory"] = memory.New(contents, nil)
}

// generator makes a tree, the same for the same seed.
type generator struct {
	t    *testing.T
	rng  *rand.Rand
	root string
	crlf bool
}

func (g *generator) pick(from []string) string { return from[g.rng.IntN(len(from))] }

var (
	folderNames = []string{"src", "lib", "build", "docs", "a b", "ä", "node_modules", ".cache", "vendor", "x[y]", "Test", "tést", "-dash", "out.d"}
	fileNames   = []string{
		"main.go", "main_test.go", "util.py", "README.md", "index.js", "style.css", "Makefile", "data.json", "conf.yaml", "page.html", "run.sh",
		"mod.rs", "App.java", "lib.c", "lib.h", "prog.cpp", "notes.txt", "debug.log", "old.log", ".env", ".eslintrc.json", "a\nb.txt", "\xff\xfe.txt",
		"{x}.go", "[z].go", "emp ty", "noextension", "!bang.go", "#hash.md", "Ünïcode.go", "UPPER.GO", "x.tar.gz", "comma,name.py", "-v.go",
	}
	// Rules on which git and ripgrep agree.
	ignoreRules = []string{
		"*.log", "build/", "/docs", "node_modules", "!main.go", "src/*.py", "**/vendor", "out.d/**", "*.t?t", "/lib/**/x.tar.gz", "# a comment", "",
		"[a-m]*.json", "\\#hash.md", "\\!bang.go", "!debug.log", "emp\\ ty", "/*.md", "**/Test/*.c", "Ünïcode.go", "conf.yaml/", "!README.md", "*.css ",
	}
	words = []string{
		"foo", "bar", "Foo", "FOO", "foobar", "foo_bar", "foo-bar", "return", "error", "x", "42", "1234", "func main() {", "}", "TODO:", "日本", "ÄÖ", "äö",
		"a.b", "a+b", "[x]", "é", "naïve", "\t", "(", "foo(bar)", "K", "ſ", "\u212a", "abc123", "_", "$", "^", "e\u0301",
	}
)

func (g *generator) text(lines int) string {
	ending := "\n"
	if g.crlf {
		ending = "\r\n"
	}
	var b strings.Builder
	for range lines {
		for i := range g.rng.IntN(7) {
			if i > 0 && g.rng.IntN(4) > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(g.pick(words))
		}
		b.WriteString(ending)
	}
	if g.rng.IntN(3) == 0 {
		b.WriteString(g.pick(words)) // a last line without an ending
	}
	return b.String()
}

// content is what a file has: mostly plain text.
func (g *generator) content() string {
	switch g.rng.IntN(20) {
	case 0:
		return ""
	case 1:
		return "\xef\xbb\xbf" + g.text(5)
	case 2:
		return inUTF16(g.text(6), g.rng.IntN(2) == 0)
	case 3:
		return "\x7fELF\x02\x01\x01\x00\x00\x00foo\n\x00" + g.text(4)
	case 4: // longer than any buffer has room for at first
		return g.text(3) + strings.Repeat("foo bar ", 3_000) + "\n" + g.text(2)
	case 5:
		return g.text(200)
	case 6:
		return strings.Repeat("\n", 3) + g.text(1)
	default:
		return g.text(g.rng.IntN(15))
	}
}

// inUTF16 writes text with a byte order mark.
func inUTF16(text string, big bool) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		if big {
			b = append(b, byte(unit>>8), byte(unit))
		} else {
			b = append(b, byte(unit), byte(unit>>8))
		}
	}
	return string(b)
}

func (g *generator) write(path, content string) {
	g.t.Helper()
	name := filepath.Join(g.root, path)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		g.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		g.t.Fatal(err)
	}
}

func (g *generator) rules() string {
	var b strings.Builder
	for range 1 + g.rng.IntN(4) {
		b.WriteString(g.pick(ignoreRules) + "\n")
	}
	return b.String()
}

// repository makes a folder one of git.
func (g *generator) repository(dir string) {
	g.t.Helper()
	name := filepath.Join(g.root, dir)
	if err := os.MkdirAll(name, 0o777); err != nil {
		g.t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "--quiet", "--template=", name).CombinedOutput(); err != nil {
		g.t.Fatalf("git init: %v: %s", err, out)
	}
	if g.rng.IntN(2) == 0 {
		g.write(filepath.Join(dir, ".git/info/exclude"), g.rules())
	}
}

func (g *generator) fill(dir string, depth int) {
	if depth > 0 && g.rng.IntN(8) == 0 {
		g.repository(dir)
	}
	if g.rng.IntN(3) == 0 {
		g.write(filepath.Join(dir, ".gitignore"), g.rules())
	}
	for range 3 + g.rng.IntN(5) {
		g.write(filepath.Join(dir, g.pick(fileNames)), g.content())
	}
	for range 4 {
		if g.rng.IntN(depth*depth+1) == 0 && depth < 4 {
			g.fill(filepath.Join(dir, g.pick(folderNames)), depth+1)
		}
	}
	if g.rng.IntN(4) == 0 {
		g.link(filepath.Join(dir, "link.go"), g.pick([]string{"main.go", "..", "nowhere", "/etc", "link.go"}))
	}
	if g.rng.IntN(6) == 0 {
		if err := os.MkdirAll(filepath.Join(g.root, dir, "empty"), 0o777); err != nil {
			g.t.Fatal(err)
		}
	}
}

func (g *generator) link(path, to string) {
	g.t.Helper()
	if err := os.Symlink(to, filepath.Join(g.root, path)); err != nil && !os.IsExist(err) {
		g.t.Fatal(err)
	}
}

// generated returns a tree in a repository of its own.
func generated(t *testing.T, seed int, crlf bool) *diskTree {
	t.Helper()
	g := &generator{t: t, rng: rand.New(rand.NewPCG(uint64(seed), 5)), root: t.TempDir(), crlf: crlf}
	g.repository("")
	g.fill("", 0)
	g.write("long.txt", g.text(3)+strings.Repeat("z", 300_000)+" foo "+strings.Repeat("z", 700_000)+"\n"+g.text(3))
	tree := &diskTree{name: fmt.Sprintf("generated, seed %d", seed), root: g.root, crlf: crlf}
	tree.serve(t, true)
	return tree
}
