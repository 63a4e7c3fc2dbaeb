// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"strings"

	"github.com/ambitfs/ambit"
)

// A closing is the line that ends what stands around a patch.
type closing struct {
	opened int    // the number of the line that began it
	fence  string // the fence that opened, or ""
	word   string // the word that ends the here-document, or ""
}

func (w closing) String() string { return w.fence + w.word }

// fits tells whether the line is the closing: a fence may be longer than the one
// that opened.
func (w closing) fits(line string) bool {
	if w.word != "" {
		return line == w.word
	}
	line = strings.TrimRight(line, " \t")
	return len(line) >= len(w.fence) && strings.Trim(line, w.fence[:1]) == ""
}

// openWrapping goes over empty lines and what may stand before a patch: a code
// fence, the first line of a here-document. It returns what must then stand
// behind the patch, the innermost first.
func (c *cursor) openWrapping() []closing {
	var closings []closing
	c.skipBlank()
	if f := fence(c.own()); f != "" {
		closings = append(closings, closing{opened: c.number, fence: f})
		c.advance()
		c.skipBlank()
	}
	if w := hereDocument(c.own()); w != "" {
		closings = append([]closing{{opened: c.number, word: w}}, closings...)
		c.advance()
		c.skipBlank()
	}
	return closings
}

// closeWrapping goes from behind the patch to the end of the text.
func (c *cursor) closeWrapping(closings []closing) *ambit.Error {
	for _, w := range closings {
		c.skipBlank()
		if c.end || !w.fits(c.own()) {
			return invalid(c.number, "expected %q, which ends what line %d begins, not %s", w, w.opened, c.found())
		}
		c.advance()
	}
	c.skipBlank()
	if !c.end {
		return invalid(c.number, "expected nothing more behind the patch, not %s", c.found())
	}
	return nil
}

// fence returns the backticks or tildes that begin a code block, "" where the
// line does not.
func fence(line string) string {
	if line == "" || line[0] != '`' && line[0] != '~' {
		return ""
	}
	info := strings.TrimLeft(line, line[:1])
	f := line[:len(line)-len(info)]
	if len(f) < 3 || f[0] == '`' && strings.Contains(info, "`") {
		return ""
	}
	return f
}

// hereDocument returns the word that ends the here-document which the line of a
// shell begins, "" where it begins none.
func hereDocument(line string) string {
	_, word, ok := strings.Cut(line, "<<")
	if !ok {
		return ""
	}
	word = strings.TrimLeft(strings.TrimPrefix(word, "-"), " \t")
	quote := ""
	if word != "" && (word[0] == '\'' || word[0] == '"') {
		quote, word = word[:1], word[1:]
	}
	n := 0
	for n < len(word) && (word[n] == '_' || 'A' <= word[n]&^0x20 && word[n]&^0x20 <= 'Z' || n > 0 && '0' <= word[n] && word[n] <= '9') {
		n++
	}
	if !strings.HasPrefix(word[n:], quote) {
		return ""
	}
	return word[:n]
}
