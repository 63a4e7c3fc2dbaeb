// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/ambitfs/ambit"
)

// The operations of errors of these methods.
const (
	opHostPath    = "hostpath"
	opMachinePath = "machinepath"
)

// HostPath returns the path on the host of what is at the machine path, links
// resolved; of a name that is missing, the path that it would have. It is for
// handing a file to a program: what the path leads to may have changed by
// then, and nothing confines that program; that a path is handed out says
// nothing of what may be done there, also not that it may be written. What the
// file system refuses has no host path: [ambit.ErrOutside], [ambit.ErrDenied]
// and what else Stat would say of the way. A guard is asked for "stat" of the
// path itself, with a context of its own.
func (fsys *FileSystem) HostPath(path string) (string, error) {
	host, err := fsys.hostPath(path)
	return host, ambit.Wrap(opHostPath, path, err)
}

func (fsys *FileSystem) hostPath(path string) (string, error) {
	ctx := context.Background()
	clean, asserted, err := fsys.resolve(ctx, path)
	if err != nil {
		return "", err
	}
	p, err := fsys.walkFor(ctx, ambit.OpStat, clean, true)
	if err != nil {
		return "", err
	}
	defer p.close()
	if asserted && (p.info == nil || !p.info.isDir()) {
		return "", p.readable(true)
	}
	if p.parent == nil {
		return filepath.FromSlash(p.above), nil
	}
	r := p.parent.root
	rest := strings.TrimPrefix(within(r.at, p.path()), "/")
	host := r.hostDir() + rest
	if rest == "" && len(r.above) > 1 {
		host = strings.TrimSuffix(host, "/")
	}
	return filepath.FromSlash(host), nil
}

// hostDir returns the root's own path on the host, resolved, with a slash at
// its end.
func (r *root) hostDir() string {
	dir := strings.Join(r.above, "/") + "/"
	if filepath.VolumeName(dir) == "" && dir != "/" {
		dir = "/" + dir
	}
	return dir
}

// FileURL returns the "file:" URL (RFC 8089) of what HostPath returns.
func (fsys *FileSystem) FileURL(path string) (string, error) {
	host, err := fsys.HostPath(path)
	if err != nil {
		return "", err
	}
	slashed := filepath.ToSlash(host)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a drive of Windows
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String(), nil
}

// MachinePath returns the canonical machine path of a path of the host, as a
// link with that text would be followed: it must lie in a root by whole names,
// as the root was given or as it was resolved, else it is [ambit.ErrOutside]. A
// hostPath that is not absolute is [ambit.ErrInvalid]. The errors carry it as
// the caller wrote it.
func (fsys *FileSystem) MachinePath(hostPath string) (string, error) {
	path, err := fsys.machinePath(hostPath)
	return path, ambit.Wrap(opMachinePath, hostPath, err)
}

func (fsys *FileSystem) machinePath(hostPath string) (string, error) {
	ctx := context.Background()
	if fsys.closed.Load() {
		return "", ambit.ErrClosed
	}
	if !filepath.IsAbs(hostPath) {
		return "", &ambit.Error{Reason: ambit.ErrInvalid, Detail: "the path of the host is not absolute"}
	}
	host := filepath.ToSlash(filepath.Clean(hostPath))
	names := hostNames(host)
	r, rest, ok := fsys.land(names)
	var inside string
	switch {
	case ok:
		inside = ambit.Join(r.at, strings.Join(rest, "/"))
	case fsys.host && fsys.rootBeneath("/"+strings.Join(names, "/")):
		// Above the roots of Host a path of the host is a machine path.
		above := "/" + strings.Join(names, "/")
		return above, fsys.ask(ctx, ambit.OpStat, above)
	default:
		return "", &ambit.Error{Reason: ambit.ErrOutside, Detail: "the path of the host lies in no root"}
	}
	clean, _, err := fsys.resolve(ctx, inside)
	if err != nil {
		return "", err
	}
	p, err := fsys.walkFor(ctx, ambit.OpStat, clean, true)
	if err != nil {
		return "", err
	}
	defer p.close()
	return p.path(), nil
}
