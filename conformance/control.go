// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/ambitfs/ambit"
)

// controlled runs the positive control of c: the probe on a file system that
// confines nothing, over c's tree on a disk. There an escape must succeed.
func (r *runner) controlled(ctx context.Context, c *check) (Outcome, string) {
	top, err := os.MkdirTemp("", "ambit-control-")
	if err != nil {
		return Fail, fmt.Sprintf("no folder for the control: %v", err)
	}
	defer os.RemoveAll(top)
	root := filepath.Join(top, "root")
	if err := os.Mkdir(root, 0o777); err != nil {
		return Fail, err.Error()
	}
	tree := c.tree
	link := filepath.Join(top, "link")
	if os.Symlink("x", link) != nil {
		// Making links may take a privilege. Where a target has it, so has the
		// control; where it has none, no check with a link gets here.
		tree = tree.WithoutLinks()
	}
	os.Remove(link)
	if err := tree.LayOut(root); err != nil {
		return Fail, fmt.Sprintf("the control's tree: %v", err)
	}
	fsys := unconfined{root}
	p := &probe{
		fs: fsys, caps: fsys.Capabilities(), tree: tree, verdict: &verdict{},
		target: &Target{Disturb: fsys.disturb, Beside: fsys.beside},
	}
	return p.judged(ctx, r.deadline, func() { c.control(p) })
}

// unconfined is how not to do it: a folder of the disk served by joining
// paths, which "..", links and swapped folders lead out of.
type unconfined struct{ root string }

func (u unconfined) host(path string) string { return u.root + "/" + filepath.FromSlash(path) }

func (u unconfined) Capabilities() ambit.Capabilities {
	return ambit.Capabilities{Links: ambit.LinksFollowed, List: true, Write: true, Remove: true, Rename: true, Mkdir: true}
}

func (u unconfined) Open(_ context.Context, path string) (ambit.File, error) {
	info, err := u.describe(path)
	if err != nil {
		return nil, ambit.Wrap(ambit.OpOpen, path, err)
	}
	f, err := os.Open(u.host(path))
	if err != nil {
		return nil, ambit.Wrap(ambit.OpOpen, path, err)
	}
	return unconfinedFile{f, info}, nil
}

func (u unconfined) Stat(_ context.Context, path string) (ambit.FileInfo, error) {
	info, err := u.describe(path)
	return info, ambit.Wrap(ambit.OpStat, path, err)
}

func (u unconfined) describe(path string) (ambit.FileInfo, error) {
	info, err := os.Stat(u.host(path))
	if err != nil {
		return ambit.FileInfo{}, err
	}
	return ambit.FileInfo{Path: "/" + strings.Trim(path, "/"), Kind: ambit.KindOf(info.Mode()), Size: info.Size(), ModTime: info.ModTime(), Mode: info.Mode().Perm()}, nil
}

func (u unconfined) List(_ context.Context, dir string, o *ambit.ListOptions) (*ambit.Listing, error) {
	names, err := os.ReadDir(u.host(dir))
	if err != nil {
		return nil, ambit.Wrap(ambit.OpList, dir, err)
	}
	var entries []ambit.Entry
	for _, n := range names {
		entries = append(entries, ambit.Entry{
			Name: n.Name(),
			Info: ambit.FileInfo{Path: "/" + strings.Trim(dir+"/"+n.Name(), "/"), Kind: ambit.KindOf(n.Type())},
		})
	}
	return ambit.Page(dir, entries, o), nil
}

func (u unconfined) Write(_ context.Context, path string, content io.Reader, _ *ambit.WriteOptions) (ambit.WriteResult, error) {
	data, err := io.ReadAll(content)
	if err == nil {
		err = os.WriteFile(u.host(path), data, 0o666)
	}
	return ambit.WriteResult{}, ambit.Wrap(ambit.OpWrite, path, err)
}

func (u unconfined) Remove(_ context.Context, path string, _ *ambit.RemoveOptions) error {
	return ambit.Wrap(ambit.OpRemove, path, os.RemoveAll(u.host(path)))
}

func (u unconfined) Rename(_ context.Context, from, to string, _ *ambit.RenameOptions) (ambit.FileInfo, error) {
	return ambit.FileInfo{}, ambit.Wrap(ambit.OpRename, from, os.Rename(u.host(from), u.host(to)))
}

func (u unconfined) Mkdir(_ context.Context, dir string, _ *ambit.MkdirOptions) ([]string, error) {
	return nil, ambit.Wrap(ambit.OpMkdir, dir, os.MkdirAll(u.host(dir), 0o777))
}

func (u unconfined) Append(_ context.Context, path string, content io.Reader, _ *ambit.AppendOptions) (ambit.WriteResult, error) {
	f, err := os.OpenFile(u.host(path), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err == nil {
		_, err = io.Copy(f, content)
		f.Close()
	}
	return ambit.WriteResult{}, ambit.Wrap(ambit.OpAppend, path, err)
}

func (u unconfined) Stage(_ context.Context, path string, content io.Reader, _ *ambit.WriteOptions) (ambit.Staged, error) {
	data, err := io.ReadAll(content)
	if err == nil {
		_, err = os.Stat(filepath.Dir(u.host(path)))
	}
	if err != nil {
		return nil, ambit.Wrap(ambit.OpStage, path, err)
	}
	return unconfinedStaged{u, path, string(data)}, nil
}

func (u unconfined) Commit(ctx context.Context, changes []ambit.Change) ([]ambit.WriteResult, error) {
	for _, c := range changes {
		var err error
		if c.Op == ambit.OpRemove {
			err = u.Remove(ctx, c.Path, nil)
		} else {
			_, err = u.Write(ctx, c.Path, c.Content, nil)
		}
		if err != nil {
			return nil, ambit.Wrap(ambit.OpCommit, c.Path, err)
		}
	}
	return make([]ambit.WriteResult, len(changes)), nil
}

func (u unconfined) Lstat(_ context.Context, path string) (ambit.FileInfo, error) {
	info, err := os.Lstat(u.host(path))
	if err != nil {
		return ambit.FileInfo{}, ambit.Wrap(ambit.OpLstat, path, err)
	}
	return ambit.FileInfo{Path: "/" + strings.Trim(path, "/"), Kind: ambit.KindOf(info.Mode())}, nil
}

func (u unconfined) ReadLink(_ context.Context, path string) (string, error) {
	text, err := os.Readlink(u.host(path))
	return text, ambit.Wrap(ambit.OpReadLink, path, err)
}

func (u unconfined) Sub(_ context.Context, dir string) (ambit.FileSystem, error) {
	return unconfined{u.host(dir)}, nil
}

func (u unconfined) disturb(_ context.Context, _ ambit.FileSystem, c Change) error {
	return DisturbFolder(u.root, c)
}

func (u unconfined) beside(context.Context, ambit.FileSystem) (map[string]string, error) {
	return BesideFolder(u.root)
}

type unconfinedFile struct {
	*os.File
	info ambit.FileInfo
}

func (f unconfinedFile) Info() ambit.FileInfo         { return f.info }
func (f unconfinedFile) Verify(context.Context) error { return nil }

type unconfinedStaged struct {
	u       unconfined
	path    string
	content string
}

func (s unconfinedStaged) Info() ambit.FileInfo          { return ambit.FileInfo{Path: s.path} }
func (s unconfinedStaged) Discard(context.Context) error { return nil }

func (s unconfinedStaged) Publish(ctx context.Context) (ambit.WriteResult, error) {
	return s.u.Write(ctx, s.path, strings.NewReader(s.content), nil)
}
