// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package memory_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/memory"
	"github.com/spf13/afero"
)

const benchSize = 4096

// The bare MemMapFs beside the contract over it: opening, reading and closing
// a file of 4 KiB, and overwriting one.
func BenchmarkRead(b *testing.B) {
	content := strings.Repeat("x", benchSize)
	bare := afero.NewMemMapFs()
	if err := afero.WriteFile(bare, "/dir/f", []byte(content), 0o644); err != nil {
		b.Fatal(err)
	}
	fsys := memory.New(map[string]string{"/dir/f": content}, nil)
	ctx := context.Background()
	readBare := func(b *testing.B, buf []byte) {
		f, err := bare.Open("/dir/f")
		if err != nil {
			b.Fatal(err)
		}
		if n, err := f.Read(buf); n != benchSize || err != nil {
			b.Fatal(n, err)
		}
		f.Close()
	}
	read := func(b *testing.B, buf []byte) {
		f, err := fsys.Open(ctx, "/dir/f")
		if err != nil {
			b.Fatal(err)
		}
		if n, err := f.Read(buf); n != benchSize || err != nil && err != io.EOF {
			b.Fatal(n, err)
		}
		f.Close()
	}
	for _, c := range []struct {
		name string
		read func(b *testing.B, buf []byte)
	}{{"MemMapFs", readBare}, {"memory", read}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			buf := make([]byte, benchSize)
			for b.Loop() {
				c.read(b, buf)
			}
		})
		b.Run(c.name+"/parallel", func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				buf := make([]byte, benchSize)
				for pb.Next() {
					c.read(b, buf)
				}
			})
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	content := bytes.Repeat([]byte("x"), benchSize)
	b.Run("MemMapFs", func(b *testing.B) {
		b.ReportAllocs()
		bare := afero.NewMemMapFs()
		for b.Loop() {
			f, err := bare.OpenFile("/f", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
			if err != nil {
				b.Fatal(err)
			}
			if n, err := f.Write(content); n != len(content) || err != nil {
				b.Fatal(n, err)
			}
			f.Close()
		}
	})
	b.Run("memory", func(b *testing.B) {
		b.ReportAllocs()
		fsys := memory.New(map[string]string{"/f": ""}, nil)
		ctx := context.Background()
		info, err := fsys.Stat(ctx, "/f")
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			r, err := fsys.Write(ctx, "/f", bytes.NewReader(content), &ambit.WriteOptions{If: ambit.IfVersion(info.Version)})
			if err != nil {
				b.Fatal(err)
			}
			info = r.Info
		}
	})
}
