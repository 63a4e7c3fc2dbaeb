// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/aferofs"
	"github.com/ambitfs/ambit/memory"
	"github.com/spf13/afero"
)

// The contract over a file system of afero: what a disk would refuse is
// refused, with a reason.
func ExampleNew() {
	ctx := context.Background()
	tree := afero.NewMemMapFs()
	fsys := aferofs.New(tree, nil)
	if _, err := fsys.Write(ctx, "notes.txt", strings.NewReader("milk\n"), nil); err != nil {
		fmt.Println(err)
	}
	_, err := fsys.Write(ctx, "notes.txt/more", strings.NewReader("eggs\n"), nil)
	fmt.Println(ambit.ReasonOf(err))

	// The file system of afero alone does it.
	fmt.Println(afero.WriteFile(tree, "notes.txt/more", []byte("eggs\n"), 0o644))
	// Output:
	// not-a-directory
	// <nil>
}

// A file system of the contract for code that wants one of afero.
func ExampleAfero() {
	fsys := memory.New(map[string]string{"notes.txt": "milk\n"}, nil)
	af := aferofs.Afero(fsys)
	f, err := af.OpenFile("notes.txt", os.O_RDWR, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	f.Seek(0, io.SeekEnd)
	f.WriteString("eggs\n")
	seen, _ := fsys.Peek("notes.txt")
	fmt.Printf("%q\n", seen)
	fmt.Println(f.Close())
	seen, _ = fsys.Peek("notes.txt")
	fmt.Printf("%q\n", seen)
	// Output:
	// "milk\n"
	// <nil>
	// "milk\neggs\n"
}
