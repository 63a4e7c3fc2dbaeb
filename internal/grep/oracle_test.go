// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package grep

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/charset"
	"github.com/ambitfs/ambit/internal/lines"
)

// An answer is all that a search tells.
type answer struct {
	Matches []ambit.GrepMatch
	Result  Result
	Reason  ambit.Reason
}

// naive answers as the package says, with the whole content at hand and one
// regular expression for each line.
func naive(path string, content []byte, q Query, expression *regexp.Regexp, l limits) answer {
	head := content[:min(len(content), charset.HeadSize)]
	class := charset.Classify(head, len(head) == len(content))
	isUTF16 := class.Encoding == charset.UTF16LE || class.Encoding == charset.UTF16BE
	if !class.Text || isUTF16 && class.BOM == 0 {
		return answer{Reason: ambit.ErrNotText}
	}
	text := content[class.BOM:]
	if isUTF16 {
		document, err := charset.Decode(content, charset.Encoding{})
		if err != nil {
			return answer{Reason: ambit.ReasonOf(err)}
		}
		text = document.Text()
	}

	var a answer
	tooLong := false // the line behind the last one
	all := lines.Split(text)
	contents := make([][]byte, len(all))
	spans := make([][][2]int, len(all))
	if q.Multiline {
		if len(text) > l.text {
			return answer{Reason: ambit.ErrTooLarge}
		}
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
		all = lines.Split(text)
		start := 0
		found := expression.FindAllIndex(text, -1)
		for i, line := range all {
			contents[i] = bytes.TrimSuffix(line, []byte("\n"))
			next := start + len(line)
			for len(found) > 0 && found[0][1] < start {
				found = found[1:]
			}
			for _, m := range found {
				if m[0] > next {
					break
				}
				last := next == len(text) && len(contents[i]) == len(line)
				touches := m[0] < next && m[1] > start ||
					m[0] == m[1] && start <= m[0] && (m[0] < next || last && m[0] == next)
				if touches {
					from, to := max(m[0]-start, 0), min(m[1]-start, len(contents[i]))
					spans[i] = append(spans[i], [2]int{from, to})
				}
			}
			start += len(line)
		}
	} else {
		for i, line := range all {
			contents[i] = line[:len(line)-len(lines.Ending(line))]
			if len(contents[i]) > l.line {
				tooLong = true
				all, contents, spans = all[:i], contents[:i], spans[:i]
				break
			}
			for _, m := range expression.FindAllIndex(contents[i], -1) {
				spans[i] = append(spans[i], [2]int(m))
			}
		}
	}

	leftOut := make([]bool, len(all))
	matching := make([]bool, len(all))
	context := make([]bool, len(all))
	last := -1  // matching line
	behind := 0 // the first line that is not marked as context of an earlier one
	for i := range all {
		if a.Result.More && q.After < i-last {
			tooLong = false // not reached
			break
		}
		switch {
		case len(spans[i]) == 0:
		case bytes.IndexByte(contents[i], 0) >= 0:
			leftOut[i] = true
			a.Reason = ambit.ErrNotText
		case q.Mode == ambit.GrepFiles:
			a.Matches = []ambit.GrepMatch{{Path: path}}
			a.Result.Lines = 1
			return a
		case q.Mode == ambit.GrepCount:
			a.Result.Lines++
		case q.Limit > 0 && a.Result.Lines == q.Limit:
			a.Result.More = true
			tooLong = tooLong && q.After >= len(all)-last
		default:
			matching[i] = true
			a.Result.Lines++
			behind = max(behind, i+1)
			bytesLeft := l.context
			for j := i - 1; j >= 0 && i-j <= q.Before; j-- {
				if bytesLeft -= len(all[j]); bytesLeft < 0 {
					break
				}
				if matching[j] {
					break // what is before has been marked for that line
				}
				context[j] = true
			}
			for ; behind < len(all) && behind-i <= q.After; behind++ {
				context[behind] = true
			}
			last = i
		}
		if a.Result.More && q.After <= i-last {
			break
		}
	}
	if tooLong {
		a.Reason = ambit.ErrTooLarge
	}
	if q.Mode == ambit.GrepCount {
		if a.Result.Lines > 0 {
			a.Matches = []ambit.GrepMatch{{Path: path, Count: a.Result.Lines}}
		}
		return a
	}
	for i := range all {
		if leftOut[i] || !matching[i] && !context[i] {
			continue
		}
		m := ambit.GrepMatch{Path: path, Line: i + 1, Text: string(contents[i])}
		if matching[i] {
			m.Column, m.Spans = spans[i][0][0]+1, spans[i]
		} else {
			m.Context = true
		}
		a.Matches = append(a.Matches, naiveClip(m, q.MaxLineBytes))
	}
	return a
}

// naiveClip goes by the list of the offsets that are not within a character.
func naiveClip(m ambit.GrepMatch, most int) ambit.GrepMatch {
	if most == 0 || len(m.Text) <= most {
		return m
	}
	boundaries := []int{}
	for i := 0; i < len(m.Text); {
		boundaries = append(boundaries, i)
		_, n := utf8.DecodeRuneInString(m.Text[i:])
		i += n
	}
	boundaries = append(boundaries, len(m.Text))
	atLeast := func(n int) int {
		for _, b := range boundaries {
			if b >= n {
				return b
			}
		}
		panic("no boundary")
	}
	atMost := func(n int) (last int) {
		for _, b := range boundaries {
			if b <= n {
				last = b
			}
		}
		return last
	}
	from := 0
	if !m.Context {
		start, end := m.Spans[0][0], m.Spans[0][1]
		switch room := most - (end - start); {
		case end <= most:
		case room <= 0:
			from = start
		default:
			from = atLeast(min(start-room/2, len(m.Text)-most))
		}
	}
	to := max(from, atMost(min(from+most, len(m.Text))))
	m.Text, m.Clipped = strings.Clone(m.Text[from:to]), true
	var spans [][2]int
	for _, span := range m.Spans {
		start, end := span[0], span[1]
		if start == end && from <= start && start <= to {
			spans = append(spans, [2]int{start - from, start - from})
		} else if start < to && end > from && start < end {
			spans = append(spans, [2]int{max(start, from) - from, min(end, to) - from})
		}
	}
	m.Spans = spans
	return m
}
