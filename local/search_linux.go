// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"io"

	"golang.org/x/sys/unix"
)

func searchDirIn(d dir, name string) (searchDir, error) {
	in, ok := d.(*descriptor)
	if !ok {
		return plainSearchDirIn(d, name)
	}
	if !in.use() {
		return nil, unix.EBADF
	}
	defer in.done()
	return enterReadable(in.fd, name)
}

// readableDir is a descriptor that can be read as well, which saves a search one
// more for each folder. A search closes a folder when nobody uses it, so that
// nothing has to be counted.
type readableDir struct{ *descriptor }

func enterReadable(fd int, name string) (searchDir, error) {
	fd, err := openat(fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	return readableDir{newDescriptor(fd)}, nil
}

func (d readableDir) entries() ([]entry, error) { return readEntries(d.fd) }

func (d readableDir) enter(name string) (searchDir, error) { return enterReadable(d.fd, name) }

func (d readableDir) open(name string, mounts bool) (io.ReadCloser, *node, mount, error) {
	fd, err := openat(d.fd, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, nil, mount{}, err
	}
	var info *node
	var on mount
	if mounts {
		info, on, err = glanceAt(fd, "")
	} else {
		info, err = statAt(fd, "")
	}
	if err != nil {
		unix.Close(fd)
		return nil, nil, mount{}, err
	}
	return searchFile(fd), info, on, nil
}

func (d readableDir) glance(name string) (*node, mount, error) { return glanceAt(d.fd, name) }

// glanceAt is statAt and mountAt in one call.
func glanceAt(fd int, name string) (*node, mount, error) {
	flags := unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT
	if name == "" {
		flags |= unix.AT_EMPTY_PATH
	}
	var st unix.Statx_t
	for {
		err := unix.Statx(fd, name, flags, unix.STATX_BASIC_STATS|unix.STATX_MNT_ID, &st)
		if err == nil {
			break
		}
		if err != unix.EINTR {
			return nil, mount{}, err
		}
	}
	info := &node{
		mode:   modeOf(uint32(st.Mode)),
		size:   int64(st.Size),
		device: unix.Mkdev(st.Dev_major, st.Dev_minor),
		inode:  st.Ino,
		links:  int(st.Nlink),
	}
	return info, mountOfStat(&st), nil
}

// searchFile is the descriptor of a file that one goroutine reads.
type searchFile int

func (f searchFile) Read(b []byte) (int, error) {
	for {
		n, err := unix.Read(int(f), b[:min(len(b), maxRead)])
		if err != unix.EINTR {
			return got(n, err, b)
		}
	}
}

func (f searchFile) Close() error { return unix.Close(int(f)) }
