// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ambitfs/ambit/conformance"
)

var (
	quoted = regexp.MustCompile("`([^`]+)`")
	// A test as a document names it, by its folder ("ambit" is the root), and one without a folder.
	testName = regexp.MustCompile(`^([a-z/]+)\.((?:Test|Fuzz)[A-Z]\w*)$`)
	bareTest = regexp.MustCompile(`^(?:Test|Fuzz)[A-Z]\w*$`)
	// A check of the conformance suite, or by a star several.
	checkName = regexp.MustCompile(`^(?:core|write|text|hostile|concurrent|remote)/[a-z0-9-]+\*?$`)
	testFunc  = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Z]\w*)\(`)
)

// TestThreatModelNamesItsTests keeps the promises of the threat model and the tests that attack them together: each promise
// names one, and each that is named is there, on whatever system it runs.
func TestThreatModelNamesItsTests(t *testing.T) {
	document, err := os.ReadFile(filepath.Join("docs", "threat-model.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := make(map[string]bool)
	for _, path := range repositoryFiles(t, func(path string) bool { return strings.HasSuffix(path, "_test.go") }) {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		folder := filepath.ToSlash(filepath.Dir(path))
		if folder == "." {
			folder = "ambit"
		}
		for _, found := range testFunc.FindAllSubmatch(content, -1) {
			tests[folder+"."+string(found[1])] = true
		}
	}
	var checks []string
	for _, c := range conformance.Checks() {
		checks = append(checks, c.ID)
	}
	for _, complaint := range judgeThreatModel(string(document), tests, checks) {
		t.Error(complaint)
	}
}

// judgeThreatModel returns a sentence for each name that is not among the tests and checks, and for each promise without one.
func judgeThreatModel(document string, tests map[string]bool, checks []string) []string {
	var complaints []string
	complain := func(format string, args ...any) {
		complaints = append(complaints, fmt.Sprintf(format, args...))
	}
	promises := 0
	inPromises := false
	for line := range strings.Lines(document) {
		if strings.HasPrefix(line, "## ") {
			inPromises = strings.HasPrefix(line, "## Promises")
		}
		named := 0
		for _, found := range quoted.FindAllStringSubmatch(line, -1) {
			switch name := found[1]; {
			case testName.MatchString(name):
				named++
				if !tests[name] {
					complain("there is no test %s", name)
				}
			case bareTest.MatchString(name):
				complain("the test %s is named without its folder", name)
			case checkName.MatchString(name):
				named++
				if !hasCheck(checks, name) {
					complain("there is no check %s", name)
				}
			}
		}
		if inPromises && strings.HasPrefix(line, "| **") {
			promises++
			if named == 0 {
				complain("this promise names no test: %s", strings.TrimSpace(line))
			}
		}
	}
	if promises == 0 {
		complain("there are no promises")
	}
	return complaints
}

func hasCheck(checks []string, name string) bool {
	begin, several := strings.CutSuffix(name, "*")
	for _, id := range checks {
		if id == name || several && strings.HasPrefix(id, begin) {
			return true
		}
	}
	return false
}

// TestThreatModelJudge proves that TestThreatModelNamesItsTests can fail.
func TestThreatModelJudge(t *testing.T) {
	tests := map[string]bool{"local.TestDeny": true, "ambit.TestWalk": true}
	checks := []string{"hostile/guard-asked", "core/stat-root"}
	const head = "# Threat model\n\n## Promises, and what attacks them\n\n| promise | attacked by |\n|---|---|\n"
	for _, test := range []struct {
		name, document string
		want           string // part of the only complaint; "" for none
	}{
		{name: "as it must be", document: head + "| **A.** | `local.TestDeny`, `hostile/guard-asked` |\n| **B.** | `ambit.TestWalk`, `hostile/guard-*` |\n\n## Limits\n\nNone of `Stat`.\n"},
		{name: "test that is gone", document: head + "| **A.** | `local.TestDeny`, `local.TestDenied` |\n", want: "there is no test local.TestDenied"},
		{name: "test of another folder", document: head + "| **A.** | `memory.TestDeny` |\n", want: "there is no test memory.TestDeny"},
		{name: "test without a folder", document: head + "| **A.** | `local.TestDeny` (`TestWalk`) |\n", want: "TestWalk is named without its folder"},
		{name: "check that is gone", document: head + "| **A.** | `hostile/guard` |\n", want: "there is no check hostile/guard"},
		{name: "checks that are gone", document: head + "| **A.** | `hostile/race-*` |\n", want: "there is no check hostile/race-*"},
		{name: "promise without a test", document: head + "| **A.** | `local.TestDeny` |\n| **B.** | `Stat` |\n", want: "names no test: | **B.**"},
		{name: "name beyond the promises", document: head + "| **A.** | `local.TestDeny` |\n\n## Limits\n\n`local.TestLimit`\n", want: "there is no test local.TestLimit"},
		{name: "no promises", document: "# Threat model\n", want: "there are no promises"},
	} {
		t.Run(test.name, func(t *testing.T) {
			complaints := judgeThreatModel(test.document, tests, checks)
			switch {
			case test.want == "" && len(complaints) > 0:
				t.Errorf("complaints about what is allowed: %q", complaints)
			case test.want != "" && (len(complaints) != 1 || !strings.Contains(complaints[0], test.want)):
				t.Errorf("complaints: %q, want one with %q", complaints, test.want)
			}
		})
	}
}
