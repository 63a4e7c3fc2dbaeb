// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Custombackend is a complete backend of another kind, a file system over a
// key-value map (store.go, file.go), and shows it at work: callers get
// appending, renaming and several changes at once from package ambit, and the
// conformance suite proves the backend.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/ambitfs/ambit"
)

func main() {
	ctx := context.Background()
	store, err := NewStore(map[string]string{"notes/todo.txt": "write a backend\n"})
	if err != nil {
		log.Fatal(err)
	}

	// Store has no Append and no Rename: these are the fallbacks, by
	// compare and swap.
	if _, err := ambit.Append(ctx, store, "notes/todo.txt", strings.NewReader("run the suite\n"), nil); err != nil {
		log.Fatal(err)
	}
	if _, err := ambit.Rename(ctx, store, "notes/todo.txt", "notes/done.txt", nil); err != nil {
		log.Fatal(err)
	}
	data, info, err := ambit.ReadFile(ctx, store, "notes/done.txt")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s:\n%s", info.Path, data)

	_, err = ambit.WriteFile(ctx, store, "notes/done.txt", []byte("lost\n"), &ambit.WriteOptions{If: ambit.IfVersion("1")})
	fmt.Println("a stale version:", ambit.ReasonOf(err))
	_, err = store.Open(ctx, "notes/done.txt/x")
	fmt.Println("a file used as a folder:", ambit.ReasonOf(err))
}
