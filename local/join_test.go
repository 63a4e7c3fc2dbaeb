// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/splice"
	"github.com/ambitfs/ambit/local"
)

// TestContentOfSpans: what is written from spans of open files is what a reader
// of them gives, whichever way it is copied.
func TestContentOfSpans(t *testing.T) {
	text := make([]byte, 3<<20)
	random := rand.NewChaCha8([32]byte{1})
	random.Read(text)
	for name, options := range map[string]*local.Options{"descriptors": {}, "os.Root": local.Portable(&local.Options{})} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "source =\nlink -> source")
			must(t, os.WriteFile(w.host("source"), text, 0o666))
			fsys := serve(t, w.root, options)
			open := func(path string) ambit.File {
				f, err := fsys.Open(ctx, path)
				must(t, err)
				t.Cleanup(func() { f.Close() })
				return f
			}
			direct, through := open("source").(io.ReaderAt), open("link").(io.ReaderAt)
			r := rand.New(rand.NewPCG(1, 2))
			for range 20 {
				var parts []splice.Part
				for range r.IntN(7) {
					from := r.Int64N(int64(len(text)))
					n := r.Int64N(int64(len(text)) - from + 1)
					if r.IntN(2) == 0 {
						n = min(n, 100)
					}
					switch r.IntN(4) {
					case 0:
						parts = append(parts, splice.Part{Bytes: text[from : from+n]})
					case 1:
						parts = append(parts, splice.Part{Source: strings.NewReader(string(text)), Offset: from, Length: n})
					case 2:
						parts = append(parts, splice.Part{Source: through, Offset: from, Length: n})
					default:
						parts = append(parts, splice.Part{Source: direct, Offset: from, Length: n})
					}
				}
				want, err := io.ReadAll(splice.New(parts))
				must(t, err)
				r, err := fsys.Write(ctx, "target", splice.New(parts), nil)
				must(t, err)
				got, err := os.ReadFile(w.host("target"))
				must(t, err)
				if string(got) != string(want) || r.Info.Size != int64(len(want)) {
					t.Fatalf("%d bytes of other content, want %d", len(got), len(want))
				}
			}
		})
	}
}

// TestSpansRefused: a source that does not give what it should leaves everything
// as it was.
func TestSpansRefused(t *testing.T) {
	text := strings.Repeat("0123456789abcde\n", 1<<16)
	for name, test := range map[string]struct {
		disturb func(t *testing.T, w *world, f ambit.File)
		limit   int64
		want    ambit.Reason
	}{
		"not at all":   {want: ""},
		"closed":       {disturb: func(_ *testing.T, _ *world, f ambit.File) { f.Close() }, want: ambit.ErrClosed},
		"shorter":      {disturb: func(t *testing.T, w *world, _ ambit.File) { must(t, os.Truncate(w.host("source"), 500_000)) }, want: ambit.ErrIO},
		"at the limit": {limit: int64(len(text)) + 3, want: ""},
		"over a limit": {limit: int64(len(text)) + 2, want: ambit.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "target = as it was")
			must(t, os.WriteFile(w.host("source"), []byte(text), 0o666))
			fsys := serve(t, w.root, &local.Options{MaxFileSize: test.limit})
			f, err := fsys.Open(ctx, "source")
			must(t, err)
			defer f.Close()
			if test.disturb != nil {
				test.disturb(t, w, f)
			}
			content := splice.New([]splice.Part{{Bytes: []byte("new")}, {Source: f.(io.ReaderAt), Length: int64(len(text))}})
			_, err = fsys.Write(ctx, "target", content, nil)
			if ambit.ReasonOf(err) != test.want {
				t.Errorf("%v, want %q", err, test.want)
			}
			want := "new" + text
			if test.want != "" {
				want = "as it was"
			}
			got, err := os.ReadFile(w.host("target"))
			must(t, err)
			if string(got) != want {
				t.Errorf("%d bytes of other content, want %d", len(got), len(want))
			}
		})
	}
}
