// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package edit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/edit"
	"github.com/ambitfs/ambit/local"
)

// tenMegabytes is a text of lines, of which 200 are named by the ops.
func tenMegabytes() (string, []edit.Op) {
	var b strings.Builder
	var ops []edit.Op
	for i := 0; b.Len() < 10_000_000; i++ {
		line := fmt.Sprintf("func handler%06d(w Writer, r *Request) error { return serve(w, r, %d) }\n", i, i*7)
		b.WriteString(line)
		if i%640 == 5 && len(ops) < 200 {
			ops = append(ops, edit.Replace{Old: fmt.Sprintf("func handler%06d(w Writer", i), New: fmt.Sprintf("func Handler%06d(w Writer", i)})
		}
	}
	return b.String(), ops
}

func BenchmarkApply(b *testing.B) {
	text, ops := tenMegabytes()
	content := []byte(text)
	for _, n := range []int{1, 200} {
		b.Run(fmt.Sprintf("%d edits", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := edit.Apply(content, ops[:n], nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFile(b *testing.B) {
	text, ops := tenMegabytes()
	dir := b.TempDir()
	fsys, err := local.New(dir, &local.Options{Durability: local.NotDurable})
	if err != nil {
		b.Fatal(err)
	}
	defer fsys.Close()
	back := make([]edit.Op, len(ops))
	for i, op := range ops {
		op := op.(edit.Replace)
		back[i] = edit.Replace{Old: op.New, New: op.Old}
	}
	for _, n := range []int{1, 200} {
		b.Run(fmt.Sprintf("%d edits", n), func(b *testing.B) {
			if _, err := ambit.WriteFile(b.Context(), fsys, "f", []byte(text), nil); err != nil {
				b.Fatal(err)
			}
			use, next := ops, back
			for b.Loop() {
				if _, err := edit.File(b.Context(), fsys, "f", use[:n], nil); err != nil {
					b.Fatal(err)
				}
				use, next = next, use
			}
		})
	}
}
