// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"math"
	"strings"

	"github.com/ambitfs/ambit/internal/lines"
)

const crlf = "\r\n"

func endingOf(b []byte) string { return lines.Ending(b) }

// withEndings returns text as it lands in place of old, a part of the file: its
// newlines that are a bare LF take the endings that old has. The lines that both
// begin with and end with keep theirs, line by line; then the first newline of
// text gets the first ending of old, and so on. Where old has not so many, those
// that are left get its last, and where it has none otherwise.
func withEndings(text, old, otherwise string) string {
	if !strings.Contains(text, "\n") || !strings.Contains(old, crlf) && otherwise != crlf {
		return text
	}
	olds, news := strings.Split(old, "\n"), strings.Split(text, "\n")
	endings := make([]string, len(olds)-1)
	for i := range endings {
		endings[i] = "\n"
		if strings.HasSuffix(olds[i], "\r") {
			olds[i], endings[i] = strings.TrimSuffix(olds[i], "\r"), crlf
		}
	}
	alike := func(i, j int) bool { return olds[i] == strings.TrimSuffix(news[j], "\r") }
	// What both end with counts from the end: the newline before the last line
	// that they share.
	shared := 0
	for shared < min(len(olds), len(news)) && alike(len(olds)-1-shared, len(news)-1-shared) {
		shared++
	}
	var b strings.Builder
	begun := true // all lines so far are those of old
	for i, line := range news[:len(news)-1] {
		b.WriteString(line)
		begun = begun && i < len(olds) && alike(i, i)
		ending := otherwise
		fromEnd := len(news) - 2 - i // how many newlines follow
		switch {
		case strings.HasSuffix(line, "\r"): // text says so itself
			ending = "\n"
		case len(endings) == 0:
		case begun && i < len(endings):
			ending = endings[i]
		case fromEnd < shared && fromEnd < len(endings):
			ending = endings[len(endings)-1-fromEnd]
		default:
			ending = endings[min(i, len(endings)-1)]
		}
		b.WriteString(ending)
	}
	b.WriteString(news[len(news)-1])
	return b.String()
}

// endingAt returns the ending of the line that holds the offset, else that of
// the line before, and "\n" where there is none.
func (s *source) endingAt(offset int64) (string, error) {
	end, _, err := s.lineEnd(offset, math.MaxInt64)
	if err != nil {
		return "", err
	}
	ending, err := s.endingBefore(end)
	if err != nil || ending != "" {
		return ending, err
	}
	start, _, err := s.lineStart(offset, math.MaxInt64)
	if err != nil {
		return "", err
	}
	ending, err = s.endingBefore(start)
	if ending == "" {
		ending = "\n"
	}
	return ending, err
}
