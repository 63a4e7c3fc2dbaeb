// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"bytes"
	"strings"

	"github.com/ambitfs/ambit/internal/diff"
)

// bom is the byte order mark in UTF-8.
const bom = "\ufeff"

// decoded is the text of a file, and how its bytes are made of it.
type decoded struct {
	text *text
	mark string // what stands before the text and is no part of it
}

// edited is where the texts of two contents differ.
type edited struct {
	regions []diff.Region
}

// decode returns the text of the content, as the hunks see it: a byte order mark
// is a part of it only if their old lines have one.
func decode(content []byte, hunks []Hunk) (*decoded, error) {
	d := &decoded{}
	if rest, ok := bytes.CutPrefix(content, []byte(bom)); ok && !namesMark(hunks) {
		content, d.mark = rest, bom
	}
	d.text = newText(content)
	return d, nil
}

func namesMark(hunks []Hunk) bool {
	for i := range hunks {
		for _, l := range hunks[i].Lines {
			if l.Kind != Added && strings.HasPrefix(l.Text, bom) {
				return true
			}
		}
	}
	return false
}

// rewrite returns the content with the changes of the hunks made.
func (d *decoded) rewrite(all []placed) ([]byte, edited, error) {
	content, regions := rewrite(d.text, all)
	if d.mark != "" && !bytes.HasPrefix(content, []byte(d.mark)) {
		content = append([]byte(d.mark), content...)
	}
	return content, edited{regions}, nil
}

// readable returns the text of the content for people.
func readable(content []byte) []byte { return content }
