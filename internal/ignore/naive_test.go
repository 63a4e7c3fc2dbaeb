// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ignore

import (
	"strings"
)

// naiveRule is a line of an ignore file, matched by plain recursion over the
// whole path: slow, and close to the words of the manual.
type naiveRule struct {
	negated, dirOnly, anchored bool
	pattern                    string
	line                       int // from 0
}

func naiveParse(content string) []naiveRule {
	content = strings.TrimPrefix(content, "\xef\xbb\xbf")
	var rules []naiveRule
	for i, line := range strings.Split(content, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		if line[len(line)-1] == '\r' {
			line = line[:len(line)-1]
		}
		if end := strings.IndexByte(line, 0); end >= 0 {
			line = line[:end]
		}
		for end := 0; ; {
			if end >= len(line) {
				break
			}
			if strings.Trim(line[end:], " ") == "" {
				line = line[:end]
				break
			}
			if line[end] == '\\' {
				end++
			}
			end++
		}
		r := naiveRule{line: i}
		if strings.HasPrefix(line, "!") {
			r.negated = true
			line = line[1:]
		}
		if strings.HasSuffix(line, "/") {
			r.dirOnly = true
			line = line[:len(line)-1]
		}
		r.anchored = strings.Contains(line, "/")
		r.pattern = strings.TrimPrefix(line, "/")
		if line != "" {
			rules = append(rules, r)
		}
	}
	return rules
}

// matches reports whether the rule matches a path relative to its file.
func (r naiveRule) matches(path string, dir bool) bool {
	if r.dirOnly && !dir {
		return false
	}
	if !r.anchored {
		return naiveWildmatch(r.pattern, path[strings.LastIndexByte(path, '/')+1:])
	}
	literal := strings.IndexAny(r.pattern, `*?[\`)
	if literal < 0 {
		return r.pattern == path
	}
	return strings.HasPrefix(path, r.pattern[:literal]) && naiveWildmatch(r.pattern[literal:], path[literal:])
}

// naiveVerdict returns 1 if the last rule that matches ignores the path, -1 if
// it is negated, and 0 if none matches.
func naiveVerdict(rules []naiveRule, path string, dir bool) int {
	r := naiveLast(rules, path, dir)
	switch {
	case r == nil:
		return 0
	case r.negated:
		return -1
	}
	return 1
}

// naiveLast returns the last rule that matches the path, or nil.
func naiveLast(rules []naiveRule, path string, dir bool) *naiveRule {
	for i := len(rules) - 1; i >= 0; i-- {
		if rules[i].matches(path, dir) {
			return &rules[i]
		}
	}
	return nil
}

func naiveWildmatch(pattern, text string) bool {
	known := make(map[[2]int]bool)
	var match func(i, j int) bool
	matchStars := func(i, j int) bool {
		after := i
		for after < len(pattern) && pattern[after] == '*' {
			after++
		}
		rest := pattern[after:]
		folders := after-i > 1 && (i == 0 || pattern[i-1] == '/') &&
			(rest == "" || rest[0] == '/' || strings.HasPrefix(rest, "\\/"))
		if folders && rest != "" && rest[0] == '/' && match(after+1, j) {
			return true
		}
		for ; !match(after, j); j++ {
			if j == len(text) || text[j] == '/' && !folders {
				return false
			}
		}
		return true
	}
	match = func(i, j int) bool {
		key := [2]int{i, j}
		if answer, ok := known[key]; ok {
			return answer
		}
		var answer bool
		switch {
		case i == len(pattern):
			answer = j == len(text)
		case pattern[i] == '*':
			answer = matchStars(i, j)
		case j == len(text):
		case pattern[i] == '?':
			answer = text[j] != '/' && match(i+1, j+1)
		case pattern[i] == '[':
			in, next := naiveClass(pattern, i+1, text[j])
			answer = in && text[j] != '/' && match(next, j+1)
		case pattern[i] == '\\':
			answer = i+1 < len(pattern) && pattern[i+1] == text[j] && match(i+2, j+1)
		default:
			answer = pattern[i] == text[j] && match(i+1, j+1)
		}
		known[key] = answer
		return answer
	}
	return match(0, 0)
}

// naiveClass reports whether the class whose content begins at i holds c, and
// where the class ends. What is no class holds nothing.
func naiveClass(pattern string, i int, c byte) (in bool, next int) {
	at := func(i int) byte {
		if i < len(pattern) {
			return pattern[i]
		}
		return 0
	}
	negated := at(i) == '!' || at(i) == '^'
	if negated {
		i++
	}
	var low byte
	for start := i; i == start || at(i) != ']'; i++ {
		switch {
		case at(i) == 0:
			return false, 0
		case at(i) == '-' && low != 0 && at(i+1) != 0 && at(i+1) != ']':
			i++
			if at(i) == '\\' {
				i++
			}
			if at(i) == 0 {
				return false, 0
			}
			in = in || low <= c && c <= at(i)
			low = 0
		case at(i) == '[' && at(i+1) == ':':
			end := strings.IndexByte(pattern[i+2:], ']')
			if end < 0 {
				return false, 0
			}
			name := pattern[i+2 : i+2+end]
			if !strings.HasSuffix(name, ":") {
				in = in || c == '['
				low = '['
				continue
			}
			members, known := naiveClasses[strings.TrimSuffix(name, ":")]
			if !known {
				return false, 0
			}
			in = in || members(c)
			i += 2 + end
			low = 0
		default:
			if at(i) == '\\' {
				i++
			}
			if at(i) == 0 {
				return false, 0
			}
			in = in || c == at(i)
			low = at(i)
		}
	}
	return in != negated, i + 1
}

var naiveClasses = map[string]func(c byte) bool{
	"lower":  func(c byte) bool { return 'a' <= c && c <= 'z' },
	"upper":  func(c byte) bool { return 'A' <= c && c <= 'Z' },
	"alpha":  func(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' },
	"digit":  func(c byte) bool { return '0' <= c && c <= '9' },
	"xdigit": func(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' },
	"alnum":  func(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' },
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"space":  func(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' },
	"cntrl":  func(c byte) bool { return c < ' ' || c == 0x7f },
	"print":  func(c byte) bool { return ' ' <= c && c < 0x7f },
	"graph":  func(c byte) bool { return ' ' < c && c < 0x7f },
	"punct": func(c byte) bool {
		return ' ' < c && c < 0x7f && !('0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z')
	},
}
