// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package glob

import "testing"

// TestDoubleStar is about ** and its slash.
func TestDoubleStar(t *testing.T) {
	for _, test := range []struct {
		pattern, path string
		want          bool
	}{
		{"**/{a,b}", "a", true},
		{"**/{a,b}", "x/y/b", true},
		{"a*{b,c}", "axb", true},
		{"**/f.java", "f.java", true},
		{"test/**/*", "test/file", true},
		{"test/**/*", "test/a/b", true},
		{"a/**/b", "a/b", true},
		{"abc/**", "abcd", false},
		{"abc/**", "abc/d/h.txt", true},
		{"T/**/somefile.txt", "T/awesomefile.txt", false},
		{"a/**b", "ab", false},
		{"a/**b", "a/xb", true},
		{"a/**b", "a/y/xb", true},
		{"src/**", "src", false},
		{"src/**.js", "src/a.js", true},
		{"src/**.js", "src/x/y/a.js", true},
	} {
		p, err := Compile(test.pattern)
		if err != nil {
			t.Errorf("%s: %v", test.pattern, err)
			continue
		}
		if got := p.Match(test.path, false); got != test.want {
			t.Errorf("%s on %s: %v, want %v", test.pattern, test.path, got, test.want)
		}
	}
}
