// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package grep

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/match"
)

// benchmarkText is like source code: a line in ten has the word "return", one in
// ten thousand "needle".
func benchmarkText(size int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"func", "name", "string", "err", ":=", "range", "values", "{", "}", "if", "!=", "nil", "context.Context", "// of the"}
	var b bytes.Buffer
	for b.Len() < size {
		b.WriteString("\t\t"[:random.IntN(3)])
		for range random.IntN(12) {
			b.WriteString(words[random.IntN(len(words))])
			b.WriteByte(' ')
		}
		switch random.IntN(10_000) {
		case 0:
			b.WriteString("needle")
		default:
			if random.IntN(10) == 0 {
				b.WriteString("return nil")
			}
		}
		b.WriteByte('\n')
	}
	return b.Bytes()[:size]
}

// BenchmarkSearch has with "matcher" what the search alone costs.
func BenchmarkSearch(b *testing.B) {
	text := benchmarkText(16 << 20)
	for _, files := range []struct {
		name string
		size int
	}{{"small", 12_000}, {"large", len(text)}} {
		for _, pattern := range []struct{ name, text string }{{"frequent", "return"}, {"rare", "needle"}, {"none", "cabbage"}} {
			name := fmt.Sprintf("%s/%s/", files.name, pattern.name)
			p, err := match.Compile(pattern.text, match.Options{Literal: true})
			if err != nil {
				b.Fatal(err)
			}
			for _, mode := range []struct {
				name  string
				query Query
			}{{"content", Query{}}, {"context", Query{Before: 2, After: 2}}, {"clipped", Query{MaxLineBytes: 40}}, {"count", Query{Mode: ambit.GrepCount}}, {"files", Query{Mode: ambit.GrepFiles}}} {
				b.Run(name+mode.name, func(b *testing.B) {
					mode.query.Pattern = p
					s := New(mode.query)
					b.SetBytes(int64(len(text)))
					b.ReportAllocs()
					matches := 0
					r := bytes.NewReader(nil)
					for b.Loop() {
						for rest := text; len(rest) > 0; {
							n := min(files.size, len(rest))
							r.Reset(rest[:n])
							rest = rest[n:]
							if _, err := s.Search("f", r, int64(n), func(batch []ambit.GrepMatch) bool {
								matches += len(batch)
								return true
							}); err != nil {
								b.Fatal(err)
							}
						}
					}
					b.ReportMetric(float64(matches)/float64(b.N), "matches/op")
				})
			}
			b.Run(name+"matcher", func(b *testing.B) {
				m := p.NewMatcher()
				window := make([]byte, bufferSize)
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					for rest := text; len(rest) > 0; {
						n := copy(window, rest[:min(files.size, len(rest))])
						rest = rest[n:]
						for from := 0; from < n; {
							_, end, ok := m.Next(window[:n], from)
							if !ok {
								break
							}
							from = min(end+1, n)
						}
					}
				}
			})
		}
	}
}
