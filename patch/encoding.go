// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"bytes"
	"strings"

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
	if d.verbatim {
		return content, regions, nil
	}
	own := string(d.document.BOM())
	if own != "" {
		// A file has one mark, also where the patch brings one.
		content = bytes.TrimPrefix(content, []byte(mark))
	}
	if own == mark && len(regions) > 0 && regions[0].Line == 1 {
		first := &regions[0]
		first.Before = append([]byte(mark), first.Before...)
		first.After = append([]byte(mark), bytes.TrimPrefix(first.After, []byte(mark))...)
	}
	content, err := d.document.Encode(content)
	return content, regions, err
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
