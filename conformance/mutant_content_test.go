// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"bytes"
	"context"
	"io"
	"reflect"

	"github.com/ambitfs/ambit"
)

// readAll is io.ReadAll, but for a nil reader, which is the error that a
// backend would find in it.
func readAll(content io.Reader) ([]byte, error) {
	return io.ReadAll(ambit.Content(context.Background(), content, 0))
}

// isNil reports that content is a nil reader, of a type or of none.
func isNil(content io.Reader) bool {
	v := reflect.ValueOf(content)
	return content == nil || v.Kind() == reflect.Pointer && v.IsNil()
}

// rest reads data and then fails with err, if there is one.
func rest(data []byte, err error) io.Reader {
	if err == nil {
		return bytes.NewReader(data)
	}
	return io.MultiReader(bytes.NewReader(data), readerFunc(func([]byte) (int, error) { return 0, err }))
}

type readerFunc func(p []byte) (int, error)

func (r readerFunc) Read(p []byte) (int, error) { return r(p) }

// lazy makes its reader when it is first read.
func lazy(make func() io.Reader) io.Reader {
	var r io.Reader
	return readerFunc(func(p []byte) (int, error) {
		if r == nil {
			r = make()
		}
		return r.Read(p)
	})
}

type countingReader struct {
	r io.Reader
	n *int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	*c.n += int64(n)
	return n, err
}

// retaining keeps the slice that is written to it.
type retaining struct{ p []byte }

func (r *retaining) Write(p []byte) (int, error) {
	r.p = p
	return len(p), nil
}
