// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// describe returns what the contract tells of the thing at the canonical path
// that n describes.
func describe(path string, n *node) ambit.FileInfo {
	i := ambit.FileInfo{
		Path:    path,
		Kind:    n.kind(),
		Size:    -1, // the length of a link's text would tell of the host
		Mode:    n.mode.Perm(),
		Links:   n.links,
		Version: n.version(),
	}
	if n.modified != (instant{}) {
		i.ModTime = n.modTime()
	}
	if n.inode != 0 {
		i.ID = n.id()
	}
	if i.Kind == ambit.KindRegular {
		i.Size = n.size
	}
	return i
}

// Stat describes the file or folder at path. Anything else is
// [ambit.ErrNotAFile].
func (fsys *FileSystem) Stat(ctx context.Context, path string) (ambit.FileInfo, error) {
	info, err := fsys.stat(ctx, ambit.OpStat, path)
	return info, ambit.Wrap(ambit.OpStat, path, err)
}

func (fsys *FileSystem) stat(ctx context.Context, op ambit.Op, path string) (ambit.FileInfo, error) {
	clean, dir, err := fsys.resolve(ctx, path)
	if err != nil {
		return ambit.FileInfo{}, err
	}
	if n, ok, err := fsys.statDirect(ctx, op, clean, dir); ok || err != nil {
		if err != nil {
			return ambit.FileInfo{}, err
		}
		return describe(clean, n), nil
	}
	p, err := fsys.walkFor(ctx, op, clean, true)
	if err != nil {
		return ambit.FileInfo{}, err
	}
	defer p.close()
	if err := p.readable(dir); err != nil {
		return ambit.FileInfo{}, err
	}
	if kind := p.kind(); kind != ambit.KindRegular && kind != ambit.KindDirectory {
		return ambit.FileInfo{}, p.fault(ambit.ErrNotAFile, "")
	}
	return describe(p.path(), p.info), nil
}

// statDirect describes the file or folder at a path without links, whose text
// is the canonical path. ok is false when the path has to be walked.
func (fsys *FileSystem) statDirect(ctx context.Context, op ambit.Op, clean string, dir bool) (n *node, ok bool, err error) {
	r, rest, ok := fsys.directRoot(clean)
	if !ok || len(fsys.denied) > 0 && !strings.Contains(rest, "/") {
		return nil, false, nil // one step does not see what is mounted there
	}
	before, ok := fsys.mayGoDirect()
	if !ok {
		return nil, false, nil
	}
	n, err = r.top.dir.lookupDirect(rest)
	if err != nil || !n.isRegular() && !n.isDir() || dir && !n.isDir() || fsys.isDenied(n) || !fsys.stayed(before) {
		return nil, false, nil
	}
	return n, true, fsys.ask(ctx, op, clean)
}

// directRoot returns the root of a path that may be looked up in one call, and
// the rest of the path.
func (m *machine) directRoot(clean string) (r *root, rest string, ok bool) {
	r, rest, ok = m.rootOf(clean)
	if !ok || rest == "" || !r.disk.plain || r.disk.folds || m.judgeText(clean) != nil {
		return nil, "", false
	}
	return r, rest, !holdsHidden(rest)
}

// readable refuses what is missing, and what is no folder where the path
// asserts one.
func (p *place) readable(asserted bool) error {
	switch {
	case p.info == nil:
		return p.missing(asserted)
	case asserted && !p.info.isDir():
		return p.fault(ambit.ErrNotADirectory, "")
	}
	return nil
}

// Lstat describes what is at path itself, a link as a link. With a trailing
// slash it is Stat.
func (fsys *FileSystem) Lstat(ctx context.Context, path string) (ambit.FileInfo, error) {
	info, err := fsys.lstat(ctx, path)
	return info, ambit.Wrap(ambit.OpLstat, path, err)
}

func (fsys *FileSystem) lstat(ctx context.Context, path string) (ambit.FileInfo, error) {
	clean, dir, err := fsys.resolve(ctx, path)
	if err != nil {
		return ambit.FileInfo{}, err
	}
	if dir {
		return fsys.stat(ctx, ambit.OpLstat, path)
	}
	p, err := fsys.walkFor(ctx, ambit.OpLstat, clean, false)
	if err != nil {
		return ambit.FileInfo{}, err
	}
	defer p.close()
	if p.info == nil {
		return ambit.FileInfo{}, p.missing(false)
	}
	return describe(p.path(), p.info), nil
}

// ReadLink returns the text of the link at path. What is not a link is
// [ambit.ErrInvalid]; the text of a link that leads out of the root, or to
// another link that does, is [ambit.ErrOutside].
func (fsys *FileSystem) ReadLink(ctx context.Context, path string) (string, error) {
	text, err := fsys.readLink(ctx, path)
	return text, ambit.Wrap(ambit.OpReadLink, path, err)
}

func (fsys *FileSystem) readLink(ctx context.Context, path string) (string, error) {
	clean, dir, err := fsys.resolve(ctx, path)
	if err != nil {
		return "", err
	}
	if len(fsys.guards) > 0 {
		// A rule is asked of the link itself, before anything is told.
		link, err := fsys.walkFor(ctx, ambit.OpReadLink, clean, dir)
		if err != nil {
			return "", err
		}
		link.close()
	}
	w := &walker{machine: fsys.machine, clean: clean, follow: true, tell: !dir}
	p, err := w.walk()
	if err == nil {
		defer p.close()
	}
	if w.text == "" || dir {
		if err == nil {
			err = p.readable(dir)
		}
		if err == nil {
			err = p.fault(ambit.ErrInvalid, "not a link")
		}
		return "", err
	}
	if ambit.ReasonOf(err) == ambit.ErrOutside {
		return "", err
	}
	// What the walk has not come to could still lead above the root, and then
	// names the host.
	if w.couldClimb() {
		if err == nil {
			err = p.missing(false)
		}
		return "", err
	}
	return w.text, nil
}

// couldClimb reports that the names of the link's text that the walk has not
// come to could lead above the root.
func (w *walker) couldClimb() bool {
	if len(w.texts) < 2 {
		return false
	}
	names := w.texts[1]
	if len(w.texts) > 2 {
		// Where another link would have led is not known.
		return slices.Contains(names, "..")
	}
	depth := len(w.stack) - 1
	for _, name := range names {
		if name != ".." {
			depth++
		} else if depth--; depth < 0 {
			return true
		}
	}
	return false
}
