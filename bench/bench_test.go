// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestMain lets the test's own program be the processes that are measured.
func TestMain(m *testing.M) {
	if code, ran := runAsProcess(os.Args[1:]); ran {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// Benchmark measures every contender of every contest by itself.
func Benchmark(b *testing.B) {
	for _, c := range contests(b.TempDir()) {
		for _, contender := range c.contenders {
			if contender.workers > 1 {
				continue // these are about throughput, which the table shows
			}
			b.Run(c.name+"/"+contender.name, func(b *testing.B) {
				op, stop, err := contender.start()
				if stop != nil {
					defer stop()
				}
				if err == nil {
					err = op(0)
				}
				if errors.Is(err, errors.ErrUnsupported) {
					b.Skip(err)
				}
				if err != nil {
					b.Fatal(err)
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
	scratch := t.TempDir()
	defer func(n int) { patched = n }(patched)
	patched = perFolder
	defer func(a, b int64) { editedAtOnce, editedByOne = a, b }(editedAtOnce, editedByOne)
	editedAtOnce, editedByOne = 100_000, 6_000_000
	defer func(source string, files int) { searchedSource, searchedFiles = source, files }(searchedSource, searchedFiles)
	searchedSource, searchedFiles = "src/path", 4100
	for _, c := range slices.Concat(contests(scratch), largeContests(scratch, 4<<20), largeLinesContests(scratch, 4<<20), largeSearchContests(scratch)) {
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

// TestBars measures operations of known length against bars that one of them
// reaches and the other does not.
func TestBars(t *testing.T) {
	sleeping := func(d time.Duration) starter {
		return func() (func(int) error, func(), error) {
			return func(int) error { time.Sleep(d); return nil }, nil, nil
		}
	}
	const short, long = 2 * time.Millisecond, 40 * time.Millisecond
	resets := 0
	c := contest{name: "bars", batch: 1, rounds: 3, contenders: []contender{
		{name: "first", start: sleeping(short)},
		{name: "ratio reached", start: sleeping(long), bar: bar{ratio: 100}},
		{name: "ratio missed", start: sleeping(long), bar: bar{ratio: 1}, reset: func() error { resets++; return nil }},
		{name: "time reached", start: sleeping(long), bar: bar{added: time.Minute}},
		{name: "time missed", start: sleeping(long), bar: bar{added: time.Millisecond}},
		{name: "unsupported", bar: bar{ratio: 1}, start: func() (func(int) error, func(), error) {
			return nil, nil, errors.ErrUnsupported
		}},
	}}
	outcomes, err := c.run(11, time.Nanosecond)
	if err != nil {
		t.Fatal(err)
	}
	if resets != 3 {
		t.Errorf("%d resets in a contest of 3 rounds", resets)
	}
	for _, o := range outcomes {
		if want := strings.HasSuffix(o.name, "missed"); o.missed() != want {
			t.Errorf("%s: missed is %v: %s", o.name, o.missed(), o.verdict())
		}
		if want := strings.HasPrefix(o.name, "ratio") || strings.HasPrefix(o.name, "time"); (o.verdict() != "") != want {
			t.Errorf("%s: the verdict is %q", o.name, o.verdict())
		}
	}
	var table bytes.Buffer
	c.print(&table, outcomes)
	if !strings.Contains(table.String(), "not on this system") {
		t.Errorf("an unsupported contender is not shown as such:\n%s", table.String())
	}
}

// TestHeapGrowth holds 16 MiB for a while, and nothing.
func TestHeapGrowth(t *testing.T) {
	const size = 16 << 20
	held, err := heapGrowth(func() error {
		data := make([]byte, size)
		time.Sleep(20 * time.Millisecond)
		runtime.KeepAlive(data)
		data = nil
		runtime.GC()
		return nil
	})
	if err != nil || held < size-size/16 {
		t.Errorf("holding %d bytes grows the heap by %d, %v", size, held, err)
	}
	none, err := heapGrowth(func() error { time.Sleep(20 * time.Millisecond); return nil })
	if err != nil || none > size/4 {
		t.Errorf("holding nothing grows the heap by %d, %v", none, err)
	}
}
