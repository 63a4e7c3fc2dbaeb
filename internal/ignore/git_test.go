// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ignore

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// needGit skips the test where there is no git to ask.
func needGit(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skipf("there is no git to compare with: %v", err)
	}
}

// makeRepository makes dir the root of a repository.
func makeRepository(t testing.TB, dir string) {
	t.Helper()
	for _, folder := range []string{"objects", "refs", "info"} {
		if err := os.MkdirAll(filepath.Join(dir, ".git", folder), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, ".git", "HEAD"), "ref: refs/heads/main\n")
	write(t, filepath.Join(dir, ".git", "config"), "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tignorecase = false\n\tprecomposeunicode = false\n")
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// gitIgnores asks git which of the paths, relative to the repository, are
// ignored. It also returns the rule that decided each.
func gitIgnores(t testing.TB, repository string, paths []string) (ignored []bool, rules []string) {
	t.Helper()
	var input, output, stderr bytes.Buffer
	for _, path := range paths {
		// The "./" keeps git from reading a colon at the beginning as pathspec magic.
		input.WriteString("./" + path + "\x00")
	}
	command := exec.CommandContext(t.Context(), "git", "-C", repository, "check-ignore", "-v", "-n", "--no-index", "--stdin", "-z")
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "GIT_") {
			command.Env = append(command.Env, variable)
		}
	}
	command.Env = append(command.Env, "HOME="+os.DevNull, "XDG_CONFIG_HOME="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_CEILING_DIRECTORIES="+filepath.Dir(repository))
	command.Stdin, command.Stdout, command.Stderr = &input, &output, &stderr
	if err := command.Run(); err != nil {
		if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 1 { // 1: none is ignored
			t.Fatalf("%v: %v\n%s", command.Args, err, stderr.Bytes())
		}
	}
	fields := strings.Split(strings.TrimSuffix(output.String(), "\x00"), "\x00")
	if len(fields) != 4*len(paths) {
		t.Fatalf("git answered %d fields to %d paths\n%s", len(fields), len(paths), stderr.Bytes())
	}
	for i, path := range paths {
		file, line, pattern, asked := fields[4*i], fields[4*i+1], fields[4*i+2], fields[4*i+3]
		if asked != "./"+path {
			t.Fatalf("git answered for %q, and was asked for %q", asked, path)
		}
		ignored = append(ignored, file != "" && !strings.HasPrefix(pattern, "!"))
		rules = append(rules, fmt.Sprintf("%s:%s:%q", file, line, pattern))
	}
	return ignored, rules
}

// A single is an ignore file, and paths beneath its folder that do not exist,
// which git takes for files.
type single struct {
	content string
	paths   []string
	ignored []bool // by git
	rules   []string
}

// askSingles makes n of them and asks git, all in one repository.
func askSingles(t testing.TB, g grammar, n int) []single {
	t.Helper()
	root := t.TempDir()
	makeRepository(t, root)
	singles := make([]single, n)
	var all []string
	for i := range singles {
		s := &singles[i]
		for range 20 {
			s.paths = append(s.paths, g.path())
		}
		s.content = g.file(s.paths, 3)
		folder := fmt.Sprintf("%d", i)
		if err := os.Mkdir(filepath.Join(root, folder), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(root, folder, ".gitignore"), s.content)
		for _, path := range s.paths {
			all = append(all, folder+"/"+path)
		}
	}
	ignored, rules := gitIgnores(t, root, all)
	for i := range singles {
		singles[i].ignored, singles[i].rules = ignored[20*i:20*i+20], rules[20*i:20*i+20]
	}
	return singles
}

// ignoredByChain follows the path from the folder of the rules.
func ignoredByChain(r *Rules, path string) bool {
	chain := (*Chain)(nil).With(r)
	names := strings.Split(path, "/")
	for _, name := range names[:len(names)-1] {
		if chain.Ignored(name, true) {
			return true
		}
		chain = chain.Enter(name)
	}
	return chain.Ignored(names[len(names)-1], false)
}

func ignoredNaively(rules []naiveRule, path string) bool {
	for i := range path {
		if path[i] == '/' && naiveVerdict(rules, path[:i], true) > 0 {
			return true
		}
	}
	return naiveVerdict(rules, path, false) > 0
}

// TestPatternsAgainstGit compares single files of few rules, and also the
// naive matcher that FuzzRules relies on.
func TestPatternsAgainstGit(t *testing.T) {
	needGit(t)
	if runtime.GOOS == "windows" {
		t.Skip("paths that do not exist can not be named freely on this system")
	}
	t.Parallel()
	seeds, first := batches(t, 1)
	files := 1000
	if testing.Short() {
		files = 300
	}
	answers, caught := map[bool]int{}, make([]int, len(wrong))
	for seed := first; seed < first+seeds; seed++ {
		singles := askSingles(t, newGrammar(seed), files)
		for _, s := range singles {
			rules, naive := Parse([]byte(s.content)), naiveParse(s.content)
			for i, path := range s.paths {
				answers[s.ignored[i]]++
				if got := ignoredByChain(rules, path); got != s.ignored[i] {
					t.Errorf("seed %d, rules %q, path %q: ignored is %v, and git says %v by %s", seed, s.content, path, got, s.ignored[i], s.rules[i])
				}
				if got := ignoredNaively(naive, path); got != s.ignored[i] {
					t.Errorf("seed %d, rules %q, path %q: the naive matcher says %v, and git %v by %s", seed, s.content, path, got, s.ignored[i], s.rules[i])
				}
			}
			for w, reading := range wrong {
				changed := Parse([]byte(reading.change(s.content)))
				for i, path := range s.paths {
					if ignoredByChain(changed, path) != s.ignored[i] {
						caught[w]++
					}
				}
			}
		}
	}
	t.Logf("git ignored %d paths and %d not", answers[true], answers[false])
	if answers[true]*10 < answers[false] {
		t.Errorf("the patterns are too poor: git ignored %d paths and %d not", answers[true], answers[false])
	}
	for w, reading := range wrong {
		t.Logf("%s: wrong for %d paths", reading.what, caught[w])
		if caught[w] == 0 {
			t.Errorf("the patterns are too poor: nothing shows %s", reading.what)
		}
	}
}

// batches returns how many seeds to try, and the first. AMBIT_IGNORE_SEEDS
// holds another number of seeds, and they then begin elsewhere.
func batches(t testing.TB, ordinary uint64) (n, first uint64) {
	t.Helper()
	if more := os.Getenv("AMBIT_IGNORE_SEEDS"); more != "" {
		if _, err := fmt.Sscan(more, &n, &first); err != nil {
			t.Fatalf("AMBIT_IGNORE_SEEDS is to hold a number of seeds and the first: %v", err)
		}
		return n, first
	}
	return ordinary, 1
}

// A tree is a repository with folders, files, ignore files and nested
// repositories.
type tree struct {
	folders  map[string]bool   // every entry by its path, true for a folder; "" is the root
	rules    map[string]string // of .gitignore files by their folder
	excludes map[string]string // of info/exclude by the root of the repository
	ignored  map[string]bool   // by git
	because  map[string]string
}

func newTree(t testing.TB, g grammar, root string) *tree {
	t.Helper()
	tr := &tree{folders: map[string]bool{"": true}, excludes: map[string]string{"": ""}}
	makeRepository(t, root)
	folders := []string{""}
	for range 30 + g.IntN(60) {
		parent := pick(g, folders...)
		path := strings.TrimPrefix(parent+"/"+g.name(), "/")
		if _, taken := tr.folders[path]; taken || strings.Count(path, "/") > 5 {
			continue
		}
		host := filepath.Join(root, path)
		switch {
		case !g.chance(2):
			if err := os.Mkdir(host, 0o777); err != nil {
				continue // a system that has no such name, or folds case
			}
			folders = append(folders, path)
			tr.folders[path] = true
			if g.chance(10) {
				makeRepository(t, host)
				tr.excludes[path] = ""
			}
		case g.chance(12):
			if err := os.Symlink(".", host); err != nil {
				continue
			}
			tr.folders[path] = false
		default:
			file, err := os.OpenFile(host, os.O_CREATE|os.O_EXCL, 0o666)
			if err != nil {
				continue
			}
			file.Close()
			tr.folders[path] = false
		}
	}
	return tr
}

// repositoryOf returns the root of the innermost repository that the entry
// lies in; a root itself lies in the one above.
func (tr *tree) repositoryOf(path string) string {
	for path != "" {
		path = path[:max(strings.LastIndexByte(path, '/'), 0)]
		if _, ok := tr.excludes[path]; ok {
			return path
		}
	}
	return ""
}

// write makes up new ignore files and asks git.
func (tr *tree) write(t testing.TB, g grammar, root string) {
	t.Helper()
	tr.rules, tr.ignored, tr.because = map[string]string{}, map[string]bool{}, map[string]string{}
	var paths []string
	for path := range tr.folders {
		if path != "" {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	beneath := func(folder string) []string {
		var near []string
		for _, path := range paths {
			if folder == "" {
				near = append(near, path)
			} else if rest, ok := strings.CutPrefix(path, folder+"/"); ok {
				near = append(near, rest)
			}
		}
		return near
	}
	for _, folder := range append([]string{""}, paths...) {
		if !tr.folders[folder] {
			continue
		}
		if _, ok := tr.excludes[folder]; ok {
			exclude := ""
			if g.chance(2) {
				exclude = g.file(beneath(folder), 4)
			}
			tr.excludes[folder] = exclude
			write(t, filepath.Join(root, folder, ".git", "info", "exclude"), exclude)
		}
		file := filepath.Join(root, folder, ".gitignore")
		if folder == "" || g.chance(4) {
			tr.rules[folder] = g.file(beneath(folder), 8)
			write(t, file, tr.rules[folder])
		} else if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	for repository := range tr.excludes {
		var names, full []string
		for _, path := range paths {
			if tr.repositoryOf(path) == repository {
				full = append(full, path)
				names = append(names, strings.TrimPrefix(path[len(repository):], "/"))
			}
		}
		if len(names) == 0 {
			continue
		}
		ignored, because := gitIgnores(t, filepath.Join(root, repository), names)
		for i, path := range full {
			tr.ignored[path], tr.because[path] = ignored[i], because[i]
		}
	}
}

// A walker follows a tree. The zero one does it as git does.
type walker struct {
	goesOnInRepositories bool // with the rules from above
	entersIgnored        bool // and asks the rules for what lies there
}

// walk returns which entries are ignored.
func (w walker) walk(tr *tree) map[string]bool {
	entries := map[string][]string{}
	for path := range tr.folders {
		if path != "" {
			slash := strings.LastIndexByte(path, '/')
			entries[path[:max(slash, 0)]] = append(entries[path[:max(slash, 0)]], path[slash+1:])
		}
	}
	answers := map[string]bool{}
	var visit func(folder string, chain *Chain, inIgnored bool)
	visit = func(folder string, chain *Chain, inIgnored bool) {
		if exclude, ok := tr.excludes[folder]; ok {
			inIgnored = false
			if w.goesOnInRepositories {
				chain = chain.With(Parse([]byte(exclude)))
			} else {
				chain = chain.Repository(Parse([]byte(exclude)))
			}
		}
		if content, ok := tr.rules[folder]; ok {
			chain = chain.With(Parse([]byte(content)))
		}
		for _, name := range entries[folder] {
			path := strings.TrimPrefix(folder+"/"+name, "/")
			dir := tr.folders[path]
			answers[path] = inIgnored || chain.Ignored(name, dir)
			if dir {
				visit(path, chain.Enter(name), answers[path] && !w.entersIgnored)
			}
		}
	}
	visit("", nil, false)
	return answers
}

// TestTreesAgainstGit compares every entry of random trees.
func TestTreesAgainstGit(t *testing.T) {
	needGit(t)
	t.Parallel()
	seeds, first := batches(t, 10)
	answers, caught := map[bool]int{}, map[walker]int{{goesOnInRepositories: true}: 0, {entersIgnored: true}: 0}
	for seed := first; seed < first+seeds; seed++ {
		g, root := newGrammar(seed), t.TempDir()
		tr := newTree(t, g, root)
		for range 8 {
			tr.write(t, g, root)
			got := walker{}.walk(tr)
			for path, ignored := range tr.ignored {
				answers[ignored]++
				if got[path] != ignored {
					t.Errorf("seed %d, path %q, folder %v: ignored is %v, and git says %v by %s", seed, path, tr.folders[path], got[path], ignored, tr.because[path])
				}
			}
			if t.Failed() {
				t.Fatalf("the ignore files: %q, the excludes: %q", tr.rules, tr.excludes)
			}
			for w := range caught {
				for path, ignored := range w.walk(tr) {
					if tr.ignored[path] != ignored {
						caught[w]++
					}
				}
			}
		}
	}
	t.Logf("git ignored %d entries and %d not", answers[true], answers[false])
	if answers[true]*10 < answers[false] || answers[false]*10 < answers[true] {
		t.Errorf("the trees are too poor: git ignored %d entries and %d not", answers[true], answers[false])
	}
	for w, n := range caught {
		t.Logf("%+v: wrong for %d entries", w, n)
		if n == 0 {
			t.Errorf("the trees are too poor: nothing shows %+v", w)
		}
	}
}

// wrong readings of an ignore file, which the comparison must find.
var wrong = []struct {
	what   string
	change func(content string) string
}{
	{"spaces at the end that stay", func(s string) string { return strings.ReplaceAll(s, " \n", "\\ \n") }},
	{"carriage returns that stay", func(s string) string { return strings.ReplaceAll(s, "\r\n", "\r\r\n") }},
	{"two stars that are one", func(s string) string { return strings.ReplaceAll(s, "**", "*") }},
	{"one star that crosses slashes", func(s string) string { return strings.ReplaceAll(s, "/*/", "/**/") }},
	{"negation without effect", func(s string) string { return strings.ReplaceAll(s, "\n!", "\n#") }},
	{"a mark at the beginning", func(s string) string { return strings.ReplaceAll(s, "\ufeff", "\ufeff\ufeff") }},
	{"rules in the wrong order", func(s string) string {
		lines := strings.Split(s, "\n")
		slices.Reverse(lines)
		return strings.Join(lines, "\n")
	}},
	{"rules for folders that match files", func(s string) string { return strings.ReplaceAll(s, "/\n", "\n") }},
	{"rules without an anchor", func(s string) string { return strings.ReplaceAll(s, "\n/", "\n") }},
	{"a negated class", func(s string) string { return strings.ReplaceAll(s, "[!", "[") }},
	{"a backslash that is one", func(s string) string { return strings.ReplaceAll(s, `\`, `\\`) }},
}

// TestClassesAgainstGit asks for each byte in each class.
func TestClassesAgainstGit(t *testing.T) {
	needGit(t)
	if runtime.GOOS == "windows" {
		t.Skip("paths that do not exist can not be named freely on this system")
	}
	root := t.TempDir()
	makeRepository(t, root)
	var paths, names []string
	var rules []*Rules
	for name := range classes {
		for _, pattern := range []string{"x[[:%s:]]", "x[![:%s:]]"} {
			pattern = fmt.Sprintf(pattern, name)
			folder := fmt.Sprintf("%d", len(names))
			if err := os.Mkdir(filepath.Join(root, folder), 0o777); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(root, folder, ".gitignore"), pattern)
			for c := 1; c < 256; c++ {
				if c != '/' {
					paths = append(paths, folder+"/x"+string([]byte{byte(c)}))
				}
			}
			names, rules = append(names, pattern), append(rules, Parse([]byte(pattern)))
		}
	}
	ignored, _ := gitIgnores(t, root, paths)
	for i, path := range paths {
		n := i / 254
		_, name, _ := strings.Cut(path, "/")
		if got := ignoredByChain(rules[n], name); got != ignored[i] {
			t.Errorf("%s, %q: ignored is %v, and git says %v", names[n], name, got, ignored[i])
		}
	}
}

// TestExamplesAgainstGit makes sure that the examples are right.
func TestExamplesAgainstGit(t *testing.T) {
	needGit(t)
	if runtime.GOOS == "windows" {
		t.Skip("paths that do not exist can not be named freely on this system")
	}
	root := t.TempDir()
	makeRepository(t, root)
	var paths []string
	var want []bool
	for i, c := range examples {
		folder := fmt.Sprintf("%d", i)
		if err := os.Mkdir(filepath.Join(root, folder), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(root, folder, ".gitignore"), c.content)
		for _, list := range []string{c.yes, c.no} {
			for path := range strings.SplitSeq(list, "|") {
				// A folder would have to exist, and NUL is no part of a name.
				if path != "" && !strings.HasSuffix(path, "/") && !strings.Contains(path, "\x00") {
					paths, want = append(paths, folder+"/"+path), append(want, list == c.yes)
				}
			}
		}
	}
	ignored, rules := gitIgnores(t, root, paths)
	for i, path := range paths {
		if ignored[i] != want[i] {
			t.Errorf("path %q: git says %v by %s", path, ignored[i], rules[i])
		}
	}
}
