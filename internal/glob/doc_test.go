// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package glob

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
)

// documentTables returns the rows of the tables of docs/glob.md by their heading, without the backticks.
func documentTables(t *testing.T) map[string][][]string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "docs", "glob.md"))
	if err != nil {
		t.Fatal(err)
	}
	tables := make(map[string][][]string)
	heading := ""
	header := true
	for line := range strings.Lines(strings.ReplaceAll(string(content), "\r\n", "\n")) {
		line = strings.TrimSuffix(line, "\n")
		if after, ok := strings.CutPrefix(line, "## "); ok {
			heading, header = after, true
		}
		row, ok := strings.CutPrefix(line, "| ")
		if line == "|---|---|---|" || line == "|---|---|" {
			header = false
			continue
		}
		if !ok || header {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(row, " |"), " | ")
		for i, cell := range cells {
			cell = strings.TrimSuffix(strings.TrimPrefix(cell, "`"), "`")
			if strings.HasPrefix(cell, `"`) {
				if cell, err = strconv.Unquote(cell); err != nil {
					t.Fatalf("%s: %v", line, err)
				}
			}
			cells[i] = cell
		}
		tables[heading] = append(tables[heading], cells)
	}
	return tables
}

// TestDocument holds the code, and the oracle, to docs/glob.md.
func TestDocument(t *testing.T) {
	tables := documentTables(t)
	rows := 0
	for heading, kind := range map[string]struct{ filter, dots bool }{
		"As a glob":             {dots: true},
		"As a filter":           {dots: true, filter: true},
		"Hidden names left out": {},
	} {
		answers := make(map[string]int)
		for _, row := range tables[heading] {
			if len(row) != 3 || row[2] != "yes" && row[2] != "no" {
				t.Fatalf("%s: a row of %q", heading, row)
			}
			answers[row[2]]++
			pattern, want := row[0], row[2] == "yes"
			path, dir := strings.CutSuffix(row[1], "/")
			o := newOracle(pattern, kind.filter)
			p, err := compileAs(pattern, kind.filter)
			if err != nil || o == nil {
				t.Errorf("%s: %q: %v; the oracle takes it: %v", heading, pattern, err, o != nil)
				continue
			}
			if got := walk(p.Start(kind.dots), path, dir); got != want {
				t.Errorf("%s: %q on %q: %v", heading, pattern, row[1], got)
			}
			if kind.dots && p.Match(path, dir) != want {
				t.Errorf("%s: Match of %q on %q: %v", heading, pattern, row[1], !want)
			}
			if got := o.match(path, dir, kind.dots); got != want {
				t.Errorf("%s: the oracle, %q on %q: %v", heading, pattern, row[1], got)
			}
			checkAgainst(t, o, p, pattern, kind.filter, []string{path})
		}
		if answers["yes"] == 0 || answers["no"] == 0 {
			t.Errorf("%s: answers %v", heading, answers)
		}
		rows += len(tables[heading])
	}
	if rows < 120 {
		t.Errorf("%d rows were read", rows)
	}
}

// TestDocumentRefused reads what docs/glob.md says is refused.
func TestDocumentRefused(t *testing.T) {
	rows := documentTables(t)["Refused"]
	if len(rows) < 20 {
		t.Fatalf("%d rows were read", len(rows))
	}
	for _, row := range rows {
		if newOracle(row[0], false) != nil {
			t.Errorf("the oracle takes %q", row[0])
		}
		for _, filter := range []bool{false, true} {
			_, err := compileAs(row[0], filter)
			wantBadPattern(t, err, row[1])
		}
	}
}

func wantBadPattern(t *testing.T, err error, detail string) {
	t.Helper()
	var e *ambit.Error
	if !errors.As(err, &e) || e.Reason != ambit.ErrBadPattern || e.Op != "" || e.Path != "" {
		t.Errorf("error %v, want bad-pattern with %q", err, detail)
	} else if !strings.Contains(e.Detail, detail) {
		t.Errorf("Detail %q does not hold %q", e.Detail, detail)
	}
}
