// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package lineaddr

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ambitfs/ambit"
)

// Range is a range of whole lines, by their 1-based numbers, both inclusive.
// End 0 means to the end: {1, 0} is the whole file.
type Range struct{ Start, End int }

// String returns "10-20", "10-" for a range to the end and "7" for a single
// line, as [ParseRange] reads them.
func (r Range) String() string {
	start := strconv.Itoa(r.Start)
	switch r.End {
	case r.Start:
		return start
	case 0:
		return start + "-"
	}
	return start + "-" + strconv.Itoa(r.End)
}

// Check returns [ambit.ErrInvalid] for a range that no file could have: Start
// below 1, End below 0, and End before Start unless it is 0.
func (r Range) Check() error {
	switch {
	case r.Start < 1:
		return invalid("lines are numbered from 1, and the range starts at %d", r.Start)
	case r.End < 0:
		return invalid("the range ends at %d; the last line is at least 1, or 0 for the end of the file", r.End)
	case r.End > 0 && r.End < r.Start:
		return invalid("the range ends at line %d, before it starts at line %d", r.End, r.Start)
	}
	return nil
}

// whole reports whether r is {1, 0}, the one range that an empty text has.
func (r Range) whole() bool { return r == Range{Start: 1} }

// ParseRange reads "10-20", "10-" (to the end) or "7" (one line): decimal
// digits and nothing else, not even blanks or a sign. Anything else, a range
// that [Range.Check] refuses and a last line that is written as 0 are
// [ambit.ErrInvalid].
func ParseRange(s string) (Range, error) {
	first, last, isRange := strings.Cut(s, "-")
	start, ok := parseLine(first)
	end := start
	switch {
	case !isRange:
	case last == "":
		end = 0
	case ok:
		end, ok = parseLine(last)
	}
	r := Range{Start: start, End: end}
	if !ok {
		return Range{}, invalid("%s is not a range of lines: write 10-20, 10- or 7", abridged(s))
	}
	if err := r.Check(); err != nil {
		return Range{}, err
	}
	return r, nil
}

// parseLine returns the number of a line, which is at least 1.
func parseLine(s string) (int, bool) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n > 0
}

// abridged quotes s, which a stranger wrote, at no great length.
func abridged(s string) string {
	const most = 40
	if len(s) > most {
		return fmt.Sprintf("%q and %d more bytes", s[:most], len(s)-most)
	}
	return strconv.Quote(s)
}

// invalid returns the error for a bad argument.
func invalid(format string, args ...any) error {
	return &ambit.Error{Reason: ambit.ErrInvalid, Detail: fmt.Sprintf(format, args...)}
}

// outOfRange returns the error for a line that a text of total lines has not.
func outOfRange(total, line int) error {
	return &ambit.Error{Reason: ambit.ErrOutOfRange, Total: total, Detail: fmt.Sprintf("there is no line %d", line)}
}
