// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error is the failure of one call: what was asked, the [Reason], and the
// facts that a program may want. Every failure of every function of this
// library is an *Error (inside an [fs.PathError] where package io/fs wants
// one), except that a read ends with plain [io.EOF].
//
// Facts are fields; none has to be parsed out of a text. A fact that does not
// apply is the zero value. No field and no message ever carries a path of the
// host, only paths of the machine that the file system shows.
type Error struct {
	Op     string // the operation, one of the Op constants or an engine's own name
	Path   string // the path as the caller wrote it
	Reason Reason

	Kind        Kind     // what is there instead (not-a-file, exists)
	Target      string   // the canonical machine path the call ended at, by text where a link was refused
	MissingDirs []string // the missing folders above Target, outermost first (not-found)
	Rule        string   // the name of the rule that refused (denied)
	Lines       []int    // 1-based line numbers: of the places found (ambiguous), of what is nearest (no-match), of what stands in the way (not-text, invalid)
	Total       int      // lines of the file (out-of-range), places found (ambiguous)
	Limit       int64    // the limit in bytes (too-large)
	Size        int64    // the size in bytes that was over the limit, as far as it is known (too-large)
	Detail      string   // one more sentence for people: what is wrong, or what to do
	Err         error    // the cause: an errno, the context's error, or the caller's own reader's; may be nil
}

// Error returns one line: operation, path, reason, then the facts.
func (e *Error) Error() string {
	if e == nil {
		return "<nil>"
	}
	var b strings.Builder
	if e.Op != "" {
		b.WriteString(oneLine(e.Op))
		b.WriteByte(' ')
	}
	if e.Path != "" || e.Op != "" {
		b.WriteString(printable(e.Path))
		b.WriteString(": ")
	}
	b.WriteString(oneLine(string(e.Reason)))
	if e.Kind != KindUnknown {
		fmt.Fprintf(&b, " (%s)", e.Kind)
	}
	if e.Rule != "" {
		fmt.Fprintf(&b, " (rule %s)", printable(e.Rule))
	}
	if len(e.MissingDirs) > 0 {
		fmt.Fprintf(&b, " (missing folder %s)", printable(e.MissingDirs[0]))
	}
	if e.Limit > 0 {
		fmt.Fprintf(&b, " (limit %d bytes)", e.Limit)
	}
	if e.Reason == ErrOutOfRange {
		fmt.Fprintf(&b, " (%d lines)", e.Total)
	}
	if e.Reason == ErrAmbiguous {
		fmt.Fprintf(&b, " (%d places, lines %v)", e.Total, e.Lines)
	}
	if e.Detail != "" {
		b.WriteString(": ")
		b.WriteString(oneLine(e.Detail))
	} else if e.Reason == ErrIO {
		if err := withoutHostPath(e.Err); err != nil {
			b.WriteString(": ")
			b.WriteString(oneLine(err.Error()))
		}
	}
	return b.String()
}

// printable keeps a hostile name from forging lines in a log or a terminal.
func printable(s string) string {
	if s == "" {
		return `""`
	}
	if !isPrintable(s) {
		return strconv.Quote(s)
	}
	return s
}

// oneLine does for a sentence what printable does for a name: it escapes what
// would forge a line and leaves the rest readable.
func oneLine(s string) string {
	if isPrintable(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 || !unicode.IsPrint(r) {
			quoted := strconv.Quote(s[:n])
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

func isPrintable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// Unwrap returns the cause: an errno, the context's error, or the error of the
// caller's own reader.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// Is reports whether target is e's reason or the standard sentinel that the
// reason stands for.
func (e *Error) Is(target error) bool {
	if e == nil {
		return false
	}
	if r, ok := target.(Reason); ok {
		return r == e.Reason
	}
	return e.Reason.Is(target)
}

// Wrap is how an author of a backend or wrapper returns a failure: as an
// [*Error] of the operation and of the path as the caller wrote it. nil stays
// nil. A [Reason] or an [*Error] in err's chain keeps its reason and facts;
// anything else is classified as [ReasonOf] does. Paths that the standard
// library put into err (a [fs.PathError], an [os.LinkError]) are dropped, since
// they name places of the host: what stays in the chain is the errno beneath.
// A cause that would match a sentinel or reason which the error's reason does
// not stand for is dropped as well, so that errors.Is gives one answer on
// every backend. What the caller's own content reader said, through
// [Content], stays as it is.
func Wrap(op, path string, err error) error {
	if err == nil {
		return nil
	}
	var known *Error
	if errors.As(err, &known) && known != nil {
		e := *known
		e.Op, e.Path = op, path
		if e.Reason == "" {
			e.Reason = ReasonOf(err)
		}
		e.Err = causeFor(e.Reason, known.Err)
		return &e
	}
	e := &Error{Op: op, Path: path, Reason: ReasonOf(err)}
	cause := withoutHostPath(err)
	var r Reason
	if errors.As(cause, &r) {
		if text := cause.Error(); text != string(r) {
			e.Detail = strings.TrimPrefix(text, string(r)+": ")
		}
		return e
	}
	e.Err = causeFor(e.Reason, cause)
	return e
}

// causeFor returns what of err may stay in the chain of an error with reason
// r, if anything.
func causeFor(r Reason, err error) error {
	var own *callersError
	if errors.As(err, &own) {
		return err
	}
	if err = withoutHostPath(err); err == nil || contradicts(r, err) {
		return nil
	}
	return err
}

// callersError is an error that the caller of an operation brought along: of a
// content reader, or the cause of a context's end. It stays in the chain
// whatever it is, and only its text is kept from naming places of the host.
type callersError struct{ err error }

func (c *callersError) Error() string {
	if err := withoutHostPath(c.err); err != nil {
		return err.Error()
	}
	return string(ErrIO)
}

func (c *callersError) Unwrap() error { return c.err }

// withoutHostPath returns what err says beneath the standard library's errors
// that name a path, nil if that is nothing.
func withoutHostPath(err error) error {
	for err != nil {
		var pathErr *fs.PathError
		var linkErr *os.LinkError
		var callErr *os.SyscallError
		var inner error
		switch {
		case errors.As(err, &pathErr):
			inner = pathErr.Err
		case errors.As(err, &linkErr):
			inner = linkErr.Err
		case errors.As(err, &callErr):
			inner = callErr.Err
		default:
			return err
		}
		err = inner
	}
	return nil
}

// LogValue makes package log/slog record the reason and the facts as
// attributes.
func (e *Error) LogValue() slog.Value {
	if e == nil {
		return slog.Value{}
	}
	attrs := []slog.Attr{
		slog.String("op", e.Op), slog.String("path", e.Path), slog.String("reason", string(e.Reason)),
	}
	add := func(given bool, a slog.Attr) {
		if given {
			attrs = append(attrs, a)
		}
	}
	add(e.Kind != KindUnknown, slog.String("kind", e.Kind.String()))
	add(e.Target != "", slog.String("target", e.Target))
	add(len(e.MissingDirs) > 0, slog.Any("missingDirs", e.MissingDirs))
	add(e.Rule != "", slog.String("rule", e.Rule))
	add(len(e.Lines) > 0, slog.Any("lines", e.Lines))
	add(e.hasTotal(), slog.Int("total", e.Total))
	add(e.Limit != 0, slog.Int64("limit", e.Limit))
	add(e.Size != 0, slog.Int64("size", e.Size))
	add(e.Detail != "", slog.String("detail", e.Detail))
	add(e.Err != nil, slog.Any("cause", e.Err))
	return slog.GroupValue(attrs...)
}

// hasTotal: for these reasons a total of zero is a fact too.
func (e *Error) hasTotal() bool {
	return e.Total != 0 || e.Reason == ErrOutOfRange || e.Reason == ErrAmbiguous
}

// errorJSON is the shape of an Error in JSON. Names are bytes: one that is not
// UTF-8 stands with U+FFFD for people, beside a key ending in _b64 that has
// the bytes and wins when it is read.
type errorJSON struct {
	Op            string   `json:"op,omitempty"`
	Path          string   `json:"path"`
	PathB64       []byte   `json:"path_b64,omitempty"`
	Reason        Reason   `json:"reason"`
	Message       string   `json:"message,omitempty"`
	Kind          Kind     `json:"kind,omitzero"`
	Target        string   `json:"target,omitempty"`
	TargetB64     []byte   `json:"target_b64,omitempty"`
	MissingDirs   []string `json:"missingDirs,omitempty"`
	MissingDirB64 []string `json:"missingDirs_b64,omitempty"`
	Rule          string   `json:"rule,omitempty"`
	RuleB64       []byte   `json:"rule_b64,omitempty"`
	Lines         []int    `json:"lines,omitempty"`
	Total         *int     `json:"total,omitempty"`
	Limit         int64    `json:"limit,omitempty"`
	Size          int64    `json:"size,omitempty"`
	Detail        string   `json:"detail,omitempty"`
	DetailB64     []byte   `json:"detail_b64,omitempty"`
}

// MarshalJSON writes the operation, path, reason, message and facts; the cause
// is a matter of this process and stays out.
func (e *Error) MarshalJSON() ([]byte, error) {
	if e == nil {
		return []byte("null"), nil
	}
	j := errorJSON{
		Op: e.Op, Path: e.Path, PathB64: strayBytes(e.Path), Reason: e.Reason, Message: e.Error(),
		Kind: e.Kind, Target: e.Target, TargetB64: strayBytes(e.Target), MissingDirs: e.MissingDirs,
		Rule: e.Rule, RuleB64: strayBytes(e.Rule), Lines: e.Lines, Limit: e.Limit, Size: e.Size,
		Detail: e.Detail, DetailB64: strayBytes(e.Detail),
	}
	if e.hasTotal() {
		j.Total = &e.Total
	}
	for _, dir := range e.MissingDirs {
		if !utf8.ValidString(dir) {
			for _, dir := range e.MissingDirs {
				j.MissingDirB64 = append(j.MissingDirB64, base64.StdEncoding.EncodeToString([]byte(dir)))
			}
			break
		}
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote; unknown keys are left alone.
func (e *Error) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil // by the convention of package json
	}
	var j errorJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*e = Error{
		Op: j.Op, Path: j.Path, Reason: j.Reason, Kind: j.Kind, Target: j.Target, MissingDirs: j.MissingDirs,
		Rule: j.Rule, Lines: j.Lines, Limit: j.Limit, Size: j.Size, Detail: j.Detail,
	}
	if j.Total != nil {
		e.Total = *j.Total
	}
	for _, b := range []struct {
		text  *string
		bytes []byte
	}{{&e.Path, j.PathB64}, {&e.Target, j.TargetB64}, {&e.Rule, j.RuleB64}, {&e.Detail, j.DetailB64}} {
		if b.bytes != nil {
			*b.text = string(b.bytes)
		}
	}
	if j.MissingDirB64 != nil {
		e.MissingDirs = nil
		for _, dir := range j.MissingDirB64 {
			b, err := base64.StdEncoding.DecodeString(dir)
			if err != nil {
				return err
			}
			e.MissingDirs = append(e.MissingDirs, string(b))
		}
	}
	return nil
}

func strayBytes(s string) []byte {
	if utf8.ValidString(s) {
		return nil
	}
	return []byte(s)
}
