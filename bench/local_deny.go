// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/ambitfs/ambit/local"
)

// localDenials are the contests of reading while two names are denied, which
// are there and are not what is read.
func localDenials(scratch string) []contest {
	const path = "a/b/c/d/file"
	denied := []string{"a/secret/key", "a/b/c/.env"}
	o := &local.Options{Deny: []string{"/a/secret", "/a/b/c/.env"}}
	dir := tree(scratch, func(dir string) error {
		return makeFiles(dir, block, append([]string{path}, denied...)...)
	})
	on := func(read reader) starter {
		return onTree(dir, func(dir string) (func(int) error, func(), error) { return read(dir, path) })
	}
	return []contest{
		{name: "local: two names denied, depth 5, ambit.ReadFile", contenders: []contender{
			{name: "nothing denied", start: on(localReadFile(nil))},
			{name: "two names denied", start: on(localReadFile(o)), bar: bar{ratio: 1.8}},
		}},
		{name: "local: two names denied, depth 5, ambit, reused buffer", contenders: []contender{
			{name: "nothing denied", start: on(localOpen(nil))},
			{name: "two names denied", start: on(localOpen(o)), bar: bar{ratio: 1.8}},
		}},
		{name: "local: two names denied, depth 5, to os.ReadFile", contenders: []contender{
			{name: "os.ReadFile (not confined)", start: on(osReadFile)},
			{name: "ambit.ReadFile, two names denied", start: on(localReadFile(o))},
			{name: "ambit, reused buffer, two names denied", start: on(localOpen(o))},
		}},
	}
}
