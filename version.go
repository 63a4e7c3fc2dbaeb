// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

// Version is a validator of a file's bytes, as an ETag is in HTTP: two equal
// versions of the same path mean that nothing has been written to the file,
// that it was not truncated and that nothing was put in its place in between.
// A change of mode, owner, links or times by others may change it too, so a
// different version means "perhaps different bytes". Every change through the
// library gives a new one, with the same size and within the same clock tick
// too. It may be kept across restarts and shared between clients of one
// storage.
//
// A version is opaque: 1 to 128 bytes out of "!" and "#" to "~" of ASCII, so
// that it fits into an ETag and a header as it is. "" is no version.
type Version string

// MaxVersion is the longest version in bytes.
const MaxVersion = 128

// Valid reports whether v has the form of a version.
func (v Version) Valid() bool {
	if len(v) == 0 || len(v) > MaxVersion {
		return false
	}
	for i := range len(v) {
		if c := v[i]; c < '!' || c > '~' || c == '"' {
			return false
		}
	}
	return true
}

// Precondition says under which condition a change is made. The zero value is
// "whatever is there".
type Precondition struct {
	absent  bool
	version bool
	want    Version
}

// IfAbsent lets a change create only: anything in the way, a link of any kind
// included, is [ErrExists].
func IfAbsent() Precondition { return Precondition{absent: true} }

// IfVersion lets a change happen only while the file is at version v; else it
// is [ErrChanged], also when the file is gone. IfVersion("") is [ErrInvalid]:
// a missing version must not turn into "whatever is there".
func IfVersion(v Version) Precondition { return Precondition{version: true, want: v} }

// IsZero reports that p asks for nothing.
func (p Precondition) IsZero() bool { return p == Precondition{} }

// Absent reports that p was made by [IfAbsent].
func (p Precondition) Absent() bool { return p.absent }

// Version returns the version that p asks for; ok reports that p was made by
// [IfVersion].
func (p Precondition) Version() (v Version, ok bool) { return p.want, p.version }

// valid returns the fault of p itself.
func (p Precondition) valid() error {
	if p.version && !p.want.Valid() {
		return &Error{Reason: ErrInvalid, Detail: "the precondition's version is empty or not a version"}
	}
	return nil
}

// Check is for authors of backends: it judges p against what is at the path
// now, nil for nothing there. The error has the reason [ErrInvalid],
// [ErrExists] or [ErrChanged] and is to be passed through [Wrap].
func (p Precondition) Check(info *FileInfo) error {
	if err := p.valid(); err != nil {
		return err
	}
	switch {
	case p.absent && info != nil:
		return &Error{Reason: ErrExists, Kind: info.Kind, Target: info.Path}
	case p.version && info == nil:
		return &Error{Reason: ErrChanged, Detail: "the file is gone"}
	case p.version && info.Version != p.want:
		return &Error{Reason: ErrChanged, Target: info.Path, Detail: "the file has another version"}
	}
	return nil
}
