// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
	"golang.org/x/sys/unix"
)

const (
	accessACL  = "system.posix_acl_access"
	defaultACL = "system.posix_acl_default"
)

// acl returns an access control list as the kernel keeps it: the owner, the
// user nobody, the group, the group nogroup, the mask and all others.
func acl(owner, user, group, named, mask, other uint16) []byte {
	const none = ^uint32(0)
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range []struct {
		tag, permissions uint16
		id               uint32
	}{{1, owner, none}, {2, user, nobody}, {4, group, none}, {8, named, nobody}, {0x10, mask, none}, {0x20, other, none}} {
		b = binary.LittleEndian.AppendUint16(b, e.tag)
		b = binary.LittleEndian.AppendUint16(b, e.permissions)
		b = binary.LittleEndian.AppendUint32(b, e.id)
	}
	return b
}

// attributesOf returns the extended attributes of a path of the host.
func attributesOf(t testing.TB, path string) map[string]string {
	t.Helper()
	list := make([]byte, 1<<16)
	n, err := unix.Llistxattr(path, list)
	must(t, err)
	all := map[string]string{}
	for name := range strings.SplitSeq(string(list[:n]), "\x00") {
		if name == "" {
			continue
		}
		value := make([]byte, 1<<16)
		n, err := unix.Lgetxattr(path, name, value)
		must(t, err)
		all[name] = string(value[:n])
	}
	return all
}

// attributable returns folders on disks that keep access control lists and
// attributes of users.
func attributable(t *testing.T) []string {
	t.Helper()
	var dirs []string
	for _, dir := range []string{t.TempDir(), fastDir(t)} {
		probe := filepath.Join(dir, "probe")
		must(t, os.WriteFile(probe, nil, 0o666))
		err := errors.Join(unix.Setxattr(probe, "user.probe", []byte("x"), 0), unix.Setxattr(probe, accessACL, acl(6, 6, 4, 4, 6, 0), 0))
		must(t, os.Remove(probe))
		if err != nil {
			t.Logf("the disk of %s keeps no attributes: %v", dir, err)
			continue
		}
		dirs = append(dirs, dir)
	}
	if len(dirs) == 0 {
		t.Skip("no disk here keeps attributes of users and access control lists")
	}
	return dirs
}

// replacements are the ways to replace a file, with what the file system needs
// for them.
func replacements(t *testing.T, test func(t *testing.T, dir string, o *local.Options, twin bool, do func(fsys ambit.FileSystem, path string, o *ambit.WriteOptions) error)) {
	t.Helper()
	dirs := attributable(t)
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		for i, dir := range dirs {
			for _, p := range publications {
				do := func(fsys ambit.FileSystem, path string, o *ambit.WriteOptions) error {
					return second(p.do(fsys, path, "N", o))
				}
				for _, twin := range []bool{false, true} {
					if p.appends && !twin {
						continue // the file stays, and is no replacement
					}
					o := &local.Options{Durability: local.NotDurable}
					if twin {
						o.HardLinks = local.HardLinksBroken
					}
					t.Run(fmt.Sprintf("%s/disk %d/hard link %v", p.name, i, twin), func(t *testing.T) {
						own, err := os.MkdirTemp(dir, "root")
						must(t, err)
						test(t, own, with(o), twin, do)
					})
				}
			}
		}
	})
}

// A replacement keeps what the file's owner has said of it.
func TestReplacementKeepsAttributes(t *testing.T) {
	replacements(t, func(t *testing.T, dir string, o *local.Options, twin bool, do func(ambit.FileSystem, string, *ambit.WriteOptions) error) {
		fsys := serve(t, dir, o)
		for name, c := range map[string]struct {
			mode       os.FileMode
			attributes map[string]string
			group      int
		}{
			"plain":           {mode: 0o640},
			"executable":      {mode: 0o751},
			"open to all":     {mode: 0o666},
			"attributes":      {mode: 0o644, attributes: map[string]string{"user.note": "text", "user.empty": "", "user.binary": "\x00\xff\n", "user.long": strings.Repeat("v", 1000)}},
			"a control list":  {mode: 0o664, attributes: map[string]string{accessACL: string(acl(6, 6, 4, 0, 6, 4))}},
			"a narrow list":   {mode: 0o600, attributes: map[string]string{accessACL: string(acl(6, 7, 7, 7, 0, 0))}},
			"list and notes":  {mode: 0o660, attributes: map[string]string{accessACL: string(acl(6, 4, 4, 6, 6, 0)), "user.note": "text"}},
			"another's group": {mode: 0o664, group: nobody},
			"all of it":       {mode: 0o660, group: nobody, attributes: map[string]string{accessACL: string(acl(6, 4, 0, 6, 6, 0)), "user.note": "text"}},
		} {
			if c.group != 0 && os.Geteuid() != 0 {
				t.Logf("%s: only root can give a file to a group that it is not in", name)
				continue
			}
			path := filepath.Join(dir, name)
			must(t, os.WriteFile(path, []byte("O"), 0o666))
			if c.group != 0 {
				must(t, os.Chown(path, -1, c.group))
			}
			must(t, os.Chmod(path, c.mode))
			for attribute, value := range c.attributes {
				must(t, unix.Setxattr(path, attribute, []byte(value), 0))
			}
			if twin {
				must(t, os.Link(path, path+" twin"))
			}
			mode, attributes := modeOf(t, path), attributesOf(t, path)
			for attribute, value := range c.attributes {
				if attributes[attribute] != value {
					t.Fatalf("%s: the disk has not kept %s", name, attribute)
				}
			}
			must(t, do(fsys, name, &ambit.WriteOptions{}))
			if text := bytesOf(t, path); !strings.HasSuffix(text, "N") {
				t.Errorf("%s: the file holds %q", name, text)
			}
			if now := modeOf(t, path); now != mode {
				t.Errorf("%s: the mode was %o and is %o", name, mode, now)
			}
			if now := attributesOf(t, path); !maps.Equal(now, attributes) {
				t.Errorf("%s: the attributes were %q and are %q", name, attributes, now)
			}
			info, err := os.Stat(path)
			must(t, err)
			if gid := info.Sys().(*syscall.Stat_t).Gid; int(gid) != c.group && c.group != 0 {
				t.Errorf("%s: the group was %d and is %d", name, c.group, gid)
			}
			if twin {
				if text, now := bytesOf(t, path+" twin"), attributesOf(t, path+" twin"); text != "O" || !maps.Equal(now, attributes) || modeOf(t, path+" twin") != mode {
					t.Errorf("%s: the other name has %q, %q", name, text, now)
				}
			}
		}
		leftovers(t, dir)
	})
}

// What would give the new bytes a power that was given to the old ones is not
// kept.
func TestReplacementDropsPowers(t *testing.T) {
	replacements(t, func(t *testing.T, dir string, o *local.Options, twin bool, do func(ambit.FileSystem, string, *ambit.WriteOptions) error) {
		fsys := serve(t, dir, o)
		for name, c := range map[string]struct {
			mode       os.FileMode
			capability bool
		}{
			"set-uid":          {mode: 0o755 | os.ModeSetuid},
			"set-gid":          {mode: 0o755 | os.ModeSetgid},
			"both":             {mode: 0o775 | os.ModeSetuid | os.ModeSetgid},
			"capability":       {mode: 0o755, capability: true},
			"capability and u": {mode: 0o755 | os.ModeSetuid, capability: true},
		} {
			path := filepath.Join(dir, name)
			must(t, os.WriteFile(path, []byte("O"), 0o777))
			must(t, os.Chmod(path, c.mode))
			must(t, unix.Setxattr(path, "user.note", []byte("kept"), 0))
			if c.capability {
				value := make([]byte, 20) // version 2, effective: cap_net_bind_service
				binary.LittleEndian.PutUint32(value, 0x02000001)
				binary.LittleEndian.PutUint32(value[4:], 1<<10)
				if err := unix.Setxattr(path, "security.capability", value, 0); err != nil {
					t.Logf("%s: this process cannot give a file a capability: %v", name, err)
					continue
				}
			}
			if twin {
				must(t, os.Link(path, path+" twin"))
			}
			if modeOf(t, path) != c.mode || len(attributesOf(t, path)) == 0 {
				t.Fatalf("%s: the disk has not kept what the test has set", name)
			}
			must(t, do(fsys, name, &ambit.WriteOptions{}))
			if now := modeOf(t, path); now != c.mode.Perm() {
				t.Errorf("%s: the mode was %v and is %v, want %v", name, c.mode, now, c.mode.Perm())
			}
			if now := attributesOf(t, path); !maps.Equal(now, map[string]string{"user.note": "kept"}) {
				t.Errorf("%s: the attributes are %q", name, now)
			}
		}
		leftovers(t, dir)
	})
}

// What is made new has just the mode, list and group that the system would
// give it: os is the oracle.
func TestNewFilesInheritAsTheSystemSays(t *testing.T) {
	dirs := attributable(t)
	strategies(t, func(t *testing.T, with func(*local.Options) *local.Options) {
		for i, base := range dirs {
			for name, c := range map[string]struct {
				list  []byte
				mode  os.FileMode
				umask int
			}{
				"no list":                   {mode: 0o755, umask: 0o022},
				"no list, a narrow umask":   {mode: 0o755, umask: 0o077},
				"a list":                    {mode: 0o755, umask: 0o022, list: acl(7, 7, 5, 0, 7, 0)},
				"a list and a narrow umask": {mode: 0o755, umask: 0o077, list: acl(7, 6, 6, 6, 6, 4)},
				"a list and no umask":       {mode: 0o755, umask: 0, list: acl(7, 4, 4, 4, 4, 0)},
				"set-gid":                   {mode: 0o775 | os.ModeSetgid, umask: 0o002},
				"set-gid and a list":        {mode: 0o775 | os.ModeSetgid, umask: 0o077, list: acl(7, 7, 7, 7, 7, 5)},
			} {
				t.Run(fmt.Sprintf("disk %d/%s", i, name), func(t *testing.T) {
					dir, err := os.MkdirTemp(base, "root")
					must(t, err)
					if c.list != nil {
						must(t, unix.Setxattr(dir, defaultACL, c.list, 0))
					}
					if os.Geteuid() == 0 {
						must(t, os.Chown(dir, -1, nobody))
					}
					must(t, os.Chmod(dir, c.mode))
					withUmask(t, c.umask)
					look := func(path string) string {
						info, err := os.Lstat(filepath.Join(dir, path))
						must(t, err)
						attributes := attributesOf(t, filepath.Join(dir, path))
						var list []string
						for _, name := range slices.Sorted(maps.Keys(attributes)) {
							list = append(list, fmt.Sprintf("%s=%x", name, attributes[name]))
						}
						return fmt.Sprintf("%v group %d %v", info.Mode(), info.Sys().(*syscall.Stat_t).Gid, list)
					}
					must(t, os.WriteFile(filepath.Join(dir, "file of the system"), []byte("O"), 0o666))
					must(t, os.MkdirAll(filepath.Join(dir, "folder of the system/deep"), 0o777))
					must(t, os.WriteFile(filepath.Join(dir, "folder of the system/deep/file"), []byte("O"), 0o666))
					file, folder := look("file of the system"), look("folder of the system")
					deep, leaf := look("folder of the system/deep"), look("folder of the system/deep/file")
					fsys := serve(t, dir, with(&local.Options{Durability: local.NotDurable}))
					same := func(path, want string) {
						t.Helper()
						if got := look(path); got != want {
							t.Errorf("%s has %s, the system's own has %s", path, got, want)
						}
					}
					for _, p := range publications {
						must(t, second(p.do(fsys, p.name, "N", &ambit.WriteOptions{})))
						same(p.name, file)
						top := "parents of " + p.name
						must(t, second(p.do(fsys, top+"/deep/file", "N", &ambit.WriteOptions{Parents: true})))
						same(top, folder)
						same(top+"/deep", deep)
						same(top+"/deep/file", leaf)
						// A file without a list does not get the folder's.
						bare := "bare " + p.name
						must(t, os.WriteFile(filepath.Join(dir, bare), []byte("O"), 0o666))
						if err := unix.Removexattr(filepath.Join(dir, bare), accessACL); err != nil && !errors.Is(err, unix.ENODATA) {
							t.Fatal(err)
						}
						must(t, os.Chmod(filepath.Join(dir, bare), 0o640))
						before := look(bare)
						must(t, second(p.do(fsys, bare, "N", &ambit.WriteOptions{})))
						same(bare, before)
					}
					must(t, second(fsys.Mkdir(ctx, "made/deep", &ambit.MkdirOptions{Parents: true})))
					same("made", folder)
					same("made/deep", deep)
				})
			}
		}
	})
}

// A mode that is given is set exactly, whatever the folder's list says.
func TestGivenModeAndList(t *testing.T) {
	for _, base := range attributable(t) {
		dir, err := os.MkdirTemp(base, "root")
		must(t, err)
		must(t, unix.Setxattr(dir, defaultACL, acl(7, 7, 7, 7, 7, 7), 0))
		fsys := serve(t, dir, &local.Options{NewDirMode: 0o710})
		for _, p := range publications {
			for _, mode := range []os.FileMode{0o600, 0o644, 0o777} {
				path := fmt.Sprintf("%s %o", p.name, mode)
				r, err := p.do(fsys, path, "N", &ambit.WriteOptions{Mode: mode})
				must(t, err)
				if got := modeOf(t, filepath.Join(dir, path)); got != mode || r.Info.Mode != mode {
					t.Errorf("%s: the mode is %o, the result %+v", path, got, r)
				}
			}
		}
		must(t, second(fsys.Mkdir(ctx, "d", nil)))
		if got := modeOf(t, filepath.Join(dir, "d")); got != 0o710 {
			t.Errorf("the folder's mode is %o", got)
		}
	}
}

// The list that these tests write is one that the kernel takes and gives back.
func TestACLRoundTrip(t *testing.T) {
	for _, dir := range attributable(t) {
		path := filepath.Join(dir, "f")
		must(t, os.WriteFile(path, nil, 0o666))
		list := acl(6, 4, 4, 0, 6, 0)
		must(t, unix.Setxattr(path, accessACL, list, 0))
		if got := attributesOf(t, path)[accessACL]; !bytes.Equal([]byte(got), list) {
			t.Errorf("set %x, got %x", list, got)
		}
	}
}
