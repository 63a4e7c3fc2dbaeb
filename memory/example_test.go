// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package memory_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/memory"
)

func Example() {
	ctx := context.Background()
	fsys := memory.New(map[string]string{"src/main.go": "package main\n", "empty/": ""}, nil)

	data, info, err := ambit.ReadFile(ctx, fsys, "src/main.go")
	fmt.Printf("%q %v\n", data, err)

	// Somebody else is faster.
	fsys.SetFile("src/main.go", "package other\n")
	_, err = fsys.Write(ctx, "src/main.go", strings.NewReader("package mine\n"), &ambit.WriteOptions{If: ambit.IfVersion(info.Version)})
	fmt.Println(ambit.ReasonOf(err))

	content, ok := fsys.Peek("src/main.go")
	fmt.Printf("%q %v\n", content, ok)
	// Output:
	// "package main\n" <nil>
	// changed
	// "package other\n" true
}

// A disk that is full, as often as the test wants.
func ExampleOptions() {
	fsys := memory.New(map[string]string{"log": "one\n"}, &memory.Options{
		Faults: func(op, path string) error {
			if op == ambit.OpAppend && path == "/log" {
				return ambit.ErrNoSpace
			}
			return nil
		},
	})
	_, err := fsys.Append(context.Background(), "log", strings.NewReader("two\n"), nil)
	content, _ := fsys.Peek("log")
	fmt.Printf("%v\n%q\n", err, content)
	// Output:
	// append log: no-space
	// "one\n"
}
