// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"time"

	"github.com/ambitfs/ambit/local"
)

// localLooseWrites are the contests of changing files with nothing synced.
func localLooseWrites(scratch string) []contest {
	loose := &local.Options{Durability: local.NotDurable}
	return []contest{
		{name: "local: replace 4 KiB, not durable", batch: 1, contenders: []contender{
			{name: "temporary file, os.Rename (not confined)", start: startOnDisk(scratch, osReplace)},
			{name: "ambit", start: startOnDisk(scratch, localReplace(loose, false)), bar: bar{ratio: 1.3}},
			{name: "os.WriteFile (not atomic)", start: startOnDisk(scratch, osOverwrite)},
		}},
		{name: "local: compare and swap 4 KiB, not durable", batch: 1, contenders: []contender{
			{name: "without a precondition", start: startOnDisk(scratch, localReplace(loose, false))},
			{name: "IfVersion", start: startOnDisk(scratch, localReplace(loose, true)), bar: bar{added: 30 * time.Microsecond}},
		}},
		{name: "local: create 4 KiB, not durable", batch: 1, contenders: []contender{
			{name: "os.WriteFile over an existing file", start: startOnDisk(scratch, osOverwrite)},
			{name: "ambit, IfAbsent", start: startOnDisk(scratch, creating(localCreate(loose))), bar: bar{ratio: 0.4}},
			{name: "os.OpenFile with O_EXCL (seen while it is written)", start: startOnDisk(scratch, creating(osCreate))},
		}},
		{name: "local: append 100 bytes, not durable", batch: 1, contenders: []contender{
			appending(scratch, "os.OpenFile with O_APPEND (not confined)", osAppend(false)),
			appending(scratch, "ambit.Append", localAppend(loose)),
		}},
		{name: "local: commit 10 files of 4 KiB, not durable", batch: 1, contenders: []contender{
			{name: "10 calls of Write", start: startOnDisk(scratch, localTenWrites(loose))},
			{name: "ambit.Commit", start: startOnDisk(scratch, localCommit(loose))},
		}},
	}
}

func osReplace(dir string) (func(int) error, func(), error) {
	return func(int) error { return bareReplace(dir, false) }, nil, nil
}
