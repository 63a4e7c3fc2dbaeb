// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import "strings"

// A naming is the two names that a diff gives one file, and the path they mean.
type naming struct {
	before, after string // as they are written, without quotes
	path          string
	prefixed      bool // path is both without a prefix of git's
}

// prefixes are the letters that git puts before the two names, in either order:
// each of one group stands for another place of the content.
var prefixes = []string{"ab", "ciwo", "12"}

// pair returns what two names of one file mean: git's prefixes are taken off
// only where both carry them. ok is false where the names differ otherwise.
func pair(before, after string) (n naming, ok bool) {
	n = naming{before: before, after: after, path: before}
	if before == after {
		return n, before != ""
	}
	if len(before) < 3 || len(after) < 3 || before[1] != '/' || before[1:] != after[1:] {
		return n, false
	}
	n.path, n.prefixed = before[2:], true
	for _, group := range prefixes {
		if strings.Contains(group, before[:1]) && strings.Contains(group, after[:1]) {
			return n, true
		}
	}
	return n, false
}

// backup returns the shorter of two names where the other one is that of a copy
// beside it.
func backup(before, after string) (n naming, ok bool) {
	n = naming{before: before, after: after, path: before}
	longer := after
	if len(before) > len(after) {
		n.path, longer = after, before
	}
	for _, suffix := range []string{"~", ".orig", ".old", ".bak", ".new"} {
		if longer == n.path+suffix {
			return n, true
		}
	}
	return n, false
}

// gitNames returns what the two names behind "diff --git" mean. They are not
// separated by more than a space, which may be in the names too; but both are
// the same up to prefixes of one length, unless the file is renamed or copied:
// then, and where the prefixes are others, ok is false.
func gitNames(line string) (n naming, ok bool) {
	if strings.HasPrefix(line, `"`) {
		before, rest, ok := unquote(line)
		after, spaced := strings.CutPrefix(rest, " ")
		if !ok || !spaced {
			return n, false
		}
		if strings.HasPrefix(after, `"`) {
			if after, rest, ok = unquote(after); !ok || rest != "" {
				return n, false
			}
		}
		return pair(before, after)
	}
	if i := strings.Index(line, ` "`); i >= 0 {
		after, rest, ok := unquote(line[i+1:])
		if !ok || rest != "" {
			return n, false
		}
		return pair(line[:i], after)
	}
	middle := len(line) / 2
	if len(line)%2 == 0 || line[middle] != ' ' {
		return n, false
	}
	return pair(line[:middle], line[middle+1:])
}

// agreeing returns what the names behind "diff --git", as far as they are
// decided, and those of the lines before the hunks mean together.
func agreeing(named naming, decided bool, before, after headerName) (n naming, ok bool) {
	switch {
	case before.null:
		return named, decided && !after.null && after.name == named.after
	case after.null:
		return named, decided && before.name == named.before
	}
	n, ok = pair(before.name, after.name)
	return n, ok && (!decided || n.path == named.path)
}

// unquote reads a name in quotes, as git and program diff write it where it has
// odd bytes, and returns it and what follows.
func unquote(s string) (name, rest string, ok bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			return b.String(), s[i+1:], true
		case '\\':
			i++
			if i == len(s) {
				return "", "", false
			}
			if simple := strings.IndexByte(`abtnvfr"\`, s[i]); simple >= 0 {
				b.WriteByte("\a\b\t\n\v\f\r\"\\"[simple])
				continue
			}
			code, digits := 0, 0
			for digits < 3 && i+digits < len(s) && '0' <= s[i+digits] && s[i+digits] <= '7' {
				code = code<<3 | int(s[i+digits]-'0')
				digits++
			}
			if digits == 0 || code > 0xff {
				return "", "", false
			}
			b.WriteByte(byte(code))
			i += digits - 1
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}
