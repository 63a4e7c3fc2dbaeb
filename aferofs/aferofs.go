// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs

import (
	"context"
	"crypto/rand"
	"reflect"
	"strings"

	"github.com/ambitfs/ambit"
	"github.com/spf13/afero"
)

// Options are the options of [New]; nil means the zero value.
type Options struct {
	// Exclusive says that nobody else changes the afero.Fs while it is used
	// through here. Preconditions are then exact ([ambit.SwapExact]), and in
	// an [afero.MemMapFs] a file that is known is not looked at again, and is
	// written in place where no open File can tell. A change that is to be
	// made all the same is made by [FileSystem.Disturb].
	Exclusive bool

	// ReadOnly takes the write side away.
	ReadOnly bool

	// ID names the storage in Capabilities; "" leaves it without a name.
	ID string

	// MaxFileSize is the size in bytes above which content is refused as
	// ErrTooLarge; 0 sets no limit.
	MaxFileSize int64

	// Faults, when it is set, is asked last by every operation: all has been
	// judged, nothing has been done yet. op is the operation, path the
	// canonical path in the storage. An error becomes the operation's failure
	// and, as the end of the context meanwhile, leaves everything as it was.
	// No lock is held, so it may use the file system itself; what it changes
	// is judged again. It is safe for concurrent use.
	Faults func(op, path string) error
}

// FileSystem is the contract over an afero.Fs. It is safe for concurrent use.
type FileSystem struct {
	store *store
	root  string // where "/" lies in the storage; "" for its own root
	rules []rule
	caps  ambit.Capabilities
}

var (
	_ ambit.WritableFileSystem = (*FileSystem)(nil)
	_ ambit.Appender           = (*FileSystem)(nil)
	_ ambit.Renamer            = (*FileSystem)(nil)
	_ ambit.DirMaker           = (*FileSystem)(nil)
	_ ambit.Stager             = (*FileSystem)(nil)
	_ ambit.Committer          = (*FileSystem)(nil)
	_ ambit.Subber             = (*FileSystem)(nil)
	_ ambit.Guarder            = (*FileSystem)(nil)
)

// A rule is a function given to Guard, with the place that its paths start at.
type rule struct {
	root string
	ask  func(ctx context.Context, op ambit.Op, canonical string) error
}

// New returns fsys under the contract. It looks once at the root of fsys, and
// removes a name that cannot exist, to find out what fsys is: where it holds
// links, where its permission bits come from and whether it can be changed.
// With a nil fsys, or a nil pointer in one, every call is ErrUnsupported.
func New(fsys afero.Fs, o *Options) *FileSystem {
	if o == nil {
		o = &Options{}
	}
	if v := reflect.ValueOf(fsys); fsys != nil && v.Kind() == reflect.Pointer && v.IsNil() {
		fsys = nil
	}
	s := &store{
		fsys:     fsys,
		faults:   o.Faults,
		limit:    max(o.MaxFileSize, 0),
		instance: strings.ToLower(rand.Text()),
		nodes:    make(map[string]*node),
		temps:    make(map[*temp]struct{}),
	}
	if fsys == nil {
		return &FileSystem{store: s}
	}
	s.examine(o.Exclusive)
	caps := ambit.Capabilities{
		ID:       o.ID,
		Links:    s.links,
		Swap:     ambit.SwapChecked,
		Versions: true,
		ReadAt:   true,
		Streams:  true,

		Write:  true,
		List:   true,
		Remove: true,
		Append: true,
		Rename: true,
		Mkdir:  true,
		Stage:  true,
		Commit: true,
		// Where links might be followed unseen, neither would hold.
		Sub:   s.links != ambit.LinksUnknown,
		Guard: s.links != ambit.LinksUnknown,

		AtomicReplace: true,
		AtomicRemove:  s.inMemory,
		KeepsMode:     s.keepsMode,
		MaxFileSize:   s.limit,
	}
	if o.Exclusive {
		caps.Swap = ambit.SwapExact
	}
	if o.ReadOnly || s.readOnly {
		s.readOnly = true
		caps = caps.ReadOnly()
	}
	return &FileSystem{store: s, caps: caps}
}

// Capabilities tells what the file system promises. See the package
// documentation for how it depends on the afero.Fs.
func (v *FileSystem) Capabilities() ambit.Capabilities { return v.caps }

// Sub returns the folder dir as a file system of its own. It follows the name:
// when the folder is moved or removed, its "/" is missing.
func (v *FileSystem) Sub(ctx context.Context, dir string) (ambit.FileSystem, error) {
	var c call
	var t target
	if !v.caps.Sub {
		return nil, ambit.Unsupported(ambit.OpSub, dir)
	}
	if err := v.begin(ctx, ambit.OpSub, dir, false, &c, &t); err != nil {
		return nil, err
	}
	err := c.decide(false, func() error {
		if err := c.allowed(ambit.OpSub, t.in); err != nil {
			return t.wrap(err)
		}
		var p place
		if err := t.locate(&p); err != nil {
			return err
		}
		if err := t.mustBeFolder(&p); err != nil {
			return err
		}
		return c.last(&t)
	})
	if err != nil {
		return nil, err
	}
	sub := &FileSystem{store: v.store, rules: v.rules, caps: v.caps}
	if t.in != "/" {
		sub.root = t.in
		if v.caps.ID != "" {
			sub.caps.ID += sub.root[len(v.root):]
		}
	}
	return sub, nil
}

// Guard returns the same file system with ask consulted by every operation.
// ask runs while no lock is held: an answer holds for one path, and what was
// asked is what is acted on, since no link is followed here. Where Guard is not
// claimed, and with a nil ask, the result refuses every call.
func (v *FileSystem) Guard(ask func(ctx context.Context, op ambit.Op, canonical string) error) ambit.FileSystem {
	if !v.caps.Guard || ask == nil {
		return New(nil, nil)
	}
	guarded := *v
	guarded.rules = append(v.rules[:len(v.rules):len(v.rules)], rule{root: v.root, ask: ask})
	return &guarded
}

// Disturb runs change, which does to the afero.Fs itself what a stranger would
// do: to what lies at path, a folder with all beneath it. It is the way to
// change one that was said to be Exclusive, since what is known is not looked
// at again there. No call is at work meanwhile, and every later one sees the
// change; change must not call this file system.
func (v *FileSystem) Disturb(path string, change func()) {
	s := v.store
	clean, _, err := ambit.Resolve("/", path)
	in := v.inner(clean)
	s.step(true, func() error {
		change()
		if err != nil || s.mem == nil {
			return nil
		}
		for p, n := range s.nodes {
			if !ambit.Contains(in, p) {
				continue
			}
			// What is still the same file may be open, and is not to be
			// written in place.
			l, found, _ := s.look(p)
			if found && l.data == n.seen.data && l.kind == ambit.KindRegular {
				s.renew(p, &l)
			} else {
				delete(s.nodes, p)
			}
		}
		return nil
	})
}

// outer returns the path of the caller's machine for one of the storage.
func outer(root, in string) string {
	switch {
	case root == "":
		return in
	case len(in) <= len(root):
		return "/"
	}
	return in[len(root):]
}

// inner returns the storage's path for a clean path of the caller's machine.
func (v *FileSystem) inner(clean string) string {
	switch {
	case v.root == "":
		return clean
	case clean == "/":
		return v.root
	}
	return v.root + clean
}
