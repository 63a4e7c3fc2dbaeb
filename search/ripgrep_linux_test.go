// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
)

// What ripgrep does otherwise, and how it is asked, or its answer read, so that
// both mean the same. There is no other difference.
//
//   - \b, \w, \d and \s are those of Unicode there, of ASCII here: the pattern is
//     written so that it says ASCII.
//   - A name that begins with a dot is shown there when -g or a line of a
//     .gitignore that begins with ! selects it, here only when the segment of the
//     glob begins with a dot: what that tells of hidden names is dropped.
//   - -g selects what a .gitignore ignores there, not here: what is not in the
//     answer without -g is dropped.
//   - A .gitignore counts in a repository only: --no-require-git.
//   - .ignore, .rgignore and the user's own rules count as well: --no-ignore-dot,
//     --no-ignore-global.
//   - With --crlf a "." and what is not in [^...] can still be the CR of an ending,
//     and a match can contain it: the pattern says that it is not, and spans end
//     before it.
//   - Where text is read as UTF-8, bytes that are none match no "." there, and
//     each is one character here: generated trees have none, and in the Go tree
//     (?-u) says so where it matters.
//   - A file that is named is searched there whatever the globs and types are; here
//     it must match them: questions about files have none.
//   - Nothing beneath an ignored folder is ignored here once the folder is named;
//     there the rules of the folders above still ignore some of it: bases are
//     folders that are not ignored.
//   - An empty match at the end of a last line that has no ending is not told there:
//     where it is the only one of the line, it is added.
//   - Of \Bo\B in "oooo" every second match is left out there: no such pattern.
//   - A NUL ends the search of a file there; here a file that begins as text is
//     searched to its end: NULs stand at the beginning, or GNU grep is asked.

// ripgrep is how ripgrep is called: with no say for what the machine is set to.
var ripgrep = []string{"rg", "--no-config", "--no-messages", "--sort", "path", "--no-require-git", "--no-ignore-dot", "--no-ignore-global"}

// needs skips a test where a program is missing.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("nothing to compare with: %v", err)
		}
	}
}

// output is what a program prints in a folder. That it has found nothing is no
// failure.
func output(t *testing.T, dir string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 && stderr.Len() == 0 {
		err = nil
	}
	if err != nil {
		t.Fatalf("%q: %v: %s", args, err, stderr.Bytes())
	}
	return out
}

// hiddenFlags are those for what is left out by default.
func hiddenFlags(all, noIgnore bool) []string {
	var args []string
	if all {
		args = append(args, "--hidden")
	}
	if noIgnore {
		args = append(args, "--no-ignore")
	}
	return args
}

// inASCII writes a pattern for ripgrep, so that it means what it means here.
var inASCII = strings.NewReplacer(`\\`, `\\`, `\b`, `(?-u:\b)`, `\B`, `(?-u:\B)`,
	`\w`, `[0-9A-Za-z_]`, `\W`, `[^0-9A-Za-z_]`, `\d`, `[0-9]`, `\D`, `[^0-9]`, `\s`, `[\t\n\f\r ]`, `\S`, `[^\t\n\f\r ]`)

// ripgrepFor returns how ripgrep is asked for what q asks for.
func ripgrepFor(tree *diskTree, q ambit.GrepQuery) []string {
	args := append(slices.Clone(ripgrep), hiddenFlags(q.All, q.NoIgnore)...)
	pattern := q.Pattern
	switch {
	case q.Literal:
		args = append(args, "--fixed-strings")
	case tree.crlf:
		pattern = inASCII.Replace(strings.NewReplacer(`\.`, `\.`, `.`, `[^\r\n]`, `[^`, `[^\r`).Replace(pattern))
	default:
		pattern = inASCII.Replace(pattern)
	}
	for _, flag := range []struct {
		name string
		set  bool
	}{
		{"--ignore-case", q.IgnoreCase},
		{"--word-regexp", q.Word},
		{"--multiline", q.Multiline},
		{"--crlf", tree.crlf && !q.Multiline},
		{"--no-ignore-parent", tree.outside},
		{"--json", q.Mode == ambit.GrepContent},
		{"--files-with-matches", q.Mode == ambit.GrepFiles},
		{"--count", q.Mode == ambit.GrepCount},
	} {
		if flag.set {
			args = append(args, flag.name)
		}
	}
	if q.Mode != ambit.GrepContent {
		args = append(args, "--null", "--with-filename")
	}
	if q.Before > 0 {
		args = append(args, "--before-context", strconv.Itoa(q.Before))
	}
	if q.After > 0 {
		args = append(args, "--after-context", strconv.Itoa(q.After))
	}
	for _, g := range q.Include {
		args = append(args, "--glob", g)
	}
	for _, g := range q.Exclude {
		args = append(args, "--glob", "!"+g)
	}
	for _, name := range q.Types {
		args = append(args, "--type", name)
	}
	_, name := tree.working(q.Base)
	return append(args, "--regexp", pattern, "--", name)
}

// working returns the folder where a program is run that searches base, and what
// it is told to search there: patterns begin at the base.
func (tree *diskTree) working(base string) (dir, name string) {
	dir = filepath.Join(tree.root, base)
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return filepath.Split(dir)
	}
	return dir, "."
}

// askRipgrep returns what ripgrep finds, as Grep would tell it.
func askRipgrep(t *testing.T, tree *diskTree, q ambit.GrepQuery) []ambit.GrepMatch {
	t.Helper()
	dir, _ := tree.working(q.Base)
	out := output(t, dir, ripgrepFor(tree, q)...)
	canonical := tree.canonical(dir)
	var found []ambit.GrepMatch
	switch q.Mode {
	case ambit.GrepFiles:
		for path := range zeroSplit(out) {
			found = append(found, ambit.GrepMatch{Path: canonical(path)})
		}
	case ambit.GrepCount:
		for len(out) > 0 {
			path, rest, _ := bytes.Cut(out, []byte{0})
			count, rest, _ := bytes.Cut(rest, []byte("\n"))
			n, err := strconv.Atoi(string(bytes.TrimSuffix(count, []byte("\r"))))
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, ambit.GrepMatch{Path: canonical(string(path)), Count: n})
			out = rest
		}
	default:
		for line := range bytes.Lines(out) {
			found = append(found, ripgrepLines(t, line, canonical)...)
		}
	}
	shown := tree.shown(t, q.Base, q.All, q.NoIgnore, q.Include)
	return slices.DeleteFunc(found, func(m ambit.GrepMatch) bool { return !shown(m.Path) })
}

// ripgrepText is a text in ripgrep's answer.
type ripgrepText struct {
	Text  *string
	Bytes []byte // what is not UTF-8
}

func (r ripgrepText) String() string {
	if r.Text != nil {
		return *r.Text
	}
	return string(r.Bytes)
}

// ripgrepLines reads one message of --json, which may be of several lines where
// a match spans them.
func ripgrepLines(t *testing.T, line []byte, canonical func(string) string) []ambit.GrepMatch {
	t.Helper()
	var message struct {
		Type string
		Data struct {
			Path, Lines ripgrepText
			Number      int `json:"line_number"`
			Submatches  []struct{ Start, End int }
		}
	}
	if err := json.Unmarshal(line, &message); err != nil {
		t.Fatalf("%v in %q", err, line)
	}
	if message.Type != "match" && message.Type != "context" {
		return nil
	}
	var found []ambit.GrepMatch
	from := 0
	for text := range strings.Lines(message.Data.Lines.String()) {
		content := text
		if ended, ok := strings.CutSuffix(text, "\n"); ok {
			content = strings.TrimSuffix(ended, "\r")
		}
		m := ambit.GrepMatch{
			Path: canonical(message.Data.Path.String()), Line: message.Data.Number + len(found), Text: content,
			Context: message.Type == "context",
		}
		for _, s := range message.Data.Submatches {
			// Of a match over several lines what is in this one.
			start, end := s.Start-from, s.End-from
			if start > len(content) && start >= len(text) || end < 0 || end == 0 && start < 0 {
				continue
			}
			m.Spans = append(m.Spans, [2]int{min(max(start, 0), len(content)), min(end, len(content))})
		}
		if content == text && !m.Context && len(m.Spans) == 0 {
			m.Spans = [][2]int{{len(content), len(content)}}
		}
		if len(m.Spans) > 0 {
			m.Column = m.Spans[0][0] + 1
		}
		from += len(text)
		found = append(found, m)
	}
	return found
}

// canonical makes of a path that a program prints in dir what Ambit has for it.
func (tree *diskTree) canonical(dir string) func(path string) string {
	return func(path string) string { return strings.TrimPrefix(filepath.Join(dir, path), tree.root) }
}

// zeroSplit reads what ends in a NUL each.
func zeroSplit(out []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(out) > 0 {
			item, rest, _ := bytes.Cut(out, []byte{0})
			if !yield(string(item)) {
				return
			}
			out = rest
		}
	}
}

// shown returns which files a search with these globs may tell of, by what
// ripgrep lists without them.
func (tree *diskTree) shown(t *testing.T, base string, all, noIgnore bool, globs []string) func(path string) bool {
	t.Helper()
	// Names with a dot are files then; folders with one stay hidden.
	dots := slices.ContainsFunc(globs, func(glob string) bool { return strings.HasPrefix(glob, ".") || strings.Contains(glob, "/.") })
	visible := func(path string) bool {
		if all || base == path {
			return true
		}
		path = strings.TrimPrefix(path, base)
		if dots {
			path = filepath.Dir(path)
		}
		return !strings.Contains(path, "/.")
	}
	if len(globs) == 0 {
		return visible
	}
	args := append(slices.Clone(ripgrep), hiddenFlags(all || dots, noIgnore)...)
	if tree.outside {
		args = append(args, "--no-ignore-parent")
	}
	dir, name := tree.working(base)
	files := map[string]bool{}
	for path := range zeroSplit(output(t, dir, append(args, "--files", "--null", "--", name)...)) {
		files[tree.canonical(dir)(path)] = true
	}
	return func(path string) bool { return files[path] && visible(path) }
}
