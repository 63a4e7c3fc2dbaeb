// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// pinned is a descriptor of a file that is held so that its inode number stays
// its own.
type pinned struct {
	fd       int
	readable bool  // a lease can be asked for
	info     *node // of a file that could not be opened
}

func (d *descriptor) pin(name string) (*pinned, error) {
	if !d.use() {
		return nil, fs.ErrClosed
	}
	defer d.done()
	n, err := statAt(d.fd, name)
	if err != nil {
		return nil, err
	}
	if n.isRegular() {
		fd, err := openat(d.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
		if err == nil {
			return &pinned{fd: fd, readable: true}, nil
		}
	}
	fd, err := openat(d.fd, name, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	return &pinned{fd: fd}, nil
}

func (p *pinned) describe() (*node, error) {
	if p.info != nil {
		return p.info, nil
	}
	return describeDescriptor(p.fd)
}

func (p *pinned) lease() (alone, known bool) {
	if !p.readable {
		return false, false
	}
	return takeLease(p.fd)
}

func (p *pinned) kept() bool { return keptLease(p.fd) }

func (p *pinned) drop() { dropLease(p.fd) }

func (p *pinned) close() {
	if p.info == nil {
		unix.Close(p.fd)
	}
}

func (d *rootDir) pin(name string) (*pinned, error) {
	f, err := d.file(name, 0)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errMoved) {
		info, err := d.lookup(name)
		return &pinned{info: info}, err
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p := &pinned{readable: true}
	err = withFile(f, func(fd int) error {
		for {
			p.fd, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
			if err != unix.EINTR {
				return err
			}
		}
	})
	return p, err
}
