// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package local_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

// exampleFolder makes a folder with these files in it; a name that ends in a
// slash is a folder.
func exampleFolder(names ...string) (dir string, remove func()) {
	dir, err := os.MkdirTemp("", "project-")
	if err != nil {
		log.Fatal(err)
	}
	// Under its own name, whatever links have led to it.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		log.Fatal(err)
	}
	for _, name := range names {
		at := filepath.Join(dir, filepath.FromSlash(name))
		above := filepath.Dir(at)
		if strings.HasSuffix(name, "/") {
			above = at
		}
		if err := os.MkdirAll(above, 0o777); err != nil {
			log.Fatal(err)
		}
		if above == at {
			continue
		}
		if err := os.WriteFile(at, []byte("old\n"), 0o666); err != nil {
			log.Fatal(err)
		}
	}
	return dir, func() { os.RemoveAll(dir) }
}

// A folder is served as a machine of its own: a change on the condition that
// nothing has happened since it was read, and a way out that leads nowhere.
func ExampleNew() {
	ctx := context.Background()
	dir, remove := exampleFolder()
	defer remove()
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

// Several folders keep their own paths. The folders above them show the way and
// nothing else.
func ExampleHost() {
	ctx := context.Background()
	dir, remove := exampleFolder("app/main.go", "docs/guide.md", "private/key")
	defer remove()
	app, docs := filepath.Join(dir, "app"), filepath.Join(dir, "docs")
	fsys, err := local.Host([]string{app, docs}, &local.Options{ReadOnly: []string{docs}})
	if err != nil {
		log.Fatal(err)
	}
	defer fsys.Close()

	l, err := fsys.List(ctx, dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range l.Entries {
		fmt.Println(e.Name)
	}
	// The first root is the working directory.
	info, err := fsys.Stat(ctx, "main.go")
	fmt.Println(info.Path == app+"/main.go", err)
	_, err = fsys.Open(ctx, dir+"/private/key")
	fmt.Println(ambit.ReasonOf(err))
	_, err = ambit.WriteFile(ctx, fsys, docs+"/guide.md", nil, nil)
	fmt.Println(ambit.ReasonOf(err))
	// Output:
	// app
	// docs
	// true <nil>
	// outside
	// read-only
}

// What is denied is denied through every link too, and what is read-only can
// be read. An error tells which rule it was.
func ExampleOptions() {
	ctx := context.Background()
	dir, remove := exampleFolder("src/main.go", ".git/config", "vendor/lib.go")
	defer remove()
	if err := os.Symlink(".git", filepath.Join(dir, "history")); err != nil {
		log.Fatal(err)
	}
	fsys, err := local.New(dir, &local.Options{
		Deny:     []string{"/.git", "/.env"}, // there or not
		ReadOnly: []string{"/vendor"},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer fsys.Close()

	for _, path := range []string{".git/config", "history/config", ".env", "vendor/lib.go", "src/main.go"} {
		_, _, err := ambit.ReadFile(ctx, fsys, path)
		var rule string
		if e, ok := err.(*ambit.Error); ok {
			rule = e.Rule
		}
		fmt.Printf("read %s: %q %q\n", path, ambit.ReasonOf(err), rule)
	}
	_, err = ambit.WriteFile(ctx, fsys, "vendor/lib.go", nil, nil)
	fmt.Println("write vendor/lib.go:", ambit.ReasonOf(err))
	// Output:
	// read .git/config: "denied" "deny"
	// read history/config: "denied" "deny"
	// read .env: "denied" "deny"
	// read vendor/lib.go: "" ""
	// read src/main.go: "" ""
	// write vendor/lib.go: read-only
}

// A path of the machine becomes one of the host, for a program that is no part
// of this one; what the file system refuses has none.
func ExampleFileSystem_HostPath() {
	dir, remove := exampleFolder("src/main.go", ".git/config")
	defer remove()
	fsys, err := local.New(dir, &local.Options{Deny: []string{"/.git"}})
	if err != nil {
		log.Fatal(err)
	}
	defer fsys.Close()

	host, err := fsys.HostPath("src/main.go")
	fmt.Println(host == filepath.Join(dir, "src", "main.go"), err)
	path, err := fsys.MachinePath(host)
	fmt.Println(path, err)
	_, err = fsys.HostPath(".git/config")
	fmt.Println(ambit.ReasonOf(err))
	// Output:
	// true <nil>
	// /src/main.go <nil>
	// denied
}

// A name of bytes becomes a URL that every program reads alike.
func ExampleFileSystem_FileURL() {
	dir, remove := exampleFolder("notes/1 of 2 #draft?.md")
	defer remove()
	fsys, err := local.New(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer fsys.Close()

	url, err := fsys.FileURL("notes/1 of 2 #draft?.md")
	fmt.Println(strings.TrimPrefix(url, "file://"+dir), err)
	// Output:
	// /notes/1%20of%202%20%23draft%3F.md <nil>
}

// All changes are made or none: here one of them finds another version than it
// was made for.
func ExampleFileSystem_Commit() {
	ctx := context.Background()
	dir, remove := exampleFolder("a.txt", "b.txt", "c.txt")
	defer remove()
	fsys, err := local.New(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer fsys.Close()

	seen, err := fsys.Stat(ctx, "b.txt")
	if err != nil {
		log.Fatal(err)
	}
	changes := func() []ambit.Change {
		return []ambit.Change{
			{Op: ambit.OpWrite, Path: "a.txt", Content: strings.NewReader("new\n")},
			{Op: ambit.OpWrite, Path: "b.txt", Content: strings.NewReader("new\n"), If: ambit.IfVersion(seen.Version)},
			{Op: ambit.OpRemove, Path: "c.txt"},
		}
	}
	if _, err := ambit.WriteFile(ctx, fsys, "b.txt", []byte("somebody else's\n"), nil); err != nil {
		log.Fatal(err)
	}
	_, err = fsys.Commit(ctx, changes())
	e := err.(*ambit.Error)
	fmt.Println(e.Reason, e.Path)
	a, _, err := ambit.ReadFile(ctx, fsys, "a.txt")
	fmt.Printf("%q %v\n", a, err)

	if seen, err = fsys.Stat(ctx, "b.txt"); err != nil {
		log.Fatal(err)
	}
	results, err := fsys.Commit(ctx, changes())
	for _, r := range results {
		fmt.Println(r.Info.Path, r.Info.Size)
	}
	fmt.Println(err)
	// Output:
	// changed b.txt
	// "old\n" <nil>
	// /a.txt 4
	// /b.txt 4
	// /c.txt 4
	// <nil>
}

// A rule of the caller's is asked with the path that links have led to, and
// what it has answered for is what is then acted on.
func ExampleFileSystem_Guard() {
	ctx := context.Background()
	dir, remove := exampleFolder("src/main.go", "src/main_test.go", "tests/")
	defer remove()
	if err := os.Symlink("../src", filepath.Join(dir, "tests", "up")); err != nil {
		log.Fatal(err)
	}
	fsys, err := local.New(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer fsys.Close()
	testsOnly := fsys.Guard(func(_ context.Context, op ambit.Op, canonical string) error {
		switch op {
		case ambit.OpOpen, ambit.OpStat, ambit.OpLstat, ambit.OpReadLink, ambit.OpList, ambit.OpSub:
			return nil
		}
		if strings.HasSuffix(canonical, "_test.go") {
			return nil
		}
		return &ambit.Error{Reason: ambit.ErrDenied, Rule: "tests-only"} // any other change
	})

	_, err = ambit.WriteFile(ctx, testsOnly, "tests/up/main_test.go", nil, nil)
	fmt.Println(err)
	_, err = ambit.WriteFile(ctx, testsOnly, "tests/up/main.go", nil, nil)
	fmt.Println(err)
	fmt.Println(testsOnly.(ambit.WritableFileSystem).Remove(ctx, "src", &ambit.RemoveOptions{Recursive: true}))
	// Output:
	// <nil>
	// write tests/up/main.go: denied (rule tests-only)
	// remove src: denied (rule tests-only)
}
