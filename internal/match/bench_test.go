// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// corpus is 32 MiB of Go's own source, or what the file that AMBIT_CORPUS names holds.
var corpus = sync.OnceValue(func() []byte {
	if name := os.Getenv("AMBIT_CORPUS"); name != "" {
		text, err := os.ReadFile(name)
		if err != nil {
			panic(err)
		}
		return text
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		panic(err)
	}
	var text []byte
	_ = filepath.WalkDir(filepath.Join(string(bytes.TrimSpace(root)), "src"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || len(text) > 32<<20 {
			return err
		}
		if strings.HasSuffix(path, ".go") {
			content, _ := os.ReadFile(path)
			text = append(text, content...)
		}
		return nil
	})
	return text
})

var benchmarks = []struct {
	name, pattern string
	o             Options
}{
	{"RareLiteral", "DeadlineExceeded", Options{Literal: true}},
	{"FrequentLiteral", "err", Options{Literal: true}},
	{"WordLiteral", "err", Options{Literal: true, Word: true}},
	{"WithLiteral", `func \w+Context\(`, Options{}},
	{"WithoutLiteral", `\b[a-z]+[0-9]{4,}\b`, Options{}},
	{"FoldedLiteral", "(?i)deadlineexceeded", Options{}},
	{"FoldedFrequent", "(?i)err", Options{}},
	{"Alternatives", "foo|bar|baz|quux|WaitGroup|Mutex|atomic|runtime|syscall|context", Options{}},
	{"FewAlternatives", "WaitGroup|RWMutex|Deadline", Options{}},
	{"Capitals", `[A-Z]{5,}`, Options{}},
	{"Everything", `.*`, Options{}},
	{"Greek", `\p{Greek}`, Options{}},
	{"Anchored", `^func .*\) error \{$`, Options{}},
	{"WordRegexp", `[a-z]+[0-9]{4,}`, Options{Word: true}},
	{"Class", `[a-f]+[0-9]x[a-f]+`, Options{}},
}

const benchmarkChunk = 256 << 10

// chunks calls each with the corpus in chunks of whole lines.
func chunks(each func(text []byte)) {
	for text := corpus(); len(text) > 0; {
		n := min(benchmarkChunk, len(text))
		n = bytes.LastIndexByte(text[:n], '\n') + 1
		if n == 0 {
			n = len(text)
		}
		each(text[:n])
		text = text[n:]
	}
}

func BenchmarkNext(b *testing.B) {
	for _, bench := range benchmarks {
		b.Run(bench.name, func(b *testing.B) { benchmark(b, bench.pattern, bench.o, false) })
	}
}

func BenchmarkNextAndSpans(b *testing.B) {
	for _, bench := range benchmarks {
		b.Run(bench.name, func(b *testing.B) { benchmark(b, bench.pattern, bench.o, true) })
	}
}

func benchmark(b *testing.B, pattern string, o Options, withSpans bool) {
	p, err := Compile(pattern, o)
	if err != nil {
		b.Fatal(err)
	}
	m := p.NewMatcher()
	var spans [][2]int
	b.SetBytes(int64(len(corpus())))
	lines := 0
	for b.Loop() {
		lines = 0
		chunks(func(text []byte) {
			for from := 0; ; {
				start, end, ok := m.Next(text, from)
				if !ok {
					return
				}
				if withSpans {
					spans = m.Spans(text[start:end], spans[:0])
				}
				lines++
				from = end + 1
				if end < len(text) && text[end] == '\r' {
					from++
				}
			}
		})
	}
	b.ReportMetric(float64(lines), "lines")
}

func BenchmarkCompile(b *testing.B) {
	for _, bench := range benchmarks {
		b.Run(bench.name, func(b *testing.B) {
			for b.Loop() {
				p, err := Compile(bench.pattern, bench.o)
				if err != nil {
					b.Fatal(err)
				}
				p.NewMatcher().Next([]byte("a line\n"), 0)
			}
		})
	}
}

func BenchmarkRegexp(b *testing.B) {
	for _, bench := range benchmarks {
		b.Run(bench.name, func(b *testing.B) {
			exp := regexp.MustCompile(bench.pattern)
			b.SetBytes(int64(len(corpus())))
			for b.Loop() {
				chunks(func(text []byte) {
					for len(text) > 0 {
						line, rest, _ := bytes.Cut(text, []byte("\n"))
						exp.Match(line)
						text = rest
					}
				})
			}
		})
	}
}
