// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package glob

import (
	"fmt"
	"strings"
	"unicode/utf8"

	gobwas "github.com/gobwas/glob"
)

// maxName is how long a name can be, in bytes.
const maxName = 255

type segmentKind uint8

const (
	exact      segmentKind = iota // text
	anyName                       // *
	withPrefix                    // text*
	withSuffix                    // *text
	other                         // whatever else, by gobwas/glob
)

// A segment matches one name.
type segment struct {
	kind    segmentKind
	dot     bool // begins with a literal dot
	text    string
	pattern *gobwas.Pattern
}

// newSegment compiles nodes that are literals, single, star and oneOf, no two literals or stars beside each other.
func newSegment(nodes []node) (segment, error) {
	least := 0
	for _, n := range nodes {
		switch n.kind {
		case literal:
			least += len(n.text)
		case single, oneOf:
			least++
		}
	}
	if least > maxName {
		return segment{}, badPattern(fmt.Sprintf("a segment needs a name of more than %d bytes, and there is none", maxName))
	}
	s := segment{dot: nodes[0].kind == literal && nodes[0].text[0] == '.'}
	switch {
	case len(nodes) == 1 && nodes[0].kind == literal:
		s.text = nodes[0].text
		return s, nil
	case len(nodes) == 1 && nodes[0].kind == star:
		s.kind = anyName
		return s, nil
	}
	for _, n := range nodes {
		if i := invalidByte(n.text); i >= 0 {
			return segment{}, badPattern(fmt.Sprintf("the byte %#02x, which is not UTF-8, stands beside wildcards: ? matches such a byte", n.text[i]))
		}
	}
	switch {
	case len(nodes) == 2 && nodes[0].kind == literal && nodes[1].kind == star:
		s.kind, s.text = withPrefix, nodes[0].text
		return s, nil
	case len(nodes) == 2 && nodes[0].kind == star && nodes[1].kind == literal:
		s.kind, s.text = withSuffix, nodes[1].text
		return s, nil
	}
	var b []byte
	for _, n := range nodes {
		switch n.kind {
		case literal:
			b = append(b, gobwas.QuoteMeta(n.text)...)
		case single:
			b = append(b, '?')
		case star:
			b = append(b, '*')
		case oneOf:
			b = n.class.appendGobwas(b)
		}
	}
	pattern, err := gobwas.Compile(string(b))
	if err != nil {
		return segment{}, badPattern("a segment cannot be compiled: " + err.Error())
	}
	s.kind, s.pattern = other, pattern
	return s, nil
}

// match matches a name that is not empty.
func (s *segment) match(name string) bool {
	switch s.kind {
	case exact:
		return name == s.text
	case anyName:
		return true
	case withPrefix:
		return strings.HasPrefix(name, s.text)
	case withSuffix:
		return strings.HasSuffix(name, s.text)
	default:
		return s.pattern.Match(name)
	}
}

// invalidByte returns where s stops to be UTF-8, or -1.
func invalidByte(s string) int {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return i
			}
		}
	}
	return -1
}
