// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/memory"
)

// inMemory is a target of the tests of the frame.
func inMemory() Target {
	return Target{
		Name: "memory",
		New: func(_ context.Context, tree Tree) (ambit.FileSystem, func() error, error) {
			return memory.New(tree.Files(), nil), nil, nil
		},
	}
}

// runOf runs checks of a test's own on a target.
func runOf(ctx context.Context, t Target, o *Options, checks ...*check) *Report {
	r := newRunner(ctx, t, o)
	r.selected, r.report.Problems = nil, nil
	r.choose(checks, &Options{})
	for _, c := range r.selected {
		r.report.Results = append(r.report.Results, r.one(ctx, c))
	}
	return r.report
}

func outcomesOf(r *Report) string {
	var s []string
	for _, res := range r.Results {
		s = append(s, strings.TrimPrefix(res.ID, "core/")+" "+string(res.Outcome))
	}
	return strings.Join(s, ", ")
}

func passing(id string) *check {
	return &check{id: "core/" + id, rule: "It passes.", run: func(*probe) {}}
}

func failing(id string) *check {
	return &check{id: "core/" + id, rule: "It fails.", run: func(p *probe) { p.errorf("as it should") }}
}

func TestChecks(t *testing.T) {
	// What a rule says of a check that is about getting out.
	escape := regexp.MustCompile(`leads? (no call |no reading call |no changing call )?out of|above the root|beside the root|a way out`)
	seen := make(map[string]bool)
	all := checks()
	if len(all) < 90 {
		t.Errorf("only %d checks", len(all))
	}
	infos := Checks()
	if len(infos) != len(all) {
		t.Errorf("Checks tells of %d checks, want %d", len(infos), len(all))
	}
	for i, c := range all {
		if seen[c.id] {
			t.Errorf("two checks are %s", c.id)
		}
		seen[c.id] = true
		if infos[i].ID != c.id || infos[i].Rule != c.rule || len(infos[i].Requires) != len(c.requires) {
			t.Errorf("Checks tells %+v of %s", infos[i], c.id)
		}
		if !slices.Contains(levels, c.level()) || !regexp.MustCompile(`^[a-z]+/[a-z0-9-]+$`).MatchString(c.id) {
			t.Errorf("%q is no ID of a level and a name", c.id)
		}
		if !strings.HasSuffix(c.rule, ".") || strings.HasSuffix(c.rule, "..") || strings.Contains(c.rule, "%!") || strings.Contains(c.rule, "\n") || !regexp.MustCompile(`^[A-Z"]`).MatchString(c.rule) {
			t.Errorf("%s: the rule is no sentence: %q", c.id, c.rule)
		}
		if c.run == nil {
			t.Errorf("%s does nothing", c.id)
		}
		if (c.level() == LevelHostile || c.level() == LevelText) && escape.MatchString(c.rule) && c.control == nil {
			t.Errorf("%s is about an escape and has no positive control: %s", c.id, c.rule)
		}
		for _, r := range c.requires {
			if r.name == "" || r.met == nil {
				t.Errorf("%s requires something without a name or a test", c.id)
			}
		}
	}
	for _, id := range []string{"hostile/open-outward-link", "hostile/write-climbing", "hostile/race-changing", "hostile/links-removed-with-folder"} {
		if !seen[id] {
			t.Errorf("there is no %s", id)
		}
	}
}

// The suite knows no backend, and of the module nothing but the contract and the
// packages that work on any file system.
func TestImports(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	const module = "github.com/ambitfs/ambit"
	allowed := []string{module, module + "/edit", module + "/lineaddr", module + "/patch", module + "/search"}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range parsed.Imports {
			path := strings.Trim(i.Path.Value, `"`)
			if strings.Contains(path, ".") && !slices.Contains(allowed, path) {
				t.Errorf("%s imports %s", file, path)
			}
		}
	}
}

// Every positive control gets out by itself.
func TestControls(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("making links takes a privilege there")
	}
	r := &runner{deadline: defaultDeadline}
	n := 0
	for _, c := range checks() {
		if c.control == nil {
			continue
		}
		n++
		if outcome, detail := r.controlled(t.Context(), c); outcome != Pass {
			t.Errorf("%s: %s", c.id, detail)
		}
	}
	if n < 30 {
		t.Errorf("only %d controls", n)
	}
}

// A control that does not get out fails its check, which proves nothing then.
func TestControlThatFails(t *testing.T) {
	c := passing("x")
	c.control = func(p *probe) { p.holds("../beside/secret", secret) }
	c.tree = Tree{{Path: "file", Kind: ambit.KindRegular}} // nothing beside the root
	r := runOf(t.Context(), inMemory(), nil, c)
	if outcomesOf(r) != "x fail" || !strings.Contains(r.Results[0].Detail, "proves nothing") {
		t.Errorf("%s", r)
	}
	c.tree = standard
	if r := runOf(t.Context(), inMemory(), nil, c); outcomesOf(r) != "x pass" {
		t.Errorf("%s", r)
	}
}

// A fault anywhere fails one check, and the run goes on.
func TestPanics(t *testing.T) {
	for _, c := range []struct {
		name  string
		check *check
	}{
		{"in a check", &check{id: "core/x", run: func(*probe) { panic("boom") }}},
		{"in a goroutine of a check", &check{id: "core/x", run: func(p *probe) {
			p.together(func(*probe) { panic("boom") }, func(*probe) {})
		}}},
		{"of a nil pointer", &check{id: "core/x", run: func(*probe) {
			var fsys *memory.FileSystem
			_ = fsys.Capabilities()
			panic("boom")
		}}},
		{"after a fault", &check{id: "core/x", run: func(p *probe) {
			p.errorf("first")
			panic("boom")
		}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := runOf(t.Context(), inMemory(), nil, passing("before"), c.check, passing("after"))
			if outcomesOf(r) != "before pass, x fail, after pass" {
				t.Errorf("%s", r)
			}
			if d := r.Results[1].Detail; !strings.Contains(d, "panic: ") || !strings.Contains(d, "run_test.go") {
				t.Errorf("no stack: %s", d)
			}
		})
	}
	for _, c := range []struct {
		name string
		bend func(t *Target)
	}{
		{"in New", func(t *Target) {
			t.New = func(context.Context, Tree) (ambit.FileSystem, func() error, error) { panic("boom") }
		}},
		{"in Close", func(t *Target) {
			t.New = func(context.Context, Tree) (ambit.FileSystem, func() error, error) {
				return memory.New(nil, nil), func() error { panic("boom") }, nil
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			target := inMemory()
			c.bend(&target)
			r := Run(t.Context(), target, nil)
			if r.Grade() != Failed || len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "panic: boom") || !strings.Contains(r.Problems[0], "run_test.go") {
				t.Errorf("%s", r)
			}
			// The same in the middle of a run.
			healthy := inMemory()
			n := 0
			healthy.New = func(ctx context.Context, tree Tree) (ambit.FileSystem, func() error, error) {
				if n++; n == 3 { // the first build learns the capabilities
					return target.New(ctx, tree)
				}
				return inMemory().New(ctx, tree)
			}
			r = runOf(t.Context(), healthy, nil, passing("before"), passing("x"), passing("after"))
			if outcomesOf(r) != "before pass, x fail, after pass" || !strings.Contains(r.Results[1].Detail, "panic: boom") {
				t.Errorf("%s", r)
			}
		})
	}
}

func TestHangs(t *testing.T) {
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	for _, c := range []struct {
		name  string
		check *check
		bend  func(target *Target)
	}{
		{name: "a check", check: &check{id: "core/x", run: func(*probe) { <-hang }}},
		{name: "a check that sees its context", check: &check{id: "core/x", run: func(p *probe) { <-p.ctx.Done() }}},
		{name: "a check after a fault", check: &check{id: "core/x", run: func(p *probe) {
			p.errorf("as it should")
			<-hang
		}}},
		{name: "New", check: passing("x"), bend: func(target *Target) {
			var n atomic.Int32
			target.New = func(ctx context.Context, tree Tree) (ambit.FileSystem, func() error, error) {
				if n.Add(1) == 3 {
					<-hang
				}
				return inMemory().New(ctx, tree)
			}
		}},
		{name: "Close", check: passing("x"), bend: func(target *Target) {
			var n atomic.Int32
			target.New = func(ctx context.Context, tree Tree) (ambit.FileSystem, func() error, error) {
				if n.Add(1) != 3 {
					return inMemory().New(ctx, tree)
				}
				return memory.New(nil, nil), func() error {
					<-hang
					return nil
				}, nil
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			target := inMemory()
			if c.bend != nil {
				c.bend(&target)
			}
			start := time.Now()
			r := runOf(t.Context(), target, &Options{Deadline: 300 * time.Millisecond}, passing("before"), c.check, passing("after"))
			if outcomesOf(r) != "before pass, x fail, after pass" || !strings.Contains(r.Results[1].Detail, "no answer within 300ms") {
				t.Errorf("%s", r)
			}
			if c.name == "a check after a fault" && !strings.Contains(r.Results[1].Detail, "as it should") {
				t.Errorf("the fault before the hang is not told: %s", r)
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestTargetsThatCannotBeBuilt(t *testing.T) {
	for name, c := range map[string]struct {
		build func(context.Context, Tree) (ambit.FileSystem, func() error, error)
		want  string
	}{
		"no New": {nil, "no New"},
		"New fails": {func(context.Context, Tree) (ambit.FileSystem, func() error, error) {
			return nil, nil, errors.New("out of order")
		}, "out of order"},
		"New fails beside a file system": {func(context.Context, Tree) (ambit.FileSystem, func() error, error) {
			return memory.New(nil, nil), nil, errors.New("out of order")
		}, "out of order"},
		"nothing": {func(context.Context, Tree) (ambit.FileSystem, func() error, error) { return nil, nil, nil }, "neither"},
		"a nil pointer": {func(context.Context, Tree) (ambit.FileSystem, func() error, error) {
			var fsys *memory.FileSystem
			return fsys, nil, nil
		}, "neither"},
		"Close fails": {func(context.Context, Tree) (ambit.FileSystem, func() error, error) {
			return memory.New(nil, nil), func() error { return errors.New("out of order") }, nil
		}, "out of order"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Run(t.Context(), Target{Name: name, New: c.build}, nil)
			if r.Grade() != Failed || r.Err() == nil || len(r.Results) != 0 || len(r.Problems) != 1 || !strings.Contains(r.Problems[0], c.want) {
				t.Errorf("%s", r)
			}
		})
	}
}

// claiming is a file system with other claims.
type claiming struct {
	*memory.FileSystem
	claims ambit.Capabilities
}

func (c claiming) Capabilities() ambit.Capabilities { return c.claims }

func TestClaimsChange(t *testing.T) {
	target, n := inMemory(), 0
	target.New = func(_ context.Context, tree Tree) (ambit.FileSystem, func() error, error) {
		fsys := memory.New(tree.Files(), nil)
		claims := fsys.Capabilities()
		n++
		claims.Durable = n == 3
		return claiming{fsys, claims}, nil, nil
	}
	r := runOf(t.Context(), target, nil, passing("before"), passing("x"), passing("after"))
	if outcomesOf(r) != "before pass, x fail, after pass" || !strings.Contains(r.Results[1].Detail, "not constant") {
		t.Errorf("%s", r)
	}
}

func TestRequirements(t *testing.T) {
	unclaimed := func(name string, refusal func(p *probe)) requirement {
		return requirement{name: name, met: func(ambit.Capabilities, *Target) bool { return false }, refusal: refusal}
	}
	ran := false
	needing := func(id string, requires ...requirement) *check {
		return &check{id: "core/" + id, rule: "X.", requires: requires, run: func(*probe) { ran = true }}
	}
	r := runOf(t.Context(), inMemory(), nil,
		needing("quality", unclaimed("X", nil)),
		needing("refused", unclaimed("Y", func(p *probe) { p.holds("file", "alpha\nbeta\n") })),
		needing("let-through", unclaimed("Z", func(p *probe) { p.errorf("it went through") })),
		needing("disturb", needDisturb),
		needing("peer", needPeer),
		needing("beside", needBeside),
		&check{id: "core/cannot", rule: "X.", run: func(p *probe) { p.cannotHold("no such thing here") }},
		&check{id: "core/cannot-and-fails", rule: "X.", run: func(p *probe) {
			p.errorf("as it should")
			p.cannotHold("no such thing here")
		}},
	)
	want := "quality refused, refused refused, let-through fail, disturb not run, peer not run, beside not run, cannot refused, cannot-and-fails fail"
	if got := outcomesOf(r); got != want || ran {
		t.Errorf("%s (ran: %v), want %s", got, ran, want)
	}
	if d := r.Results[2].Detail; !strings.Contains(d, "Z is not claimed") || !strings.Contains(d, "it went through") {
		t.Errorf("let-through: %s", d)
	}
}

func TestWaivers(t *testing.T) {
	target := inMemory()
	target.Waivers = map[string]Waiver{
		"core/bad":    {Why: "The storage is too old."},
		"core/good":   {Why: "It once was broken."},
		"core/rotten": {Why: "Nobody needs it."},
	}
	notRun := &check{id: "core/rotten", rule: "X.", requires: []requirement{needDisturb}, run: func(*probe) {}}
	r := runOf(t.Context(), target, nil, passing("other"), failing("bad"), passing("good"), notRun)
	if got, want := outcomesOf(r), "other pass, bad waived, good fail, rotten not run"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if d := r.Results[1].Detail; !strings.HasPrefix(d, "The storage is too old.\n") || !strings.Contains(d, "as it should") {
		t.Errorf("waived: %q", d)
	}
	if r.Grade() != Failed {
		t.Errorf("a waiver that is not needed: %s", r.Grade())
	}
	delete(target.Waivers, "core/good")
	if r := runOf(t.Context(), target, nil, passing("other"), failing("bad"), notRun); r.Grade() != Partial || r.Err() != nil {
		t.Errorf("%s", r)
	}
	// One that is wrong in itself.
	target.Waivers = map[string]Waiver{"core/nothing": {Why: "A typo."}, "core/other": {Why: " "}}
	r = runOf(t.Context(), target, nil, failing("other"), passing("more"))
	if r.Grade() != Failed || len(r.Problems) != 2 ||
		!strings.Contains(r.Problems[0], `"core/nothing"`) || !strings.Contains(r.Problems[1], `"core/other"`) {
		t.Errorf("%q", r.Problems)
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		name     string
		o        *Options
		results  int
		problems int
		grade    Grade
	}{
		{"one check", &Options{Only: []string{"core/open-file"}}, 1, 0, Full},
		{"two checks", &Options{Only: []string{"core/open-file", "core/stat-file"}}, 2, 0, Full},
		{"a check of another level", &Options{Only: []string{"core/open-file"}, Levels: []Level{LevelWrite}}, 0, 0, Failed},
		{"no such check", &Options{Only: []string{"core/none"}}, 0, 1, Failed},
		{"a check and none", &Options{Only: []string{"core/open-file", "core/none"}}, 1, 1, Failed},
		{"no such level", &Options{Levels: []Level{"none"}}, 0, 1, Failed},
		{"a level that is empty", &Options{Levels: []Level{LevelRemote}}, 0, 0, Failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Run(t.Context(), inMemory(), c.o)
			if len(r.Results) != c.results || len(r.Problems) != c.problems || r.Grade() != c.grade || (r.Err() == nil) != (c.grade != Failed) {
				t.Errorf("%d results, %d problems, grade %s, want %+v: %s", len(r.Results), len(r.Problems), r.Grade(), c, r)
			}
		})
	}
	r := Run(t.Context(), inMemory(), &Options{Levels: []Level{LevelConcurrent}, Only: []string{"concurrent/swap-one-wins", "concurrent/own-positions"}})
	for _, res := range r.Results {
		if res.Level != LevelConcurrent {
			t.Errorf("%s ran", res.ID)
		}
	}
}

func TestRunIsEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ends := &check{id: "core/ends", rule: "X.", run: func(p *probe) {
		cancel()
		<-p.ctx.Done()
	}}
	r := runOf(ctx, inMemory(), nil, passing("before"), ends, passing("after"))
	if got := outcomesOf(r); got != "before pass, ends fail, after fail" {
		t.Errorf("%s", got)
	}
	for _, res := range r.Results[1:] {
		if !strings.Contains(res.Detail, "the run was ended") {
			t.Errorf("%s: %s", res.ID, res.Detail)
		}
	}
	r = Run(ctx, inMemory(), nil)
	if r.Grade() != Failed || len(r.Problems) != 1 {
		t.Errorf("%s", r)
	}
}

// A change beside the root fails whatever check was about something else.
func TestBesideIsWatched(t *testing.T) {
	for name, change := range map[string]func(beside map[string]string){
		"made":    func(beside map[string]string) { beside["../beside/new"] = "x" },
		"changed": func(beside map[string]string) { beside["../beside/secret"] = "x" },
		"removed": func(beside map[string]string) { delete(beside, "../beside/secret") },
	} {
		target, beside := inMemory(), map[string]string{"../beside/secret": secret}
		target.Beside = func(context.Context, ambit.FileSystem) (map[string]string, error) {
			seen := make(map[string]string)
			for path, content := range beside {
				seen[path] = content
			}
			return seen, nil
		}
		r := runOf(t.Context(), target, nil, passing("before"), &check{id: "core/x", rule: "X.", run: func(p *probe) {
			change(beside)
			p.fatalf("that ends the check early")
		}}, passing("after"))
		if outcomesOf(r) != "before pass, x fail, after pass" || !strings.Contains(r.Results[1].Detail, "beside the root") {
			t.Errorf("%s: %s", name, r)
		}
	}
}

// What is expected of Test and Run is the same.
func TestTestAgreesWithRun(t *testing.T) {
	target := inMemory()
	target.Waivers = map[string]Waiver{}
	o := &Options{Only: []string{"core/open-file", "core/open-missing", "write/mkdir-missing", "hostile/open-outward-link", "hostile/race-reading", "concurrent/peer-agrees"}}
	var fromTest *Report
	t.Run("inner", func(t *testing.T) { fromTest = Test(t, target, o) })
	fromRun := Run(t.Context(), target, o)
	if a, b := outcomesOf(fromTest), outcomesOf(fromRun); a != b || a == "" {
		t.Errorf("Test: %s; Run: %s", a, b)
	}
	if fromTest.Grade() != fromRun.Grade() || fromTest.Grade() != Partial {
		t.Errorf("Test: %s; Run: %s", fromTest.Grade(), fromRun.Grade())
	}
}

// inner is set for the process that TestTestFails starts.
const inner = "AMBIT_CONFORMANCE_INNER"

// Test fails where Run does: looked at in a process of its own.
func TestTestFails(t *testing.T) {
	broken := inMemory()
	broken.New = func(_ context.Context, tree Tree) (ambit.FileSystem, func() error, error) {
		files := tree.Files()
		delete(files, "file")
		return memory.New(files, nil), nil, nil
	}
	waived := inMemory()
	waived.Waivers = map[string]Waiver{"core/open-file": {Why: "It once was broken."}}
	cases := map[string]struct {
		target Target
		o      *Options
		want   []string
	}{
		"rule":    {broken, &Options{Only: []string{"core/open-file", "core/open-missing"}}, []string{"--- FAIL: TestTestFails/core/open-file", "Open of a file returns a File", "1 passed"}},
		"waiver":  {waived, &Options{Only: []string{"core/open-file"}}, []string{"take the waiver out"}},
		"nothing": {inMemory(), &Options{Only: []string{"core/none"}}, []string{`there is no check "core/none"`, "no check ran"}},
		"new":     {Target{Name: "x"}, nil, []string{"the target has no New", "no check ran"}},
	}
	if name := os.Getenv(inner); name != "" {
		Test(t, cases[name].target, cases[name].o)
		return
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "-test.run=^TestTestFails$", "-test.v")
			cmd.Env = append(os.Environ(), inner+"="+name)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("exit: %v\n%s", err, out)
			}
			for _, want := range c.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
		})
	}
}

// example is a report with one result of every kind.
var example = Report{
	Target:       "example",
	Capabilities: ambit.Capabilities{ID: "storage", Links: ambit.LinksFollowed, Swap: ambit.SwapExact, Versions: true, List: true, MaxFileSize: 7},
	Results: []Result{
		{ID: "core/a", Level: LevelCore, Rule: "It passes.", Outcome: Pass, Duration: Duration(1500 * time.Microsecond)},
		{ID: "core/b", Level: LevelCore, Rule: "It is refused.", Outcome: Refused, Detail: "List is not claimed", Duration: Duration(2 * time.Second)},
		{ID: "write/c", Level: LevelWrite, Rule: "It fails.", Outcome: Fail, Detail: "first fault\nsecond fault"},
		{ID: "hostile/d", Level: LevelHostile, Rule: "It is waived.", Outcome: Waived, Detail: "The storage is too old.\nfault"},
		{ID: "concurrent/e", Level: LevelConcurrent, Rule: "It is not run.", Outcome: NotRun, Detail: "the target has no Peer"},
	},
	Problems: []string{"a waiver names no check: \"core/z\""},
}

func TestReportText(t *testing.T) {
	want := `example: failed: 5 checks: 1 passed, 1 refused, 1 failed, 1 waived, 1 not run
  problem: a waiver names no check: "core/z"
  fail write/c: It fails.
      first fault
      second fault
  waived hostile/d: It is waived.
      The storage is too old.
      fault
  not run, as the target has no Peer:
      concurrent/e
`
	if got := example.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if err := example.Err(); err == nil || err.Error() != "conformance: "+want {
		t.Errorf("Err: %v", err)
	}
}

func TestReportJSON(t *testing.T) {
	capabilities, err := json.Marshal(example.Capabilities)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"grade":"failed","target":"example","capabilities":` + string(capabilities) + `,"results":[` +
		`{"id":"core/a","level":"core","rule":"It passes.","outcome":"pass","duration":"1.5ms"},` +
		`{"id":"core/b","level":"core","rule":"It is refused.","outcome":"refused","detail":"List is not claimed","duration":"2s"},` +
		`{"id":"write/c","level":"write","rule":"It fails.","outcome":"fail","detail":"first fault\nsecond fault","duration":"0s"},` +
		`{"id":"hostile/d","level":"hostile","rule":"It is waived.","outcome":"waived","detail":"The storage is too old.\nfault","duration":"0s"},` +
		`{"id":"concurrent/e","level":"concurrent","rule":"It is not run.","outcome":"not run","detail":"the target has no Peer","duration":"0s"}],` +
		`"problems":["a waiver names no check: \"core/z\""]}`
	for _, v := range []any{example, &example} {
		if got, err := json.Marshal(v); err != nil || string(got) != want {
			t.Errorf("%T: %s, %v\nwant\n%s", v, got, err, want)
		}
	}
	empty := Report{Target: "nothing"}
	got, err := json.Marshal(empty)
	if err != nil || !strings.Contains(string(got), `"grade":"failed"`) || !strings.Contains(string(got), `"results":[]`) {
		t.Errorf("a report of nothing: %s, %v", got, err)
	}
}

func TestGrade(t *testing.T) {
	report := func(outcomes ...Outcome) *Report {
		r := new(Report)
		for i, o := range outcomes {
			r.Results = append(r.Results, Result{ID: fmt.Sprint(i), Outcome: o})
		}
		return r
	}
	for _, c := range []struct {
		r    *Report
		want Grade
	}{
		{report(), Failed},
		{report(Pass), Full},
		{report(Refused), Full},
		{report(Pass, Refused, Pass), Full},
		{report(Pass, Fail), Failed},
		{report(Pass, Waived), Partial},
		{report(Pass, NotRun), Partial},
		{report(NotRun), Failed},
		{report(Waived), Failed},
		{report(Fail, Waived), Failed},
		{&Report{Results: report(Pass).Results, Problems: []string{"x"}}, Failed},
	} {
		if got := c.r.Grade(); got != c.want || (c.r.Err() == nil) != (c.want != Failed) {
			t.Errorf("%v: %s, want %s", c.r, got, c.want)
		}
	}
}

func TestDisturbFolder(t *testing.T) {
	top := t.TempDir()
	root := filepath.Join(top, "root")
	if err := os.Mkdir(root, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := standard.WithoutLinks().LayOut(root); err != nil {
		t.Fatal(err)
	}
	before, err := BesideFolder(root)
	if err != nil || before["../beside/secret"] != secret || before["../beside"] != "" || len(before) != 2 {
		t.Fatalf("beside: %q, %v", before, err)
	}
	do := func(c Change) {
		t.Helper()
		if err := DisturbFolder(root, c); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	holds := func(path, want string) {
		t.Helper()
		if data, err := os.ReadFile(filepath.Join(root, path)); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v, want %q", path, data, err, want)
		}
	}
	was, err := os.Stat(filepath.Join(root, "file"))
	if err != nil {
		t.Fatal(err)
	}
	do(Change{Kind: DisturbRewrite, Path: "/file", Data: "rewritten"})
	holds("file", "rewritten")
	if now, err := os.Stat(filepath.Join(root, "file")); err != nil || !os.SameFile(was, now) {
		t.Errorf("a rewrite made another file: %v", err)
	}
	do(Change{Kind: DisturbReplace, Path: "/file", Data: "replaced"})
	holds("file", "replaced")
	if now, err := os.Stat(filepath.Join(root, "file")); err != nil || os.SameFile(was, now) {
		t.Errorf("a replacement is the same file: %v", err)
	}
	do(Change{Kind: DisturbReplace, Path: "/made/deep/new", Data: "new"})
	holds("made/deep/new", "new")
	do(Change{Kind: DisturbReplace, Path: "/folder", Data: "a file now"})
	holds("folder", "a file now")
	do(Change{Kind: DisturbRemove, Path: "/made"})
	do(Change{Kind: DisturbRemove, Path: "/made"})
	if _, err := os.Lstat(filepath.Join(root, "made")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("made is there: %v", err)
	}
	if runtime.GOOS != "windows" {
		do(Change{Kind: DisturbLink, Path: "/sib", Target: "../beside"})
		if text, err := os.Readlink(filepath.Join(root, "sib")); err != nil || text != "../beside" {
			t.Errorf("link: %q, %v", text, err)
		}
		do(Change{Kind: DisturbFIFO, Path: "/sib"})
		if info, err := os.Lstat(filepath.Join(root, "sib")); err != nil || info.Mode().Type() != os.ModeNamedPipe {
			t.Errorf("FIFO: %v, %v", info, err)
		}
	}
	if err := DisturbFolder(root, Change{Kind: "none", Path: "/file"}); ambit.ReasonOf(err) != ambit.ErrUnsupported {
		t.Errorf("a kind that is none: %v", err)
	}
	if after, err := BesideFolder(root); err != nil || fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("beside: %q, %v", after, err)
	}
}
