// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/conformance"
	"github.com/ambitfs/ambit/edit"
)

type editFunc = func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error)

func editsBy(f func(right editFunc) editFunc) func(e *conformance.TextEngine) {
	return func(e *conformance.TextEngine) { e.Edit = f(e.Edit) }
}

// opsBy has other ops made than those that are asked for.
func opsBy(change func(op edit.Op) edit.Op) func(e *conformance.TextEngine) {
	return editsBy(func(right editFunc) editFunc {
		return func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error) {
			other := make([]edit.Op, len(ops))
			for i, op := range ops {
				other[i] = change(op)
			}
			return right(ctx, fsys, path, other, o)
		}
	})
}

// newText has every new text changed.
func newText(change func(text string) string) func(op edit.Op) edit.Op {
	return func(op edit.Op) edit.Op {
		switch op := op.(type) {
		case edit.Replace:
			op.New = change(op.New)
			return op
		case edit.Rewrite:
			op.Text = change(op.Text)
			return op
		case edit.Insert:
			op.Text = change(op.Text)
			return op
		}
		return op
	}
}

// naively edits in memory: content is given the old one and what right makes of
// it, and returns the new one.
func naively(content func(old string, ops []edit.Op, right func() (string, error)) (string, error)) func(e *conformance.TextEngine) {
	return editsBy(func(editFunc) editFunc {
		return func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error) {
			outcome, err := naive(ctx, fsys, path, ops, value(o), content)
			return outcome, ambit.Wrap("edit", path, err)
		}
	})
}

func naive(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o edit.Options, content func(old string, ops []edit.Op, right func() (string, error)) (string, error)) (edit.Outcome, error) {
	old, info, err := ambit.ReadFile(ctx, fsys, path)
	if err != nil {
		return edit.Outcome{}, err
	}
	var right edit.Result
	now, err := content(string(old), ops, func() (string, error) {
		var err error
		right, err = edit.Apply(old, ops, &o)
		return string(right.Content), err
	})
	if err != nil {
		return edit.Outcome{}, err
	}
	outcome := edit.Outcome{Result: right, Before: info, After: info}
	outcome.Content = []byte(now)
	if now == string(old) {
		return outcome, nil
	}
	outcome.Diff = "it has changed"
	r, err := ambit.WriteFile(ctx, fsys, path, outcome.Content, &ambit.WriteOptions{If: ambit.IfVersion(info.Version)})
	outcome.After = r.Info
	return outcome, err
}

// saved is a naive edit that changes all of the new content.
func saved(change func(text string) string) func(e *conformance.TextEngine) {
	return naively(func(_ string, _ []edit.Op, right func() (string, error)) (string, error) {
		text, err := right()
		return change(text), err
	})
}

// refusedAs has a second try where an edit is refused for the reason.
func refusedAs(reason ambit.Reason, again func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op) error) func(e *conformance.TextEngine) {
	return editsBy(func(right editFunc) editFunc {
		return func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error) {
			outcome, err := right(ctx, fsys, path, ops, o)
			if ambit.ReasonOf(err) == reason {
				if second := again(ctx, fsys, path, ops); second != nil {
					return outcome, ambit.Wrap("edit", path, second)
				}
			}
			return outcome, err
		}
	})
}

// carelessly edits without preconditions.
func carelessly(right editFunc) editFunc {
	return func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error) {
		return right(ctx, newCareless(fsys), path, ops, o)
	}
}

// waits is an edit that waits for the writer of a FIFO.
func waits(right editFunc) editFunc {
	return func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error) {
		outcome, err := right(ctx, fsys, path, ops, o)
		if ambit.ReasonOf(err) == ambit.ErrNotAFile {
			<-ctx.Done()
		}
		return outcome, err
	}
}

func writeFile(ctx context.Context, fsys ambit.FileSystem, path, content string) error {
	_, err := ambit.WriteFile(ctx, fsys, path, []byte(content), nil)
	return err
}

// firstOf is the first Replace of ops.
func firstOf(ops []edit.Op) edit.Replace {
	for _, op := range ops {
		if r, ok := op.(edit.Replace); ok {
			return r
		}
	}
	return edit.Replace{}
}

// editMutants edit as other programs do.
func editMutants() []mutant {
	crlf := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	lf := func(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
	return []mutant{
		{name: "the new text is expanded", check: "text/edit-literal", engine: naively(func(old string, ops []edit.Op, right func() (string, error)) (string, error) {
			text, err := right()
			if r := firstOf(ops); err == nil && r.Old != "" {
				text = regexp.MustCompile(regexp.QuoteMeta(r.Old)).ReplaceAllString(old, r.New)
			}
			return text, err
		})},
		{name: "the old text is a pattern", check: "text/edit-literal", engine: naively(func(old string, ops []edit.Op, right func() (string, error)) (string, error) {
			text, err := right()
			if pattern, bad := regexp.Compile(firstOf(ops).Old); bad == nil && firstOf(ops).Old != "" {
				return pattern.ReplaceAllLiteralString(old, firstOf(ops).New), nil
			}
			return text, err
		})},
		{name: "escapes of the new lines are interpreted", check: "text/rewrite-literal", engine: opsBy(newText(strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\0`, "\x00", `\'`, "'").Replace))},
		{name: "a removed text takes the line break behind it along", check: "text/edit-to-nothing", engine: opsBy(func(op edit.Op) edit.Op {
			if r, ok := op.(edit.Replace); ok && r.New == "" {
				r.Old += "\n"
				return r
			}
			return op
		})},
		{name: "an empty new text is none", check: "text/edit-to-nothing", engine: editsBy(func(right editFunc) editFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error) {
				if r := firstOf(ops); r.Old != "" && r.New == "" {
					return edit.Outcome{}, ambit.Wrap("edit", path, ambit.ErrInvalid)
				}
				return right(ctx, fsys, path, ops, o)
			}
		})},
		{name: "a lone CR is saved as a line break", check: "text/edit-lone-cr", engine: saved(strings.NewReplacer("\r\n", "\r\n", "\r", "\n").Replace)},
		{name: "a file with CR LF is saved with LF", check: "text/edit-crlf", engine: saved(lf)},
		{name: "a file with some CR LF is saved with nothing else", check: "text/edit-crlf", engine: saved(func(text string) string {
			if strings.Contains(text, "\r\n") {
				return crlf(lf(text))
			}
			return text
		})},
		{name: "a line break is not found in CR LF", check: "text/edit-crlf", engine: naively(func(old string, ops []edit.Op, right func() (string, error)) (string, error) {
			if r := firstOf(ops); r.Old != "" && !strings.Contains(old, r.Old) {
				return "", ambit.ErrNoMatch
			}
			return right()
		})},
		{name: "a block is found by its first and last line", check: "text/edit-near-match", engine: naively(func(old string, ops []edit.Op, right func() (string, error)) (string, error) {
			text, err := right()
			lines := strings.Split(strings.TrimSuffix(firstOf(ops).Old, "\n"), "\n")
			start, end := strings.Index(old, lines[0]), strings.LastIndex(old, lines[len(lines)-1])
			if ambit.ReasonOf(err) == ambit.ErrNoMatch && len(lines) > 2 && start >= 0 && end > start {
				return old[:start] + firstOf(ops).New + old[end+len(lines[len(lines)-1]):], nil
			}
			return text, err
		})},
		{name: "white space at the ends of lines does not count", check: "text/edit-near-match", engine: editsBy(tolerantly)},
		{name: "characters that look alike are the same", check: "text/edit-look-alikes", engine: editsBy(tolerantly)},
		{name: "typographic characters are saved as plain ones", check: "text/edit-look-alikes", engine: saved(strings.NewReplacer("\u2019", "'", "\u201c", `"`, "\u2014", "-").Replace)},
		{name: "the first place is taken", check: "text/edit-which", engine: editsBy(func(right editFunc) editFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error) {
				outcome, err := right(ctx, fsys, path, ops, o)
				if r := firstOf(ops); ambit.ReasonOf(err) == ambit.ErrAmbiguous {
					r.Occurrence = 1
					return right(ctx, fsys, path, []edit.Op{r}, o)
				}
				return outcome, err
			}
		})},
		{name: "places that overlap are counted once", check: "text/edit-which", engine: naively(func(old string, ops []edit.Op, right func() (string, error)) (string, error) {
			text, err := right()
			if r := firstOf(ops); ambit.ReasonOf(err) == ambit.ErrAmbiguous && strings.Count(old, r.Old) == 1 {
				return strings.Replace(old, r.Old, r.New, 1), nil
			}
			return text, err
		})},
		{name: "an edit that fails empties the file", check: "text/edit-all-or-none", engine: refusedAs(ambit.ErrNoMatch, func(ctx context.Context, fsys ambit.FileSystem, path string, _ []edit.Op) error {
			return writeFile(ctx, fsys, path, "")
		})},
		{name: "an edit that fails writes the file as it was", check: "text/edit-all-or-none", engine: refusedAs(ambit.ErrNoMatch, func(ctx context.Context, fsys ambit.FileSystem, path string, _ []edit.Op) error {
			old, _, err := ambit.ReadFile(ctx, fsys, path)
			return errors.Join(err, writeFile(ctx, fsys, path, string(old)))
		})},
		{name: "ops are made one by one", check: "text/edit-all-or-none", engine: editsBy(oneByOne)},
		{name: "the last newline is always kept", check: "text/rewrite-to-empty", engine: saved(func(text string) string {
			if text == "" {
				return "\n"
			}
			return text
		})},
		{name: "a rewritten line is glued to the next", check: "text/rewrite-endings", engine: naively(func(_ string, ops []edit.Op, right func() (string, error)) (string, error) {
			text, err := right()
			if r, ok := ops[0].(edit.Rewrite); ok && r.Text != "" {
				text = strings.Replace(text, r.Text+"\n", r.Text, 1)
			}
			return text, err
		})},
		{name: "a rewritten line gets a second newline", check: "text/rewrite-endings", engine: opsBy(newText(func(text string) string { return text + "\n" }))},
		{name: "a rewrite adds a final newline", check: "text/rewrite-endings", engine: saved(finalNewline)},
		{name: "what is rewritten has LF", check: "text/rewrite-endings", engine: naively(func(_ string, ops []edit.Op, right func() (string, error)) (string, error) {
			text, err := right()
			if r, ok := ops[0].(edit.Rewrite); ok {
				text = strings.Replace(text, crlf(r.Text), r.Text, 1)
				text = strings.Replace(text, r.Text+"\r\n", r.Text+"\n", 1)
			}
			return text, err
		})},
		{name: "lines rewritten by themselves get a final newline", check: "text/rewrite-own-text", engine: saved(finalNewline)},
		{name: "a file that stays as it is is written", check: "text/rewrite-own-text", engine: editsBy(func(right editFunc) editFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error) {
				outcome, err := right(ctx, fsys, path, ops, o)
				if err == nil && outcome.Diff == "" {
					r, writeErr := ambit.WriteFile(ctx, fsys, path, outcome.Content, nil)
					outcome.After, err = r.Info, writeErr
				}
				return outcome, err
			}
		})},
		{name: "a byte order mark is lost", check: "text/edit-byte-order-mark", engine: saved(func(text string) string { return strings.TrimPrefix(text, "\ufeff") })},
		{name: "a byte order mark is in front of the first line", check: "text/edit-byte-order-mark", engine: saved(func(text string) string {
			if rest, ok := strings.CutPrefix(text, "\ufeff"); ok {
				return "\ufeff\ufeff" + strings.TrimPrefix(rest, "\ufeff")
			}
			return text
		})},
		{name: "stray bytes are saved as U+FFFD", check: "text/edit-stray-bytes", engine: saved(func(text string) string { return strings.ToValidUTF8(text, "\ufffd") })},
		{name: "a file with stray bytes is not there", check: "text/edit-stray-bytes", engine: naively(func(old string, _ []edit.Op, right func() (string, error)) (string, error) {
			if strings.ToValidUTF8(old, "") != old {
				return "", ambit.ErrNotFound
			}
			return right()
		})},
		{name: "UTF-16 is taken for bytes", check: "text/edit-utf-16", engine: naively(func(old string, ops []edit.Op, right func() (string, error)) (string, error) {
			if r := firstOf(ops); r.Old != "" && !strings.Contains(old, r.Old) {
				return "", ambit.ErrNoMatch
			}
			return right()
		})},
		{name: "UTF-16 is saved as UTF-8", check: "text/edit-utf-16", engine: saved(func(text string) string { return strings.ReplaceAll(text, "\x00", "") })},
		{name: "a scanner ends the text at a long line", check: "text/edit-long-lines", engine: naively(func(old string, ops []edit.Op, _ func() (string, error)) (string, error) {
			var seen strings.Builder
			scanner := bufio.NewScanner(strings.NewReader(old))
			for scanner.Scan() {
				seen.WriteString(scanner.Text() + "\n")
			}
			r, err := edit.Apply([]byte(seen.String()), ops, nil)
			return string(r.Content), err
		})},
		{name: "a large file is saved as far as it was read", check: "text/edit-large", engine: naively(func(_ string, _ []edit.Op, right func() (string, error)) (string, error) {
			text, err := right()
			return text[:min(len(text), 4<<20)], err
		})},
		{name: "an empty text is everywhere", check: "text/edit-empty-text", engine: naively(func(old string, ops []edit.Op, right func() (string, error)) (string, error) {
			if len(ops) > 0 && firstOf(ops).Old == "" && firstOf(ops).New != "" {
				return strings.ReplaceAll(old, "", firstOf(ops).New), nil
			}
			return right()
		})},
		{name: "an empty text is not found", check: "text/edit-empty-text", engine: editsBy(func(right editFunc) editFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error) {
				outcome, err := right(ctx, fsys, path, ops, o)
				if ambit.ReasonOf(err) == ambit.ErrInvalid {
					err = ambit.Wrap("edit", path, ambit.ErrNoMatch)
				}
				return outcome, err
			}
		})},
		{name: "a negative line is counted from the end", check: "text/edit-absurd-numbers", panics: true, engine: naively(func(old string, ops []edit.Op, right func() (string, error)) (string, error) {
			if i, ok := ops[0].(edit.Insert); ok && i.After < 0 {
				lines := strings.SplitAfter(old, "\n")
				return strings.Join(append(lines[:len(lines)+i.After], i.Text), ""), nil
			}
			return right()
		})},
		{name: "a range past the end is what there is", check: "text/edit-absurd-numbers", engine: opsBy(func(op edit.Op) edit.Op {
			if r, ok := op.(edit.Rewrite); ok && r.Range.Start <= 3 && r.Range.End > 3 {
				r.Range.End = 0
				return r
			}
			return op
		})},
		{name: "a message is cut at a byte", check: "text/edit-clips-no-character", engine: editsBy(func(right editFunc) editFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error) {
				outcome, err := right(ctx, fsys, path, ops, o)
				var e *ambit.Error
				if errors.As(err, &e) && len(e.Detail) > 100 {
					e.Detail = e.Detail[:100]
				}
				return outcome, err
			}
		})},
		{name: "a diff is cut at a byte", check: "text/edit-clips-no-character", engine: editsBy(func(right editFunc) editFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error) {
				outcome, err := right(ctx, fsys, path, ops, o)
				outcome.Diff = outcome.Diff[:min(len(outcome.Diff), 1000)]
				return outcome, err
			}
		})},
		{name: "as many bytes as the limit are taken for the whole file", check: "text/edit-max-bytes", engine: editsBy(func(right editFunc) editFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error) {
				outcome, err := right(ctx, fsys, path, ops, o)
				if ambit.ReasonOf(err) != ambit.ErrTooLarge {
					return outcome, err
				}
				return naive(ctx, fsys, path, ops, *o, func(old string, ops []edit.Op, _ func() (string, error)) (string, error) {
					r, err := edit.Apply([]byte(old[:o.MaxBytes]), ops, nil)
					return string(r.Content), err
				})
			}
		})},
		{name: "a file of just the limit is too large", check: "text/edit-max-bytes", engine: editsBy(func(right editFunc) editFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error) {
				less := value(o)
				if less.MaxBytes > 0 {
					less.MaxBytes--
				}
				return right(ctx, fsys, path, ops, &less)
			}
		})},
		{name: "an edit of a missing file creates it", check: "text/edit-refused-paths", engine: refusedAs(ambit.ErrNotFound, func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op) error {
			return writeFile(ctx, fsys, path, firstOf(ops).New)
		})},
		{name: "a file is looked for before the ops are", check: "text/edit-refused-paths", engine: editsBy(func(right editFunc) editFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error) {
				if _, err := fsys.Stat(ctx, path); err != nil {
					return edit.Outcome{}, ambit.Wrap("edit", path, ambit.ReasonOf(err))
				}
				return right(ctx, fsys, path, ops, o)
			}
		})},
		{name: "an edit drops the steps that climb", check: "text/edit-out-of-the-root", engine: editsBy(func(right editFunc) editFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error) {
				return right(ctx, fsys, strings.ReplaceAll(path, "../", ""), ops, o)
			}
		})},
		{name: "the outcome tells the path as it was written", check: "text/edit-spellings", engine: editsBy(func(right editFunc) editFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error) {
				outcome, err := right(ctx, fsys, path, ops, o)
				outcome.After.Path = path
				return outcome, err
			}
		})},
		{name: "a dry run writes", check: "text/edit-dry-run", engine: editsBy(func(right editFunc) editFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error) {
				return right(ctx, fsys, path, ops, nil)
			}
		})},
		{name: "an edit goes on when its context is done", check: "text/edit-ended", engine: editsBy(func(right editFunc) editFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error) {
				return right(context.WithoutCancel(ctx), fsys, path, ops, o)
			}
		})},
		{name: "an edit tells the version that it has read", check: "text/edit-versions", engine: editsBy(func(right editFunc) editFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error) {
				outcome, err := right(ctx, fsys, path, ops, o)
				outcome.After.Version = outcome.Before.Version
				return outcome, err
			}
		})},
		{name: "an edit ignores If", check: "text/edit-versions", engine: editsBy(func(right editFunc) editFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error) {
				free := value(o)
				free.If = ambit.Precondition{}
				return right(ctx, fsys, path, ops, &free)
			}
		})},
		{name: "an edit looks for the text before the version", check: "text/edit-versions", engine: editsBy(func(right editFunc) editFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error) {
				dry := value(o)
				dry.If, dry.DryRun = ambit.Precondition{}, true
				if outcome, err := right(ctx, fsys, path, ops, &dry); err != nil {
					return outcome, err
				}
				return right(ctx, fsys, path, ops, o)
			}
		})},
		{name: "an edited file gets the mode of a temporary one", check: "text/edit-keeps-mode", engine: editsBy(func(right editFunc) editFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error) {
				outcome, err := right(ctx, fsys, path, ops, o)
				if err == nil {
					r, writeErr := ambit.WriteFile(ctx, fsys, path, outcome.Content, &ambit.WriteOptions{Mode: 0o600})
					outcome.After, err = r.Info, writeErr
				}
				return outcome, err
			}
		})},
		{name: "an edit replaces a file that nobody may write", check: "text/edit-read-only-file", engine: refusedAs(ambit.ErrPermission, func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op) error {
			return errors.Join(ambit.Remove(ctx, fsys, path, nil), writeFile(ctx, fsys, path, firstOf(ops).New+"\n"))
		})},
		{name: "an edit puts a file in the place of a link", check: "text/edit-through-link", on: onDisk, engine: editsBy(func(right editFunc) editFunc {
			return func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error) {
				data, _, err := ambit.ReadFile(ctx, fsys, path)
				if info, lstatErr := fsys.(ambit.Linker).Lstat(ctx, path); err == nil && lstatErr == nil && info.Kind == ambit.KindSymlink {
					err = errors.Join(ambit.Remove(ctx, fsys, path, nil), writeFile(ctx, fsys, path, string(data)))
				}
				if err != nil {
					return edit.Outcome{}, ambit.Wrap("edit", path, err)
				}
				return right(ctx, fsys, path, ops, o)
			}
		})},
		{name: "an edit creates what a link leads to", check: "text/edit-broken-links", on: onDisk, engine: refusedAs(ambit.ErrNotFound, func(ctx context.Context, fsys ambit.FileSystem, path string, _ []edit.Op) error {
			target, err := fsys.(ambit.Linker).ReadLink(ctx, path)
			if err != nil {
				return err
			}
			_, err = ambit.WriteFile(ctx, fsys, target, []byte("created"), &ambit.WriteOptions{Parents: true})
			return err
		})},
		{name: "an edit of a FIFO waits for a writer", check: "text/edit-fifo", on: onDisk, hangs: true, engine: editsBy(waits)},
		{name: "an edit of a link to a FIFO waits for a writer", check: "text/edit-link-to-fifo", on: onDisk, hangs: true, engine: editsBy(waits)},
		{name: "an edit writes without a precondition", check: "text/edit-meanwhile", engine: editsBy(carelessly)},
		{name: "an edit brings a removed file back", check: "text/edit-removed-meanwhile", engine: editsBy(carelessly)},
		{name: "edits at once lose each other's words", check: "text/edit-concurrently", chance: true, engine: editsBy(func(editFunc) editFunc { return withoutTurns(carelessWrite) })},
		{name: "of edits at once one succeeds", check: "text/edit-concurrently", chance: true, engine: editsBy(func(editFunc) editFunc { return withoutTurns(ambit.IfVersion) })},
		{name: "edits of two clients lose each other's words", check: "text/edit-by-peers", on: onDisk, chance: true, engine: editsBy(func(editFunc) editFunc { return withoutTurns(carelessWrite) })},
		{name: "an edit overwrites a write on the same version", check: "text/edit-beside-writes", chance: true, engine: editsBy(func(editFunc) editFunc { return withoutTurns(carelessWrite) })},
		{name: "an edit does without preconditions where there are none", check: "text/edit-literal", on: withoutSwap, unclaimed: true, engine: editsBy(carelessly)},

		{name: "a write over a version that is gone succeeds", check: "text/edit-meanwhile", breaks: ignoringIf},
		{name: "the result of a write tells the version before", check: "text/edit-versions", breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				old, _ := f.base.Stat(ctx, path)
				r, err := base(ctx, path, content, o)
				if _, conditional := o.If.Version(); conditional && err == nil {
					r.Info.Version = old.Version
				}
				return r, err
			}
		})},
		{name: "a write on a version loses the mode", check: "text/edit-keeps-mode", breaks: writes(func(_ *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if _, conditional := o.If.Version(); conditional && o.Mode == 0 {
					o.Mode = 0o644
				}
				return base(ctx, path, content, o)
			}
		})},
		{name: "ReadAt of a large file is short in the middle", check: "text/edit-large", breaks: func(f *faulty) {
			f.file = func(_ string, file ambit.File) ambit.File {
				return &faultyFile{File: file, readAt: func(p []byte, off int64) (int, error) {
					if off < 3<<20 && off+int64(len(p)) > 3<<20 {
						n, _ := readerAt(file).ReadAt(p[:3<<20-off], off)
						return n, io.EOF
					}
					return readerAt(file).ReadAt(p, off)
				}}
			}
		}},
		{name: "a write through a link replaces the link", check: "text/edit-through-link", on: onDisk, breaks: writes(func(f *faulty, base writeFunc) writeFunc {
			return func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
				if info, err := f.base.Lstat(ctx, path); err == nil && info.Kind == ambit.KindSymlink {
					data, err := readAll(content)
					if err := errors.Join(err, os.Remove(f.host+info.Path)); err != nil {
						return ambit.WriteResult{}, ambit.Wrap(ambit.OpWrite, path, err)
					}
					content, o.If = bytes.NewReader(data), ambit.Precondition{}
				}
				return base(ctx, path, content, o)
			}
		})},
	}
}

// ignoringIf takes every version for the right one.
func ignoringIf(f *faulty) {
	f.write = func(ctx context.Context, path string, content io.Reader, o ambit.WriteOptions) (ambit.WriteResult, error) {
		if _, ok := o.If.Version(); ok {
			o.If = ambit.Precondition{}
		}
		return f.base.Write(ctx, path, content, &o)
	}
	f.commit = func(ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
		free := make([]ambit.Change, len(changes))
		for i, c := range changes {
			if _, ok := c.If.Version(); ok {
				c.If = ambit.Precondition{}
			}
			free[i] = c
		}
		return f.base.Commit(ctx, free)
	}
}

func tolerantly(right editFunc) editFunc {
	return func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error) {
		tolerant := value(o)
		tolerant.Match = edit.Tolerant
		return right(ctx, fsys, path, ops, &tolerant)
	}
}

func oneByOne(right editFunc) editFunc {
	return func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error) {
		if len(ops) < 2 {
			return right(ctx, fsys, path, ops, o)
		}
		var outcome edit.Outcome
		var err error
		for _, op := range ops {
			if outcome, err = right(ctx, fsys, path, []edit.Op{op}, o); err != nil {
				break
			}
		}
		return outcome, err
	}
}

func finalNewline(text string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		return text + "\n"
	}
	return text
}

// carelessWrite is no precondition, whatever was read.
func carelessWrite(ambit.Version) ambit.Precondition { return ambit.Precondition{} }

// withoutTurns reads, changes and writes, while others do.
func withoutTurns(precondition func(ambit.Version) ambit.Precondition) editFunc {
	return func(ctx context.Context, fsys ambit.FileSystem, path string, ops []edit.Op, o *edit.Options) (edit.Outcome, error) {
		data, info, err := ambit.ReadFile(ctx, fsys, path)
		if err == nil {
			err = value(o).If.Check(&info)
		}
		var r edit.Result
		if err == nil {
			r, err = edit.Apply(data, ops, o)
		}
		var written ambit.WriteResult
		if err == nil {
			time.Sleep(window)
			written, err = ambit.WriteFile(ctx, fsys, path, r.Content, &ambit.WriteOptions{If: precondition(info.Version)})
		}
		return edit.Outcome{Result: r, Before: info, After: written.Info}, ambit.Wrap("edit", path, err)
	}
}
