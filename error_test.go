// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ambitfs/ambit"
	"github.com/google/go-cmp/cmp"
)

func TestErrorMessage(t *testing.T) {
	var typedNil *ambit.Error
	for _, test := range []struct {
		err  *ambit.Error
		want string
	}{
		{typedNil, `<nil>`},
		{&ambit.Error{Reason: ambit.ErrInvalid}, `invalid`},
		{&ambit.Error{Op: "open", Path: "a/b", Reason: ambit.ErrNotFound}, `open a/b: not-found`},
		{&ambit.Error{Op: "open", Reason: ambit.ErrInvalidPath}, `open "": invalid-path`},
		{&ambit.Error{Path: "a", Reason: ambit.ErrDenied}, `a: denied`},
		{&ambit.Error{Op: "open", Path: "d", Reason: ambit.ErrNotAFile, Kind: ambit.KindFIFO}, `open d: not-a-file (fifo)`},
		{&ambit.Error{Op: "open", Path: "d", Reason: ambit.ErrDenied, Rule: "no keys"}, `open d: denied (rule no keys)`},
		{
			&ambit.Error{Op: "write", Path: "a/b/c", Reason: ambit.ErrNotFound, Target: "/a/b/c", MissingDirs: []string{"/a", "/a/b"}},
			`write a/b/c: not-found (missing folder /a)`,
		},
		{&ambit.Error{Op: "open", Path: "a", Reason: ambit.ErrTooLarge, Limit: 10, Size: 11}, `open a: too-large (limit 10 bytes)`},
		{&ambit.Error{Op: "read", Path: "a", Reason: ambit.ErrOutOfRange}, `read a: out-of-range (0 lines)`},
		{
			&ambit.Error{Op: "edit", Path: "a", Reason: ambit.ErrAmbiguous, Total: 3, Lines: []int{1, 7, 9}},
			`edit a: ambiguous (3 places, lines [1 7 9])`,
		},
		{&ambit.Error{Op: "open", Path: "a", Reason: ambit.ErrIO, Err: errors.New("the disk burns")}, `open a: io: the disk burns`},
		{&ambit.Error{Op: "open", Path: "a", Reason: ambit.ErrChanged, Err: errors.New("x")}, `open a: changed`},
		{
			&ambit.Error{Op: "open", Path: "a", Reason: ambit.ErrIO, Detail: "a sentence", Err: errors.New("x")},
			`open a: io: a sentence`,
		},

		// Names and texts of somebody hostile stay on their line.
		{&ambit.Error{Op: "open", Path: "a\nwrite b: denied", Reason: ambit.ErrNotFound}, `open "a\nwrite b: denied": not-found`},
		{&ambit.Error{Op: "open", Path: "\x1b[31m", Reason: ambit.ErrNotFound}, `open "\x1b[31m": not-found`},
		{&ambit.Error{Op: "open", Path: "\u202egpj.exe", Reason: ambit.ErrNotFound}, `open "\u202egpj.exe": not-found`},
		{&ambit.Error{Op: "open", Path: "v\u00a013", Reason: ambit.ErrNotFound}, `open "v\u00a013": not-found`},
		{&ambit.Error{Op: "open", Path: "\xff", Reason: ambit.ErrNotFound}, `open "\xff": not-found`},
		{&ambit.Error{Op: "open", Path: "grüße 你好", Reason: ambit.ErrNotFound}, `open grüße 你好: not-found`},
		{&ambit.Error{Op: "open", Path: "a", Reason: ambit.ErrDenied, Rule: "x\ny"}, `open a: denied (rule "x\ny")`},
		{&ambit.Error{Op: "open", Path: "a", Reason: ambit.ErrNotFound, MissingDirs: []string{"/x\n"}}, `open a: not-found (missing folder "/x\n")`},
		{&ambit.Error{Op: "open", Path: "a", Reason: ambit.ErrIO, Detail: "say \"x\"\n\\ \xff"}, `open a: io: say "x"\n\ \xff`},
		{&ambit.Error{Op: "open", Path: "a", Reason: ambit.ErrIO, Err: errors.New("x\ny")}, `open a: io: x\ny`},
		{&ambit.Error{Op: "o\n", Path: "a", Reason: "r\n"}, `o\n a: r\n`},
	} {
		if got := test.err.Error(); got != test.want {
			t.Errorf("message %q, want %q", got, test.want)
		}
	}
}

func FuzzErrorMessageIsOneLine(f *testing.F) {
	f.Add("open", "a\nb", "io", "rule\r", "detail\u2028", "cause\x85")
	f.Fuzz(func(t *testing.T, op, path, reason, rule, detail, cause string) {
		for _, e := range []*ambit.Error{
			{Op: op, Path: path, Reason: ambit.Reason(reason), Rule: rule, Detail: detail, MissingDirs: []string{path}},
			{Op: op, Path: path, Reason: ambit.ErrIO, Err: errors.New(cause)},
		} {
			message := e.Error()
			if !utf8.ValidString(message) || strings.ContainsAny(message, "\n\r\x00\x1b\v\f\u0085\u2028\u2029\u202e") {
				t.Fatalf("message %q", message)
			}
		}
	})
}

// facts are fields with something in each of them.
func facts() ambit.Error {
	return ambit.Error{
		Op: "open", Path: "a", Reason: ambit.ErrAmbiguous, Kind: ambit.KindFIFO, Target: "/a", MissingDirs: []string{"/x", "/x/y"},
		Rule: "rule", Lines: []int{1, 2}, Total: 3, Limit: 4, Size: 5, Detail: "detail", Err: errors.New("cause"),
	}
}

func TestFactsAreWhole(t *testing.T) {
	v := reflect.ValueOf(facts())
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("facts leaves out %s", v.Type().Field(i).Name)
		}
	}
}

func TestErrorJSON(t *testing.T) {
	const stray = "\xff/\xc3\x28"
	for _, want := range []ambit.Error{
		facts(),
		{Reason: ambit.ErrIO},
		{Op: "read", Path: "a", Reason: ambit.ErrOutOfRange, Total: 0},
		{Op: "edit", Path: "a", Reason: ambit.ErrAmbiguous, Total: 0},
		{Op: "open", Path: stray, Reason: ambit.ErrNotFound, Target: "/" + stray, MissingDirs: []string{"/ok", "/" + stray}},
		{Op: "open", Path: "a", Reason: ambit.ErrDenied, Rule: stray, Detail: stray},
		{Op: "open", Path: "<&>\u2028\x00\n", Reason: ambit.ErrNotFound},
		{Op: "open", Path: "\ufffd", Reason: ambit.ErrNotFound},
	} {
		data, err := json.Marshal(&want)
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(data) {
			t.Errorf("JSON %q is not UTF-8", data)
		}
		var got ambit.Error
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		want.Err = nil // of this process alone
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", data, diff)
		}
	}

	var typedNil *ambit.Error
	if data, err := json.Marshal(typedNil); err != nil || string(data) != "null" {
		t.Errorf("a typed nil is %s, %v", data, err)
	}
	e := facts()
	if err := e.UnmarshalJSON([]byte("null")); err != nil || !reflect.DeepEqual(e, facts()) {
		t.Errorf("null changed the error: %v", err)
	}
	for _, bad := range []string{``, `[]`, `{"path": 1}`, `{"missingDirs_b64": ["?"]}`, `{"path_b64": "?"}`} {
		if err := new(ambit.Error).UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	unknown := new(ambit.Error)
	if err := json.Unmarshal([]byte(`{"path": "a", "reason": "from-the-future", "kind": "door", "more": {}}`), unknown); err != nil {
		t.Error(err)
	}
	if unknown.Reason != "from-the-future" || unknown.Kind != ambit.KindUnknown {
		t.Errorf("%+v", unknown)
	}
}

func TestErrorJSONOfAnyBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		b := make([]byte, r.IntN(6))
		for i := range b {
			b[i] = byte(r.IntN(256))
		}
		return string(b)
	}
	for range 2000 {
		want := ambit.Error{
			Op: "open", Path: text(), Reason: ambit.ErrNotFound, Target: text(), Rule: text(), Detail: text(),
			MissingDirs: []string{text(), text()},
		}
		data, err := json.Marshal(&want)
		if err != nil {
			t.Fatal(err)
		}
		var got ambit.Error
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", data, diff)
		}
	}
}

func TestErrorLogValue(t *testing.T) {
	record := func(err error) map[string]any {
		var b bytes.Buffer
		slog.New(slog.NewJSONHandler(&b, nil)).Info("m", "err", err)
		var line struct{ Err map[string]any }
		if err := json.Unmarshal(b.Bytes(), &line); err != nil {
			t.Fatalf("%s: %v", b.Bytes(), err)
		}
		return line.Err
	}
	e := facts()
	want := map[string]any{
		"op": "open", "path": "a", "reason": "ambiguous", "kind": "fifo", "target": "/a", "missingDirs": []any{"/x", "/x/y"},
		"rule": "rule", "lines": []any{1., 2.}, "total": 3., "limit": 4., "size": 5., "detail": "detail", "cause": "cause",
	}
	if diff := cmp.Diff(want, record(&e)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := reflect.TypeFor[ambit.Error]().NumField(); len(want) != n {
		t.Errorf("%d attributes of an error with %d fields", len(want), n)
	}
	want = map[string]any{"op": "read", "path": "a", "reason": "out-of-range", "total": 0.}
	if diff := cmp.Diff(want, record(&ambit.Error{Op: "read", Path: "a", Reason: ambit.ErrOutOfRange})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var typedNil *ambit.Error
	var b bytes.Buffer
	slog.New(slog.NewTextHandler(&b, nil)).Info("m", "err", typedNil)
	if !strings.Contains(b.String(), "err=") {
		t.Errorf("a typed nil is logged as %q", b.String())
	}
}

func TestErrorOfNil(t *testing.T) {
	var typedNil *ambit.Error
	if typedNil.Unwrap() != nil || typedNil.Is(ambit.ErrIO) || typedNil.Is(nil) {
		t.Error("a nil *Error is something")
	}
}

func TestWrapKeepsReasonAndFacts(t *testing.T) {
	if err := ambit.Wrap("open", "p", nil); err != nil {
		t.Errorf("Wrap of nil is %#v", err)
	}
	original := facts()
	want := facts()
	want.Op, want.Path = "stat", "as/written"
	for name, err := range map[string]error{
		"itself":      &original,
		"wrapped":     fmt.Errorf("/host/x: %w", &original),
		"joined":      errors.Join(errors.New("/host/x"), &original),
		"in io/fs":    &fs.PathError{Op: "open", Path: "/host/x", Err: &original},
		"by Wrap too": ambit.Wrap("open", "other", &original),
	} {
		got, ok := ambit.Wrap("stat", "as/written", err).(*ambit.Error)
		if !ok {
			t.Fatalf("%s: %T", name, err)
		}
		want.Err = got.Err
		if diff := cmp.Diff(want, *got, cmp.Comparer(func(a, b error) bool { return a == b })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got.Err == nil || got.Err.Error() != "cause" {
			t.Errorf("%s: cause %v", name, got.Err)
		}
	}
	if diff := cmp.Diff(facts(), original, cmp.Comparer(func(a, b error) bool { return a.Error() == b.Error() })); diff != "" {
		t.Errorf("Wrap changed what it was given (-want +got):\n%s", diff)
	}

	wantReason(t, ambit.Wrap("open", "p", &ambit.Error{Err: fs.ErrNotExist}), "open", "p", ambit.ErrNotFound)
	wantReason(t, ambit.Wrap("open", "p", (*ambit.Error)(nil)), "open", "p", ambit.ErrIO)
	wantReason(t, ambit.Wrap("open", "p", &fs.PathError{Op: "open", Path: "/host"}), "open", "p", ambit.ErrIO)

	e := wantReason(t, ambit.Wrap("open", "p", fmt.Errorf("%w: keep out", ambit.ErrDenied)), "open", "p", ambit.ErrDenied)
	if e.Detail != "keep out" || e.Err != nil {
		t.Errorf("%+v", e)
	}
	cause := errors.New("own cause")
	if err := ambit.Wrap("open", "p", fmt.Errorf("more: %w", cause)); !errors.Is(err, cause) {
		t.Error("an unknown cause is not in the chain")
	}
}

// TestWrapDropsWhatContradicts: one answer of errors.Is for one reason.
func TestWrapDropsWhatContradicts(t *testing.T) {
	for name, err := range map[string]error{
		"a cause beside its reason":  &ambit.Error{Reason: ambit.ErrNotEmpty, Err: fs.ErrExist},
		"another Error beneath":      &ambit.Error{Reason: ambit.ErrNotEmpty, Err: &ambit.Error{Reason: ambit.ErrDenied}},
		"another reason beneath":     &ambit.Error{Reason: ambit.ErrNotEmpty, Err: fmt.Errorf("x: %w", ambit.ErrChanged)},
		"a joined cause":             &ambit.Error{Reason: ambit.ErrNotEmpty, Err: errors.Join(errors.New("x"), fs.ErrClosed)},
		"a context's end underneath": &ambit.Error{Reason: ambit.ErrNotEmpty, Err: &fs.PathError{Err: context.Canceled}},
		"two reasons":                fmt.Errorf("%w, %w", ambit.ErrNotEmpty, ambit.ErrDenied),
		"a stranger":                 &ambit.Error{Reason: ambit.ErrNotEmpty, Err: stranger{is: []error{fs.ErrInvalid}}},
	} {
		err := ambit.Wrap("remove", "p", err)
		wantReason(t, err, "remove", "p", ambit.ErrNotEmpty)
		for _, sentinel := range others {
			if errors.Is(err, sentinel) {
				t.Errorf("%s: it is %v", name, sentinel)
			}
		}
		for _, row := range reasons {
			if errors.Is(err, row.reason) != (row.reason == ambit.ErrNotEmpty) {
				t.Errorf("%s: it is %s", name, row.text)
			}
		}
	}
}

// TestWrapTellsNoHostPath nests the standard library's errors in every order, four deep, beneath and above what this
// library makes, and looks for the paths in them.
func TestWrapTellsNoHostPath(t *testing.T) {
	const host = "/home/somebody"
	leaf := errors.New("leaf")
	around := []func(error) error{
		func(err error) error { return &fs.PathError{Op: "open", Path: host, Err: err} },
		func(err error) error { return &os.LinkError{Op: "rename", Old: host, New: host, Err: err} },
		func(err error) error { return os.NewSyscallError("openat", err) },
		func(err error) error { return fmt.Errorf("more: %w", err) },
		func(err error) error { return errors.Join(errors.New("first"), err) },
		func(err error) error { return errors.Join(&fs.PathError{Op: "stat", Path: host}, err) },
		func(err error) error { return &ambit.Error{Reason: ambit.ErrIO, Err: err} },
	}
	tried, positive := 0, 0
	var nest func(err error, depth int)
	nest = func(err error, depth int) {
		tried++
		if strings.Contains(fmt.Sprintf("%v %+v", err, err), host) {
			positive++
		}
		wrapped := ambit.Wrap("open", "p", err)
		wantReason(t, wrapped, "open", "p", ambit.ErrIO)
		tellsNoHostPath(t, wrapped, host)
		if depth == 0 {
			return
		}
		for _, f := range around {
			nest(f(err), depth-1)
		}
	}
	nest(leaf, 4)
	if positive < tried/4 {
		t.Errorf("only %d of %d errors name the path before", positive, tried)
	}
}

// tellsNoHostPath looks at the message of err, its log record, its JSON, and at every error in its chain.
func tellsNoHostPath(t *testing.T, err error, host string) {
	t.Helper()
	var b bytes.Buffer
	slog.New(slog.NewTextHandler(&b, nil)).Info("m", "err", err)
	data, jsonErr := json.Marshal(err)
	if jsonErr != nil {
		t.Fatal(jsonErr)
	}
	for _, text := range []string{err.Error(), b.String(), string(data)} {
		if strings.Contains(text, host) {
			t.Fatalf("%q names %s", text, host)
		}
	}
	var chain func(err error)
	chain = func(err error) {
		if err == nil {
			return
		}
		if strings.Contains(fmt.Sprintf("%v", err), host) {
			t.Fatalf("%T in the chain names %s: %v", err, host, err)
		}
		switch u := err.(type) {
		case interface{ Unwrap() error }:
			chain(u.Unwrap())
		case interface{ Unwrap() []error }:
			for _, err := range u.Unwrap() {
				chain(err)
			}
		}
	}
	chain(err)
}

// TestCallersOwnErrorStays: what the caller's reader said is in the chain, whatever it matches; only texts are kept from
// naming places of the host.
func TestCallersOwnErrorStays(t *testing.T) {
	const host = "/home/somebody"
	own := &fs.PathError{Op: "read", Path: host, Err: fs.ErrPermission}
	_, err := io.ReadAll(ambit.Content(t.Context(), failingReader{own}, 0))
	for range 3 {
		err = ambit.Wrap("write", "p", err)
		e := wantReason(t, err, "write", "p", ambit.ErrIO)
		var found *fs.PathError
		if !errors.As(err, &found) || found != own || !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%v is not in the chain of %v", own, err)
		}
		if want := "write p: io: permission denied"; e.Error() != want {
			t.Errorf("message %q, want %q", e.Error(), want)
		}
		var b bytes.Buffer
		slog.New(slog.NewTextHandler(&b, nil)).Info("m", "err", err)
		if strings.Contains(b.String(), host) {
			t.Errorf("log record %q", b.String())
		}
	}
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }
