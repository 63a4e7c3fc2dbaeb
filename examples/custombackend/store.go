// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ambitfs/ambit"
)

// Store is a file system over a flat key-value map: the key is the path. It is
// what a backend over a database or an object store looks like. It promises
// reading, writing, listing and removing, with versions; package ambit's
// functions do the rest (Append, Rename, Stage, Commit) by their fallbacks.
type Store struct {
	mu     sync.RWMutex
	values map[string]*value // clean absolute path to what is there
	last   int64             // the newest version given out; it never goes back
}

// value is a file or a folder. It is never changed once it is in the map, so a
// File can go on reading it while a writer puts another in its place.
type value struct {
	data   []byte
	folder bool
	info   ambit.FileInfo
}

// NewStore returns a store that holds files: path to content, and for a folder
// its path with a slash behind it.
func NewStore(files map[string]string) (*Store, error) {
	s := &Store{values: map[string]*value{}}
	s.values["/"] = s.newFolder("/")
	for _, path := range slices.Sorted(maps.Keys(files)) {
		clean, folder, err := ambit.Resolve("/", path)
		if err != nil {
			return nil, err
		}
		dir := ambit.Dir(clean)
		if folder {
			dir = clean
		}
		s.makeFolders(dir)
		if !folder {
			s.values[clean] = s.newFile(clean, []byte(files[path]))
		}
	}
	return s, nil
}

func (s *Store) Capabilities() ambit.Capabilities {
	return ambit.Capabilities{
		Links: ambit.LinksNone, Swap: ambit.SwapExact, Versions: true, ReadAt: true, Streams: true,
		List: true, Write: true, Remove: true, AtomicReplace: true, AtomicRemove: true,
	}
}

func (s *Store) Open(ctx context.Context, path string) (ambit.File, error) {
	v, err := s.find(ctx, path, nil)
	if err == nil && v.folder {
		err = &ambit.Error{Reason: ambit.ErrNotAFile, Kind: ambit.KindDirectory, Target: v.info.Path}
	}
	if err != nil {
		return nil, ambit.Wrap(ambit.OpOpen, path, err)
	}
	return &file{ctx: ctx, store: s, path: path, value: v, r: bytes.NewReader(v.data)}, nil
}

func (s *Store) Stat(ctx context.Context, path string) (ambit.FileInfo, error) {
	v, err := s.find(ctx, path, nil)
	if err != nil {
		return ambit.FileInfo{}, ambit.Wrap(ambit.OpStat, path, err)
	}
	return v.info, nil
}

func (s *Store) List(ctx context.Context, dir string, o *ambit.ListOptions) (*ambit.Listing, error) {
	v, err := s.find(ctx, dir, o.Check())
	if err == nil && !v.folder {
		err = ambit.ErrNotADirectory
	}
	if err != nil {
		return nil, ambit.Wrap(ambit.OpList, dir, err)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	var entries []ambit.Entry
	for path, child := range s.values {
		if path != "/" && ambit.Dir(path) == v.info.Path {
			entries = append(entries, ambit.Entry{Name: ambit.Base(path), Info: child.info})
		}
	}
	return ambit.Page(v.info.Path, entries, o), nil
}

func (s *Store) Write(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error) {
	if o == nil {
		o = &ambit.WriteOptions{}
	}
	if err := s.judge(ctx, path, content, o); err != nil {
		return ambit.WriteResult{}, ambit.Wrap(ambit.OpWrite, path, err)
	}
	// The content may be slow, or a file of this very store: no lock is held.
	data, err := io.ReadAll(ambit.Content(ctx, content, 0))
	if err != nil {
		return ambit.WriteResult{}, ambit.Wrap(ambit.OpWrite, path, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return ambit.WriteResult{}, ambit.Wrap(ambit.OpWrite, path, err)
	}
	clean, before, err := s.target(path, o)
	if err != nil {
		return ambit.WriteResult{}, ambit.Wrap(ambit.OpWrite, path, err)
	}
	made := s.makeFolders(ambit.Dir(clean))
	v := s.newFile(clean, data)
	s.values[clean] = v
	return ambit.WriteResult{Info: v.info, Created: before == nil, CreatedDirs: made}, nil
}

// judge refuses early what can be refused without reading the content.
func (s *Store) judge(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, _, err := ambit.Resolve("/", path); err != nil {
		return err
	}
	if err := o.Check(s.Capabilities()); err != nil {
		return err
	}
	if err := ambit.CheckContent(content); err != nil {
		return err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, _, err := s.target(path, o)
	return err
}

// target returns where a write to path goes and what is there, nil for
// nothing. The caller holds the lock.
func (s *Store) target(path string, o *ambit.WriteOptions) (clean string, before *value, err error) {
	clean, folder, err := ambit.Resolve("/", path)
	if err != nil {
		return "", nil, err
	}
	v, err := s.lookup(clean, folder)
	switch {
	case err == nil && o.If.Absent():
		return "", nil, o.If.Check(&v.info)
	case err == nil && v.folder:
		return "", nil, &ambit.Error{Reason: ambit.ErrNotAFile, Kind: ambit.KindDirectory, Target: clean}
	case err == nil:
		return clean, v, o.If.Check(&v.info)
	case ambit.ReasonOf(err) != ambit.ErrNotFound:
		return "", nil, err
	}
	if failed := o.If.Check(nil); failed != nil {
		return "", nil, failed
	}
	if missing := err.(*ambit.Error); len(missing.MissingDirs) > 0 && !o.Parents {
		return "", nil, err
	}
	return clean, nil, nil
}

func (s *Store) Remove(ctx context.Context, path string, o *ambit.RemoveOptions) error {
	if o == nil {
		o = &ambit.RemoveOptions{}
	}
	return ambit.Wrap(ambit.OpRemove, path, s.remove(ctx, path, o))
}

func (s *Store) remove(ctx context.Context, path string, o *ambit.RemoveOptions) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	clean, folder, err := ambit.Resolve("/", path)
	if err != nil {
		return err
	}
	if err := o.Check(s.Capabilities()); err != nil {
		return err
	}
	if clean == "/" {
		return &ambit.Error{Reason: ambit.ErrInvalid, Detail: "the root cannot be removed"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v, err := s.lookup(clean, folder)
	switch {
	case err != nil && o.MissingOK && o.If.IsZero() && s.nothingAt(clean):
		return nil
	case ambit.ReasonOf(err) == ambit.ErrNotFound && !o.If.IsZero():
		return o.If.Check(nil)
	case err != nil:
		return err
	case !v.folder:
		if err := o.If.Check(&v.info); err != nil {
			return err
		}
		delete(s.values, clean)
		return nil
	case !o.If.IsZero():
		return &ambit.Error{Reason: ambit.ErrInvalid, Detail: "a precondition speaks of a regular file"}
	case !o.Recursive && s.hasEntries(clean):
		return ambit.ErrNotEmpty
	case !o.Recursive:
		return &ambit.Error{Reason: ambit.ErrNotAFile, Kind: ambit.KindDirectory, Target: clean}
	}
	maps.DeleteFunc(s.values, func(p string, _ *value) bool { return ambit.Contains(clean, p) })
	return nil
}

func (s *Store) hasEntries(dir string) bool {
	for p := range s.values {
		if p != dir && ambit.Contains(dir, p) {
			return true
		}
	}
	return false
}

// nothingAt: nothing is there, rather than a file where a folder is needed.
func (s *Store) nothingAt(clean string) bool {
	_, err := s.lookup(clean, false)
	return ambit.ReasonOf(err) == ambit.ErrNotFound
}

// find resolves path and returns what is there. bad is the fault of the call's
// options, which comes after the path's text and before the walk.
func (s *Store) find(ctx context.Context, path string, bad error) (*value, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	clean, folder, err := ambit.Resolve("/", path)
	if err == nil {
		err = bad
	}
	if err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.lookup(clean, folder)
}

// lookup returns what is at the clean path; folder: it must be a folder. It
// tells a missing parent from a file that is used as a folder. The caller
// holds the lock.
func (s *Store) lookup(clean string, folder bool) (*value, error) {
	if v, ok := s.values[clean]; ok {
		if folder && !v.folder {
			return nil, ambit.ErrNotADirectory
		}
		return v, nil
	}
	missing := &ambit.Error{Reason: ambit.ErrNotFound, Target: clean}
	for dir := ambit.Dir(clean); ; dir = ambit.Dir(dir) {
		if v, ok := s.values[dir]; ok {
			if !v.folder || folder {
				return nil, ambit.ErrNotADirectory
			}
			slices.Reverse(missing.MissingDirs)
			return nil, missing
		}
		missing.MissingDirs = append(missing.MissingDirs, dir)
	}
}

// makeFolders makes dir and every missing folder above it, and returns those
// it made, outermost first. The caller holds the lock.
func (s *Store) makeFolders(dir string) []string {
	if _, ok := s.values[dir]; ok {
		return nil
	}
	made := s.makeFolders(ambit.Dir(dir))
	s.values[dir] = s.newFolder(dir)
	return append(made, dir)
}

func (s *Store) newFolder(path string) *value {
	return &value{folder: true, info: ambit.FileInfo{Path: path, Kind: ambit.KindDirectory, ModTime: time.Now()}}
}

func (s *Store) newFile(path string, data []byte) *value {
	s.last++
	return &value{data: data, info: ambit.FileInfo{
		Path: path, Kind: ambit.KindRegular, Size: int64(len(data)), ModTime: time.Now(),
		Version: ambit.Version(strconv.FormatInt(s.last, 10)),
	}}
}
