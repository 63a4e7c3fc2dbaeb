// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/lines"
	"github.com/ambitfs/ambit/memory"
	"github.com/ambitfs/ambit/patch"
)

// sourcePaths are the files of this repository and of the Go tree.
var sourcePaths = sync.OnceValues(func() (found []string, err error) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	for _, root := range []string{"..", filepath.Join(strings.TrimSpace(string(goroot)), "src")} {
		err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() != ".." && strings.HasPrefix(d.Name(), "."):
				return fs.SkipDir
			case d.Type().IsRegular() && slices.Contains([]string{".go", ".md", ".s", ".txt", ".golden", ".html", ".js"}, filepath.Ext(path)):
				found = append(found, path)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
})

// sources returns the content of n of the source files, under other names.
func sources(t *testing.T, n int, random *rand.Rand) map[string]string {
	t.Helper()
	found, err := sourcePaths()
	if err != nil {
		t.Fatal(err)
	}
	found = slices.Clone(found)
	random.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
	files := make(map[string]string)
	for _, path := range found {
		if len(files) == n {
			return files
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(content) > 40<<10 || bytes.IndexByte(content, 0) >= 0 || bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff")) {
			continue
		}
		files[fmt.Sprintf("d%d/f%d%s", len(files)%50, len(files), filepath.Ext(path))] = string(content)
	}
	t.Fatalf("only %d files to be had", len(files))
	return nil
}

// dress gives a text some of the oddities that files have.
func dress(text string, random *rand.Rand) string {
	switch random.IntN(8) {
	case 0:
		text = strings.ReplaceAll(text, "\n", "\r\n")
	case 1:
		// Both endings.
		all := strings.SplitAfter(text, "\n")
		for i := range all {
			if random.IntN(3) == 0 && strings.HasSuffix(all[i], "\n") {
				all[i] = bare(all[i]) + "\r\n"
			}
		}
		text = strings.Join(all, "")
	case 2:
		text = "\ufeff" + text
	case 3:
		text = strings.ReplaceAll(text, "    ", "\t")
	}
	switch random.IntN(6) {
	case 0:
		text = strings.TrimRight(text, "\r\n")
	case 1:
		text += strings.Repeat("long line ", 1000+random.IntN(2000)) + "\n"
	case 2:
		if strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) {
			break // both encodings are in no file
		}
		text += "stra\xdfe \xd6\xd0\xce\xc4\n"
	}
	return text
}

func bare(line string) string { return line[:len(line)-len(lines.Ending(line))] }

// change changes some of the lines of a text; with endings it changes those too,
// and what stands at the beginning and end of the text.
func change(text string, endings bool, random *rand.Rand) string {
	all := strings.SplitAfter(text, "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	pick := func() (start, end int) {
		start = random.IntN(len(all))
		return start, min(start+1+random.IntN(5), len(all))
	}
	for range 1 + random.IntN(5) {
		if len(all) == 0 {
			return "new\n"
		}
		start, end := pick()
		switch random.IntN(7) {
		case 0:
			line := all[start]
			all[start] = bare(line) + " // " + fmt.Sprint(random.IntN(1000)) + lines.Ending(line)
		case 1:
			all = slices.Insert(all, start, "inserted\n")
		case 2:
			all = slices.Delete(all, start, end)
		case 3:
			block := slices.Clone(all[start:end])
			all = slices.Delete(all, start, end)
			all = slices.Insert(all, random.IntN(len(all)+1), block...)
		case 4:
			all = slices.Insert(all, random.IntN(len(all)+1), slices.Clone(all[start:end])...)
		case 5:
			all[start] = "\t" + all[start]
		case 6:
			all = slices.Insert(all, start, "\n", "}\n")
		}
		if len(all) == 0 {
			break
		}
		// Only the last line has no ending.
		for i, line := range all[:len(all)-1] {
			if lines.Ending(line) == "" {
				all[i] += "\n"
			}
		}
		if last := len(all) - 1; !endings && lines.Ending(all[last]) != lines.Ending(text) {
			all[last] = bare(all[last]) + lines.Ending(text)
		}
	}
	text = strings.Join(all, "")
	if !endings {
		return text
	}
	switch random.IntN(16) {
	case 0:
		text = strings.ReplaceAll(text, "\r\n", "\n")
	case 1:
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	case 2:
		text = strings.TrimRight(text, "\r\n")
	case 3:
		text += "last"
	case 4:
		if rest, ok := strings.CutPrefix(text, "\ufeff"); ok {
			text = rest
		} else if utf8.ValidString(text) {
			text = "\ufeff" + text
		}
	case 5:
		text = ""
	}
	return text
}

// lay writes the files beneath dir.
func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for path, content := range files {
		host := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(host), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(host, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// run runs a program in dir, which may say by its exit code that files differ.
func run(t *testing.T, dir, input, name string, args ...string) (stdout, stderr string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skip(err)
	}
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_CEILING_DIRECTORIES="+dir, "LC_ALL=C")
	cmd.Stdin = strings.NewReader(input)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && (!errors.As(err, &exit) || exit.ExitCode() > 1) {
		t.Fatalf("%s %v: %v: %s", name, args, err, errs.String())
	}
	return out.String(), errs.String()
}

// trees are two versions of many files.
type trees struct {
	dir      string            // has both in a repository of git
	old, new map[string]string // without files that are not there
}

func makeTrees(t *testing.T, n int, endings bool, random *rand.Rand) *trees {
	t.Helper()
	made := &trees{dir: t.TempDir(), old: make(map[string]string), new: make(map[string]string)}
	files := sources(t, n, random)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		text := files[path]
		if endings {
			text = dress(text, random)
		}
		changed := change(text, endings, random)
		switch random.IntN(40) {
		case 0:
			made.old[path] = text // deleted
		case 1:
			made.new[path] = changed
		case 2:
			made.old[path], made.new["moved/"+path] = text, changed
		case 3:
			made.old[path], made.new[path] = "", changed
		default:
			made.old[path], made.new[path] = text, changed
		}
	}
	var stream strings.Builder
	for name, files := range map[string]map[string]string{"a": made.old, "b": made.new} {
		fmt.Fprintf(&stream, "commit refs/trees/%s\ncommitter A <a@example.com> 0 +0000\ndata 0\n", name)
		for path, content := range files {
			fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", path, len(content), content)
		}
	}
	run(t, made.dir, "", "git", "init", "-q", "--bare", "git")
	run(t, made.dir, stream.String(), "git", "--git-dir=git", "fast-import", "--quiet")
	return made
}

// diff returns what git tells of the two versions.
func (made *trees) diff(t *testing.T, args ...string) string {
	t.Helper()
	args = append([]string{"--git-dir=git", "diff", "--no-color", "--text"}, args...)
	text, _ := run(t, made.dir, "", "git", append(args, "refs/trees/a", "refs/trees/b")...)
	return text
}

// some returns the first n files.
func some(files map[string]string, n int) map[string]string {
	chosen := make(map[string]string, n)
	for _, path := range slices.Sorted(maps.Keys(files))[:n] {
		chosen[path] = files[path]
	}
	return chosen
}

func gnuDiff(t *testing.T, dir, from, to string) string {
	t.Helper()
	text, _ := run(t, dir, "", "diff", "-ruNa", from, to)
	return text
}

func pairs() int {
	if testing.Short() {
		return 200
	}
	return 2200
}

// TestPairs has git and GNU diff tell how thousands of real files were changed,
// and wants the patches to give the one version out of the other, there and back.
func TestPairs(t *testing.T) {
	t.Parallel()
	made := makeTrees(t, pairs(), true, rand.New(rand.NewPCG(1, 2)))
	someOld, someNew := some(made.old, pairs()/4), some(made.new, pairs()/4)
	lay(t, filepath.Join(made.dir, "a"), someOld)
	lay(t, filepath.Join(made.dir, "b"), someNew)
	for _, way := range []struct {
		name     string
		old, new map[string]string
		diff     func() string
	}{
		{"git diff", made.old, made.new, func() string { return made.diff(t) }},
		{"git diff -R", made.new, made.old, func() string { return made.diff(t, "-R") }},
		{"diff -ruN", someOld, someNew, func() string { return gnuDiff(t, made.dir, "a", "b") }},
		{"diff -ruN, the other way", someNew, someOld, func() string { return gnuDiff(t, made.dir, "b", "a") }},
	} {
		t.Run(way.name, func(t *testing.T) {
			text := way.diff()
			applies(t, text, way.old, way.new)
		})
	}
}

// applies wants the patch to make the new files of the old ones.
func applies(t *testing.T, text string, before, after map[string]string) {
	t.Helper()
	p := parse(t, text)
	fsys := memory.New(before, nil)
	r, err := patch.Apply(t.Context(), fsys, p, nil)
	if err != nil {
		t.Fatalf("%d sections, %d problems: %v", len(p.Sections), len(r.Problems), err)
	}
	// GNU diff takes a missing file for an empty one.
	git := strings.HasPrefix(text, "diff --git")
	for path := range before {
		if _, stays := after[path]; stays {
			continue
		}
		if content, ok := fsys.Peek(path); ok && (git || content != "") {
			t.Errorf("%s is still there", path)
		}
	}
	wrong := 0
	for path, want := range after {
		got, ok := fsys.Peek(path)
		if got == want && (ok || !git) {
			continue
		}
		if wrong++; wrong < 5 {
			t.Errorf("%s (there: %v) is wrong:\n%s", path, ok, cmp.Diff(want, got))
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d files are wrong", wrong, len(after))
	}
}

var refusedByGit = regexp.MustCompile(`(?m)^error: (.*): (?:patch does not apply|No such file or directory|already exists in working directory)$`)

// TestRefusals compares with what git refuses, of patches for files that were
// changed meanwhile.
func TestRefusals(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	made := makeTrees(t, pairs()/3, false, random)
	now := make(map[string]string)
	for _, path := range slices.Sorted(maps.Keys(made.old)) {
		content := made.old[path]
		if strings.Contains(content, "\r") {
			continue // the endings of lines count for git alone
		}
		if random.IntN(3) > 0 {
			content = change(content, false, random)
		}
		now[path] = content
	}
	dir := t.TempDir()
	lay(t, dir, now)
	for _, contextLines := range []string{"-U3", "-U1", "-U0"} {
		t.Run(contextLines, func(t *testing.T) {
			text := made.diff(t, "--no-renames", contextLines)
			applies(t, text, made.old, made.new)
			_, stderr := run(t, dir, text, "git", "apply", "--unidiff-zero", "--check", "-")
			git := make(map[string]bool)
			for _, m := range refusedByGit.FindAllStringSubmatch(stderr, -1) {
				git[m[1]] = true
			}
			fsys := memory.New(now, nil)
			p := parse(t, text)
			r, err := patch.Apply(t.Context(), fsys, p, nil)
			if err == nil {
				t.Fatal("applied")
			}
			ambit := refusedByAmbit(r)
			t.Logf("of %d files git refuses %d, Apply %d", len(made.old), len(git), len(ambit))
			if len(git) < len(made.old)/20 || len(git) > len(made.old)*9/10 {
				t.Errorf("git refuses %d of %d: that proves little\n%.1000s", len(git), len(made.old), stderr)
			}
			for path := range git {
				if ambit[path] == nil {
					t.Errorf("%s is refused by git alone", path)
				}
			}
			for path, problems := range ambit {
				if git[path] || slices.ContainsFunc(problems, stricter) || slices.ContainsFunc(problems, func(problem patch.Problem) bool { return cutShort(p, problem) }) {
					continue
				}
				t.Errorf("%s is not refused by git: %v", path, problems)
			}
		})
	}
}

func refusedByAmbit(r *patch.Report) map[string][]patch.Problem {
	all := make(map[string][]patch.Problem)
	for _, p := range r.Problems {
		all[p.Path] = append(all[p.Path], p)
	}
	return all
}

// stricter reports that a hunk was refused for what git does not mind: that it
// fits in several places, or above the hunk before it, that what it adds has no
// newline and comes before other lines, or that the line behind which it adds is
// not there.
func stricter(p patch.Problem) bool {
	if p.Err.Reason == ambit.ErrAmbiguous || p.Err.Reason == ambit.ErrOutOfRange {
		return true
	}
	for _, detail := range []string{"fits only at line", "the hunk before it ends further on", "by the patch the file ends with what the hunk adds"} {
		if strings.Contains(p.Err.Detail, detail) {
			return true
		}
	}
	return false
}

// cutShort reports that the hunk of the problem has an old line without a
// newline: git takes that for the beginning of a longer line too.
func cutShort(p *patch.Patch, problem patch.Problem) bool {
	for _, s := range p.Sections {
		for _, h := range s.Hunks {
			if h.Line == problem.Line {
				return slices.ContainsFunc(h.Lines, func(l patch.Line) bool { return l.Kind != patch.Added && !strings.HasSuffix(l.Text, "\n") })
			}
		}
	}
	return false
}
