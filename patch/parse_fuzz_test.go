// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"errors"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/patch"
)

var namesLine = regexp.MustCompile(`^line [1-9][0-9]*: `)

func FuzzParse(f *testing.F) {
	for _, c := range markedCases {
		f.Add(c.text)
	}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 5))
		_, text := randomMarked(r)
		f.Add(text)
		_, text = randomUnified(r)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		start := time.Now()
		p, err := patch.Parse(text)
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%d bytes took %v", len(text), took)
		}
		if err != nil {
			var e *ambit.Error
			if p != nil || !errors.As(err, &e) || e.Reason != ambit.ErrInvalid && e.Reason != ambit.ErrNotText && e.Reason != ambit.ErrUnsupported || !namesLine.MatchString(e.Detail) {
				t.Errorf("%+v, %#v", p, err)
			}
			return
		}
		if len(p.Sections) == 0 {
			t.Error("no sections")
		}
		for _, s := range p.Sections {
			if s.Path == "" || s.Action == patch.Copy && s.To == "" || s.To != "" && s.Action != patch.Copy && s.Action != patch.Update {
				t.Errorf("%+v", s)
			}
			if s.Action == patch.Update && len(s.Hunks) == 0 && s.To == "" && s.Mode == 0 {
				t.Errorf("section of line %d does nothing", s.Line)
			}
			for _, h := range s.Hunks {
				if !hasChange(h.Lines) {
					t.Errorf("hunk of line %d changes nothing", h.Line)
				}
			}
		}
		verifyLines(t, text, p)
	})
}

// Texts that would take a parser which looks too far ahead, or back, time in
// proportion to their square.
func TestParseHostileTextsInTime(t *testing.T) {
	const size = 1 << 19
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	for name, text := range map[string]string{
		"empty lines":               fill("\n"),
		"empty lines in a hunk":     "*** Begin Patch\n*** Update File: f\n+a\n" + fill("\n") + "+a\n*** End Patch\n",
		"empty lines before @@":     "*** Begin Patch\n*** Update File: f\n+a\n" + fill("\n\n@@\n") + "+a\n*** End Patch\n",
		"anchors":                   "*** Begin Patch\n*** Update File: f\n" + fill("@@ x\n") + "+a\n*** End Patch\n",
		"empty lines between files": "*** Begin Patch\n" + fill("*** Delete File: f\n\n\n") + "*** End Patch\n",
		"tildes":                    fill("~"),
		"here-documents":            fill("<<"),
		"old names":                 fill("--- a\n"),
		"names":                     fill("--- a\n+++ a\n"),
		"git's names":               fill("diff --git a/a b/a\n"),
		"spaces in git's names":     "diff --git " + fill("a ") + "\n",
		"quotes in git's names":     "diff --git " + fill(` "`) + "\n",
		"backslashes":               `diff --git "` + fill(`\\`) + "\n",
		"open quotes":               `--- "` + fill(`\"`) + "\n+++ x\n",
		"git's headers":             "diff --git a/a b/a\n" + fill("old mode 100644\n"),
		"one long line in a hunk":   "--- a\n+++ a\n@@ -1 +1 @@\n-" + fill("a"),
		"hunks":                     "--- a\n+++ a\n" + fill("@@ -1 +1 @@\n-a\n+b\n"),
		"empty lines between hunks": "--- a\n+++ a\n" + fill("@@ -1 +1 @@\n-a\n+b\n\n\n\n"),
		"many lines":                "--- a\n+++ a\n@@ -1,999999999 +1 @@\n" + fill("-\n"),
		"no newlines":               "--- a\n+++ a\n@@ -1,999999999 +1 @@\n-\n" + fill("\\ \n"),
		"digits":                    "--- a\n+++ a\n@@ -" + fill("1") + " +1 @@\n",
		"signatures":                "--- a\n+++ a\n@@ -1 +1 @@\n-a\n+b\n" + fill("-- \n"),
	} {
		start := time.Now()
		_, _ = patch.Parse(text)
		// A square of half a million steps is minutes.
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: %d bytes took %v", name, len(text), took)
		}
	}
}
