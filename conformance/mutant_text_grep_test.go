// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"bufio"
	"context"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/conformance"
	"github.com/ambitfs/ambit/search"
)

// plainly searches file by file, each of which lines takes apart, for a regular
// expression or a text and nothing else.
func plainly(lines func(text string) []string) func(e *conformance.TextEngine) {
	return grepsBy(func(right grepFunc) grepFunc {
		return func(ctx context.Context, fsys ambit.FileSystem, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error) {
			if q.Mode != ambit.GrepContent || q.IgnoreCase || q.Word || q.Multiline || !utf8.ValidString(q.Pattern) {
				return right(ctx, fsys, q, yield)
			}
			pattern := q.Pattern
			if q.Literal {
				pattern = regexp.QuoteMeta(pattern)
			}
			expression, err := regexp.Compile(pattern)
			if err != nil {
				return ambit.SearchSummary{}, &ambit.Error{Op: ambit.OpGrep, Path: q.Base, Reason: ambit.ErrBadPattern, Detail: err.Error()}
			}
			files, err := search.Glob(ctx, fsys, ambit.GlobQuery{Pattern: "**", Base: q.Base, Kinds: []ambit.Kind{ambit.KindRegular}})
			if err != nil {
				return ambit.SearchSummary{}, err
			}
			sum := ambit.SearchSummary{Searched: len(files.Matches)}
			for _, file := range files.Matches {
				data, _, err := ambit.ReadFile(ctx, fsys, file.Info.Path)
				if err != nil {
					return sum, err
				}
				found := false
				for i, line := range lines(string(data)) {
					var spans [][2]int
					for _, span := range expression.FindAllStringIndex(line, -1) {
						spans = append(spans, [2]int(span))
					}
					if len(spans) == 0 {
						continue
					}
					if !found {
						found = true
						sum.Matched++
					}
					if !yield(ambit.GrepMatch{Path: file.Info.Path, Line: i + 1, Column: spans[0][0] + 1, Text: line, Spans: spans}) {
						sum.Truncated = true
						return sum, nil
					}
				}
			}
			return sum, nil
		}
	})
}

// rightLines takes a text apart as it has to be.
func rightLines(text string) []string {
	var all []string
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		line, ended := strings.CutSuffix(line, "\n")
		if ended {
			line = strings.TrimSuffix(line, "\r")
		}
		all = append(all, line)
	}
	return all
}

// grepMutants find other lines.
func grepMutants() []mutant {
	each := func(change func(q ambit.GrepQuery, m *ambit.GrepMatch)) func(e *conformance.TextEngine) {
		return tellsGrep(func(q ambit.GrepQuery, found []ambit.GrepMatch, _ *ambit.SearchSummary) []ambit.GrepMatch {
			for i := range found {
				change(q, &found[i])
			}
			return found
		})
	}
	inOtherMode := func(tell func(q ambit.GrepQuery, found []ambit.GrepMatch) []ambit.GrepMatch) func(e *conformance.TextEngine) {
		return grepsBy(func(right grepFunc) grepFunc {
			return grepTold(right, func(q *ambit.GrepQuery) { q.Mode = ambit.GrepContent }, func(q ambit.GrepQuery, found []ambit.GrepMatch, _ *ambit.SearchSummary) []ambit.GrepMatch {
				if q.Mode == ambit.GrepContent {
					return found
				}
				return tell(q, found)
			})
		})
	}
	answers := func(change func(q ambit.GrepQuery, err error) error) func(e *conformance.TextEngine) {
		return grepsBy(func(right grepFunc) grepFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error) {
				sum, err := right(ctx, fsys, q, yield)
				return sum, change(q, err)
			}
		})
	}
	countsMatches := inOtherMode(func(q ambit.GrepQuery, found []ambit.GrepMatch) []ambit.GrepMatch {
		var files []ambit.GrepMatch
		for _, m := range found {
			if len(files) == 0 || files[len(files)-1].Path != m.Path {
				files = append(files, ambit.GrepMatch{Path: m.Path})
			}
			if q.Mode == ambit.GrepCount {
				files[len(files)-1].Count += len(m.Spans)
			}
		}
		return files
	})
	return []mutant{
		{name: "the end behind the last LF is a line", check: "text/grep-lines", engine: plainly(func(text string) []string { return strings.Split(text, "\n") })},
		{name: "a lone CR ends a line", check: "text/grep-lines", engine: plainly(func(text string) []string {
			return rightLines(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"))
		})},
		{name: "a CR is part of the line", check: "text/grep-crlf", engine: plainly(func(text string) []string {
			return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		})},
		{name: "a last line without LF loses its CR", check: "text/grep-crlf", engine: plainly(func(text string) []string {
			all := rightLines(text)
			if len(all) > 0 {
				all[len(all)-1] = strings.TrimSuffix(all[len(all)-1], "\r")
			}
			return all
		})},
		{name: "a text is a pattern", check: "text/grep-literal", engine: asksGrep(func(q *ambit.GrepQuery) { q.Literal = false })},
		{name: "a dash is an option", check: "text/grep-literal", engine: grepsBy(func(right grepFunc) grepFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error) {
				if strings.HasPrefix(q.Pattern, "-") {
					return ambit.SearchSummary{}, &ambit.Error{Op: ambit.OpGrep, Path: q.Base, Reason: ambit.ErrInvalid}
				}
				return right(ctx, fsys, q, yield)
			}
		})},
		{name: "only the first match of a line is told", check: "text/grep-spans", engine: each(func(_ ambit.GrepQuery, m *ambit.GrepMatch) {
			if len(m.Spans) > 1 {
				m.Spans = m.Spans[:1]
			}
		})},
		{name: "columns are in characters", check: "text/grep-spans", on: onDisk, wraps: ownSearch(each(func(_ ambit.GrepQuery, m *ambit.GrepMatch) {
			if m.Column > 0 {
				m.Column = 1 + len([]rune(m.Text[:m.Column-1]))
			}
		}))},
		{name: "words are of ASCII alone", check: "text/grep-word", engine: asksGrep(func(q *ambit.GrepQuery) {
			if q.Literal {
				q.Pattern = regexp.QuoteMeta(q.Pattern)
			}
			q.Pattern, q.Literal, q.Word = `(?:^|\W)(?:`+q.Pattern+`)(?:$|\W)`, false, false
		})},
		{name: "a word begins where a letter does", check: "text/grep-word", engine: asksGrep(func(q *ambit.GrepQuery) {
			if q.Literal {
				q.Pattern = regexp.QuoteMeta(q.Pattern)
			}
			q.Pattern, q.Literal, q.Word = `\b(?:`+q.Pattern+`)\b`, false, false
		})},
		{name: "texts keep their case", check: "text/grep-ignore-case", engine: asksGrep(func(q *ambit.GrepQuery) { q.IgnoreCase = q.IgnoreCase && !q.Literal })},
		{name: "case is of ASCII alone", check: "text/grep-ignore-case", engine: asksGrep(func(q *ambit.GrepQuery) {
			if q.IgnoreCase && !q.Literal {
				q.IgnoreCase = false
				q.Pattern = regexp.MustCompile("[A-Za-z]").ReplaceAllStringFunc(q.Pattern, func(s string) string {
					return "[" + strings.ToLower(s) + strings.ToUpper(s) + "]"
				})
			}
		})},
		{name: "only the first line of a match is told", check: "text/grep-multiline", engine: tellsGrep(func(q ambit.GrepQuery, found []ambit.GrepMatch, _ *ambit.SearchSummary) []ambit.GrepMatch {
			last := -1
			return slices.DeleteFunc(found, func(m ambit.GrepMatch) bool {
				again := q.Multiline && m.Line == last+1
				last = m.Line
				return again
			})
		})},
		{name: "a pattern over lines finds nothing", check: "text/grep-multiline", engine: answers(func(q ambit.GrepQuery, err error) error {
			if !q.Multiline && strings.Contains(q.Pattern, "n") {
				return nil
			}
			return err
		})},
		{name: "context before is context behind", check: "text/grep-context", engine: asksGrep(func(q *ambit.GrepQuery) { q.Before, q.After = q.After, q.Before })},
		{name: "context comes for each match", check: "text/grep-context", engine: tellsGrep(func(q ambit.GrepQuery, found []ambit.GrepMatch, _ *ambit.SearchSummary) []ambit.GrepMatch {
			var all []ambit.GrepMatch
			for i, m := range found {
				if m.Context && i > 0 && i+1 < len(found) && !found[i-1].Context && q.Before > 0 {
					all = append(all, m)
				}
				all = append(all, m)
			}
			return all
		})},
		{name: "a file comes for each line", check: "text/grep-modes", engine: inOtherMode(func(q ambit.GrepQuery, found []ambit.GrepMatch) []ambit.GrepMatch {
			var all []ambit.GrepMatch
			for _, m := range found {
				m = ambit.GrepMatch{Path: m.Path}
				if q.Mode == ambit.GrepCount {
					m.Count = 1
				}
				all = append(all, m)
			}
			return all
		})},
		{name: "matches are counted, not lines", check: "text/grep-modes", engine: countsMatches},
		{name: "matches are counted, not lines, by the file system's own search", check: "text/grep-modes", on: onDisk, wraps: ownSearch(countsMatches)},
		{name: "a byte order mark is text", check: "text/grep-byte-order-mark", engine: plainly(func(text string) []string { return rightLines("\ufeff" + text) })},
		{name: "UTF-16 is searched as bytes", check: "text/grep-utf-16", engine: plainly(rightLines)},
		{name: "stray bytes are mended", check: "text/grep-stray-bytes", engine: plainly(func(text string) []string { return rightLines(strings.ToValidUTF8(text, "\ufffd")) })},
		{name: "what is no text is searched", check: "text/grep-binary", engine: plainly(rightLines)},
		{name: "a NUL byte ends the file", check: "text/grep-binary", engine: plainly(func(text string) []string {
			text, _, _ = strings.Cut(text, "\x00")
			return rightLines(text)
		})},
		{name: "what is no text is left out in silence", check: "text/grep-binary", engine: tellsGrep(func(_ ambit.GrepQuery, found []ambit.GrepMatch, sum *ambit.SearchSummary) []ambit.GrepMatch {
			sum.Skipped = nil
			return found
		})},
		{name: "a long line ends the file", check: "text/grep-long-lines", engine: plainly(func(text string) []string {
			var all []string
			for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
				all = append(all, s.Text())
			}
			return all
		})},
		{name: "a line is cut within a character", check: "text/grep-clipped", engine: each(func(q ambit.GrepQuery, m *ambit.GrepMatch) {
			if m.Clipped {
				m.Text = m.Text[:len(m.Text)-1]
				m.Spans = slices.DeleteFunc(m.Spans, func(s [2]int) bool { return s[1] > len(m.Text) })
			}
		})},
		{name: "a line that is cut is not marked", check: "text/grep-clipped", engine: each(func(_ ambit.GrepQuery, m *ambit.GrepMatch) { m.Clipped = false })},
		{name: "a line is cut behind its beginning", check: "text/grep-clipped", engine: grepsBy(func(right grepFunc) grepFunc {
			return grepTold(right, func(q *ambit.GrepQuery) { q.MaxLineBytes = 0 }, func(q ambit.GrepQuery, found []ambit.GrepMatch, _ *ambit.SearchSummary) []ambit.GrepMatch {
				for i, m := range found {
					if q.MaxLineBytes == 0 || len(m.Text) <= q.MaxLineBytes {
						continue
					}
					found[i].Text, found[i].Clipped = strings.ToValidUTF8(m.Text[:q.MaxLineBytes], ""), true
					found[i].Spans = slices.DeleteFunc(m.Spans, func(s [2]int) bool { return s[1] > len(found[i].Text) })
				}
				return found
			})
		})},
		{name: "a filter is for the name alone", check: "text/grep-include", engine: asksGrep(func(q *ambit.GrepQuery) {
			q.Include = slices.Clone(q.Include)
			for i, pattern := range q.Include {
				q.Include[i] = path.Base(pattern)
			}
		})},
		{name: "a filter is for the whole path", check: "text/grep-include", engine: tellsGrep(func(q ambit.GrepQuery, found []ambit.GrepMatch, _ *ambit.SearchSummary) []ambit.GrepMatch {
			return slices.DeleteFunc(found, func(m ambit.GrepMatch) bool {
				return !slices.ContainsFunc(q.Include, func(pattern string) bool {
					return strings.Contains(pattern, "/") || ambit.Dir(m.Path) == ambit.Join("/", strings.Trim(q.Base, "/"))
				})
			})
		})},
		{name: "a folder is not excluded", check: "text/grep-exclude", engine: grepsBy(func(right grepFunc) grepFunc {
			return grepTold(right, func(q *ambit.GrepQuery) { q.Exclude = nil }, func(q ambit.GrepQuery, found []ambit.GrepMatch, _ *ambit.SearchSummary) []ambit.GrepMatch {
				return slices.DeleteFunc(found, func(m ambit.GrepMatch) bool {
					return slices.ContainsFunc(q.Exclude, func(pattern string) bool {
						ok, err := path.Match(path.Base(pattern), path.Base(m.Path))
						return ok && err == nil
					})
				})
			})
		})},
		{name: "what is included is not excluded", check: "text/grep-exclude", engine: asksGrep(func(q *ambit.GrepQuery) {
			if len(q.Include) > 0 {
				q.Exclude = nil
			}
		})},
		{name: "types that are not known are passed over", check: "text/grep-types", engine: asksGrep(func(q *ambit.GrepQuery) {
			q.Types = slices.DeleteFunc(slices.Clone(q.Types), func(name string) bool { return name == "no-such-type" })
		})},
		{name: "only the first type counts", check: "text/grep-types", engine: asksGrep(func(q *ambit.GrepQuery) {
			if len(q.Types) > 1 && q.Types[1] != "no-such-type" {
				q.Types = q.Types[:1]
			}
		})},
		{name: "a link to a file is searched", check: "text/grep-links", on: onDisk, engine: over(followsFiles)},
		{name: "a limit of lines that is met is Truncated", check: "text/grep-limit", engine: tellsGrep(func(q ambit.GrepQuery, found []ambit.GrepMatch, sum *ambit.SearchSummary) []ambit.GrepMatch {
			sum.Truncated = q.Limit > 0 && len(found) == q.Limit
			return found
		})},
		{name: "a limit of files is one of lines", check: "text/grep-limit", engine: grepsBy(func(right grepFunc) grepFunc {
			return grepTold(right, func(q *ambit.GrepQuery) { q.Limit = 0 }, func(q ambit.GrepQuery, found []ambit.GrepMatch, sum *ambit.SearchSummary) []ambit.GrepMatch {
				n := 0
				for i, m := range found {
					if n += max(m.Count, 1); q.Limit > 0 && n > q.Limit {
						sum.Truncated = true
						return found[:i]
					}
				}
				return found
			})
		})},
		{name: "a limit cuts off the context behind it", check: "text/grep-limit-context", engine: tellsGrep(func(q ambit.GrepQuery, found []ambit.GrepMatch, _ *ambit.SearchSummary) []ambit.GrepMatch {
			for q.Limit > 0 && len(found) > 0 && found[len(found)-1].Context {
				found = found[:len(found)-1]
			}
			return found
		})},
		{name: "context counts", check: "text/grep-limit-context", on: onDisk, wraps: ownSearch(grepsBy(func(right grepFunc) grepFunc {
			return grepTold(right, func(q *ambit.GrepQuery) { q.Limit = 0 }, func(q ambit.GrepQuery, found []ambit.GrepMatch, sum *ambit.SearchSummary) []ambit.GrepMatch {
				if q.Limit > 0 && len(found) > q.Limit {
					found, sum.Truncated = found[:q.Limit], true
				}
				return found
			})
		}))},
		{name: "a bad expression finds nothing", check: "text/grep-bad-pattern", engine: answers(func(_ ambit.GrepQuery, err error) error {
			if ambit.ReasonOf(err) == ambit.ErrBadPattern {
				return nil
			}
			return err
		})},
		{name: "a bad expression is seen where there is something to search", check: "text/grep-bad-pattern", engine: grepsBy(func(right grepFunc) grepFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, q ambit.GrepQuery, yield func(ambit.GrepMatch) bool) (ambit.SearchSummary, error) {
				plain := q
				plain.Pattern, plain.Literal = "x", true
				if sum, err := right(ctx, fsys, plain, func(ambit.GrepMatch) bool { return true }); err != nil || sum.Searched == 0 {
					return sum, err
				}
				return right(ctx, fsys, q, yield)
			}
		})},
		{name: "context behind is context before", check: "text/grep-any", engine: asksGrep(func(q *ambit.GrepQuery) { q.After = q.Before })},
		{name: "the file system's own search loses the line without LF", check: "text/grep-any", on: onDisk, wraps: ownSearch(plainly(func(text string) []string {
			return rightLines(text[:strings.LastIndexByte(text, '\n')+1])
		}))},
	}
}
