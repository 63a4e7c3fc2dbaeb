// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs_test

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/aferofs"
	"github.com/spf13/afero"
)

// bursting panics when it is read for the second time.
type bursting struct{ reads int }

func (b *bursting) Read(p []byte) (int, error) {
	if b.reads++; b.reads > 1 {
		panic("burst")
	}
	return copy(p, "begun"), nil
}

// A panic of the caller's own content, or hook, leaves nothing on the disk and no lock held.
func TestPanicLeavesNothing(t *testing.T) {
	ctx := t.Context()
	var hook func()
	dir := t.TempDir()
	fsys := aferofs.New(afero.NewBasePathFs(afero.NewOsFs(), dir), &aferofs.Options{Faults: func(string, string) error {
		if hook != nil {
			hook()
		}
		return nil
	}})
	fill := func() {
		if _, err := fsys.Write(ctx, "f", strings.NewReader("1"), nil); err != nil {
			t.Fatal(err)
		}
	}
	fill()
	large := func() io.Reader { return io.MultiReader(strings.NewReader(strings.Repeat("x", 2<<20)), &bursting{}) }
	small := func() io.Reader { return &bursting{} }
	whole := func() io.Reader { return strings.NewReader("fine") }
	parents := &ambit.WriteOptions{Parents: true}
	for name, call := range map[string]func(content io.Reader){
		"Write":      func(c io.Reader) { fsys.Write(ctx, "f", c, nil) },
		"Write new":  func(c io.Reader) { fsys.Write(ctx, "a/b", c, parents) },
		"Stage":      func(c io.Reader) { fsys.Stage(ctx, "f", c, nil) },
		"Stage new":  func(c io.Reader) { fsys.Stage(ctx, "a/b", c, parents) },
		"Append":     func(c io.Reader) { fsys.Append(ctx, "f", c, nil) },
		"Append new": func(c io.Reader) { fsys.Append(ctx, "g", c, nil) },
		"Commit":     func(c io.Reader) { fsys.Commit(ctx, []ambit.Change{{Op: ambit.OpWrite, Path: "f", Content: c}}) },
		"Commit both": func(c io.Reader) {
			fsys.Commit(ctx, []ambit.Change{
				{Op: ambit.OpWrite, Path: "g", Content: strings.NewReader("fine")},
				{Op: ambit.OpWrite, Path: "f", Content: c},
			})
		},
	} {
		for which, content := range map[string]func() io.Reader{"small": small, "large": large, "hook": whole} {
			hook = nil
			if which == "hook" {
				hook = func() { panic("burst") }
			}
			burst := func() (burst bool) {
				defer func() { burst = recover() != nil }()
				call(content())
				return
			}()
			hook = nil
			if !burst {
				t.Errorf("%s, %s: no panic came out", name, which)
			}
			entries, err := os.ReadDir(dir)
			if err != nil || len(entries) != 1 || entries[0].Name() != "f" {
				t.Fatalf("%s, %s: %v, %v", name, which, entries, err)
			}
			fill() // hangs where a lock is held
		}
	}
}

// A reader that is nil behind its interface is refused before the walk, as a bad option is.
func TestNilContent(t *testing.T) {
	ctx := t.Context()
	fsys := aferofs.New(afero.NewMemMapFs(), nil)
	for name, content := range map[string]io.Reader{"nil": nil, "nil pointer": (*strings.Reader)(nil), "nil function": nilReader(nil)} {
		_, written := fsys.Write(ctx, "/missing/x", content, nil)
		_, staged := fsys.Stage(ctx, "/missing/x", content, nil)
		_, appended := fsys.Append(ctx, "/missing/x", content, nil)
		_, committed := fsys.Commit(ctx, []ambit.Change{{Op: ambit.OpWrite, Path: "/missing/x", Content: content}})
		for op, err := range map[string]error{"write": written, "stage": staged, "append": appended, "commit": committed} {
			if ambit.ReasonOf(err) != ambit.ErrInvalid {
				t.Errorf("%s of a %s: %v", op, name, err)
			}
		}
	}
}

type nilReader func()

func (n nilReader) Read([]byte) (int, error) { n(); return 0, io.EOF }
