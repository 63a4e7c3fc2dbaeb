// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package glob

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// patience is far more than what the slowest of these takes, and far less than exponential or quadratic work would.
const patience = 20 * time.Second

// TestHostilePatterns compiles patterns that could explode: each is refused or compiled soon, and so are its rests, and its
// states answer soon.
func TestHostilePatterns(t *testing.T) {
	long := strings.Repeat("a", maxName)
	deep := strings.Repeat("a/", 2000) + "a"
	numbers := func(n int) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = fmt.Sprint("name", i)
		}
		return strings.Join(parts, ",")
	}
	for _, test := range []struct {
		name, pattern, path string
		refused             string // part of Detail; "" when it compiles
		want                bool
	}{
		{name: "stars", pattern: strings.Repeat("*a", 127) + "*b", path: long},
		{name: "stars that match", pattern: strings.Repeat("*a", 127) + "*", path: long, want: true},
		{name: "stars and classes", pattern: strings.Repeat("*[!b]", 120) + "*[b]", path: long},
		{name: "stars and wide classes", pattern: strings.Repeat("*[a\u0400-\U00010000]", 120) + "*[b]", path: long},
		{name: "stars and question marks", pattern: strings.Repeat("*?", 127) + "*b?", path: long},
		{name: "double stars", pattern: strings.Repeat("**/a/", 300) + "b", path: deep},
		{name: "double stars that match", pattern: strings.Repeat("**/a/", 300) + "**", path: deep, want: true},
		{name: "nothing but double stars", pattern: strings.Repeat("**/", 4000) + "b", path: deep},
		{name: "double stars within a segment", pattern: strings.Repeat("a**", 8) + "b", path: deep},
		{name: "many double stars within a segment", pattern: strings.Repeat("a**", 9) + "b", refused: "in one segment"},
		{name: "alternatives within a segment", pattern: strings.Repeat("{a,b}", 13) + "c", path: long},
		{name: "too many alternatives", pattern: strings.Repeat("{a,b}", 40), refused: "too many"},
		{name: "empty alternatives", pattern: strings.Repeat("{,}", 40) + "a", refused: "too many"},
		{name: "nested alternatives", pattern: strings.Repeat("{a,{b,", 12) + "c" + strings.Repeat("}}", 12), path: "b", want: true},
		{name: "alternatives beside slashes", pattern: strings.Repeat("{a,b}/", 1000) + "c", path: deep},
		{name: "optional folders", pattern: strings.Repeat("{a/,}", 90) + "c", path: deep},
		{name: "too many optional folders", pattern: strings.Repeat("{a/,}", 1000) + "c", refused: "too many"},
		{name: "empty alternatives and a long literal", pattern: strings.Repeat("{,}", 13) + strings.Repeat("/a", 1000) + strings.Repeat("b", 200_000), refused: "255"},
		{name: "literals", pattern: "{" + numbers(4000) + "}", path: "name3999", want: true},
		{name: "literals twice", pattern: "{" + numbers(300) + "}/{" + numbers(300) + "}", path: "name7/name299", want: true},
		{name: "too many literals", pattern: "{" + numbers(20_000) + "}", refused: "too many"},
		{name: "braces", pattern: strings.Repeat("{", maxDepth) + "a" + strings.Repeat("}", maxDepth), path: "a", want: true},
		{name: "too many braces", pattern: strings.Repeat("{", 1_000_000), refused: "nest deeper"},
		{name: "many braces that slashes end", pattern: strings.Repeat("{", 9000) + strings.Repeat("a/,", 9000) + "a" + strings.Repeat("}", 9000), refused: "too many"},
		{name: "brackets", pattern: strings.Repeat("[", 1_000_000), refused: "not closed"},
		{name: "classes", pattern: "{" + strings.Repeat("x[a-z0-9]y,", 3000) + "z}", path: "x7y", want: true},
		{name: "slashes", pattern: strings.Repeat("/", 1_000_000) + "a", path: "a", want: true},
		{name: "many names", pattern: strings.Repeat("a/", 100_000) + "a", refused: "too many"},
		{name: "dots", pattern: strings.Repeat("./", 5000) + "a", path: "a", want: true},
		{name: "a long segment", pattern: strings.Repeat("?", maxName+1), refused: "255"},
		{name: "a long name", pattern: "*a*b*c*d", path: strings.Repeat("abc", 100_000)},
	} {
		t.Run(test.name, func(t *testing.T) {
			if testing.Short() && len(test.pattern) > 100_000 {
				t.Skip("a pattern this long takes too long for a short run")
			}
			begin := time.Now()
			for _, filter := range []bool{false, true} {
				p, err := compileAs(test.pattern, filter)
				if test.refused != "" {
					wantBadPattern(t, err, test.refused)
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := p.Match(test.path, false); got != test.want {
					t.Errorf("matches: %v", got)
				}
				s := p.Start(false)
				names := strings.SplitN(test.path, "/", 200)
				for i, name := range names {
					s.Names()
					if i%50 == 1 {
						rest, err := Compile(s.Rest())
						if s.Dead() {
							break
						}
						if err != nil {
							t.Fatalf("the rest of %d bytes before %d: %v", len(s.Rest()), i, err)
						}
						below := strings.Join(names[i:], "/")
						if got := walk(rest.Start(false), below, false); got != test.want {
							t.Errorf("the rest before %d matches: %v", i, got)
						}
					}
					s = s.Enter(name)
				}
			}
			if took := time.Since(begin); took > patience {
				t.Errorf("took %v", took)
			}
		})
	}
}
