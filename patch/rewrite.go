// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"bytes"

	"github.com/ambitfs/ambit/internal/diff"
	"github.com/ambitfs/ambit/internal/lines"
)

// rewrite returns the text with the changes of the placed hunks made, and where
// it differs from what it was.
//
// Whatever a hunk does not remove keeps its bytes. Where its old lines are those
// of the file, endings included, the lines that it adds come as they stand in
// the patch. Elsewhere they take the ending of the place they come to, and the
// end of the file stays with or without an ending, as it was, unless the patch
// has it with one before the change and without after it, or the other way
// round: then it is as after the change.
func rewrite(t *text, all []placed) (content []byte, regions []diff.Region) {
	if len(all) == 0 {
		return t.bytes, nil
	}
	added := 0
	for _, p := range all {
		for _, l := range p.hunk.Lines {
			added += len(l.Text) + 1
		}
	}
	w := &rewriting{text: t, out: make([]byte, 0, len(t.bytes)+added)}
	type span struct{ first, start, end, until int } // lines of the old text, bytes of the new
	var spans []span
	for _, p := range all {
		first := max(p.at-diff.Context, 0)
		last := min(p.end()+diff.Context, t.count())
		if n := len(spans); n > 0 && first <= spans[n-1].until {
			spans[n-1].until = last
		} else {
			if n > 0 {
				w.keep(spans[n-1].until)
				spans[n-1].end = len(w.out)
			}
			w.keep(first)
			spans = append(spans, span{first: first, start: len(w.out), until: last})
		}
		w.change(p)
	}
	final := &spans[len(spans)-1]
	w.keep(final.until)
	final.end = len(w.out)
	toEnd := final.until == t.count()
	w.keep(t.count())
	w.finish(all[len(all)-1])
	if toEnd {
		final.end = len(w.out)
	}
	for _, s := range spans {
		before, after := t.bytes[t.start[s.first]:t.start[s.until]], w.out[s.start:s.end]
		if !bytes.Equal(before, after) {
			regions = append(regions, diff.Region{Line: s.first + 1, Before: before, After: after})
		}
	}
	return w.out, regions
}

// rewriting is a new text in the making.
type rewriting struct {
	text *text
	next int // index of the first line of the old text that is not judged yet
	out  []byte
}

// keep takes over the lines up to the one with the index end.
func (w *rewriting) keep(end int) {
	if end > w.next {
		w.terminate()
		w.out = append(w.out, w.text.bytes[w.text.start[w.next]:w.text.start[end]]...)
		w.next = end
	}
}

// terminate comes before a line. Only the last line of a text has no ending: one
// that others come to stand behind gets one.
func (w *rewriting) terminate() {
	if len(w.out) > 0 && w.out[len(w.out)-1] != '\n' {
		w.out = append(w.out, w.endingAt(max(w.text.count()-1, 0), w.text.count())...)
	}
}

// endingAt returns the ending of what comes to stand in place of the lines from
// the one with the index first up to end.
func (w *rewriting) endingAt(first, end int) string {
	return lines.EndingAt(w.text.bytes, w.text.start[first], w.text.start[end])
}

// change makes the changes of one hunk.
func (w *rewriting) change(p placed) {
	w.keep(p.at)
	for rest := p.hunk.Lines; len(rest) > 0; {
		// One run of lines that are removed and added, in any order.
		n, removed := 0, 0
		for n < len(rest) && rest[n].Kind != Context {
			if rest[n].Kind == Removed {
				removed++
			}
			n++
		}
		if n == 0 {
			w.keep(w.next + 1)
			rest = rest[1:]
			continue
		}
		ending := ""
		if !p.exact && w.text.count() > 0 {
			ending = w.endingAt(w.next, w.next+removed)
		}
		for _, l := range rest[:n] {
			if l.Kind != Added {
				continue
			}
			w.terminate()
			if ending == "" {
				w.out = append(w.out, l.Text...)
			} else {
				w.out = append(append(w.out, bare(l.Text)...), ending...)
			}
		}
		w.next += removed
		rest = rest[n:]
	}
}

// finish gives the end of the text its ending, or takes it away, where the hunk
// p, the last one, has changed it.
func (w *rewriting) finish(p placed) {
	count := w.text.count()
	if p.exact || p.end() != count {
		return
	}
	ended := count > 0 && lines.Ending(w.text.line(count-1)) != ""
	before, after := ends(p.hunk, Removed), ends(p.hunk, Added)
	switch {
	case after == unsaid:
	case count == 0, before == unsaid && after == without, before != unsaid && before != after:
		ended = after == with
	}
	if ended {
		w.terminate()
		return
	}
	line := w.out[bytes.LastIndexByte(bytes.TrimSuffix(w.out, []byte("\n")), '\n')+1:]
	// A last line that is empty is there by its ending alone.
	if text := bare(line); len(text) > 0 {
		w.out = w.out[:len(w.out)-len(line)+len(text)]
	}
}

// lastEnding is whether the last line of one side of a hunk has an ending.
type lastEnding int

const (
	unsaid lastEnding = iota // there is no line
	with
	without
)

// ends returns what the hunk has at the end of its old lines (side is Removed) or
// its new ones (Added).
func ends(h *Hunk, side LineKind) lastEnding {
	for i := len(h.Lines) - 1; i >= 0; i-- {
		l := h.Lines[i]
		switch {
		case l.Kind != Context && l.Kind != side:
		case lines.Ending(l.Text) != "":
			return with
		default:
			return without
		}
	}
	return unsaid
}
