// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"

	"github.com/ambitfs/ambit"
)

// stagingMutants have a fault in Stage or a Staged.
func stagingMutants() []mutant {
	stages := func(change func(f *faulty, path string, s ambit.Staged) ambit.Staged) func(f *faulty) {
		return func(f *faulty) {
			f.staged = func(path string, s ambit.Staged) ambit.Staged { return change(f, path, s) }
		}
	}
	return []mutant{
		{name: "Publish does not check the precondition again", check: "write/stage-publish-rechecks", breaks: func(f *faulty) {
			f.stage = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
				data, readErr := readAll(content)
				s, err := f.base.Stage(ctx, path, rest(data, readErr), &o)
				if err != nil {
					return nil, err
				}
				return &faultyStaged{Staged: s, publish: func(ctx context.Context) (ambit.WriteResult, error) {
					r, err := s.Publish(ctx)
					if reason := ambit.ReasonOf(err); reason == ambit.ErrChanged || reason == ambit.ErrExists {
						r, err = f.base.Write(ctx, path, bytes.NewReader(data), nil)
					}
					return r, err
				}}, nil
			}
		}},
		{name: "Stage does not check the precondition", check: "write/stage-if-absent-file", breaks: func(f *faulty) {
			f.stage = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
				s, err := f.base.Stage(ctx, path, content, &o)
				if reason := ambit.ReasonOf(err); reason == ambit.ErrExists || reason == ambit.ErrChanged {
					return &emptyStaged{}, nil
				}
				return s, err
			}
		}},
		{name: "a second Publish is accepted", check: "write/stage-publish-once", breaks: stages(func(f *faulty, path string, s ambit.Staged) ambit.Staged {
			var mu sync.Mutex
			var last *ambit.WriteResult
			return &faultyStaged{Staged: s, publish: func(ctx context.Context) (ambit.WriteResult, error) {
				mu.Lock()
				defer mu.Unlock()
				if last != nil {
					return *last, nil
				}
				r, err := s.Publish(ctx)
				if err == nil {
					last = &r
				}
				return r, err
			}}
		})},
		{name: "Publish after Discard publishes", check: "write/stage-discard", breaks: stages(func(_ *faulty, _ string, s ambit.Staged) ambit.Staged {
			return &faultyStaged{Staged: s, discard: func(context.Context) error { return nil }}
		})},
		{name: "Publish after Discard is not-found", check: "write/stage-discard", breaks: stages(func(_ *faulty, path string, s ambit.Staged) ambit.Staged {
			return &faultyStaged{Staged: s, publish: func(ctx context.Context) (ambit.WriteResult, error) {
				r, err := s.Publish(ctx)
				if ambit.ReasonOf(err) == ambit.ErrClosed {
					err = ambit.Wrap(ambit.OpPublish, path, ambit.ErrNotFound)
				}
				return r, err
			}}
		})},
		{name: "Discard publishes", check: "write/stage-discard", breaks: stages(func(_ *faulty, _ string, s ambit.Staged) ambit.Staged {
			return &faultyStaged{Staged: s, discard: func(ctx context.Context) error {
				s.Publish(ctx)
				return s.Discard(ctx)
			}}
		})},
		{name: "Discard again fails", check: "write/stage-discard", breaks: stages(func(_ *faulty, path string, s ambit.Staged) ambit.Staged {
			var once sync.Once
			return &faultyStaged{Staged: s, discard: func(ctx context.Context) error {
				err := ambit.Wrap(ambit.OpDiscard, path, ambit.ErrClosed)
				once.Do(func() { err = s.Discard(ctx) })
				return err
			}}
		})},
		{name: "Discard after Publish takes the file away", check: "write/stage-discard-after-publish", breaks: stages(func(f *faulty, path string, s ambit.Staged) ambit.Staged {
			var published bool
			return &faultyStaged{
				Staged: s,
				publish: func(ctx context.Context) (ambit.WriteResult, error) {
					r, err := s.Publish(ctx)
					published = err == nil
					return r, err
				},
				discard: func(ctx context.Context) error {
					if published {
						f.base.Remove(ctx, path, nil)
					}
					return s.Discard(ctx)
				},
			}
		})},
		{name: "a Publish that failed can be tried again", check: "write/stage-publish-rechecks", breaks: func(f *faulty) {
			f.stage = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
				data, readErr := readAll(content)
				s, err := f.base.Stage(ctx, path, rest(data, readErr), &o)
				if err != nil {
					return nil, err
				}
				failed := false
				return &faultyStaged{Staged: s, publish: func(ctx context.Context) (ambit.WriteResult, error) {
					if failed {
						return f.base.Write(ctx, path, bytes.NewReader(data), &ambit.WriteOptions{Parents: o.Parents})
					}
					r, err := s.Publish(ctx)
					failed = err != nil
					return r, err
				}}, nil
			}
		}},
		{name: "Stage leaves the parents", check: "write/stage-invisible", breaks: func(f *faulty) {
			f.stage = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
				s, err := f.base.Stage(ctx, path, content, &o)
				if err == nil && o.Parents {
					makeParents(f, path)
				}
				return s, err
			}
		}},
		{name: "staged content is seen in a listing", check: "write/stage-invisible", breaks: func(f *faulty) {
			f.stage = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
				s, err := f.base.Stage(ctx, path, content, &o)
				if err != nil {
					return nil, err
				}
				dir := ambit.Dir(s.Info().Path)
				for {
					if _, err := f.base.Stat(ctx, dir); err == nil {
						break
					}
					dir = ambit.Dir(dir)
				}
				name := ambit.Join(dir, ".staged-1")
				f.base.Write(ctx, name, strings.NewReader("staged"), nil)
				clear := func() { f.base.Remove(context.Background(), name, nil) }
				return &faultyStaged{
					Staged:  s,
					publish: func(ctx context.Context) (ambit.WriteResult, error) { clear(); return s.Publish(ctx) },
					discard: func(ctx context.Context) error { clear(); return s.Discard(ctx) },
				}, nil
			}
		}},
		{name: "staged content is there at once", check: "write/stage-invisible", breaks: func(f *faulty) {
			f.stage = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
				data, readErr := readAll(content)
				s, err := f.base.Stage(ctx, path, rest(data, readErr), &o)
				if err == nil {
					f.base.Write(ctx, path, bytes.NewReader(data), &ambit.WriteOptions{Parents: o.Parents})
				}
				return s, err
			}
		}},
		{name: "Stage reads the content when it publishes", check: "write/stage-reads-content", breaks: func(f *faulty) {
			f.stage = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
				checked, err := f.base.Stage(ctx, path, strings.NewReader(""), &o)
				if err != nil || content == nil {
					return checked, err
				}
				return &faultyStaged{Staged: checked, publish: func(ctx context.Context) (ambit.WriteResult, error) {
					checked.Discard(ctx)
					r, err := f.base.Write(ctx, path, content, &o)
					return r, ambit.Wrap(ambit.OpPublish, path, err)
				}}, nil
			}
		}},
		{name: "Publish publishes nothing", check: "write/stage-publish", breaks: stages(func(_ *faulty, _ string, s ambit.Staged) ambit.Staged {
			return &faultyStaged{Staged: s, publish: func(ctx context.Context) (ambit.WriteResult, error) {
				return ambit.WriteResult{Info: s.Info()}, s.Discard(ctx)
			}}
		})},
		{name: "Stage tells a version before it has published", check: "write/stage-info", breaks: stages(func(_ *faulty, _ string, s ambit.Staged) ambit.Staged {
			return &faultyStaged{Staged: s, info: func() ambit.FileInfo {
				info := s.Info()
				info.Version = "staged"
				return info
			}}
		})},
		{name: "Stage tells no size", check: "write/stage-info", breaks: stages(func(_ *faulty, _ string, s ambit.Staged) ambit.Staged {
			return &faultyStaged{Staged: s, info: func() ambit.FileInfo {
				info := s.Info()
				info.Size = 0
				return info
			}}
		})},
		{name: "Stage leaves a missing parent to Publish", check: "write/stage-missing-parent", breaks: func(f *faulty) {
			f.stage = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
				s, err := f.base.Stage(ctx, path, content, &o)
				if ambit.ReasonOf(err) == ambit.ErrNotFound {
					return &emptyStaged{}, nil
				}
				return s, err
			}
		}},
		{name: "Publish does not tell the parents that it made", check: "write/stage-parents", breaks: stages(func(_ *faulty, _ string, s ambit.Staged) ambit.Staged {
			return &faultyStaged{Staged: s, publish: func(ctx context.Context) (ambit.WriteResult, error) {
				r, err := s.Publish(ctx)
				r.CreatedDirs = nil
				return r, err
			}}
		})},
		{name: "Stage ignores Mode", check: "write/stage-mode", breaks: func(f *faulty) {
			f.stage = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
				if o.Mode == o.Mode.Perm() {
					o.Mode = 0
				}
				return f.base.Stage(ctx, path, content, &o)
			}
		}},
		{name: "Publish ignores its context", check: "write/stage-publish-canceled", breaks: stages(func(_ *faulty, _ string, s ambit.Staged) ambit.Staged {
			return &faultyStaged{Staged: s, publish: func(ctx context.Context) (ambit.WriteResult, error) {
				return s.Publish(context.WithoutCancel(ctx))
			}}
		})},
		{name: "staged content dies with the context of Stage", check: "write/stage-outlives-its-call", breaks: func(f *faulty) {
			f.stage = func(stageCtx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
				s, err := f.base.Stage(stageCtx, path, content, &o)
				if err != nil {
					return nil, err
				}
				return &faultyStaged{Staged: s, publish: func(ctx context.Context) (ambit.WriteResult, error) {
					if err := stageCtx.Err(); err != nil {
						return ambit.WriteResult{}, ambit.Wrap(ambit.OpPublish, path, err)
					}
					return s.Publish(ctx)
				}}, nil
			}
		}},
		{name: "Publish makes a parent again that is gone", check: "write/stage-publish-walks-again", breaks: stages(func(f *faulty, path string, s ambit.Staged) ambit.Staged {
			return &faultyStaged{Staged: s, publish: func(ctx context.Context) (ambit.WriteResult, error) {
				makeParents(f, path)
				return s.Publish(ctx)
			}}
		})},
		{name: "Stage takes a folder's path", check: "write/stage-folder", breaks: func(f *faulty) {
			f.stage = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.Staged, error) {
				s, err := f.base.Stage(ctx, path, content, &o)
				if ambit.ReasonOf(err) == ambit.ErrNotAFile {
					return &emptyStaged{}, nil
				}
				return s, err
			}
		}},
	}
}

// emptyStaged publishes nothing.
type emptyStaged struct{}

func (*emptyStaged) Info() ambit.FileInfo { return ambit.FileInfo{} }

func (*emptyStaged) Publish(context.Context) (ambit.WriteResult, error) {
	return ambit.WriteResult{}, nil
}

func (*emptyStaged) Discard(context.Context) error { return nil }
