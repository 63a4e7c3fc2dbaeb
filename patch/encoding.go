// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/ambitfs/ambit/charset"
	"github.com/ambitfs/ambit/internal/diff"
)

// mark is the byte order mark of UTF-8.
const mark = "\ufeff"

// decoded is the content of a file as hunks see it.
type decoded struct {
	*text
	document charset.Document
	verbatim bool // the text is the content itself, with its byte order mark if it has one
}

// decode returns the content as the hunks see it. UTF-16 is converted, and a byte
// order mark is no part of the text, unless the old lines of the hunks have one:
// then they speak of bytes.
func decode(content []byte, hunks []Hunk) (decoded, error) {
	if namesMark(hunks) && bytes.HasPrefix(content, []byte(mark)) {
		return decoded{text: newText(content), verbatim: true}, nil
	}
	document, err := charset.Decode(content, charset.Encoding{})
	if err != nil {
		return decoded{}, err
	}
	return decoded{text: newText(document.Text()), document: document}, nil
}

func namesMark(hunks []Hunk) bool {
	for i := range hunks {
		for _, l := range hunks[i].Lines {
			if l.Kind != Added && strings.HasPrefix(l.Text, mark) {
				return true
			}
		}
	}
	return false
}

// rewrite returns the content with the changes of the placed hunks made, and
// where its text differs, as readable has it.
func (d decoded) rewrite(all []placed) ([]byte, []diff.Region, error) {
	content, regions := rewrite(d.text, all)
	var first *diff.Region
	if len(regions) > 0 && regions[0].Line == 1 {
		first = &regions[0]
	}
	if d.verbatim {
		if first != nil {
			first.Before, first.After = withoutMark(first.Before, first.After)
		}
		return content, regions, nil
	}
	if len(d.document.BOM()) > 0 {
		// A file has one mark, also where the patch brings one.
		content = bytes.TrimPrefix(content, []byte(mark))
		if first != nil {
			first.After = bytes.TrimPrefix(first.After, []byte(mark))
		}
	}
	content, err := d.document.Encode(content)
	return content, regions, err
}

// withoutMark returns the beginnings of a text before and after a change without
// the byte order mark, unless only one of them has it.
func withoutMark(before, after []byte) (_, _ []byte) {
	if bytes.HasPrefix(before, []byte(mark)) && bytes.HasPrefix(after, []byte(mark)) {
		return before[len(mark):], after[len(mark):]
	}
	return before, after
}

// mixes returns the first hunk that brings text in UTF-8 to a file in another
// encoding, nil for none; content is what the hunks make of the file. What a hunk
// also removes, or gives in bytes that are not UTF-8 either, is of the file's own.
func (d decoded) mixes(hunks []Hunk, content []byte) *Hunk {
	if d.verbatim || len(d.document.BOM()) > 0 || utf8.Valid(d.text.bytes) || utf8.Valid(content) {
		return nil
	}
	var removed strings.Builder
	for i := range hunks {
		for _, l := range hunks[i].Lines {
			if l.Kind == Removed {
				removed.WriteString(l.Text + "\n")
			}
		}
	}
	for i := range hunks {
		for _, l := range hunks[i].Lines {
			if l.Kind != Added || !utf8.ValidString(l.Text) {
				continue
			}
			for _, run := range strings.FieldsFunc(l.Text, func(r rune) bool { return r < utf8.RuneSelf }) {
				if !strings.Contains(removed.String(), run) {
					return &hunks[i]
				}
			}
		}
	}
	return nil
}

// hint returns what may be the reason that text is not found in a file with the
// content, to be added to what is said, "" for nothing.
func (d decoded) hint(content []byte) string {
	if d.verbatim || len(d.document.BOM()) > 0 || len(content) == 0 {
		return ""
	}
	switch class := charset.Classify(content[:min(len(content), charset.HeadSize)], len(content) <= charset.HeadSize); {
	case !class.Text:
		return "; the file does not look like text (" + class.MediaType + ")"
	case !class.Encoding.IsZero() && class.Encoding != charset.UTF8:
		return "; the file looks like " + class.Encoding.String() + ", but has no byte order mark"
	}
	return ""
}

// readable returns the text of the content, with a byte order mark of UTF-8 if it
// has one.
func readable(content []byte) []byte {
	if bytes.HasPrefix(content, []byte(mark)) {
		return content
	}
	document, err := charset.Decode(content, charset.Encoding{})
	if err != nil {
		return content
	}
	return document.Text()
}
