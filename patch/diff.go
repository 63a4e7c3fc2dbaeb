// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/diff"
	"github.com/ambitfs/ambit/internal/lines"
)

// maxDiff is the length in bytes up to which a report has a diff.
const maxDiff = 1 << 20

// diff returns all that the plan changes as a diff that git can read.
func (p *plan) diff() (text string, clipped bool) {
	var b strings.Builder
	moved := make(map[*node]*node) // from the old name to the new one
	for _, n := range p.order {
		if from := p.source(n); from != nil && from.now == nil && moved[from] == nil {
			moved[from] = n
		}
	}
	for _, n := range p.order {
		if !p.changes(n) || n.now == nil && moved[n] != nil {
			continue
		}
		var from *node
		if source := p.source(n); source != nil && (moved[source] == n || source.now == source.disk) {
			from = source
		}
		fileDiff, ok := p.fileDiff(n, from, maxDiff-b.Len())
		if !ok {
			return b.String(), true
		}
		b.WriteString(fileDiff)
	}
	return b.String(), false
}

// source returns the file that n, which was not there, was made of by a move or
// a copy; nil for none.
func (p *plan) source(n *node) *node {
	if n.isFile() || n.now == nil || n.now.origin == n {
		return nil
	}
	return n.now.origin
}

// fileDiff returns the diff of the file at n, or from what is at from to it; ok
// is false where it would be longer than limit.
func (p *plan) fileDiff(n, from *node, limit int) (text string, ok bool) {
	var b strings.Builder
	oldName := n.path
	if from != nil {
		oldName = from.path
	}
	fmt.Fprintf(&b, "diff --git %s %s\n", diff.Quote("a"+oldName), diff.Quote("b"+n.path))
	if n.gone {
		b.WriteString("deleted file mode 120000\n")
		if l, ok := p.fsys.(ambit.Linker); ok && p.caps.ReadLink {
			// The text of a link that leads out is not told.
			if link, err := l.ReadLink(p.ctx, n.path); err == nil {
				writeWhole(&b, oldName, '-', []byte(link))
			}
		}
		return b.String(), b.Len() <= limit
	}
	old := n.disk
	if from != nil {
		old = from.disk
	}
	switch {
	case old == nil:
		fmt.Fprintf(&b, "new file mode %s\n", gitMode(n.now.mode))
	case n.now == nil:
		fmt.Fprintf(&b, "deleted file mode %s\n", gitMode(old.mode))
	case p.caps.KeepsMode && n.now.mode != 0 && gitMode(old.mode) != gitMode(n.now.mode):
		fmt.Fprintf(&b, "old mode %s\nnew mode %s\n", gitMode(old.mode), gitMode(n.now.mode))
	}
	if from != nil {
		how := "copy"
		if from.now == nil {
			how = "rename"
		}
		fmt.Fprintf(&b, "%s from %s\n%s to %s\n", how, diff.Quote(from.path[1:]), how, diff.Quote(n.path[1:]))
	}
	if old != nil && n.now != nil && !n.now.edited && n.now.origin == old.origin {
		return b.String(), b.Len() <= limit
	}
	if old != nil && n.now != nil && n.now.base == old && n.now.regions != nil {
		hunks, clipped := diff.Unified("a"+oldName, "b"+n.path, n.now.regions, max(limit-b.Len(), 1))
		b.WriteString(hunks)
		return b.String(), !clipped
	}
	before, ok := p.shown(old, limit)
	if !ok {
		return "", false
	}
	after, ok := p.shown(n.now, limit)
	if !ok {
		return "", false
	}
	switch {
	case old == nil:
		writeWhole(&b, n.path, '+', after)
	case n.now == nil:
		writeWhole(&b, oldName, '-', before)
	default:
		before, after = withoutMark(before, after)
		hunks, clipped := diff.Unified("a"+oldName, "b"+n.path, differing(before, after), max(limit-b.Len(), 1))
		b.WriteString(hunks)
		return b.String(), !clipped
	}
	return b.String(), b.Len() <= limit
}

// shown returns the text of c for the diff, unless it can have no place there.
func (p *plan) shown(c *content, limit int) ([]byte, bool) {
	if c == nil {
		return nil, true
	}
	if !c.known && c.origin.before.Size > int64(limit) {
		return nil, false
	}
	data, err := p.load(c)
	if err != nil {
		return nil, false // the commit will find that out
	}
	return readable(data), true
}

func gitMode(mode fs.FileMode) string {
	if mode&0o111 != 0 {
		return "100755"
	}
	return "100644"
}

// writeWhole writes the hunk of a file that comes, or goes.
func writeWhole(b *strings.Builder, path string, sign byte, content []byte) {
	n := lines.Count(content)
	if n == 0 {
		return
	}
	count := ""
	if n > 1 {
		count = fmt.Sprintf(",%d", n)
	}
	if sign == '+' {
		fmt.Fprintf(b, "--- /dev/null\n+++ %s\n@@ -0,0 +1%s @@\n", diff.Header("b"+path), count)
	} else {
		fmt.Fprintf(b, "--- %s\n+++ /dev/null\n@@ -1%s +0,0 @@\n", diff.Header("a"+path), count)
	}
	for len(content) > 0 {
		var line []byte
		line, content = lines.Next(content)
		b.WriteByte(sign)
		b.Write(line)
		if lines.Ending(line) == "" {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// differing returns the region in which all differences of two texts lie.
func differing(before, after []byte) []diff.Region {
	head := 0
	for {
		a, _ := lines.Next(before[head:])
		b, _ := lines.Next(after[head:])
		if len(a) == 0 || !bytes.Equal(a, b) {
			break
		}
		head += len(a)
	}
	tail := 0
	for {
		a := lastLine(before[head : len(before)-tail])
		b := lastLine(after[head : len(after)-tail])
		if len(a) == 0 || !bytes.Equal(a, b) {
			break
		}
		tail += len(a)
	}
	for range diff.Context {
		head -= len(lastLine(before[:head]))
		line, _ := lines.Next(before[len(before)-tail:])
		tail -= len(line)
	}
	if len(before) == len(after) && head+tail == len(before) {
		return nil
	}
	return []diff.Region{{
		Line: lines.Count(before[:head]) + 1, Before: before[head : len(before)-tail], After: after[head : len(after)-tail],
	}}
}

// lastLine returns the last line of the text with its ending.
func lastLine(text []byte) []byte {
	return text[bytes.LastIndexByte(bytes.TrimSuffix(text, []byte("\n")), '\n')+1:]
}
