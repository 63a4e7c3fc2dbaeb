// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/memory"
	"github.com/ambitfs/ambit/patch"
)

// The model is the rule of where hunks fit and what they make of a file, as
// plainly as it can be said, however long that takes.

// modelLine is a line and its ending.
type modelLine struct{ text, ending string }

func modelLines(content string) (all []modelLine) {
	for _, line := range strings.SplitAfter(content, "\n") {
		switch {
		case line == "":
		case strings.HasSuffix(line, "\r\n"):
			all = append(all, modelLine{line[:len(line)-2], "\r\n"})
		case strings.HasSuffix(line, "\n"):
			all = append(all, modelLine{line[:len(line)-1], "\n"})
		default:
			all = append(all, modelLine{line, ""})
		}
	}
	return all
}

func modelLineOf(text string) modelLine { return modelLines(text)[0] }

// side returns the lines of one side of a hunk.
func side(h patch.Hunk, kind patch.LineKind) (all []modelLine) {
	for _, l := range h.Lines {
		if l.Kind == patch.Context || l.Kind == kind {
			all = append(all, modelLineOf(l.Text))
		}
	}
	return all
}

// standsAt reports whether the old lines stand in the file at the index.
func standsAt(file, old []modelLine, at int, loose bool) bool {
	if at < 0 || at+len(old) > len(file) {
		return false
	}
	for i := range old {
		if file[at+i] != old[i] && !(loose && file[at+i].text == old[i].text) {
			return false
		}
	}
	return true
}

// namedBy reports whether the anchor names the line.
func namedBy(file []modelLine, anchor string, line modelLine) bool {
	anchor = strings.TrimRight(anchor, " \t\r")
	same := func(l modelLine) bool { return strings.TrimRight(l.text, " \t\r") == anchor }
	if strings.TrimLeft(anchor, " \t") != anchor && slices.ContainsFunc(file, same) {
		return same(line)
	}
	return strings.Trim(line.text, " \t\r") == strings.TrimLeft(anchor, " \t")
}

// follows reports whether the place comes behind lines that the anchors name;
// with close right behind the last of them.
func follows(file []modelLine, anchors []string, at int, close bool) bool {
	if len(anchors) == 0 {
		return true
	}
	last := anchors[len(anchors)-1]
	for i := at - 1; i >= 0; i-- {
		// A line in front of an earlier anchor is none of a later one: which of
		// them are exact is a question of the lines that remain.
		if namesBehind(file, anchors, i) && namedBy(rest(file, anchors), last, file[i]) {
			return true
		}
		if close {
			return false
		}
	}
	return false
}

// namesBehind reports whether the line with the index follows the anchors but
// the last.
func namesBehind(file []modelLine, anchors []string, i int) bool {
	return follows(file, anchors[:len(anchors)-1], i, false)
}

// rest returns the lines that come behind all anchors but the last.
func rest(file []modelLine, anchors []string) (all []modelLine) {
	for i := range file {
		if namesBehind(file, anchors, i) {
			all = append(all, file[i])
		}
	}
	return all
}

// modelPlace returns where the hunk fits, or the reason why it does not.
func modelPlace(file []modelLine, h patch.Hunk, floor int) (int, ambit.Reason) {
	old, added := side(h, patch.Removed), side(h, patch.Added)
	open := func(l modelLine) bool { return l.ending == "" }
	last := h.EndOfFile || slices.ContainsFunc(old, open) || slices.ContainsFunc(added, open)
	fits := func(at int, loose bool) bool {
		return at >= floor && standsAt(file, old, at, loose) && (!last || at+len(old) == len(file))
	}
	var all []int
	switch {
	case h.Numbered && len(old) == 0:
		switch {
		case h.Start > len(file):
			return 0, ambit.ErrOutOfRange
		case !fits(h.Start, false):
			return 0, ambit.ErrNoMatch
		}
		return h.Start, ""
	case h.Numbered:
		for _, loose := range []bool{false, true} {
			if fits(h.Start-1, loose) {
				return h.Start - 1, ""
			}
			for at := range file {
				if fits(at, loose) {
					all = append(all, at)
				}
			}
			if len(all) > 0 {
				break
			}
		}
	case len(old) == 0 && len(h.Anchors) == 0:
		switch {
		case last || len(file) == 0:
			return len(file), ""
		default:
			return 0, ambit.ErrAmbiguous
		}
	case len(old) == 0 && h.EndOfFile:
		for at := range len(file) + 1 {
			if follows(file, h.Anchors, at, false) {
				return len(file), ""
			}
		}
	default:
		for at := range len(file) + 1 {
			if fits(at, true) && follows(file, h.Anchors, at, len(old) == 0) {
				all = append(all, at)
			}
		}
	}
	switch len(all) {
	case 0:
		return 0, ambit.ErrNoMatch
	case 1:
		return all[0], ""
	}
	return 0, ambit.ErrAmbiguous
}

// modelApply returns what the hunks make of the content, or the reasons why
// some do not fit.
func modelApply(content string, hunks []patch.Hunk) (string, []ambit.Reason) {
	file := modelLines(content)
	type change struct {
		at, old int
		h       patch.Hunk
		exact   bool
	}
	var changes []change
	var reasons []ambit.Reason
	floor := 0
	evidence := map[bool]int{} // how many hunks with old lines are exact
	carriage := false
	for _, h := range hunks {
		for _, l := range h.Lines {
			carriage = carriage || strings.Contains(l.Text, "\r")
		}
	}
	for _, h := range hunks {
		at, reason := modelPlace(file, h, floor)
		if reason != "" {
			reasons = append(reasons, reason)
			continue
		}
		old := side(h, patch.Removed)
		c := change{at, len(old), h, len(old) > 0 && standsAt(file, old, at, false)}
		if len(old) > 0 {
			evidence[c.exact]++
		}
		changes = append(changes, c)
		floor = at + len(old)
	}
	if len(reasons) > 0 {
		return "", reasons
	}
	usual := func(l modelLine) bool { return l.ending != "\r\n" }
	body := file
	if n := len(body); n > 1 && body[n-1].ending == "" {
		body = body[:n-1]
	}
	without := evidence[false] > 0 && !carriage && len(body) > 0 && !slices.ContainsFunc(body, usual)
	for i, c := range changes {
		if c.old == 0 && c.h.Numbered {
			changes[i].exact = !without
		}
	}
	var out []modelLine
	next := 0
	for _, c := range changes {
		out = append(out, file[next:c.at]...)
		next = c.at
		for i, l := range c.h.Lines {
			switch l.Kind {
			case patch.Context:
				out = append(out, file[next])
				next++
			case patch.Removed:
				next++
			case patch.Added:
				line := modelLineOf(l.Text)
				if !c.exact && len(file) > 0 {
					// The lines that go where this one comes.
					start, end := next, next
					for j := i - 1; j >= 0 && c.h.Lines[j].Kind != patch.Context; j-- {
						if c.h.Lines[j].Kind == patch.Removed {
							start--
						}
					}
					for j := i + 1; j < len(c.h.Lines) && c.h.Lines[j].Kind != patch.Context; j++ {
						if c.h.Lines[j].Kind == patch.Removed {
							end++
						}
					}
					line.ending = modelEnding(file, start, end)
				}
				out = append(out, line)
			}
		}
	}
	out = append(out, file[next:]...)
	for i := range out[:max(len(out)-1, 0)] {
		if out[i].ending == "" {
			out[i].ending = modelEnding(file, max(len(file)-1, 0), len(file))
		}
	}
	if c := changes[len(changes)-1]; len(out) > 0 && c.at+c.old == len(file) && !c.exact {
		ended := len(file) > 0 && file[len(file)-1].ending != ""
		old, added := side(c.h, patch.Removed), side(c.h, patch.Added)
		if len(added) > 0 {
			now := added[len(added)-1].ending != ""
			switch {
			case len(file) == 0:
				ended = now
			case len(old) == 0:
				ended = ended && now
			case now != (old[len(old)-1].ending != ""):
				ended = now
			}
		}
		last := &out[len(out)-1]
		switch {
		case !ended && last.text != "":
			last.ending = ""
		case last.ending == "":
			last.ending = modelEnding(file, max(len(file)-1, 0), len(file))
		}
	}
	var b strings.Builder
	for _, l := range out {
		b.WriteString(l.text + l.ending)
	}
	return b.String(), nil
}

// modelEnding returns the ending of a line in place of file[start:end].
func modelEnding(file []modelLine, start, end int) string {
	for i := end - 1; i >= start; i-- {
		if file[i].ending != "" {
			return file[i].ending
		}
	}
	if start > 0 && file[start-1].ending != "" {
		return file[start-1].ending
	}
	if end < len(file) && file[end].ending != "" {
		return file[end].ending
	}
	return "\n"
}

// choices makes small files and hunks of bytes.
type choices []byte

func (c *choices) of(n int) int {
	if len(*c) == 0 {
		return 0
	}
	b := (*c)[0]
	*c = (*c)[1:]
	return int(b) % n
}

func (c *choices) ending() string { return []string{"\n", "\n", "\n", "\r\n"}[c.of(4)] }

func (c *choices) line() string {
	return []string{"a", "b", "c", " a", "", "f:", "  f:"}[c.of(7)] + c.ending()
}

func (c *choices) content() string {
	var b strings.Builder
	for range c.of(9) {
		b.WriteString(c.line())
	}
	if c.of(3) == 0 {
		return strings.TrimRight(b.String(), "\r\n")
	}
	return b.String()
}

// hunks returns hunks that mostly are about what the content has.
func (c *choices) hunks(content string) (all []patch.Hunk) {
	file := modelLines(content)
	numbered := c.of(2) == 0
	at := 0
	for n := range 1 + c.of(3) {
		h := patch.Hunk{Line: n + 1, Numbered: numbered}
		at += c.of(len(file) + 1)
		if at > len(file) {
			at = c.of(len(file) + 1)
		}
		if numbered {
			h.Start = max(at+1+c.of(3)-1, 0)
		} else {
			for range c.of(3) {
				h.Anchors = append(h.Anchors, []string{"a", "f:", "  f:", "b"}[c.of(4)])
			}
			h.EndOfFile = c.of(6) == 0
		}
		for range c.of(4) {
			l := patch.Line{Kind: []patch.LineKind{patch.Context, patch.Removed, patch.Added}[c.of(3)]}
			switch {
			case l.Kind != patch.Added && at < len(file) && c.of(8) > 0:
				l.Text = file[at].text + file[at].ending
				if !numbered || c.of(4) == 0 {
					l.Text = file[at].text + "\n"
				}
				at++
			default:
				l.Text = c.line()
			}
			h.Lines = append(h.Lines, l)
		}
		if len(h.Lines) == 0 || c.of(6) == 0 {
			h.Lines = append(h.Lines, patch.Line{Kind: patch.Added, Text: c.line()})
		}
		if numbered && c.of(6) == 0 {
			last := &h.Lines[len(h.Lines)-1]
			if text := strings.TrimRight(last.Text, "\r\n"); text != "" {
				last.Text = text
			}
		}
		if numbered && len(side(h, patch.Removed)) == 0 {
			h.Start = at
			if c.of(8) == 7 {
				h.Start += 3
			}
		}
		all = append(all, h)
	}
	return all
}

// agrees compares Apply with the model; applied reports whether both apply.
func agrees(t *testing.T, data []byte) (applied bool, reasons []ambit.Reason) {
	t.Helper()
	c := choices(data)
	content := c.content()
	hunks := c.hunks(content)
	for _, h := range hunks {
		for _, kind := range []patch.LineKind{patch.Removed, patch.Added} {
			lines := side(h, kind)
			for i, l := range lines {
				if l.ending == "" && i < len(lines)-1 {
					return false, nil // no last line
				}
			}
		}
	}
	want, reasons := modelApply(content, hunks)
	fsys := memory.New(map[string]string{"f": content}, nil)
	p := &patch.Patch{Sections: []patch.Section{{Line: 1, Action: patch.Update, Path: "f", Hunks: hunks}}}
	r, err := patch.Apply(t.Context(), fsys, p, nil)
	var got []ambit.Reason
	for _, p := range r.Problems {
		got = append(got, p.Err.Reason)
	}
	if !slices.Equal(got, reasons) {
		t.Fatalf("on %q\n%+v\nproblems %v, want %v: %v", content, hunks, got, reasons, err)
	}
	if len(reasons) > 0 {
		want = content
	}
	if now, _ := fsys.Peek("f"); now != want {
		t.Fatalf("on %q\n%+v\n%q, want %q", content, hunks, now, want)
	}
	return len(reasons) == 0, reasons
}

func TestPlacesAgainstModel(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	defer patch.SetScansFirst(0)()
	seen := make(map[ambit.Reason]int)
	n := 12_000
	if testing.Short() {
		n = 2_000
	}
	for i := range n {
		data := make([]byte, 90)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		patch.SetScansFirst(i % 4)
		applied, reasons := agrees(t, data)
		if applied {
			seen["applied"]++
		}
		for _, r := range reasons {
			seen[r]++
		}
	}
	t.Log(seen)
	for _, r := range []ambit.Reason{"applied", ambit.ErrNoMatch, ambit.ErrAmbiguous, ambit.ErrOutOfRange} {
		if seen[r] < n/1000 {
			t.Errorf("%s was seen %d times only", r, seen[r])
		}
	}
}

func FuzzPlaces(f *testing.F) {
	f.Add([]byte("a first seed, of any bytes"))
	f.Fuzz(func(t *testing.T, data []byte) { agrees(t, data) })
}
