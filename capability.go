// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"encoding/json"
	"slices"
)

// Capabilities are the named facts that a file system promises. The zero value
// promises nothing. Each is a floor for every path: a file system whose mounts
// differ claims what holds on all of them.
//
// The bits from Write to Guard name operations: one without its bit is refused
// as [ErrUnsupported] ([ErrReadOnly] for changes of a read-only file system)
// and changes nothing, whether or not its method exists. The others name
// qualities, which the conformance suite tests where they are claimed, as far
// as a caller can see them: not Durable, Streams and AtomicCommit, which show
// only in a power cut, in memory used and in a crash.
type Capabilities struct {
	ID       string    // names the storage; equal for clients of the same storage; may be ""
	Links    LinkRule  // what happens to symbolic links on the way
	Swap     SwapLevel // how strongly a Precondition holds
	Identity bool      // FileInfo.ID is filled
	Versions bool      // FileInfo.Version is filled for regular files
	ReadAt   bool      // a File is an io.ReaderAt
	Streams  bool      // Open does not copy the whole file first
	Confined bool      // the operating system anchors every step at the root: a path swapped between check and use cannot escape

	Write    bool
	List     bool
	Remove   bool
	Append   bool
	Rename   bool
	Mkdir    bool
	Stage    bool
	Commit   bool
	ReadLink bool
	Search   bool
	Sub      bool
	Guard    bool

	AtomicReplace bool  // readers see the old bytes or the new, never a mixture, a prefix or nothing
	AtomicRemove  bool  // a folder leaves its name in one step
	AtomicCommit  bool  // Commit is all or nothing across a crash
	Durable       bool  // what a call has published survives a power cut
	KeepsMode     bool  // permission bits given to Write are kept and shown, and survive a replacement
	MaxFileSize   int64 // larger files are refused as ErrTooLarge; 0: no limit is promised
}

// LinkRule says what happens to symbolic links in a path.
type LinkRule uint8

// The link rules.
const (
	LinksUnknown  LinkRule = iota // no promise
	LinksNone                     // the storage has no links
	LinksRefused                  // a path through a link is ErrDenied
	LinksFollowed                 // links are followed within the roots, ErrOutside where they lead out
)

// String returns "unknown", "none", "refused" or "followed".
func (r LinkRule) String() string {
	return nameOf(uint8(r), linkRuleNames)
}

var linkRuleNames = []string{"unknown", "none", "refused", "followed"}

// MarshalJSON writes r as its String.
func (r LinkRule) MarshalJSON() ([]byte, error) { return json.Marshal(r.String()) }

// UnmarshalJSON reads what MarshalJSON wrote; a rule that this version does
// not know becomes LinksUnknown.
func (r *LinkRule) UnmarshalJSON(data []byte) error {
	i, err := named(data, linkRuleNames)
	if err == nil {
		*r = LinkRule(i)
	}
	return err
}

// SwapLevel says how strongly a Precondition holds; each level includes the
// ones before it.
type SwapLevel uint8

// The levels.
const (
	SwapNone    SwapLevel = iota // a Precondition is ErrUnsupported
	SwapChecked                  // checked just before publishing; a window remains
	SwapExact                    // exact among all users of this library
	SwapForeign                  // exact also against programs that replace the file by rename
)

// String returns "none", "checked", "exact" or "foreign".
func (l SwapLevel) String() string {
	return nameOf(uint8(l), swapLevelNames)
}

var swapLevelNames = []string{"none", "checked", "exact", "foreign"}

// MarshalJSON writes l as its String.
func (l SwapLevel) MarshalJSON() ([]byte, error) { return json.Marshal(l.String()) }

// UnmarshalJSON reads what MarshalJSON wrote; a level that this version does
// not know becomes SwapNone.
func (l *SwapLevel) UnmarshalJSON(data []byte) error {
	i, err := named(data, swapLevelNames)
	if err == nil {
		*l = SwapLevel(i)
	}
	return err
}

func nameOf(i uint8, names []string) string {
	if int(i) < len(names) {
		return names[i]
	}
	return "invalid"
}

// named returns which of names the JSON text is, the first where it is none:
// that promises the least.
func named(data []byte, names []string) (int, error) {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return 0, err
	}
	return max(slices.Index(names, s), 0), nil
}

// Intersect returns what both c and d promise: a bit that both have, the
// weaker level, the smaller limit, and a link rule or ID where they agree.
// Authors of wrappers over several file systems claim by it.
func (c Capabilities) Intersect(d Capabilities) Capabilities {
	r := Capabilities{
		Swap:     min(c.Swap, d.Swap),
		Identity: c.Identity && d.Identity,
		Versions: c.Versions && d.Versions,
		ReadAt:   c.ReadAt && d.ReadAt,
		Streams:  c.Streams && d.Streams,
		Confined: c.Confined && d.Confined,

		Write:    c.Write && d.Write,
		List:     c.List && d.List,
		Remove:   c.Remove && d.Remove,
		Append:   c.Append && d.Append,
		Rename:   c.Rename && d.Rename,
		Mkdir:    c.Mkdir && d.Mkdir,
		Stage:    c.Stage && d.Stage,
		Commit:   c.Commit && d.Commit,
		ReadLink: c.ReadLink && d.ReadLink,
		Search:   c.Search && d.Search,
		Sub:      c.Sub && d.Sub,
		Guard:    c.Guard && d.Guard,

		AtomicReplace: c.AtomicReplace && d.AtomicReplace,
		AtomicRemove:  c.AtomicRemove && d.AtomicRemove,
		AtomicCommit:  c.AtomicCommit && d.AtomicCommit,
		Durable:       c.Durable && d.Durable,
		KeepsMode:     c.KeepsMode && d.KeepsMode,
		MaxFileSize:   c.MaxFileSize,
	}
	if c.ID == d.ID {
		r.ID = c.ID
	}
	if c.Links == d.Links {
		r.Links = c.Links
	}
	if c.MaxFileSize == 0 || d.MaxFileSize > 0 && d.MaxFileSize < c.MaxFileSize {
		r.MaxFileSize = d.MaxFileSize
	}
	return r
}

// ReadOnly returns c without any bit that speaks of change.
func (c Capabilities) ReadOnly() Capabilities {
	c.Swap = SwapNone
	c.Write, c.Remove, c.Append, c.Rename, c.Mkdir, c.Stage, c.Commit = false, false, false, false, false, false, false
	c.AtomicReplace, c.AtomicRemove, c.AtomicCommit, c.Durable, c.KeepsMode = false, false, false, false, false
	return c
}

// claims reports whether c has the bit of the operation op, and whether op is
// a change.
func (c Capabilities) claims(op string) (claimed, change bool) {
	switch op {
	case OpWrite:
		return c.Write, true
	case OpRemove:
		return c.Remove, true
	case OpAppend:
		return c.Append, true
	case OpRename:
		return c.Rename, true
	case OpMkdir:
		return c.Mkdir, true
	case OpStage:
		return c.Stage, true
	case OpCommit:
		return c.Commit, true
	case OpList:
		return c.List, false
	case OpLstat, OpReadLink:
		return c.ReadLink, false
	case OpGlob, OpGrep:
		return c.Search, false
	case OpSub:
		return c.Sub, false
	}
	return true, false
}

// Refusal is for authors of backends and wrappers: it returns the error of the
// operation op, one of the Op constants, where c has not its bit:
// [ErrUnsupported], or [ErrReadOnly] for a change where Write is not claimed.
// It returns nil for an operation that is claimed or has no bit.
func (c Capabilities) Refusal(op, path string) error {
	switch claimed, change := c.claims(op); {
	case claimed:
		return nil
	case change && !c.Write:
		return readOnlyError(op, path)
	}
	return Unsupported(op, path)
}
