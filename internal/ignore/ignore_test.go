// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ignore

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// ignored follows a path from the root of a repository, whose ignore files are
// given by their folder ("" is the root), and goes on into ignored folders no
// further.
func ignored(files map[string]string, path string) bool {
	path, dir := strings.CutSuffix(path, "/")
	chain := (*Chain)(nil).Repository(Parse([]byte(files[".git/info/exclude"])))
	folder := ""
	for {
		if content, ok := files[folder]; ok {
			chain = chain.With(Parse([]byte(content)))
		}
		rest := strings.TrimPrefix(path[len(folder):], "/")
		name, _, more := strings.Cut(rest, "/")
		if !more {
			return chain.Ignored(name, dir)
		}
		if chain.Ignored(name, true) {
			return true
		}
		chain = chain.Enter(name)
		folder = strings.TrimPrefix(folder+"/"+name, "/")
	}
}

// Examples have a file, and paths that it ignores and does not ignore, apart by
// "|"; a slash at the end says that it is a folder.
var examples = []struct{ content, yes, no string }{
	{"foo", "foo|foo/|a/foo|foo/a", "fo|food|Foo"},
	{"# a\n\\#b\n#c", "#b", "a|# a|#c"},
	{"*\n!a\n\\!b", "b|!b|c", "a"},
	{"\ufeffa", "a", ""},
	{"a\r\nb\r\r\nc\r", "a|b\r|c", "b|a\r"},
	{"a  \nb\\ \nc\\  \nd\t\ne\\\\ ", "a|b |c |d\t|e\\", "a  |b|c  |d|e"},
	{" a", " a", "a"},
	{"a/", "a/|b/a/|a/b", "a|b/a"},
	{"/a", "a|a/b", "b/a"},
	{"a/b", "a/b|a/b/c", "b|c/a/b"},
	{"*.o\n!b.o", "a.o|c/a.o|.o", "b.o|c/b.o|a.oo"},
	{"a/*.o", "a/b.o", "a/b/c.o|b.o"},
	{"a?c", "abc", "ac|abbc|a\xc3\xa9c"},
	{"/a?c", "abc", "a/c"},
	{"**/a", "a|b/a|b/c/a", "ba"},
	{"a/**", "a/b|a/b/c", "a|a/|b/a"},
	{"a/**/b", "a/b|a/c/b|a/c/d/b", "ab|a/cb|c/a/b"},
	{"a/**/b/**/c", "a/b/c|a/b/b/c|a/x/b/y/c|a/b/c/b/c", "a/c|b/c|a/b/d"},
	{"**/a/*/b", "a/a/b|a/a/a/b|x/a/y/b", "a/b|a/x/y/b"},
	{"foo**/bar", "foobar|foo/bar|foo1/bar|foo1/2/bar", "bar|1foo/bar"},
	{"?oo**/bar", "foo/bar|foo1/bar", "foobar|foo1/2/bar"},
	{"[[:alpha:]]", "a|Z", "1|aa|\xe9"},
	{"[!a]\n![^b]", "b", "a|c"},
	{"[]a]\n[!]b-d]", "]|a|e", "b|c"},
	{"x[a-c-e]", "xa|xb|xc|x-|xe", "xd"},
	{"[a\nb[]\nc[[:no:]]\nd\\\n[b-a]", "b", "[a|a|b[]|b[|c|d|d\\"},
	{"[\\]]\n[\\a-\\c]x", "]|ax|bx", "\\|\\]|dx"},
	{"a[/]b", "", "a/b|a[/]b"},
	{"\\a\\*", "a*", "\\a*|ab"},
	{"a\x00b", "a", "a\x00b"},
	{"a\n!a/b", "a|a/b", ""},
	{"a/*\n!a/b", "a/c", "a/b|a"},
	{"*\n!*/\n!*.go", "a|b/c", "b/a.go|a.go|b/|b/c/"},
	{"//a\nb//c\nd//", "", "a|b/c|d|d/"},
	{"a/b/c/d/e/f/g/h/i/j/k", "a/b/c/d/e/f/g/h/i/j/k", "a/b/c/d/e/f/g/h/i/j|k"},
	{"", "", "a|a/"},
}

// TestIgnored has an example of each thing that git does, for where there is
// no git. TestPatternsAgainstGit and TestTreesAgainstGit have all the others.
func TestIgnored(t *testing.T) {
	for _, c := range examples {
		for path := range strings.SplitSeq(c.yes, "|") {
			if path != "" && !ignored(map[string]string{"": c.content}, path) {
				t.Errorf("%q does not ignore %q", c.content, path)
			}
		}
		for path := range strings.SplitSeq(c.no, "|") {
			if path != "" && ignored(map[string]string{"": c.content}, path) {
				t.Errorf("%q ignores %q", c.content, path)
			}
		}
	}
}

func TestPrecedence(t *testing.T) {
	files := map[string]string{
		".git/info/exclude": "*.o\n*.tmp\n",
		"":                  "!keep.o\n*.log\n/build/\n",
		"a":                 "!*.log\n*.txt\n",
		"a/b":               "x.log\n!y.txt\n",
		"build":             "!*\n",
	}
	for path, want := range map[string]bool{
		"x.o": true, "keep.o": false, "a/keep.o": false, "x.log": true, "a/x.log": false, "a/b/x.log": true, "a/b/z.log": false,
		"a/x.txt": true, "a/b/y.txt": false, "a/b/x.txt": true, "x.txt": false, "build/": true, "build/x": true, "a/build/": false,
		"a/b/c/x.tmp": true,
	} {
		if got := ignored(files, path); got != want {
			t.Errorf("%s: ignored is %v", path, got)
		}
	}
}

func TestRepository(t *testing.T) {
	above := (*Chain)(nil).With(Parse([]byte("*.o\nsub/\n")))
	if !above.Ignored("sub", true) {
		t.Error("rules from above do not ignore the root of a repository")
	}
	inside := above.Enter("sub").Repository(Parse([]byte("*.x")))
	if inside.Ignored("a.o", false) {
		t.Error("rules from above go on in a repository")
	}
	if !inside.Ignored("a.x", false) || !inside.Enter("b").Ignored("a.x", false) {
		t.Error("the exclude file is not heeded")
	}
	if above.Repository(nil) != nil {
		t.Error("a repository without an exclude file has rules")
	}
	if !above.Ignored("a.o", false) {
		t.Error("a chain changed")
	}
}

// TestNothing makes sure that a walk without rules costs nothing.
func TestNothing(t *testing.T) {
	var chain *Chain
	chain = chain.With(nil).With(Parse(nil)).With(Parse([]byte("# nothing\n\n[\n"))).Enter("a")
	if chain != nil {
		t.Error("there is a chain without rules")
	}
	chain = (*Chain)(nil).With(Parse([]byte("/a/b/*.o\n")))
	if chain.Enter("x") != nil {
		t.Error("the rules go on where none can match")
	}
	chain = (*Chain)(nil).With(Parse([]byte("*.o\n**/x/y\n"))).Enter("a")
	if chain.Enter("b") != chain {
		t.Error("there is another chain for a folder with the same rules")
	}
}

// TestHostile has files on which a simple matcher takes years.
func TestHostile(t *testing.T) {
	name := strings.Repeat("a", 255)
	deep := strings.Repeat(name+"/", 15) + name
	folders := strings.Repeat("a/", 200) + "c"
	for what, c := range map[string]struct{ content, path string }{
		"stars in a name":        {strings.Repeat("*a", 100) + "*b", name},
		"stars in a path":        {"/" + strings.Repeat("*a", 100) + "*b", name},
		"folders":                {strings.Repeat("**/a/", 90) + "b", folders},
		"folders and stars":      {strings.Repeat("**/*a*a*/", 15) + "b", deep},
		"folders behind a name":  {"a" + strings.Repeat("**/", 300000) + "b", folders},
		"folders once at least":  {"a" + strings.Repeat(`**\/`, 300000) + "b", folders},
		"a long line":            {strings.Repeat("*a", 500000), name},
		"a line of stars":        {"x" + strings.Repeat("*", 1000000) + "y", name},
		"a line of questions":    {strings.Repeat("?", 1000000), name},
		"a line of folders":      {strings.Repeat("a/", 500000), folders},
		"a line of wild folders": {strings.Repeat("?/", 500000), folders},
		"a large class":          {"*[" + strings.Repeat("b-c", 300000) + "]", name},
		"an open class":          {strings.Repeat("[", 1000000), name},
		"many classes":           {strings.Repeat("[[:lower:]]", 100000) + "b", name},
		"backslashes":            {strings.Repeat(`\`, 1000001), name},
		"spaces":                 {strings.Repeat(" ", 1000000), name},
		"many names":             {strings.Repeat("b\n", 100000), name},
		"many globs":             {strings.Repeat("*b*b\n", 30000), name},
		"many paths":             {strings.Repeat("**/*b/c\n", 30000), name + "/a"},
		"many empty lines":       {strings.Repeat("\n", 1000000), name},
	} {
		// The positive control: a rule before the hostile ones still holds.
		for last, want := range map[string]bool{"/nothing\n": false, "/" + c.path + "\n": true} {
			begin := time.Now()
			if got := ignored(map[string]string{"": last + c.content}, c.path); got != want {
				t.Errorf("%s: ignored is %v", what, got)
			}
			if took := time.Since(begin); took > 5*time.Second {
				t.Errorf("%s: it took %v", what, took)
			}
		}
	}
}

func FuzzRules(f *testing.F) {
	for seed := range uint64(200) {
		g := newGrammar(seed)
		path := g.path()
		f.Add(g.file([]string{path}, 4), path, seed%2 == 0)
	}
	f.Add("a**/**\\/b\n**/a/**/b/**/a/b\n", "a/b/a/a/b", false)
	f.Fuzz(func(t *testing.T, content, path string, dir bool) {
		if len(content) > 400 || len(path) > 100 || strings.Contains(path, "\x00") || strings.Contains("/"+path+"/", "//") {
			return
		}
		rules, naive := Parse([]byte(content)), naiveParse(content)
		chain := (*Chain)(nil).With(rules)
		// Every entry on the way is compared by the rules alone, so what lies in an ignored folder counts too.
		for from := 0; ; {
			length := strings.IndexByte(path[from:], '/')
			if length < 0 {
				compareVerdict(t, chain, content, path[from:], naiveVerdict(naive, path, dir), dir)
				return
			}
			name := path[from : from+length]
			compareVerdict(t, chain, content, name, naiveVerdict(naive, path[:from+length], true), true)
			chain = chain.Enter(name)
			from += length + 1
		}
	})
}

func compareVerdict(t *testing.T, chain *Chain, content, name string, want int, dir bool) {
	t.Helper()
	got := 0
	if chain != nil {
		switch last := chain.layers[0].last(name, dir); {
		case last == none:
		case last.negated():
			got = -1
		default:
			got = 1
		}
	}
	if got != want {
		t.Errorf("rules %q, entry %q, folder %v: the verdict is %d, and that of the naive matcher %d", content, name, dir, got, want)
	}
}

// ordinary is a file of 50 rules, of the kinds that projects have.
const ordinary = `# made by hand
__pycache__/
*.py[cod]
*$py.class
*.so
.Python
build/
develop-eggs/
dist/
downloads/
eggs/
.eggs/
/lib/
/lib64/
parts/
sdist/
var/
wheels/
*.egg-info/
.installed.cfg
*.egg
MANIFEST
*.manifest
*.spec
pip-log.txt
pip-delete-this-directory.txt
htmlcov/
.tox/
.nox/
.coverage
.coverage.*
.cache
nosetests.xml
coverage.xml
*.cover
*,cover
.hypothesis/
.pytest_cache/
*.mo
*.pot
*.log
local_settings.py
db.sqlite3
instance/
docs/_build/
docs/**/*.tmp
**/generated/*.go
!/lib/keep.txt
node_modules/
npm-debug.log*
*~
`

func BenchmarkIgnored(b *testing.B) {
	names := []string{"main.go", "handler_test.go", "README.md", "x.pyc", "node_modules", "a_rather_long_name_of_a_file.json"}
	for what, content := range map[string]string{"none": "", "ordinary": ordinary} {
		b.Run(what, func(b *testing.B) {
			chain := (*Chain)(nil).With(Parse([]byte(content))).Enter("src").Enter("pkg")
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				chain.Ignored(names[i%len(names)], false)
			}
		})
	}
}

func BenchmarkEnter(b *testing.B) {
	chain := (*Chain)(nil).With(Parse([]byte(ordinary)))
	names := make([]string, 100)
	for i := range names {
		names[i] = fmt.Sprintf("folder%d", i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		chain.Enter(names[i%len(names)]).Enter("x")
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Parse([]byte(ordinary))
	}
}
