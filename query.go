// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

// GlobQuery asks for the names beneath Base that match Pattern.
type GlobQuery struct {
	Pattern  string                         // the dialect is that of the search engine, which this version does not have yet
	Base     string                         // a literal path, never a pattern; may be a file; "" is "."
	All      bool                           // names that begin with a dot too
	NoIgnore bool                           // also what .gitignore leaves out
	Details  bool                           // fill the whole FileInfo of each match
	Kinds    []Kind                         // only these kinds; empty: all
	Limit    int                            // at most this many matches; 0: all
	Keep     func(path string, k Kind) bool // asked for each match before it counts; nil keeps all
}

// GlobMatch is one name found.
type GlobMatch struct {
	Info FileInfo // Path and Kind always, the rest with Details
}

// GrepQuery asks for the lines beneath Base that match Pattern.
type GrepQuery struct {
	Pattern       string   // RE2 syntax, or the text itself with Literal
	Base          string   // a literal path, never a pattern; may be a file; "" is "."
	Literal       bool     // Pattern is a text
	IgnoreCase    bool     // Unicode simple folding
	Word          bool     // only whole words
	Multiline     bool     // a match may span lines
	All           bool     // files whose names begin with a dot too
	NoIgnore      bool     // also what .gitignore leaves out
	Include       []string // only files that match one of these globs
	Exclude       []string // no file that matches one of these globs
	Types         []string // only files of these types, such as "go"
	Before, After int      // lines of context
	Limit         int      // at most this many matches in total; 0: all
	MaxLineBytes  int      // longer lines are cut around the match; 0: never
	Mode          GrepMode
	Keep          func(path string, k Kind) bool // asked for each file before it is searched; nil keeps all
}

// GrepMode says what a grep reports.
type GrepMode uint8

// The modes.
const (
	GrepContent GrepMode = iota // the matching lines
	GrepFiles                   // each file with a match, once
	GrepCount                   // each file with a match, and how many lines match
)

// GrepMatch is one line found, a line of context, or one file.
type GrepMatch struct {
	Path    string   // canonical path of the file
	Line    int      // 1-based; 0 for GrepFiles and GrepCount
	Column  int      // 1-based, in bytes: where the first match in the line starts
	Text    string   // the line without its ending
	Spans   [][2]int // byte offsets in Text of each match: start, end
	Context bool     // a line around a match, no match itself
	Clipped bool     // Text is a cut-out of a longer line
	Count   int      // matching lines of the file (GrepCount)
}

// SearchSummary tells what a search did beyond its matches.
type SearchSummary struct {
	Truncated   bool   // stopped at Limit, or by the caller, with more to come
	Searched    int    // files searched, or names compared
	Matched     int    // matches reported, or files with a match
	Hidden      int    // left out by default because a name begins with a dot
	Ignored     int    // left out by default by an ignore file
	Skipped     []Skip // what could not be searched, and why; the first 100
	MoreSkipped int    // how many more
}

// Skip is one file or folder that a search could not look into.
type Skip struct {
	Path   string
	Reason Reason
}
