// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit

// GlobQuery asks for the names beneath Base that match Pattern.
type GlobQuery struct {
	Pattern  string                         // relative to Base, in the dialect of docs/glob.md; with a slash in front a path from "/", which Base must contain
	Base     string                         // a literal path, never a pattern; may be a file; "" is "."
	All      bool                           // wildcards match names that begin with a dot too
	NoIgnore bool                           // also what .gitignore leaves out
	Details  bool                           // fill the whole FileInfo of each match
	Kinds    []Kind                         // only these kinds; empty: all
	Limit    int                            // at most this many matches; 0: all
	Keep     func(path string, k Kind) bool // asked for each match before it counts, one call at a time; nil keeps all
}

// GlobMatch is one name found.
type GlobMatch struct {
	Info FileInfo // Path and Kind always, the rest with Details
}

// GrepQuery asks for the lines beneath Base that match Pattern. A line is matched
// without its ending, LF or CRLF, and without a byte order mark.
type GrepQuery struct {
	Pattern       string   // RE2 syntax, as of package regexp, or the text itself with Literal
	Base          string   // a literal path, never a pattern; may be a file; "" is "."
	Literal       bool     // Pattern is a text
	IgnoreCase    bool     // Unicode simple folding
	Word          bool     // no letter, mark, digit or connector is directly beside a match
	Multiline     bool     // a match may span lines, which end with LF for the pattern; each line that it touches is reported
	All           bool     // files and folders whose names begin with a dot too
	NoIgnore      bool     // also what .gitignore leaves out
	Include       []string // only files that match one of these globs; one without a slash matches the name at any depth
	Exclude       []string // no file that matches one of these globs, nor what lies in such a folder
	Types         []string // only files of these types, such as "go"; see the search engine's Types
	Before, After int      // lines of context, with GrepContent
	Limit         int      // at most this many matching lines, or files but with GrepContent, in total; 0: all
	MaxLineBytes  int      // of a longer line a part of at most this many bytes is reported, around its first match; 0: all of it
	Mode          GrepMode
	Keep          func(path string, k Kind) bool // asked for each file before it is searched, one call at a time; nil keeps all
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
//
// Text holds the bytes of the file, also where they are no UTF-8; a file in UTF-16
// is matched and reported as UTF-8, and its columns and offsets are those of that
// text. At most 65,536 matches of a line have Spans. A match among the After lines
// of the last one that Limit allows comes as context, without Column and Spans, and
// cut as a match is.
type GrepMatch struct {
	Path    string   // canonical path of the file
	Line    int      // 1-based; 0 for GrepFiles and GrepCount
	Column  int      // 1-based, in bytes of the whole line: where the first match in it starts; 0 for context
	Text    string   // the line without its ending
	Spans   [][2]int // byte offsets in Text of each match: start, end
	Context bool     // a line around a match
	Clipped bool     // Text is a part of a longer line, of which it begins at byte Column-1-Spans[0][0], or for context at its first; spans are cut to it
	Count   int      // matching lines of the file (GrepCount); with Multiline, lines that matches touch
}

// SearchSummary tells what a search did beyond its matches. Of a search that was
// truncated it counts what was looked at up to there.
//
// Hidden and Ignored count what would have been found, searched or entered
// otherwise: a folder once, and not what is beneath it; for a pattern that cannot
// match there, nothing. Links are neither followed nor counted.
type SearchSummary struct {
	Truncated   bool   // stopped at Limit with more to come, or by the caller
	Searched    int    // files opened by a grep, or folders listed by a glob
	Matched     int    // names reported, or files with a match
	Hidden      int    // files and folders left out for the dot that their names begin with
	Ignored     int    // files and folders left out by an ignore file
	Skipped     []Skip // what could not be searched, or not as a whole; the first 100, those that are no text the last to be named
	MoreSkipped int    // how many more
}

// Skip is one file or folder that a search could not look into, or not all of it:
// what was found before stands in the matches.
//
//   - [ErrNotText]: binary content, or a matching line that has a NUL byte.
//   - [ErrTooLarge]: a line, or with Multiline a file, larger than the engine holds.
//   - Others, such as [ErrPermission]: as a call for the path would say.
type Skip struct {
	Path   string
	Reason Reason
}
