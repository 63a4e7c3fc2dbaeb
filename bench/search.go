// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
	"github.com/ambitfs/ambit/memory"
	"github.com/ambitfs/ambit/search"
)

// What is searched. The tests make it less.
var (
	searchedSource = "src" // of GOROOT
	searchedFiles  = 200_000
)

// grepKinds are patterns of five kinds, as each program writes them.
var grepKinds = []struct {
	name                    string
	ambit, ripgrep, gnuGrep []string
	parallel                float64 // the bar to ripgrep that does not sort
}{
	{"a frequent literal", []string{"-F", "return"}, []string{"-F", "return"}, []string{"-F", "return"}, 1.3},
	{"a rare literal", []string{"-F", "EvalSymlinks"}, []string{"-F", "EvalSymlinks"}, []string{"-F", "EvalSymlinks"}, 1.3},
	{"a regular expression with a literal", []string{`Errorf\("[a-z]+ .*%w`}, []string{`Errorf\("[a-z]+ .*%w`}, []string{"-E", `Errorf\("[a-z]+ .*%w`}, 1.6},
	{"one without", []string{`\b[a-z]+[0-9]{4,}\b`}, []string{`(?-u:\b)[a-z]+[0-9]{4,}(?-u:\b)`}, []string{"-E", `\b[a-z]+[0-9]{4,}\b`}, 1.6},
	{"ignore-case", []string{"-i", "-F", "evalsymlinks"}, []string{"-i", "-F", "evalsymlinks"}, []string{"-i", "-F", "evalsymlinks"}, 1.6},
}

// searchContests are the contests of searching the source of Go, as whole
// processes that write to a file.
func searchContests(scratch string) []contest {
	return append(searched{"the source of Go", goSource, scratch}.contests(), engineContest(goSource)...)
}

// largeSearchContests are those on a tree that takes some time to make.
func largeSearchContests(scratch string) []contest {
	return searched{fmt.Sprintf("%d files", searchedFiles), tree(scratch, manyFiles), scratch}.contests()
}

// goSource is the folder of the source of Go.
func goSource() (string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	return filepath.Join(strings.TrimSpace(string(out)), searchedSource), err
}

// manyFiles makes a tree of small files, three of ten Go's, a hundred in a folder.
func manyFiles(dir string) error {
	endings := []string{"go", "txt", "js", "go", "md", "json", "go", "py", "html", "css"}
	var b bytes.Buffer
	for i := range searchedFiles {
		folder := filepath.Join(dir, fmt.Sprintf("a%02d/b%d/folder%d", i/100%20, i/2000%10, i/20_000))
		if i/100 != (i-1)/100 || i == 0 {
			if err := os.MkdirAll(folder, 0o777); err != nil {
				return err
			}
		}
		b.Reset()
		for line := range 8 {
			fmt.Fprintf(&b, "\tline %d of the file %d, which is there to be searched\n", line, i)
		}
		switch {
		case i%10 == 0:
			b.WriteString("\treturn value\n")
		case i%2001 == 1:
			b.WriteString("\tfilepath.EvalSymlinks(path)\n\tfmt.Errorf(\"cannot open: %w\", err)\n\tvar name12345 int\n")
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("name%d.%s", i, endings[i%10])), b.Bytes(), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// searched is a tree that whole processes search.
type searched struct {
	name    string
	dir     func() (string, error)
	scratch string
}

// contests has for each kind of grep a contest to what sorts and one to what does
// not, and the same of globs.
func (s searched) contests() []contest {
	var all []contest
	for _, kind := range grepKinds {
		rg := func(args ...string) []string {
			return slices.Concat([]string{"rg", "--no-config", "-n"}, args, kind.ripgrep, []string{"."})
		}
		flags, pattern := kind.ambit[:len(kind.ambit)-1], kind.ambit[len(kind.ambit)-1]
		ours := slices.Concat([]string{driver, "grep"}, flags, []string{".", pattern})
		all = append(
			all,
			s.contest("grep for "+kind.name+", sorted",
				peer{"rg --sort path -n", rg("--sort", "path"), bar{}},
				peer{"ambit", ours, bar{ratio: 1}},
				peer{"GNU grep -rn, C locale (any order)", slices.Concat([]string{"grep", "-rnI"}, kind.gnuGrep, []string{"."}), bar{}}),
			s.contest("grep for "+kind.name+", parallel",
				peer{"rg -j2 -n (any order)", rg("-j2"), bar{}},
				peer{"ambit (sorted)", ours, bar{ratio: kind.parallel}}),
		)
	}
	ours := []string{driver, "glob", "-files", ".", "**/*.go"}
	return append(
		all,
		s.contest("glob **/*.go, to fd",
			peer{"fd -g (any order)", []string{"fdfind", "--type", "f", "--glob", "*.go"}, bar{}},
			peer{"ambit (sorted)", ours, bar{ratio: 0.5}}),
		s.contest("glob **/*.go, to ripgrep",
			peer{"rg --files -g (any order)", []string{"rg", "--no-config", "--files", "-g", "*.go"}, bar{}},
			peer{"ambit (sorted)", ours, bar{ratio: 0.8}},
			peer{"rg --files -g --sort path", []string{"rg", "--no-config", "--files", "-g", "*.go", "--sort", "path"}, bar{}},
			peer{"find -name (any order)", []string{"find", ".", "-name", "*.go", "-type", "f"}, bar{}}),
		s.firstResults(),
	)
}

// peer is a program that searches, or a process of this one.
type peer struct {
	name string
	args []string
	bar  bar
}

// driver stands for the program that searches by this library.
const driver = "search"

func (p peer) isOurs() bool { return p.args[0] == driver }

// driverIn returns the path of that program in scratch, where it is built when it
// is not there. A process of this program would take longer to begin than some
// searches take.
func driverIn(scratch string) (string, error) {
	path := filepath.Join(scratch, driver)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if out, err := exec.Command("go", "build", "-o", path, "github.com/ambitfs/ambit/bench/search").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return path, nil
}

// contest is processes that print into a file. What they print is compared once.
// Bars are to the first: without it there are none.
func (s searched) contest(name string, peers ...peer) contest {
	c := contest{name: fmt.Sprintf("search: %s, %s, whole processes", name, s.name), batch: 1}
	var want []string
	for i, p := range peers {
		if !p.isOurs() {
			if _, err := exec.LookPath(p.args[0]); err != nil {
				c.name += fmt.Sprintf(" (there is no %s here)", p.args[0])
				continue
			}
		}
		if i > 0 && len(c.contenders) == 0 {
			p.bar = bar{}
		}
		c.contenders = append(c.contenders, s.contender(p, &want))
	}
	return c
}

func (s searched) contender(p peer, want *[]string) contender {
	peak, others := -1, 0
	var times []time.Duration
	return contender{
		name: p.name, bar: p.bar,
		start: func() (func(int) error, func(), error) {
			dir, err := s.dir()
			if err != nil {
				return nil, nil, err
			}
			out, err := os.CreateTemp(s.scratch, "printed")
			if err != nil {
				return nil, nil, err
			}
			checked := false
			return func(int) error {
				if err := rewound(out); err != nil {
					return err
				}
				used := time.Duration(0)
				if peak, used, err = p.run(dir, s.scratch, out, peak); err != nil {
					return err
				}
				if times = append(times, used); checked {
					return nil
				}
				checked = true
				others, err = compare(out, want)
				return err
			}, func() { out.Close() }, nil
		},
		note: func() string {
			slices.Sort(times)
			text := fmt.Sprintf("%v of the processors, %d KiB of memory at most", middle(times).Round(time.Millisecond), peak)
			if others > 0 {
				text += fmt.Sprintf("; %d lines of %d are others than those of the first", others, len(*want))
			}
			return text
		},
	}
}

func rewound(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.Seek(0, io.SeekStart)
	return err
}

// command is the process in the folder dir.
func (p peer) command(dir, scratch string) (*exec.Cmd, error) {
	args := p.args
	if p.isOurs() {
		path, err := driverIn(scratch)
		if err != nil {
			return nil, err
		}
		args = append([]string{path}, args[1:]...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "LC_ALL=C") // words of ASCII, as here
	return cmd, nil
}

// run runs the process to its end, and returns the most memory that it has taken,
// in KiB, which is found out when peak is not known, and the time of the
// processors.
func (p peer) run(dir, scratch string, out *os.File, peak int) (int, time.Duration, error) {
	cmd, err := p.command(dir, scratch)
	if err != nil {
		return peak, 0, err
	}
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &stderr
	if err := cmd.Start(); err != nil {
		return peak, 0, err
	}
	watched := make(chan int, 1)
	if peak < 0 {
		go func() { watched <- watchMemory(cmd.Process.Pid) }()
	} else {
		watched <- peak
	}
	err = cmd.Wait()
	peak = <-watched
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	var exit *exec.ExitError
	if !p.isOurs() && errors.As(err, &exit) && exit.ExitCode() == 1 {
		err = nil // nothing found
	}
	if err != nil {
		err = fmt.Errorf("%q: %w: %s", cmd.Args, err, stderr.Bytes())
	}
	return peak, used, err
}

// watchMemory looks again and again how much memory a process has had at most,
// until it has none: what the system tells at its end is not less than what this
// process has had.
func watchMemory(pid int) int {
	peak := 0
	for {
		n := peakMemory(strconv.Itoa(pid))
		if n < 0 {
			return peak
		}
		peak = max(peak, n)
		time.Sleep(time.Millisecond)
	}
}

// compare returns how many lines of a process are others than those of the first,
// in any order. More than a few are an error.
func compare(out *os.File, want *[]string) (int, error) {
	content, err := os.ReadFile(out.Name())
	if err != nil {
		return 0, err
	}
	got := make([]string, 0, len(*want))
	for line := range strings.Lines(string(content)) {
		got = append(got, strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(line, "./"), "\n"), "\r"))
	}
	slices.Sort(got)
	if *want == nil {
		*want = got
		return 0, nil
	}
	others := 0
	for i, j := 0, 0; i < len(got) || j < len(*want); {
		switch {
		case i < len(got) && j < len(*want) && got[i] == (*want)[j]:
			i, j = i+1, j+1
			continue
		case j == len(*want) || i < len(got) && got[i] < (*want)[j]:
			i++
		default:
			j++
		}
		others++
	}
	if others > 10+len(*want)/1000 {
		return others, fmt.Errorf("%d lines of %d are others", others, len(*want))
	}
	return others, nil
}

// firstResults is how long it takes until a first line comes out of a pipe, and
// until a search with a limit is over.
func (s searched) firstResults() contest {
	first := func(name string, b bar, args ...string) contender {
		p := peer{args: args}
		return contender{name: name, bar: b, start: onTree(s.dir, func(dir string) (func(int) error, func(), error) {
			return func(int) error { return p.firstLine(dir, s.scratch) }, nil, nil
		})}
	}
	var none []string
	limited := s.contender(peer{"ambit, a limit of 10, to its end", []string{driver, "grep", "-limit", "10", ".", "line|return"}, bar{ratio: 2}}, &none)
	c := contest{name: "search: first results, " + s.name + ", whole processes", batch: 1, contenders: []contender{
		first("ambit, to its first line, then killed", bar{}, driver, "grep", ".", "line|return"),
		limited,
		first("ambit, a glob, to its first line", bar{}, driver, "glob", "-files", ".", "**/*.go"),
	}}
	if _, err := exec.LookPath("rg"); err == nil {
		c.contenders = append(c.contenders, first("rg --sort path, to its first line", bar{}, "rg", "--no-config", "-n", "--sort", "path", "line|return", "."))
	}
	return c
}

// firstLine runs the process until it has printed one line.
func (p peer) firstLine(dir, scratch string) error {
	cmd, err := p.command(dir, scratch)
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	_, err = bufio.NewReader(out).ReadString('\n')
	killed := cmd.Process.Kill()
	if errors.Is(killed, os.ErrProcessDone) {
		killed = nil
	}
	cmd.Wait() // with the error of what was killed
	return errors.Join(err, killed)
}

// engineContest is the engine for any file system, over memory, and that of the
// disk, in this process, on one processor, so that the time is that of the
// processor. Both search the same bytes.
func engineContest(dir func() (string, error)) []contest {
	var all []contest
	for _, kind := range grepKinds {
		q := ambit.GrepQuery{Pattern: kind.ambit[len(kind.ambit)-1], Literal: slices.Contains(kind.ambit, "-F"), IgnoreCase: slices.Contains(kind.ambit, "-i")}
		lines := -1
		over := func(open func(dir string) (ambit.FileSystem, func(), error)) starter {
			return onTree(dir, func(dir string) (func(int) error, func(), error) {
				fsys, stop, err := open(dir)
				return func(int) error {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
					n := 0
					_, err := search.GrepEach(ctx, fsys, q, func(ambit.GrepMatch) bool { n++; return true })
					if lines < 0 {
						lines = n
					}
					return counted(n, lines, err)
				}, stop, err
			})
		}
		all = append(all, contest{name: "search: engines, grep for " + kind.name + ", the source of Go, one processor", batch: 1, contenders: []contender{
			{name: "ambit local", start: over(func(dir string) (ambit.FileSystem, func(), error) {
				fsys, err := local.New(dir, nil)
				return fsys, func() { fsys.Close() }, err
			})},
			{name: "ambit memory", bar: bar{ratio: 1.5}, start: over(func(dir string) (ambit.FileSystem, func(), error) {
				files, err := loaded(dir)
				return memory.New(files, nil), nil, err
			})},
		}})
	}
	return all
}

// loaded returns the files beneath dir.
func loaded(dir string) (map[string]string, error) {
	files := map[string]string{}
	return files, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(name)
		path, _ := filepath.Rel(dir, name)
		files[filepath.ToSlash(path)] = string(content)
		return err
	})
}
