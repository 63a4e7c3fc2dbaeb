// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"encoding/json"
	"io/fs"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
)

func TestKind(t *testing.T) {
	for _, test := range []struct {
		kind ambit.Kind
		text string
		mode fs.FileMode
	}{
		{ambit.KindUnknown, "unknown", fs.ModeIrregular},
		{ambit.KindRegular, "file", 0},
		{ambit.KindDirectory, "directory", fs.ModeDir},
		{ambit.KindSymlink, "symlink", fs.ModeSymlink},
		{ambit.KindFIFO, "fifo", fs.ModeNamedPipe},
		{ambit.KindSocket, "socket", fs.ModeSocket},
		{ambit.KindDevice, "device", fs.ModeDevice},
	} {
		if test.kind.String() != test.text || test.kind.Mode() != test.mode {
			t.Errorf("kind %d: %s, %v", test.kind, test.kind, test.kind.Mode())
		}
		if got := ambit.KindOf(test.mode | 0o644 | fs.ModeSetuid); got != test.kind && test.kind != ambit.KindUnknown {
			t.Errorf("mode of %s is of a %s", test.kind, got)
		}
		data, err := json.Marshal(test.kind)
		var back ambit.Kind
		if err != nil || string(data) != `"`+test.text+`"` || json.Unmarshal(data, &back) != nil || back != test.kind {
			t.Errorf("%s becomes %s and %s, %v", test.kind, data, back, err)
		}
	}
	for mode, want := range map[fs.FileMode]ambit.Kind{
		fs.ModeDevice | fs.ModeCharDevice: ambit.KindDevice,
		fs.ModeIrregular:                  ambit.KindDevice,
		fs.ModeDir | fs.ModeSymlink:       ambit.KindDevice,
	} {
		if got := ambit.KindOf(mode); got != want {
			t.Errorf("mode %v is of a %s", mode, got)
		}
	}
	if got := ambit.Kind(200); got.String() != "kind(200)" || got.Mode() != fs.ModeIrregular {
		t.Errorf("kind 200: %s, %v", got, got.Mode())
	}
	kind := ambit.KindFIFO
	if err := json.Unmarshal([]byte(`"door"`), &kind); err != nil || kind != ambit.KindUnknown {
		t.Errorf("a door is a %s, %v", kind, err)
	}
	if err := json.Unmarshal([]byte(`1`), &kind); err == nil {
		t.Error("a number is taken for a kind")
	}
}

func TestFileInfoFS(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	info := ambit.FileInfo{Path: "/a/b.txt", Kind: ambit.KindRegular, Size: 7, ModTime: at, Mode: 0o640, Version: "v1"}
	std := info.FS()
	if std.Name() != "b.txt" || std.Size() != 7 || std.Mode() != 0o640 || !std.ModTime().Equal(at) || std.IsDir() || std.Sys() != info {
		t.Errorf("%v", std)
	}
	for _, test := range []struct {
		info ambit.FileInfo
		name string
		size int64
		mode fs.FileMode
	}{
		{ambit.FileInfo{Path: "/", Kind: ambit.KindDirectory, Mode: 0o755, Size: -1}, ".", 0, fs.ModeDir | 0o755},
		{ambit.FileInfo{Path: "/l", Kind: ambit.KindSymlink, Mode: 0o777, Size: 3}, "l", 3, fs.ModeSymlink | 0o777},
		{ambit.FileInfo{Path: "/x/\xff"}, "\xff", 0, fs.ModeIrregular},
		{ambit.FileInfo{Path: "/s", Kind: ambit.KindRegular, Mode: fs.ModeSetuid | fs.ModeDir | 0o755}, "s", 0, 0o755},
	} {
		std := test.info.FS()
		if std.Name() != test.name || std.Size() != test.size || std.Mode() != test.mode || std.IsDir() != test.info.IsDir() {
			t.Errorf("%+v: %v", test.info, std)
		}
		if std.IsDir() != std.Mode().IsDir() {
			t.Errorf("%+v: IsDir and mode differ", test.info)
		}
	}
}
