// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Benchmark measures every contender of every contest by itself.
func Benchmark(b *testing.B) {
	for _, c := range contests(b.TempDir()) {
		for _, contender := range c.contenders {
			if contender.workers > 1 {
				continue // these are about throughput, which the table shows
			}
			b.Run(c.name+"/"+contender.name, func(b *testing.B) {
				op, stop, err := contender.start()
				if err != nil {
					b.Fatal(err)
				}
				if stop != nil {
					defer stop()
				}
				b.ReportAllocs()
				for b.Loop() {
					if err := op(0); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkParallelReaders is for -cpu 1,2: the time for one read with one
// processor and with two at work.
func BenchmarkParallelReaders(b *testing.B) {
	for _, c := range []contender{
		{name: "memory, a file each", start: startMemoryReadOwn},
		{name: "bare MemMapFs, a file each", start: startBareReadOwn},
		{name: "memory, one file", start: startMemoryRead},
		{name: "bare MemMapFs, one file", start: startBareRead},
	} {
		b.Run(c.name, func(b *testing.B) {
			op, _, err := c.start()
			if err != nil {
				b.Fatal(err)
			}
			var workers atomic.Int64
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				worker := int(workers.Add(1)-1) % len(buffers{})
				for pb.Next() {
					if err := op(worker); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// TestContests runs every contender once, so that no benchmark rots.
func TestContests(t *testing.T) {
	for _, c := range contests(t.TempDir()) {
		outcomes, err := c.run(1, time.Nanosecond)
		if err != nil {
			t.Fatal(err)
		}
		var table bytes.Buffer
		c.print(&table, outcomes)
		for _, contender := range c.contenders {
			if !strings.Contains(table.String(), contender.name) {
				t.Errorf("%s: no row for %s in\n%s", c.name, contender.name, table.String())
			}
		}
	}
}
