// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package lineaddr_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/lineaddr"
	"github.com/ambitfs/ambit/memory"
)

func ExampleSlice() {
	text := "alpha\nbeta\ngamma\n"
	w, err := lineaddr.Slice(strings.NewReader(text), lineaddr.Range{Start: 2, End: 9})
	fmt.Printf("%q: lines %d to %d of %d, %v\n", w.Text, w.First, w.Last, w.Total, err)

	_, err = lineaddr.Slice(strings.NewReader(text), lineaddr.Range{Start: 300, End: 400})
	if e, ok := errors.AsType[*ambit.Error](err); ok {
		fmt.Println(e.Reason, e.Total)
	}
	// Output:
	// "beta\ngamma\n": lines 2 to 3 of 3, <nil>
	// out-of-range 3
}

func ExampleTail() {
	fsys := memory.New(map[string]string{"log": "one\ntwo\nthree\n"}, nil)
	f, err := fsys.Open(context.Background(), "/log")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	w, err := lineaddr.Tail(f, 2)
	fmt.Printf("%q %v\n", w.Text, err)
	// Output: "two\nthree\n" <nil>
}

func ExampleSplice() {
	content := []byte("one\r\ntwo\r\nthree")
	content, err := lineaddr.Splice(content, lineaddr.Range{Start: 2, End: 2}, []byte("TWO"))
	fmt.Printf("%q %v\n", content, err)
	content, err = lineaddr.Insert(content, 3, []byte("four"))
	fmt.Printf("%q %v\n", content, err)
	// Output:
	// "one\r\nTWO\r\nthree" <nil>
	// "one\r\nTWO\r\nthree\r\nfour" <nil>
}
