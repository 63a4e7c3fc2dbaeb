// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"io"
	"maps"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/conformance"
	"github.com/ambitfs/ambit/local"
	"github.com/ambitfs/ambit/memory"
)

// everyChange is what a read-only wrapper loses.
var everyChange = ambit.Capabilities{
	Swap: ambit.SwapChecked, Write: true, Remove: true, Append: true, Rename: true, Mkdir: true, Stage: true, Commit: true,
	AtomicReplace: true, AtomicRemove: true, AtomicCommit: true, Durable: true, KeepsMode: true,
}

func identity(fsys ambit.FileSystem) ambit.FileSystem {
	return ambit.MapPaths(fsys, ambit.PathMap{
		In:  func(path string) (string, error) { return path, nil },
		Out: func(canonical string) (string, bool) { return canonical, true },
	})
}

func TestCheckForwarding(t *testing.T) {
	onDisk := func() ambit.FileSystem {
		fsys, err := local.New(t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { fsys.Close() })
		if _, err := ambit.WriteFile(t.Context(), fsys, "a/b.txt", []byte("text\n"), &ambit.WriteOptions{Parents: true}); err != nil {
			t.Fatal(err)
		}
		return fsys
	}
	for _, c := range []struct {
		name  string
		base  ambit.FileSystem
		wrap  func(base ambit.FileSystem) ambit.FileSystem
		lost  ambit.Capabilities
		grade conformance.Grade
	}{
		{"itself", household(), func(base ambit.FileSystem) ambit.FileSystem { return base }, ambit.Capabilities{}, conformance.Full},
		{"forwarding all", household(), func(base ambit.FileSystem) ambit.FileSystem {
			keep := base.Capabilities()
			keep.Sub, keep.Guard = false, false
			return ambit.Forward{Base: base, Keep: keep}
		}, ambit.Capabilities{Sub: true, Guard: true}, conformance.Full},
		{"paths that stay", household(), identity, ambit.Capabilities{}, conformance.Full},
		{"paths that stay, on a disk", onDisk(), identity, ambit.Capabilities{}, conformance.Full},
		{"read-only", household(), ambit.ReadOnly, everyChange, conformance.Full},
		{"read-only, on a disk", onDisk(), ambit.ReadOnly, everyChange, conformance.Full},
		{"over a read-only one", ambit.ReadOnly(household()), identity, ambit.Capabilities{}, conformance.Partial},
		{"guarded by a rule that refuses nothing", household(), func(base ambit.FileSystem) ambit.FileSystem {
			return base.(ambit.Guarder).Guard(func(context.Context, ambit.Op, string) error { return nil })
		}, ambit.Capabilities{}, conformance.Full},
		{"without some", household(), func(base ambit.FileSystem) ambit.FileSystem {
			keep := base.Capabilities()
			keep.Sub, keep.Guard, keep.Append, keep.Commit, keep.Stage = false, false, false, false, false
			return ambit.Forward{Base: base, Keep: keep}
		}, ambit.Capabilities{Sub: true, Guard: true, Append: true, Commit: true, Stage: true}, conformance.Full},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := everything(t, c.base)
			r := conformance.CheckForwarding(c.base, c.wrap(c.base), c.lost)
			if r.Grade() != c.grade {
				t.Errorf("grade %s, want %s: %s", r.Grade(), c.grade, r)
			}
			if after := everything(t, c.base); !maps.Equal(before, after) {
				t.Errorf("base is not as it was: %v, was %v", after, before)
			}
		})
	}
}

// wrapper is a wrapper with one fault.
type wrapper struct {
	*memory.FileSystem
	caps   func(c *ambit.Capabilities)
	open   func(ctx context.Context, path string) (ambit.File, error)
	list   func(ctx context.Context, dir string, o *ambit.ListOptions) (*ambit.Listing, error)
	write  func(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error)
	rename func(ctx context.Context, from, to string, o *ambit.RenameOptions) (ambit.FileInfo, error)
	stage  func(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.Staged, error)
}

func (w *wrapper) Capabilities() ambit.Capabilities {
	c := w.FileSystem.Capabilities()
	if w.caps != nil {
		w.caps(&c)
	}
	return c
}

func (w *wrapper) Open(ctx context.Context, path string) (ambit.File, error) {
	if w.open != nil {
		return w.open(ctx, path)
	}
	return w.FileSystem.Open(ctx, path)
}

func (w *wrapper) List(ctx context.Context, dir string, o *ambit.ListOptions) (*ambit.Listing, error) {
	if w.list != nil {
		return w.list(ctx, dir, o)
	}
	return w.FileSystem.List(ctx, dir, o)
}

func (w *wrapper) Write(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error) {
	if w.write != nil {
		return w.write(ctx, path, content, o)
	}
	return w.FileSystem.Write(ctx, path, content, o)
}

func (w *wrapper) Rename(ctx context.Context, from, to string, o *ambit.RenameOptions) (ambit.FileInfo, error) {
	if w.rename != nil {
		return w.rename(ctx, from, to, o)
	}
	return w.FileSystem.Rename(ctx, from, to, o)
}

func (w *wrapper) Stage(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.Staged, error) {
	if w.stage != nil {
		return w.stage(ctx, path, content, o)
	}
	return w.FileSystem.Stage(ctx, path, content, o)
}

type forgetfulFile struct{ ambit.File }

func (forgetfulFile) Verify(context.Context) error { return nil }

type forgetfulStaged struct{ ambit.Staged }

func (s forgetfulStaged) Publish(context.Context) (ambit.WriteResult, error) {
	return ambit.WriteResult{Info: s.Info()}, nil
}

func TestCheckForwardingFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		wrap   func(base *memory.FileSystem) ambit.FileSystem
		lost   ambit.Capabilities
		failed string
	}{
		{"names Sub and does not override it", func(base *memory.FileSystem) ambit.FileSystem {
			return ambit.Forward{Base: base, Keep: base.Capabilities()}
		}, ambit.Capabilities{}, "forwarding/sub"},
		{"claims what is lost", func(base *memory.FileSystem) ambit.FileSystem { return base }, ambit.Capabilities{Append: true}, "forwarding/claims"},
		{"loses more than it says", func(base *memory.FileSystem) ambit.FileSystem {
			return &wrapper{FileSystem: base, caps: func(c *ambit.Capabilities) { c.AtomicReplace = false }}
		}, ambit.Capabilities{}, "forwarding/claims"},
		{"claims a weaker swap", func(base *memory.FileSystem) ambit.FileSystem {
			return &wrapper{FileSystem: base, caps: func(c *ambit.Capabilities) { c.Swap = ambit.SwapChecked }}
		}, ambit.Capabilities{}, "forwarding/claims"},
		{"lets Append through", func(base *memory.FileSystem) ambit.FileSystem {
			return &wrapper{FileSystem: base, caps: func(c *ambit.Capabilities) { c.Append = false }}
		}, ambit.Capabilities{Append: true}, "forwarding/closed"},
		{"lets Commit through", func(base *memory.FileSystem) ambit.FileSystem {
			return &wrapper{FileSystem: base, caps: func(c *ambit.Capabilities) { c.Commit = false }}
		}, ambit.Capabilities{Commit: true}, "forwarding/closed"},
		{"lets Mkdir through", func(base *memory.FileSystem) ambit.FileSystem {
			return &wrapper{FileSystem: base, caps: func(c *ambit.Capabilities) { c.Mkdir = false }}
		}, ambit.Capabilities{Mkdir: true}, "forwarding/closed"},
		{"hands out base by Guard", func(base *memory.FileSystem) ambit.FileSystem {
			return &wrapper{FileSystem: base, caps: func(c *ambit.Capabilities) { c.Guard = false }}
		}, ambit.Capabilities{Guard: true}, "forwarding/closed"},
		{"hands out base by Sub", func(base *memory.FileSystem) ambit.FileSystem {
			return &wrapper{FileSystem: base, caps: func(c *ambit.Capabilities) { c.Durable, c.Streams = false, false }}
		}, ambit.Capabilities{Durable: true, Streams: true}, "forwarding/derived"},
		{"shows versions that are lost", func(base *memory.FileSystem) ambit.FileSystem {
			return &wrapper{FileSystem: base, caps: func(c *ambit.Capabilities) { c.Versions = false }}
		}, ambit.Capabilities{Versions: true}, "forwarding/facts"},
		{"keeps preconditions that are lost", func(base *memory.FileSystem) ambit.FileSystem {
			return &wrapper{FileSystem: base, caps: func(c *ambit.Capabilities) { c.Swap = ambit.SwapNone }}
		}, ambit.Capabilities{Swap: ambit.SwapChecked}, "forwarding/facts"},
		{"drops the options of Write", func(base *memory.FileSystem) ambit.FileSystem {
			return &wrapper{FileSystem: base, write: func(ctx context.Context, path string, content io.Reader, _ *ambit.WriteOptions) (ambit.WriteResult, error) {
				return base.Write(ctx, path, content, nil)
			}}
		}, ambit.Capabilities{}, "forwarding/write-if-absent"},
		{"cuts contents off", func(base *memory.FileSystem) ambit.FileSystem {
			return &wrapper{FileSystem: base, write: func(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error) {
				return base.Write(ctx, path, io.LimitReader(content, 10_000), o)
			}}
		}, ambit.Capabilities{}, "forwarding/contents"},
		{"forgets why a content failed", func(base *memory.FileSystem) ambit.FileSystem {
			return &wrapper{FileSystem: base, write: func(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error) {
				r, err := base.Write(ctx, path, content, o)
				if ambit.ReasonOf(err) == ambit.ErrIO {
					err = &ambit.Error{Op: ambit.OpWrite, Path: path, Reason: ambit.ErrIO}
				}
				return r, err
			}}
		}, ambit.Capabilities{}, "forwarding/contents"},
		{"tells another path", func(base *memory.FileSystem) ambit.FileSystem {
			return &wrapper{FileSystem: base, open: func(ctx context.Context, path string) (ambit.File, error) {
				f, err := base.Open(ctx, path)
				return f, ambit.Wrap(ambit.OpOpen, strings.Trim(path, "/."), err)
			}}
		}, ambit.Capabilities{}, "forwarding/open"},
		{"drops facts of errors", func(base *memory.FileSystem) ambit.FileSystem {
			return &wrapper{FileSystem: base, open: func(ctx context.Context, path string) (ambit.File, error) {
				f, err := base.Open(ctx, path)
				if err != nil {
					err = &ambit.Error{Op: ambit.OpOpen, Path: path, Reason: ambit.ReasonOf(err)}
				}
				return f, err
			}}
		}, ambit.Capabilities{}, "forwarding/open"},
		{"verifies nothing", func(base *memory.FileSystem) ambit.FileSystem {
			return &wrapper{FileSystem: base, open: func(ctx context.Context, path string) (ambit.File, error) {
				f, err := base.Open(ctx, path)
				if err != nil {
					return nil, err
				}
				return forgetfulFile{f}, nil
			}}
		}, ambit.Capabilities{ReadAt: true}, "forwarding/file"},
		{"drops the options of List", func(base *memory.FileSystem) ambit.FileSystem {
			return &wrapper{FileSystem: base, list: func(ctx context.Context, dir string, _ *ambit.ListOptions) (*ambit.Listing, error) {
				return base.List(ctx, dir, nil)
			}}
		}, ambit.Capabilities{}, "forwarding/pages"},
		{"drops the context", func(base *memory.FileSystem) ambit.FileSystem {
			return &wrapper{FileSystem: base, rename: func(_ context.Context, from, to string, o *ambit.RenameOptions) (ambit.FileInfo, error) {
				return base.Rename(context.Background(), from, to, o)
			}}
		}, ambit.Capabilities{}, "forwarding/context"},
		{"renames the wrong way round", func(base *memory.FileSystem) ambit.FileSystem {
			return &wrapper{FileSystem: base, rename: func(ctx context.Context, from, to string, o *ambit.RenameOptions) (ambit.FileInfo, error) {
				return base.Rename(ctx, to, from, o)
			}}
		}, ambit.Capabilities{}, "forwarding/rename-from"},
		{"publishes nothing", func(base *memory.FileSystem) ambit.FileSystem {
			return &wrapper{FileSystem: base, stage: func(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.Staged, error) {
				s, err := base.Stage(ctx, path, content, o)
				if err != nil {
					return nil, err
				}
				return forgetfulStaged{s}, nil
			}}
		}, ambit.Capabilities{}, "forwarding/publish"},
		{"panics", func(base *memory.FileSystem) ambit.FileSystem {
			return &wrapper{FileSystem: base, open: func(context.Context, string) (ambit.File, error) { panic("boom") }}
		}, ambit.Capabilities{}, "forwarding/open"},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := household()
			before := everything(t, base)
			r := conformance.CheckForwarding(base, c.wrap(base), c.lost)
			if got := outcomes(r); got[c.failed] != conformance.Fail {
				t.Errorf("%s: %q, want fail: %s", c.failed, got[c.failed], r)
			}
			if after := everything(t, base); !maps.Equal(before, after) {
				t.Errorf("base is not as it was: %v, was %v", after, before)
			}
		})
	}
	if r := conformance.CheckForwarding(nil, household(), ambit.Capabilities{}); r.Grade() != conformance.Failed || len(r.Problems) != 1 {
		t.Errorf("no base: %s", r)
	}
	if r := conformance.CheckForwarding(household(), (*wrapper)(nil), ambit.Capabilities{}); r.Grade() != conformance.Failed || len(r.Problems) != 1 {
		t.Errorf("no wrapper: %s", r)
	}
}
