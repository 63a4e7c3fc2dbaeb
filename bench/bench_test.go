// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
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
