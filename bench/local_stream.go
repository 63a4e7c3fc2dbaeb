// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/ambitfs/ambit/local"
)

// largeContests are those that write so much that they run on demand only:
// streams of size bytes.
func largeContests(scratch string, size int64) []contest {
	loose := &local.Options{Durability: local.NotDurable}
	return []contest{{
		name: fmt.Sprintf("local: write a stream of %d MiB, not durable", size>>20), batch: 1, rounds: 5,
		contenders: []contender{
			streaming(scratch, "io.Copy to a file (not confined)", bar{}, size, func(dir string) (func(io.Reader) (int64, error), func(), error) {
				return func(content io.Reader) (int64, error) { return copyToFile(filepath.Join(dir, "file"), content) }, nil, nil
			}),
			// At least 0.9 of the speed.
			streaming(scratch, "ambit", bar{ratio: 1 / 0.9}, size, func(dir string) (func(io.Reader) (int64, error), func(), error) {
				fsys, err := local.New(dir, loose)
				if err != nil {
					return nil, nil, err
				}
				return func(content io.Reader) (int64, error) {
					r, err := fsys.Write(ctx, "file", content, nil)
					return r.Info.Size, err
				}, func() { fsys.Close() }, nil
			}),
		},
	}}
}

// streaming is a contender that writes a stream of size bytes to a file that
// is not there. It notes how far the heap grows, and how far for a 16th of the
// stream: where memory is flat these are about the same.
func streaming(scratch, name string, b bar, size int64, start func(dir string) (write func(io.Reader) (int64, error), stop func(), err error)) contender {
	var file string
	var whole, part uint64
	remove := func() error {
		if err := os.Remove(file); !os.IsNotExist(err) {
			return err
		}
		return nil
	}
	return contender{
		name: name,
		bar:  b,
		start: startOnDisk(scratch, func(dir string) (func(int) error, func(), error) {
			file = filepath.Join(dir, "file")
			write, stop, err := start(dir)
			if err != nil {
				return nil, nil, err
			}
			stream := func(size int64, peak *uint64) error {
				grown, err := heapGrowth(func() error {
					n, err := write(&repeated{left: size})
					if err == nil && n != size {
						err = fmt.Errorf("%d bytes are written, want %d", n, size)
					}
					return err
				})
				*peak = max(*peak, grown)
				return err
			}
			if err := stream(size/16, &part); err != nil {
				return nil, stop, err
			}
			return func(int) error { return stream(size, &whole) }, stop, remove()
		}),
		reset: remove,
		note: func() string {
			const mib = 1 << 20
			return fmt.Sprintf("the heap grew by at most %.1f MiB; by %.1f MiB for a 16th of the stream", float64(whole)/mib, float64(part)/mib)
		},
	}
}

func copyToFile(file string, content io.Reader) (int64, error) {
	f, err := os.Create(file)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(f, content)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return n, err
}

// repeated is a stream of left bytes: block again and again.
type repeated struct{ left int64 }

func (r *repeated) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && r.left > 0 {
		m := copy(p[n:], block[:min(r.left, blockSize)])
		n += m
		r.left -= int64(m)
	}
	return n, nil
}

// heapGrowth runs f and returns how many bytes the objects on the heap, those
// included that are not collected yet, grew by at most.
func heapGrowth(f func() error) (uint64, error) {
	runtime.GC()
	before := heap()
	done := make(chan struct{})
	peak := make(chan uint64)
	go func() {
		most := before
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				most = max(most, heap())
			case <-done:
				peak <- max(most, heap())
				return
			}
		}
	}()
	err := f()
	close(done)
	return <-peak - before, err
}

// heap returns the bytes of all objects on the heap.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
