// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import "io/fs"

// Patch is a parsed patch: what it does, file by file.
type Patch struct {
	Sections []Section // in the order of the text; never empty
}

// Action is what a [Section] does.
type Action string

// The actions.
const (
	Add    Action = "add"    // create the file Path
	Delete Action = "delete" // remove the file Path
	Update Action = "update" // change the file Path, and move it to To where that is set
	Copy   Action = "copy"   // create the file To out of the file Path, which stays (git)
)

// Section is what a patch does to one file.
type Section struct {
	Line   int // 1-based number of its first line in the text of the patch
	Action Action
	Path   string // as the patch has it, quoting and git's prefixes a/ and b/ removed
	To     string // Update: the new name, "" to keep it; Copy: the name of the copy

	// Original: the section speaks of the file Path as it was before the whole
	// patch, whatever the sections above did to it, and of a name To that is free
	// once all of the patch is done. So mean git's renames and copies, whose order
	// says nothing: two files may swap their names, and a copy that stands below a
	// change of its source is one of the source without it. A file that a section
	// above has changed cannot be moved so, for the change would be lost.
	Original bool

	// Mode is the mode that the patch gives the file: of its permission bits,
	// git knows only whether a file can be executed (0755) or not (0644). 0:
	// the patch says nothing about it.
	Mode fs.FileMode

	// Hunks are the changes of the content, in the order of the text. Of Add it
	// is one hunk of added lines, or none for an empty file. Of Delete it is the
	// content that is removed, without lines where that is empty, or none where
	// the patch does not tell it.
	Hunks []Hunk
}

// Hunk is one change of a file's lines.
type Hunk struct {
	Line int // 1-based number of its first line in the text of the patch

	// Start is the line number at which the hunk says that it begins in the
	// old file, 0 where it says none ("*** Begin Patch"). A hunk without old
	// lines says behind which line it adds: then Start may be 0 too, and
	// Numbered tells the two apart.
	Start    int
	Numbered bool

	Anchors   []string // lines that come before it in the file, outermost first, without endings ("@@ text")
	EndOfFile bool     // its old lines are the last ones of the file
	Lines     []Line
}

// Line is one line of a [Hunk].
type Line struct {
	Kind LineKind
	Text string // with its ending; without one where the patch says that the file has none there
}

// LineKind is what a [Line] says.
type LineKind byte

// The kinds of lines.
const (
	Context LineKind = ' ' // in both files
	Removed LineKind = '-' // in the old file only
	Added   LineKind = '+' // in the new file only
)
