// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ambitfs/ambit/patch"
)

// verifyLines checks that the sections and hunks of the patch stand where they
// say in the text, line by line.
func verifyLines(t *testing.T, text string, p *patch.Patch) {
	t.Helper()
	if err := linesOff(text, p); err != nil {
		t.Errorf("%v\nof %+v\nin %q", err, p, text)
	}
}

func linesOff(text string, p *patch.Patch) error {
	lines := strings.Split(text, "\n")
	at := func(n int) string {
		if n < 1 || n > len(lines) {
			return ""
		}
		return lines[n-1]
	}
	last := 0
	for _, s := range p.Sections {
		if s.Line <= last {
			return fmt.Errorf("section at line %d is not behind line %d", s.Line, last)
		}
		last = s.Line
		var begins []string
		numbered := false
		switch first := at(s.Line); {
		case strings.HasPrefix(first, "*** "):
			begins = []string{map[patch.Action]string{patch.Add: "*** Add File: ", patch.Delete: "*** Delete File: ", patch.Update: "*** Update File: "}[s.Action] + s.Path}
			if begins[0] != strings.TrimSuffix(first, "\r") {
				return fmt.Errorf("line %d is not that of %q", s.Line, s.Path)
			}
		case strings.HasPrefix(first, "diff --git "), strings.HasPrefix(first, "--- "):
			numbered = true
		default:
			return fmt.Errorf("no section begins at line %d: %q", s.Line, first)
		}
		for _, h := range s.Hunks {
			if h.Line <= last {
				return fmt.Errorf("hunk at line %d is not behind line %d", h.Line, last)
			}
			if h.Numbered != numbered {
				return fmt.Errorf("hunk at line %d: Numbered is %t", h.Line, h.Numbered)
			}
			n, anchors := h.Line, h.Anchors
			if numbered {
				if first := at(n); !strings.HasPrefix(first, fmt.Sprintf("@@ -%d", h.Start)) && !strings.HasPrefix(strings.ReplaceAll(first, "-0", "-"), "@@ -") {
					return fmt.Errorf("no hunk at line %d: %q", n, first)
				}
				n++
			}
			for !numbered {
				// Empty lines count only behind the last "@@".
				m := n
				for m > h.Line && m < len(lines) && strings.TrimSuffix(at(m), "\r") == "" {
					m++
				}
				if !strings.HasPrefix(at(m), "@@") {
					break
				}
				if len(anchors) > 0 && strings.TrimSuffix(at(m), "\r") == "@@ "+anchors[0] {
					anchors = anchors[1:]
				}
				n = m + 1
			}
			if len(anchors) > 0 {
				return fmt.Errorf("anchors %q are not at line %d", anchors, h.Line)
			}
			for i, l := range h.Lines {
				for i > 0 && numbered && strings.HasPrefix(at(n), `\ `) {
					n++
				}
				got, want := strings.TrimSuffix(at(n), "\r"), string(l.Kind)+strings.TrimSuffix(strings.TrimSuffix(l.Text, "\n"), "\r")
				// One CR more or less is the business of another test.
				if got != want && strings.TrimRight(got, "\r") != strings.TrimRight(want, "\r") && (got != "" || strings.TrimRight(want, "\r") != " ") {
					return fmt.Errorf("line %d is %q, not %q", n, got, want)
				}
				ends := strings.HasSuffix(l.Text, "\n")
				if marked := numbered && strings.HasPrefix(at(n+1), `\ `); marked == ends {
					return fmt.Errorf("line %d: newline %t, and the line behind it is %q", n, ends, at(n+1))
				}
				n++
			}
			last = n - 1
		}
	}
	return nil
}
