// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ignore

import (
	"math/rand/v2"
	"runtime"
	"strings"
)

// A grammar makes names and ignore files at random, such that many rules match
// and most come in each other's way.
type grammar struct{ *rand.Rand }

func newGrammar(seed uint64) grammar { return grammar{rand.New(rand.NewPCG(seed, 0))} }

func pick[T any](g grammar, from ...T) T { return from[g.IntN(len(from))] }

// chance is true once in n times.
func (g grammar) chance(n int) bool { return g.IntN(n) == 0 }

func (g grammar) name() string {
	if g.chance(6) {
		odd := []string{"a b", "é", "ab-c", "#a", "!a", "[a]", "a]", "{a,b}", "^a", "-a", ".a", "..a", "A", "a.b.o"}
		if runtime.GOOS != "windows" {
			odd = append(odd, "a ", " ", "  a", "a  ", "a\nb", "\n", "a\r", "\r", "a\t", `\a`, `a\`, `\`, "*", "**", "?", "a*", "a?b", `"a"`, ":a", ":(glob)a")
		}
		if runtime.GOOS == "linux" {
			odd = append(odd, "a\xff", "\xff", "\x80b", "\x01", "\x7f")
		}
		return pick(g, odd...)
	}
	return pick(g, "a", "b", "c", "ab", "ba", "aab", "aba", "abc", "foo", "bar", "a.o", "b.o", "foo.o", "a1", "7", "a.b", "x~")
}

// path returns a path of up to four names.
func (g grammar) path() string {
	names := []string{g.name()}
	for len(names) < 4 && !g.chance(3) {
		names = append(names, g.name())
	}
	return strings.Join(names, "/")
}

// file returns the content of an ignore file; near are paths that its rules
// are to have to do with.
func (g grammar) file(near []string, most int) string {
	var b strings.Builder
	if g.chance(12) {
		b.WriteString("\xef\xbb\xbf")
	}
	for n := 1 + g.IntN(most); n > 0; n-- {
		b.WriteString(g.line(near))
		if n > 1 || !g.chance(4) {
			b.WriteString(pick(g, "\n", "\n", "\n", "\n", "\n", "\r\n", "\r\n", "\r\r\n", "\n\n", "\r\n\r\n", " \r\n", "\r \n"))
		} else if g.chance(3) {
			b.WriteString("\r")
		}
	}
	return b.String()
}

func (g grammar) line(near []string) string {
	if g.chance(40) {
		return pick(g, "", "#", "# a", "/", "//", "!", "!/", " ", "   ", `\`, `\ `, "!!a", "**", "*", "/**", "/*", "**/", "/**/", "*/", "!*/", "!*", "***", "***/a", "[", "[]", "[!]", "!\\", "\x00", "\xef\xbb\xbfa")
	}
	line := g.pattern(near)
	if g.chance(5) {
		line = "/" + line
	}
	if g.chance(4) {
		line += "/"
	}
	switch {
	case g.chance(4):
		line = "!" + line
	case g.chance(30):
		line = pick(g, "#", `\#`, `\!`, "!!", `!\!`, " ", `\`, "//", "\t") + line
	}
	if g.chance(10) {
		line += pick(g, " ", " ", " ", "  ", `\ `, `\  `, `\\ `, `\\\ `, "\t", " \t", "\t ", "\r", `\`, "/", `\/`, "\x00b", "\x00/", " \x00", "**", "*")
	}
	return line
}

func (g grammar) pattern(near []string) string {
	path := g.path()
	if len(near) > 0 && !g.chance(4) {
		path = pick(g, near...)
	}
	names := strings.Split(path, "/")
	switch g.IntN(3) {
	case 0:
		names = names[g.IntN(len(names)):]
	case 1:
		from := g.IntN(len(names))
		names = names[from : from+1]
	}
	plain := g.chance(3)
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteString(pick(g, "/", "/", "/", "/", "/", "/", "/", "/**/", "/**/", "/*/", "/**/**/", "**/", "/**", `\/`, `/**\/`, `**\/`, "//", "/***/", "*", "**", "[/]", "?"))
		} else if len(names) > 1 && g.chance(6) {
			b.WriteString(pick(g, "**/", "**/", "**/**/", "*/", `**\/`, "/**/", "**", "***/"))
		}
		if plain {
			b.WriteString(name)
		} else {
			b.WriteString(g.segment(name))
		}
	}
	if g.chance(10) {
		b.WriteString(pick(g, "/**", "/*", "/**/*", "/**/**", "**", "**/**", "/**/", "*", "/***", `/**\/*`, `**\/*`, "**/*"))
	}
	return b.String()
}

// segment returns a pattern that often matches name.
func (g grammar) segment(name string) string {
	switch g.IntN(12) {
	case 0:
		return pick(g, "*", "*", "**", "?*", "*?", "?", "??", "*.o", "*.?", "[!a]*", "*[!o]", "*a*", "*a*b", "*[ab]*", "***", "*a?", "a**b", "?**", "*.*")
	case 1:
		return name
	case 2:
		return name + pick(g, "*", "**", "?", `\`, "[", "[]", "[a", "[!]", "***")
	case 3:
		return pick(g, "*", "**", "?", "[!b]", "[^b]", `\`, "[", "*[") + name
	}
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := string(name[i])
		switch g.IntN(9) {
		case 0:
			b.WriteString(pick(g, "?", "*", "**", "*?", "*"+c))
			i += g.IntN(3)
		case 1:
			b.WriteString(g.class(c))
		case 2:
			b.WriteString(`\` + c)
		default:
			b.WriteString(c)
		}
	}
	return b.String()
}

// class returns a class that often holds c.
func (g grammar) class(c string) string {
	var b strings.Builder
	b.WriteString(pick(g, "[", "[", "[", "[", "[!", "[^", "[]", "[!]", "[^]", "[[", "[-", "[!-", "[!!", "[^^"))
	for n := 1 + g.IntN(3); n > 0; n-- {
		b.WriteString(pick(
			g, c, c, c, "a", "b", "a-c", "a-"+c, c+"-z", "a-", "-", "--a", "z-a", "!", "^", `\`+c, `\]`, `\\`, `\-`, `a-\c`, `\a-c`, "a-b-c", "/", `\/`, "[", "]", "[:", ":",
			"[:alpha:]", "[:lower:]", "[:digit:]", "[:alnum:]", "[:punct:]", "[:space:]", "[:upper:]", "[:xdigit:]", "[:graph:]", "[:print:]", "[:cntrl:]", "[:blank:]",
			"[:alpha:]-z", "[:nope:]", "[:alpha", "[:alpha:", "[:alpha]", "[::]", "[:]", "[:ALPHA:]", "*", "?", "\xff", "\x80-\xff", "é",
		))
	}
	if !g.chance(15) {
		b.WriteString("]")
	}
	return b.String()
}
