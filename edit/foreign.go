// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"strings"
	"unicode/utf8"

	"github.com/ambitfs/ambit"
)

// keepEncoding refuses to put UTF-8 beyond ASCII into a text in some other
// encoding that nobody has named, where it would be read as something else.
func (p *planner) keepEncoding() error {
	if p.hasBOM {
		return nil // which says UTF-8
	}
	for i, op := range p.ops {
		var text string
		switch op := op.(type) {
		case Replace:
			text = op.New
		case Rewrite:
			text = op.Text
		case Insert:
			text = op.Text
		}
		if !beyondASCII(text) || !utf8.ValidString(text) {
			continue
		}
		foreign, err := p.source.isForeign(p)
		if err == nil && foreign {
			err = opError(p.ops, i, &ambit.Error{
				Reason: ambit.ErrNotText,
				Detail: "the file is in some encoding other than UTF-8, and the new text goes beyond ASCII: say by Encoding which",
			})
		}
		return err
	}
	return nil
}

func beyondASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0
}

// isForeign reports that the text goes beyond ASCII, and nowhere in UTF-8.
func (s *source) isForeign(p *planner) (bool, error) {
	stray, known := false, false
	err := s.windows(p.ctx, utf8.UTFMax, func(w window) error {
		for at := w.from; at < w.to; {
			if w.text[at] < utf8.RuneSelf {
				at++
				continue
			}
			r, n := utf8.DecodeRune(w.text[at:])
			if r != utf8.RuneError || n > 1 {
				known = true
				return errEnough
			}
			stray = true
			at++
		}
		return nil
	})
	if err == errEnough {
		err = nil
	}
	return stray && !known, err
}
