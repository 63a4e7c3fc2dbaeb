// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package glob

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds how deep braces nest, since parsing and writing out recurse.
const maxDepth = 10_000

type kind uint8

const (
	literal      kind = iota // text, byte by byte
	single                   // ?
	star                     // *
	globstar                 // **
	oneOf                    // [a-z]
	slash                    // /
	alternatives             // {a,b}
)

// A node is one piece of a parsed pattern.
type node struct {
	kind     kind
	text     string // of a literal
	class    *class
	branches []*sequence
}

// A sequence is a whole pattern or one branch of alternatives.
type sequence struct {
	nodes  []node
	parent *sequence // nil for the whole pattern
	after  int       // where in parent it goes on
}

// A position is a place in a pattern where a segment begins.
type position struct {
	sequence *sequence
	index    int
}

type parser struct {
	pattern string
	at      int
	depth   int
}

func parse(pattern string) (*sequence, error) {
	if pattern == "" {
		return nil, badPattern("the pattern is empty; ** finds everything")
	}
	if i := strings.IndexByte(pattern, 0); i >= 0 {
		return nil, badPattern(fmt.Sprintf("a NUL byte at byte %d: no name has one", i+1))
	}
	p := &parser{pattern: pattern}
	root := new(sequence)
	if err := p.sequence(root); err != nil {
		return nil, err
	}
	return root, nil
}

// sequence reads up to the end of the pattern or, within braces, up to the comma or brace that ends the branch.
func (p *parser) sequence(s *sequence) error {
	var text []byte
	flush := func() {
		if len(text) > 0 {
			s.nodes = append(s.nodes, node{kind: literal, text: string(text)})
			text = nil
		}
	}
	add := func(n node) {
		flush()
		s.nodes = append(s.nodes, n)
	}
	for p.at < len(p.pattern) {
		switch c := p.pattern[p.at]; c {
		case '\\':
			if p.at+1 == len(p.pattern) {
				return badPattern(`a backslash at the end escapes nothing; write \\ for the character`)
			}
			p.at++
			if p.pattern[p.at] == '/' {
				add(node{kind: slash})
			} else {
				text = append(text, p.pattern[p.at])
			}
			p.at++
		case '/':
			flush()
			// Empty segments mean nothing.
			if n := len(s.nodes); n == 0 || s.nodes[n-1].kind != slash {
				s.nodes = append(s.nodes, node{kind: slash})
			}
			p.at++
		case '?':
			add(node{kind: single})
			p.at++
		case '*':
			begin := p.at
			for p.at < len(p.pattern) && p.pattern[p.at] == '*' {
				p.at++
			}
			if p.at-begin == 1 {
				add(node{kind: star})
			} else {
				flush()
				s.dropFolders()
				s.nodes = append(s.nodes, node{kind: globstar})
			}
		case '[':
			class, err := p.class()
			if err != nil {
				return err
			}
			if r, ok := class.only(); ok {
				text = utf8.AppendRune(text, r)
			} else {
				add(node{kind: oneOf, class: class})
			}
		case '{':
			flush()
			n, err := p.alternatives(s)
			if err != nil {
				return err
			}
			s.nodes = append(s.nodes, n)
		case '}':
			if p.depth == 0 {
				return badPattern(fmt.Sprintf(`the } at byte %d closes nothing; write \} for the character`, p.at+1))
			}
			flush()
			return nil
		case ',':
			if p.depth > 0 {
				flush()
				return nil
			}
			text = append(text, c)
			p.at++
		default:
			text = append(text, c)
			p.at++
		}
	}
	flush()
	return nil
}

// dropFolders drops a segment that is **, and its slash, from the end: before another **, whatever follows, it means nothing.
func (s *sequence) dropFolders() {
	n := len(s.nodes)
	if n < 2 || s.nodes[n-1].kind != slash || s.nodes[n-2].kind != globstar {
		return
	}
	if n == 2 && s.parent == nil || n > 2 && s.nodes[n-3].kind == slash {
		s.nodes = s.nodes[:n-2]
	}
}

// alternatives reads from an opening brace to past the closing one. The node will be the next of parent.
func (p *parser) alternatives(parent *sequence) (node, error) {
	opened := p.at
	if p.depth++; p.depth > maxDepth {
		return node{}, badPattern(fmt.Sprintf("braces nest deeper than %d", maxDepth))
	}
	n := node{kind: alternatives}
	for {
		p.at++
		branch := &sequence{parent: parent, after: len(parent.nodes) + 1}
		if err := p.sequence(branch); err != nil {
			return node{}, err
		}
		n.branches = append(n.branches, branch)
		if p.at == len(p.pattern) {
			return node{}, badPattern(fmt.Sprintf(`the { at byte %d is not closed; write \{ for the character`, opened+1))
		}
		if p.pattern[p.at] == '}' {
			p.at++
			p.depth--
			return n, nil
		}
	}
}
