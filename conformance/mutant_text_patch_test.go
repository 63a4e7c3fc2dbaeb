// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/conformance"
	"github.com/ambitfs/ambit/patch"
)

type applyFunc = func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch, o *patch.Options) (*patch.Report, error)

func appliesBy(f func(right applyFunc) applyFunc) func(e *conformance.TextEngine) {
	return func(e *conformance.TextEngine) { e.Apply = f(e.Apply) }
}

// readsBy breaks Parse.
func readsBy(refuse func(text string) bool) func(e *conformance.TextEngine) {
	return func(e *conformance.TextEngine) {
		right := e.Parse
		e.Parse = func(text string) (*patch.Patch, error) {
			if refuse(text) {
				return nil, &ambit.Error{Reason: ambit.ErrInvalid, Detail: "line 1: no patch"}
			}
			return right(text)
		}
	}
}

// hunksBy has other hunks applied than those of the patch.
func hunksBy(change func(h *patch.Hunk)) func(e *conformance.TextEngine) {
	return appliesBy(func(right applyFunc) applyFunc {
		return func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch, o *patch.Options) (*patch.Report, error) {
			other := &patch.Patch{Sections: slices.Clone(p.Sections)}
			for i := range other.Sections {
				s := &other.Sections[i]
				s.Hunks = slices.Clone(s.Hunks)
				for j := range s.Hunks {
					s.Hunks[j].Lines = slices.Clone(s.Hunks[j].Lines)
					change(&s.Hunks[j])
				}
			}
			return right(ctx, fsys, other, o)
		}
	})
}

// leaves changes the files of a patch once more when it is applied.
func leaves(change func(old, content string, s patch.Section) string) func(e *conformance.TextEngine) {
	return appliesBy(func(right applyFunc) applyFunc {
		return func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch, o *patch.Options) (*patch.Report, error) {
			old := make([]string, len(p.Sections))
			for i, s := range p.Sections {
				data, _, _ := ambit.ReadFile(ctx, fsys, s.Path)
				old[i] = string(data)
			}
			report, err := right(ctx, fsys, p, o)
			if err != nil {
				return report, err
			}
			for i, s := range p.Sections {
				path := report.Files[i].After.Path
				data, _, readErr := ambit.ReadFile(ctx, fsys, path)
				now := change(old[i], string(data), s)
				if path == "" || readErr != nil || now == string(data) {
					continue
				}
				r, writeErr := ambit.WriteFile(ctx, fsys, path, []byte(now), nil)
				report.Files[i].After = r.Info
				err = errors.Join(err, writeErr)
			}
			return report, err
		}
	})
}

// afterAll has a second try where a patch is refused for one of reasons.
func afterAll(again func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch) error, reasons ...ambit.Reason) func(e *conformance.TextEngine) {
	return appliesBy(func(right applyFunc) applyFunc {
		return func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch, o *patch.Options) (*patch.Report, error) {
			report, err := right(ctx, fsys, p, o)
			if !slices.Contains(reasons, ambit.ReasonOf(err)) {
				return report, err
			}
			if again(ctx, fsys, p) == nil {
				return appliedReport(p), nil
			}
			return report, err
		}
	})
}

// appliedReport says that everything is as it should be.
func appliedReport(p *patch.Patch) *patch.Report {
	r := &patch.Report{Applied: true}
	for _, s := range p.Sections {
		r.Files = append(r.Files, patch.File{Line: s.Line, Action: s.Action, Path: s.Path, To: s.To, State: patch.StateApplied})
	}
	return r
}

// sides returns the old lines of a hunk and the new ones.
func sides(h patch.Hunk) (before, after string) {
	for _, l := range h.Lines {
		if l.Kind != patch.Added {
			before += l.Text
		}
		if l.Kind != patch.Removed {
			after += l.Text
		}
	}
	return before, after
}

// replaces applies the first hunk of the first section by replacing text: how
// says where.
func replaces(how func(content, before, after string) (string, bool)) func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch) error {
	return func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch) error {
		s := p.Sections[0]
		if len(s.Hunks) == 0 {
			return ambit.ErrInvalid
		}
		data, _, err := ambit.ReadFile(ctx, fsys, s.Path)
		if err != nil {
			return err
		}
		before, after := sides(s.Hunks[0])
		now, ok := how(string(data), before, after)
		if !ok {
			return ambit.ErrNoMatch
		}
		return writeFile(ctx, fsys, s.Path, now)
	}
}

// overwriting removes first what is in the way of a new file.
func overwriting(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch) error {
	for _, s := range p.Sections {
		to := s.To
		if s.Action == patch.Add {
			to = s.Path
		}
		if to != "" {
			if err := ambit.Remove(ctx, fsys, to, &ambit.RemoveOptions{Recursive: true}); err != nil {
				return err
			}
		}
	}
	_, err := patch.Apply(ctx, fsys, p, nil)
	return err
}

func patchWaits(right applyFunc) applyFunc {
	return func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch, o *patch.Options) (*patch.Report, error) {
		report, err := right(ctx, fsys, p, o)
		if ambit.ReasonOf(err) == ambit.ErrNotAFile {
			<-ctx.Done()
		}
		return report, err
	}
}

func patchCarelessly(right applyFunc) applyFunc {
	return func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch, o *patch.Options) (*patch.Report, error) {
		return right(ctx, newCareless(fsys), p, o)
	}
}

// sectionBySection applies one section after the other.
func sectionBySection(right applyFunc) applyFunc {
	return func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch, o *patch.Options) (*patch.Report, error) {
		all := &patch.Report{Applied: true}
		for _, s := range p.Sections {
			r, err := right(ctx, fsys, &patch.Patch{Sections: []patch.Section{s}}, o)
			if err != nil {
				return r, err
			}
			all.Files = append(all.Files, r.Files...)
		}
		return all, nil
	}
}

// patchMutants patch as other programs do.
func patchMutants() []mutant {
	const lf, crlf = "\n", "\r\n"
	return []mutant{
		{name: "a patch expands its lines", check: "text/patch-literal", engine: hunksBy(func(h *patch.Hunk) {
			for i, l := range h.Lines {
				if l.Kind == patch.Added {
					h.Lines[i].Text = strings.ReplaceAll(l.Text, "$$", "$")
				}
			}
		})},
		{name: "a patch interprets escapes", check: "text/patch-literal", engine: hunksBy(func(h *patch.Hunk) {
			for i, l := range h.Lines {
				if l.Kind == patch.Added {
					h.Lines[i].Text = strings.ReplaceAll(l.Text, `\t`, "\t")
				}
			}
		})},
		{name: "a patch adds a final newline", check: "text/patch-final-newline", engine: leaves(func(_, content string, _ patch.Section) string { return finalNewline(content) })},
		{name: "a patch splits the file at every LF", check: "text/patch-end-of-file", engine: leaves(func(old, content string, s patch.Section) string {
			if before, after := sides(s.Hunks[0]); before == "" {
				return old + "\n" + strings.TrimSuffix(after, "\n")
			}
			return content
		})},
		{name: "the end of the file is no place", check: "text/patch-end-of-file", engine: hunksBy(func(h *patch.Hunk) { h.EndOfFile = false })},
		{name: "a hunk that only adds goes to the end", check: "text/patch-anchor", engine: hunksBy(func(h *patch.Hunk) {
			if before, _ := sides(*h); before == "" {
				h.Anchors, h.EndOfFile, h.Numbered, h.Start = nil, true, false, 0
			}
		})},
		{name: "context is written as the patch has it", check: "text/patch-context-kept", engine: afterAll(replaces(func(content, before, after string) (string, bool) {
			fold := func(text string) []string {
				var lines []string
				for line := range strings.Lines(strings.NewReplacer("\u2019", "'").Replace(text)) {
					lines = append(lines, strings.TrimSpace(line))
				}
				return lines
			}
			lines := slices.Collect(strings.Lines(content))
			want := fold(before)
			for i := range lines {
				if end := i + len(want); end <= len(lines) && slices.Equal(fold(strings.Join(lines[i:end], "")), want) {
					return strings.Join(lines[:i], "") + after + strings.Join(lines[end:], ""), true
				}
			}
			return "", false
		}), ambit.ErrNoMatch)},
		{name: "a hunk goes to the first place", check: "text/patch-ambiguous", engine: afterAll(replaces(func(content, before, after string) (string, bool) {
			return strings.Replace(content, before, after, 1), strings.Contains(content, before)
		}), ambit.ErrAmbiguous)},
		{name: "the number of a hunk does not count", check: "text/patch-ambiguous", engine: hunksBy(func(h *patch.Hunk) { h.Numbered, h.Start = false, 0 })},
		{name: "a patch writes LF into a file with CR LF", check: "text/patch-crlf", engine: leaves(func(old, content string, s patch.Section) string {
			_, after := sides(s.Hunks[0])
			after = strings.ReplaceAll(after, crlf, lf)
			return strings.Replace(content, strings.ReplaceAll(after, lf, crlf), after, 1)
		})},
		{name: "a patch with CR LF brings them along", check: "text/patch-crlf", engine: func(e *conformance.TextEngine) {
			right := e.Parse
			e.Parse = func(text string) (*patch.Patch, error) {
				p, err := right(text)
				if err == nil && strings.Contains(text, crlf) {
					for _, s := range p.Sections {
						for _, h := range s.Hunks {
							for i := range h.Lines {
								if h.Lines[i].Kind == patch.Added {
									h.Lines[i].Text = strings.ReplaceAll(h.Lines[i].Text, lf, crlf)
								}
							}
						}
					}
				}
				return p, err
			}
			apply := e.Apply
			e.Apply = func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch, o *patch.Options) (*patch.Report, error) {
				report, err := apply(ctx, fsys, p, o)
				s := p.Sections[0]
				_, after := sides(s.Hunks[0])
				if err == nil && strings.Contains(after, crlf) {
					data, _, readErr := ambit.ReadFile(ctx, fsys, s.Path)
					lines := strings.ReplaceAll(after, crlf, lf)
					err = errors.Join(readErr, writeFile(ctx, fsys, s.Path, strings.Replace(string(data), lines, strings.ReplaceAll(lines, lf, crlf), 1)))
				}
				return report, err
			}
		}},
		{name: "a hunk that goes back is shifted", check: "text/patch-hunk-order", engine: afterAll(replaces(func(content, before, after string) (string, bool) {
			return strings.Replace(content, before, after+"l3\nl4\nl5\n", 1), true
		}), ambit.ErrNoMatch)},
		{name: "a second anchor is no hunk", check: "text/patch-stacked-anchors", engine: func(e *conformance.TextEngine) {
			right := e.Parse
			e.Parse = func(text string) (*patch.Patch, error) {
				p, err := right(text)
				if err == nil && slices.ContainsFunc(p.Sections[0].Hunks, func(h patch.Hunk) bool { return len(h.Anchors) > 1 }) {
					return nil, &ambit.Error{Reason: ambit.ErrInvalid, Detail: "line 4: an empty hunk"}
				}
				return p, err
			}
		}},
		{name: "of several anchors the last one counts", check: "text/patch-stacked-anchors", engine: hunksBy(func(h *patch.Hunk) {
			if len(h.Anchors) > 1 {
				h.Anchors = h.Anchors[len(h.Anchors)-1:]
			}
		})},
		{name: "a removed line that begins with dashes is a header", check: "text/patch-content-like-headers", engine: readsBy(func(text string) bool { return strings.Contains(text, "\n--- x\n") })},
		{name: "a patch drops the byte order mark", check: "text/patch-byte-order-mark", engine: leaves(func(_, content string, _ patch.Section) string { return strings.TrimPrefix(content, "\ufeff") })},
		{name: "a patch writes U+FFFD for stray bytes", check: "text/patch-stray-bytes", engine: leaves(func(_, content string, _ patch.Section) string { return strings.ToValidUTF8(content, "\ufffd") })},
		{name: "a patch with a long line is none", check: "text/patch-long-lines", engine: readsBy(func(text string) bool {
			for line := range strings.Lines(text) {
				if len(line) > 64<<10 {
					return true
				}
			}
			return false
		})},
		{name: "a patch does not tell the folders that it has made", check: "text/patch-files", engine: appliesBy(func(right applyFunc) applyFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch, o *patch.Options) (*patch.Report, error) {
				report, err := right(ctx, fsys, p, o)
				for i := range report.Files {
					report.Files[i].CreatedDirs = nil
				}
				return report, err
			}
		})},
		{name: "a moved file stays", check: "text/patch-files", engine: appliesBy(func(right applyFunc) applyFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch, o *patch.Options) (*patch.Report, error) {
				old := make(map[string][]byte)
				for _, s := range p.Sections {
					if s.To != "" {
						old[s.Path], _, _ = ambit.ReadFile(ctx, fsys, s.Path)
					}
				}
				report, err := right(ctx, fsys, p, o)
				for path, data := range old {
					if err == nil {
						err = writeFile(ctx, fsys, path, string(data))
					}
				}
				return report, err
			}
		})},
		{name: "a new file takes a name in use", check: "text/patch-name-in-use", engine: afterAll(overwriting, ambit.ErrExists)},
		{name: "a new file takes the place of a link", check: "text/patch-link-in-the-way", on: onDisk, engine: afterAll(overwriting, ambit.ErrExists)},
		{name: "a new file is made where a link leads", check: "text/patch-link-in-the-way", on: onDisk, engine: afterAll(func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch) error {
			s := p.Sections[len(p.Sections)-1]
			target, err := fsys.(ambit.Linker).ReadLink(ctx, s.Path)
			if err != nil {
				return err
			}
			_, err = ambit.WriteFile(ctx, fsys, target, []byte("new\n"), &ambit.WriteOptions{Parents: true})
			return err
		}, ambit.ErrExists)},
		{name: "a patch is applied section by section", check: "text/patch-all-or-none", engine: appliesBy(sectionBySection)},
		{name: "a refused patch leaves the folder that it has made", check: "text/patch-all-or-none", engine: appliesBy(func(right applyFunc) applyFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch, o *patch.Options) (*patch.Report, error) {
				if s := p.Sections[0]; s.Action == patch.Add {
					ambit.Mkdir(ctx, fsys, ambit.Dir("/"+s.Path), &ambit.MkdirOptions{Parents: true})
				}
				return right(ctx, fsys, p, o)
			}
		})},
		{name: "the last section for a file wins", check: "text/patch-sections-of-one-file", engine: appliesBy(func(right applyFunc) applyFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch, o *patch.Options) (*patch.Report, error) {
				last := &patch.Patch{}
				for i, s := range p.Sections {
					if !slices.ContainsFunc(p.Sections[i+1:], func(later patch.Section) bool { return later.Path == s.Path }) {
						last.Sections = append(last.Sections, s)
					}
				}
				return right(ctx, fsys, last, o)
			}
		})},
		{name: "a dry run of a patch applies it", check: "text/patch-dry-run", engine: appliesBy(func(right applyFunc) applyFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch, _ *patch.Options) (*patch.Report, error) {
				return right(ctx, fsys, p, nil)
			}
		})},
		{name: "a dry run finds nothing wrong", check: "text/patch-dry-run", engine: appliesBy(func(right applyFunc) applyFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch, o *patch.Options) (*patch.Report, error) {
				report, err := right(ctx, fsys, p, o)
				if o != nil && o.DryRun {
					report.Problems, err = nil, nil
				}
				return report, err
			}
		})},
		{name: "a patch goes on when its context is done", check: "text/patch-ended", engine: appliesBy(func(right applyFunc) applyFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch, o *patch.Options) (*patch.Report, error) {
				return right(context.WithoutCancel(ctx), fsys, p, o)
			}
		})},
		{name: "a patch knows no limit", check: "text/patch-max-bytes", engine: appliesBy(func(right applyFunc) applyFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch, _ *patch.Options) (*patch.Report, error) {
				return right(ctx, fsys, p, nil)
			}
		})},
		{name: "a patch looks at the limit before it alone", check: "text/patch-max-bytes", engine: appliesBy(func(right applyFunc) applyFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch, o *patch.Options) (*patch.Report, error) {
				if info, err := fsys.Stat(ctx, p.Sections[0].Path); err == nil && info.Size <= value(o).MaxBytes {
					return right(ctx, fsys, p, nil)
				}
				return right(ctx, fsys, p, o)
			}
		})},
		{name: "a patched file gets the mode of a new one", check: "text/patch-keeps-mode", engine: appliesBy(func(right applyFunc) applyFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch, o *patch.Options) (*patch.Report, error) {
				report, err := right(ctx, fsys, p, o)
				for i, f := range report.Files {
					data, info, readErr := ambit.ReadFile(ctx, fsys, f.After.Path)
					if err == nil && readErr == nil && info.Mode != 0o644 {
						r, writeErr := ambit.WriteFile(ctx, fsys, f.After.Path, data, &ambit.WriteOptions{Mode: 0o644})
						report.Files[i].After, err = r.Info, writeErr
					}
				}
				return report, err
			}
		})},
		{name: "a patched link is a file then", check: "text/patch-through-link", on: onDisk, engine: appliesBy(func(right applyFunc) applyFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch, o *patch.Options) (*patch.Report, error) {
				path := p.Sections[0].Path
				data, _, err := ambit.ReadFile(ctx, fsys, path)
				if info, lstatErr := fsys.(ambit.Linker).Lstat(ctx, path); err == nil && lstatErr == nil && info.Kind == ambit.KindSymlink {
					err = errors.Join(ambit.Remove(ctx, fsys, path, nil), writeFile(ctx, fsys, path, string(data)))
				}
				if err != nil {
					return &patch.Report{}, ambit.Wrap("patch", path, err)
				}
				return right(ctx, fsys, p, o)
			}
		})},
		{name: "a patch creates what a link leads to", check: "text/patch-broken-links", on: onDisk, engine: afterAll(func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch) error {
			target, err := fsys.(ambit.Linker).ReadLink(ctx, p.Sections[0].Path)
			if err != nil {
				return err
			}
			_, err = ambit.WriteFile(ctx, fsys, target, []byte("created"), &ambit.WriteOptions{Parents: true})
			return err
		}, ambit.ErrNotFound)},
		{name: "a patch of a FIFO waits for a writer", check: "text/patch-fifo", on: onDisk, hangs: true, engine: appliesBy(patchWaits)},
		{name: "a patch of a link to a FIFO waits for a writer", check: "text/patch-link-to-fifo", on: onDisk, hangs: true, engine: appliesBy(patchWaits)},
		{name: "a patch writes without preconditions", check: "text/patch-meanwhile", engine: appliesBy(patchCarelessly)},
		{name: "a patch that is refused late leaves a temporary file", check: "text/patch-refused-at-commit", engine: appliesBy(func(right applyFunc) applyFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch, o *patch.Options) (*patch.Report, error) {
				report, err := right(ctx, fsys, p, o)
				if ambit.ReasonOf(err) == ambit.ErrChanged {
					err = errors.Join(err, writeFile(ctx, fsys, "dir/.n.txt.tmp", "n\n"))
				}
				return report, err
			}
		})},
		{name: "a new file of a patch replaces one that came to be meanwhile", check: "text/patch-refused-at-commit", engine: appliesBy(patchCarelessly)},
		{name: "patches at once lose each other's words", check: "text/patch-concurrently", chance: true, engine: appliesBy(patchCarelessly)},
		{name: "patches at once create one file several times", check: "text/patch-add-one-wins", chance: true, engine: appliesBy(patchCarelessly)},
		{name: "a patch does without preconditions where there are none", check: "text/patch-files", on: withoutSwap, unclaimed: true, engine: appliesBy(patchCarelessly)},
		{name: "a patch is half applied where nothing can be removed", check: "text/patch-files", on: withoutRemove, unclaimed: true, engine: afterAll(func(ctx context.Context, fsys ambit.FileSystem, p *patch.Patch) error {
			if p.Sections[0].Action != patch.Add {
				return ambit.ErrUnsupported
			}
			return writeFile(ctx, fsys, p.Sections[0].Path, "half")
		}, ambit.ErrUnsupported)},

		{name: "a commit over versions that are gone succeeds", check: "text/patch-meanwhile", breaks: ignoringIf},
		{name: "a commit that is refused has made its first change", check: "text/patch-refused-at-commit", breaks: func(f *faulty) {
			f.commit = func(ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
				for i, c := range changes {
					data, err := readAll(c.Content)
					if c.Op == ambit.OpWrite && err == nil {
						changes[i].Content = bytes.NewReader(data)
						if i == 0 {
							defer func() {
								f.base.Write(context.Background(), c.Path, bytes.NewReader(data), nil)
							}()
						}
					}
				}
				return f.base.Commit(ctx, changes)
			}
		}},
		{name: "a commit makes new files readable by their owner alone", check: "text/patch-keeps-mode", breaks: func(f *faulty) {
			f.commit = func(ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
				for i, c := range changes {
					if c.Op == ambit.OpWrite && c.If.Absent() && c.Mode == 0 {
						changes[i].Mode = 0o600
					}
				}
				return f.base.Commit(ctx, changes)
			}
		}},
		{name: "Lstat follows a link that leads to nothing", check: "text/patch-link-in-the-way", on: onDisk, breaks: func(f *faulty) {
			f.lstat = func(ctx context.Context, path string) (ambit.FileInfo, error) {
				info, err := f.base.Lstat(ctx, path)
				if err == nil && info.Kind == ambit.KindSymlink {
					info, err = f.base.Stat(ctx, path)
				}
				return info, err
			}
		}},
	}
}
