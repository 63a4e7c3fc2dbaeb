// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ambitfs/ambit/patch"
)

// program returns what runs the program in a folder and returns its output;
// the test is skipped where the program is missing.
func program(t *testing.T, name, dir string) func(args ...string) string {
	t.Helper()
	found, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("no program %s: %v", name, err)
	}
	return func(args ...string) string {
		t.Helper()
		c := exec.Command(found, args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "LC_ALL=C", "TZ=America/New_York", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "HOME="+dir,
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		var stderr bytes.Buffer
		c.Stderr = &stderr
		out, err := c.Output()
		if exit, ok := err.(*exec.ExitError); ok && name == "diff" && exit.ExitCode() == 1 {
			err = nil // there are differences
		}
		if err != nil {
			t.Fatalf("%s %q: %v: %s", name, args, err, stderr.String())
		}
		return string(out)
	}
}

// tree is the content and mode of files by their paths.
type tree map[string]file

type file struct {
	content string
	mode    fs.FileMode // 0644 or 0755
}

func (f tree) write(t *testing.T, dir string) {
	t.Helper()
	for name, f := range f {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(f.content), f.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, f.mode); err != nil {
			t.Fatal(err)
		}
	}
}

// applied returns the tree after the patch, whose hunks must fit exactly where
// they say. All sections see the tree before.
func applied(before tree, p *patch.Patch) (tree, error) {
	after := tree{}
	for name, f := range before {
		after[name] = f
	}
	for _, s := range p.Sections {
		if s.Action == patch.Delete || s.Action == patch.Update && s.To != "" && s.To != s.Path {
			delete(after, s.Path)
		}
	}
	for _, s := range p.Sections {
		f, exists := before[s.Path]
		if exists == (s.Action == patch.Add) {
			return nil, fmt.Errorf("line %d: %q exists: %t", s.Line, s.Path, exists)
		}
		content, err := appliedHunks(f.content, s.Hunks)
		if err != nil {
			return nil, err
		}
		if s.Action == patch.Add {
			f.mode = 0o644
		}
		if s.Mode != 0 {
			f.mode = s.Mode
		}
		f.content = content
		to := s.Path
		if s.To != "" {
			to = s.To
		}
		if s.Action != patch.Delete {
			after[to] = f
		} else if content != "" && len(s.Hunks) > 0 {
			return nil, fmt.Errorf("line %d: %q is deleted and has content: %q", s.Line, s.Path, content)
		}
	}
	return after, nil
}

func appliedHunks(old string, hunks []patch.Hunk) (string, error) {
	lines := strings.SplitAfter(old, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	var out strings.Builder
	at := 0 // lines of old that are done
	for _, h := range hunks {
		start := h.Start - 1
		if !slices.ContainsFunc(h.Lines, func(l patch.Line) bool { return l.Kind != patch.Added }) {
			start = h.Start
		}
		if start < at || start > len(lines) {
			return "", fmt.Errorf("line %d: the hunk is at %d of %d lines, behind %d", h.Line, start, len(lines), at)
		}
		out.WriteString(strings.Join(lines[at:start], ""))
		at = start
		for _, l := range h.Lines {
			if l.Kind != patch.Added {
				if at == len(lines) || lines[at] != l.Text {
					return "", fmt.Errorf("line %d: old line %d is not %q", h.Line, at+1, l.Text)
				}
				at++
			}
			if l.Kind != patch.Removed {
				out.WriteString(l.Text)
			}
		}
	}
	return out.String() + strings.Join(lines[at:], ""), nil
}

// oddNames are names of files on a disk that takes every byte.
var oddNames = []string{
	"f", "d/e/f.go", "with space", " lead", "trail ", "a/x", "b/x", "i/w", "a b/a b", "\u00e9", "\xff\x01", "q\"q", `back\slash`, `\`, "tab\tname", "line\nname",
	"cr\r", "b/b b/b", "x x", "~", "new", "old/new", "dev/null", "diff --git a b", "c1\u0080", "-",
}

func randomFile(r *rand.Rand) file {
	var b strings.Builder
	ending := pick(r, "\n", "\n", "\r\n")
	for range r.IntN(30) {
		b.WriteString(pick(r, content...))
		if r.IntN(3) == 0 {
			b.WriteString(fmt.Sprint(r.IntN(1000)))
		}
		b.WriteString(ending)
	}
	if r.IntN(3) == 0 {
		b.WriteString("the end")
	}
	// What has a NUL is binary to git and diff.
	return file{strings.ReplaceAll(b.String(), "\x00", "0"), pick[fs.FileMode](r, 0o644, 0o644, 0o755)}
}

func changed(r *rand.Rand, f file) file {
	lines := strings.SplitAfter(f.content, "\n")
	for range r.IntN(4) {
		i := r.IntN(len(lines) + 1)
		switch r.IntN(3) {
		case 0:
			lines = slices.Insert(lines, i, "inserted\n")
		case 1:
			lines = slices.Delete(lines, min(i, len(lines)-1), min(i, len(lines)-1)+1)
			lines = append(lines, "")
		default:
			lines[min(i, len(lines)-1)] = pick(r, "-- changed\n", "++ changed\r\n", "changed")
		}
	}
	f.content = strings.Join(lines, "")
	if r.IntN(5) == 0 {
		f.mode ^= 0o111
	}
	return f
}

// randomChange returns two trees, of which the second has come out of the first
// by changes, renames, copies, new and deleted files.
func randomChange(r *rand.Rand, modes bool) (before, after tree) {
	before, after = tree{}, tree{}
	free := slices.Clone(oddNames)
	r.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
	next := func() string { n := free[0]; free = free[1:]; return n }
	for range 8 {
		name, f := next(), randomFile(r)
		before[name] = f
		switch r.IntN(7) {
		case 0:
		case 1:
			after[next()] = changed(r, f)
		case 2:
			after[name], after[next()] = changed(r, f), changed(r, f)
		case 3:
			after[name] = f
		default:
			after[name] = changed(r, f)
		}
	}
	after[next()] = randomFile(r)
	after[next()] = file{"", 0o644}
	if !modes {
		for _, tr := range []tree{before, after} {
			for name, f := range tr {
				tr[name] = file{f.content, 0o644}
			}
		}
	}
	return before, after
}

func equalTrees(got, want tree) error {
	for name, f := range want {
		if got[name] != f {
			return fmt.Errorf("%q is %+v, want %+v", name, got[name], f)
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d files, want %d", len(got), len(want))
	}
	return nil
}

// rounds is how many random changes are tried: each starts some processes.
func rounds(all int) int {
	if testing.Short() {
		return 3
	}
	return all
}

// What git diff writes is read as git has meant it: by what it lists of names,
// modes and numbers of lines, and by the second tree.
func TestParseGitDiff(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skipf("the names of this test are not possible on %s", runtime.GOOS)
	}
	for seed := range uint64(rounds(4)) {
		r := rand.New(rand.NewPCG(seed, 6))
		before, after := randomChange(r, true)
		dir := t.TempDir()
		git := program(t, "git", dir)
		git("init", "-q")
		git("config", "core.autocrlf", "false")
		git("config", "core.symlinks", "true")
		before.write(t, dir)
		git("add", "-A")
		git("commit", "-q", "-m", "before")
		for name := range before {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		after.write(t, dir)
		git("add", "-A")
		for _, style := range [][]string{nil, {"--no-prefix"}, {"-c", "diff.mnemonicPrefix=true"}, {"-c", "core.quotePath=false"}, {"-c", "diff.suppressBlankEmpty=true", "-c", "diff.context=1"}, {"-c", "diff.context=0"}, {"--src-prefix=1/", "--dst-prefix=2/"}} {
			var settings []string
			for len(style) > 0 && style[0] == "-c" {
				settings, style = append(settings, style[:2]...), style[2:]
			}
			diff := func(more ...string) string {
				return git(slices.Concat(settings, []string{"diff", "--cached", "-C", "--find-copies-harder", "--text"}, style, more)...)
			}
			text := diff()
			p, err := patch.Parse(text)
			if err != nil {
				t.Fatalf("seed %d %q: %v\n%s", seed, style, err, text)
			}
			got, err := applied(before, p)
			if err == nil {
				err = equalTrees(got, after)
			}
			if err == nil {
				err = linesOff(text, p)
			}
			if err != nil {
				t.Fatalf("seed %d %q: %v\n%s", seed, style, err, text)
			}
			if got, want := listed(before, p), rawListed(diff("--raw", "-z")); !slices.Equal(got, want) {
				t.Fatalf("seed %d %q: git lists %q, not %q\n%s", seed, style, want, got, text)
			}
			if got, want := counted(p, true), diff("--numstat", "-z"); got != want {
				t.Fatalf("seed %d %q: git counts %q, not %q\n%s", seed, style, want, got, text)
			}
			reversed, err := patch.Parse(diff("-R"))
			if err == nil {
				_, err = applied(after, reversed)
			}
			if err != nil {
				t.Fatalf("seed %d %q reversed: %v", seed, style, err)
			}
		}
		text := git("diff", "--cached", "-C", "--text")
		patchFile := filepath.Join(dir, ".git", "p")
		if err := os.WriteFile(patchFile, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		p, err := patch.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := counted(p, false), git("apply", "--numstat", "-z", patchFile); got != want {
			t.Fatalf("seed %d: git apply counts %q, not %q", seed, want, got)
		}
		if got, want := summary(before, p), git("apply", "--summary", patchFile); !equalWords(got, want) {
			t.Fatalf("seed %d: git apply tells\n%snot %v", seed, want, got)
		}
	}
}

// target is the file that a section is about in the end.
func target(s patch.Section) string {
	if s.To != "" {
		return s.To
	}
	return s.Path
}

// listed tells for each section what git's raw listing does.
func listed(before tree, p *patch.Patch) []string {
	var list []string
	for _, s := range p.Sections {
		letter := map[patch.Action]string{patch.Add: "A", patch.Delete: "D", patch.Update: "M", patch.Copy: "C"}[s.Action]
		if s.Action == patch.Update && s.To != "" {
			letter = "R"
		}
		mode := s.Mode
		if mode == 0 && s.Action != patch.Delete {
			mode = before[s.Path].mode
		}
		list = append(list, fmt.Sprintf("%s %03o %q %q", letter, mode, s.Path, s.To))
	}
	return list
}

func rawListed(raw string) []string {
	var list []string
	fields := strings.Split(strings.TrimSuffix(raw, "\x00"), "\x00")
	for len(fields) > 1 {
		facts := strings.Fields(fields[0])
		letter, path, to := facts[4][:1], fields[1], ""
		fields = fields[2:]
		if letter == "R" || letter == "C" {
			to, fields = fields[0], fields[1:]
		}
		list = append(list, fmt.Sprintf("%s %s %q %q", letter, facts[1][3:], path, to))
	}
	return list
}

// counted tells what git's listing of numbers does, with both names where a file
// is renamed or copied.
func counted(p *patch.Patch, both bool) string {
	var b strings.Builder
	for _, s := range p.Sections {
		added, removed := 0, 0
		for _, h := range s.Hunks {
			for _, l := range h.Lines {
				switch l.Kind {
				case patch.Added:
					added++
				case patch.Removed:
					removed++
				}
			}
		}
		name := target(s)
		if both && s.To != "" {
			name = "\x00" + s.Path + "\x00" + s.To
		}
		fmt.Fprintf(&b, "%d\t%d\t%s\x00", added, removed, name)
	}
	return b.String()
}

// summary counts what git apply --summary has a line for.
func summary(before tree, p *patch.Patch) map[string]int {
	n := map[string]int{}
	for _, s := range p.Sections {
		switch {
		case s.Action == patch.Add:
			n[" create mode 100"+fmt.Sprintf("%o", s.Mode)]++
		case s.Action == patch.Delete:
			n[fmt.Sprintf(" delete mode 100%o", before[s.Path].mode)]++
		case s.Action == patch.Copy:
			n[" copy "]++
		case s.To != "":
			n[" rename "]++
		}
		if s.Mode != 0 && s.Action != patch.Add {
			n[fmt.Sprintf(" mode change 100%o => 100%o", before[s.Path].mode, s.Mode)]++
		}
	}
	return n
}

// equalWords tells whether each line of the text begins with a key, as often as
// it is counted. git tells no rewrites that it has not looked for.
func equalWords(counts map[string]int, text string) bool {
	left := 0
	for _, n := range counts {
		left += n
	}
	for line := range strings.Lines(text) {
		for begin, n := range counts {
			if n > 0 && strings.HasPrefix(line, begin) {
				counts[begin]--
				left--
				line = ""
			}
		}
		if strings.HasPrefix(line, " ") && strings.Contains(line, "mode 100") {
			return false
		}
	}
	return left == 0
}

// What program diff writes for two folders gives the second out of the first;
// what it writes for two files, too.
func TestParseProgramDiff(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skipf("the names of this test are not possible on %s", runtime.GOOS)
	}
	for seed := range uint64(rounds(10)) {
		r := rand.New(rand.NewPCG(seed, 7))
		before, after := randomChange(r, false)
		for _, tr := range []tree{before, after} {
			for name, f := range tr {
				// Program diff -N takes an empty file for a missing one.
				if f.content == "" {
					delete(tr, name)
				}
			}
		}
		dir := t.TempDir()
		diff := program(t, "diff", dir)
		for sub, tr := range map[string]tree{"a": before, "b": after} {
			if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
				t.Fatal(err)
			}
			tr.write(t, filepath.Join(dir, sub))
		}
		for _, options := range [][]string{{"-ruN"}, {"-ruNp", "-U0"}, {"-ruN", "--suppress-blank-empty", "-U9"}} {
			text := diff(append(options, "--text", "a", "b")...)
			p, err := patch.Parse(text)
			var got tree
			if err == nil {
				got, err = applied(before, p)
			}
			if err == nil {
				err = equalTrees(got, after)
			}
			if err == nil {
				err = linesOff(text, p)
			}
			if err != nil {
				t.Fatalf("seed %d %q: %v\n%s", seed, options, err, text)
			}
		}
		for name, f := range before {
			if after[name].content == "" || after[name] == f {
				continue
			}
			text := diff("-u", "--text", "--label", name, "--label", name, "a/"+name, "b/"+name)
			if strings.ContainsAny(name, "\n\t\r\"\\") {
				continue // a label stands as it is, unquoted
			}
			p, err := patch.Parse(text)
			if err != nil || len(p.Sections) != 1 || p.Sections[0].Path != name {
				t.Fatalf("seed %d: %+v, %v\n%s", seed, p, err, text)
			}
		}
	}
}

// Commits as git prints them, with their messages, and as mails.
func TestParseGitCommits(t *testing.T) {
	dir := t.TempDir()
	git := program(t, "git", dir)
	git("init", "-q")
	git("config", "core.autocrlf", "false")
	tree{"f": {"a\n", 0o644}, "old name": {"1\n2\n3\n4\n5\n", 0o644}}.write(t, dir)
	git("add", "-A")
	git("commit", "-q", "-m", "first")
	tree{"f": {"a\nb", 0o644}, "new name": {"1\n2\n3\n4\n6\n", 0o644}}.write(t, dir)
	if err := os.Remove(filepath.Join(dir, "old name")); err != nil {
		t.Fatal(err)
	}
	git("add", "-A")
	git("commit", "-q", "-m", "second\n\n--- a/x\n- an item\n+ another\n+++ b/x\n")
	for _, args := range [][]string{{"show"}, {"log", "-p", "-1"}, {"format-patch", "--stdout", "-1"}, {"show", "--stat", "-p"}, {"diff", "HEAD~"}} {
		text := git(args...)
		p, err := patch.Parse(text)
		if err != nil {
			t.Errorf("%q: %v\n%s", args, err, text)
			continue
		}
		if len(p.Sections) != 2 || p.Sections[0].Path != "f" || p.Sections[1].Path != "old name" || p.Sections[1].To != "new name" {
			t.Errorf("%q: %+v", args, p.Sections)
		}
		verifyLines(t, text, p)
	}
	history := git("log", "-p", "--root")
	if p, err := patch.Parse(history); err != nil || len(p.Sections) != 4 {
		t.Errorf("%+v, %v\n%s", p, err, history)
	}
}
