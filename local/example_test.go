// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

// A folder is served as a machine of its own: a change on the condition that
// nothing has happened since it was read, and a way out that leads nowhere.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "project-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	fsys, err := local.New(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer fsys.Close()

	r, err := ambit.WriteFile(ctx, fsys, "notes/todo.txt", []byte("write tests\n"), &ambit.WriteOptions{Parents: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Info.Path, r.Info.Size, r.CreatedDirs)

	data, info, err := ambit.ReadFile(ctx, fsys, "notes/todo.txt")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s", data)

	o := &ambit.WriteOptions{If: ambit.IfVersion(info.Version)}
	_, err = ambit.WriteFile(ctx, fsys, "notes/todo.txt", []byte("done\n"), o)
	fmt.Println("first:", err)
	_, err = ambit.WriteFile(ctx, fsys, "notes/todo.txt", []byte("lost\n"), o)
	fmt.Println("second:", ambit.ReasonOf(err))

	if err := os.Symlink("/etc", dir+"/way-out"); err != nil {
		log.Fatal(err)
	}
	_, err = fsys.Open(ctx, "way-out/passwd")
	fmt.Println("outside:", ambit.ReasonOf(err))
	// Output:
	// /notes/todo.txt 12 [/notes]
	// write tests
	// first: <nil>
	// second: changed
	// outside: outside
}
