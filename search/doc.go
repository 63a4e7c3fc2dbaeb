// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package search finds names and lines in the files of any [ambit.FileSystem]:
// [Glob] by a pattern of their paths, [Grep] by a regular expression.
//
// A file system that searches by itself ([ambit.Capabilities].Search) is asked to;
// any other is listed and read. The answers are the same.
//
// # What is searched
//
// A query's Base is a literal path, never a pattern, and may be a file. It must be
// there: a missing one is [ambit.ErrNotFound], and one that cannot be read is the
// error that says so. Beneath it no link is followed: Glob tells of links as
// links, Grep leaves them out. Only regular files are opened.
//
// Names that begin with a dot are left out unless the query has All, or the
// segment of the pattern that matches them begins with a dot. What a .gitignore
// ignores is left out unless the query has NoIgnore: as git reads these files, in
// the folders of the search and in those above it up to the nearest repository
// (a folder with an entry ".git"), with .git/info/exclude. What is named as the
// base is searched though it is ignored; files above it have no say then.
//
// What a rule refuses, and what is hidden by it, is left out without a word; what
// cannot be searched for another reason stands in the summary, and never ends a
// search. What goes while the search runs is not missed.
//
// # Regular expressions
//
// Their syntax is that of package regexp (RE2): no lookaround, no back references,
// time in proportion to the text. \b, \w, \d and \s speak of ASCII, as there;
// \pL, IgnoreCase and Word speak of Unicode. An empty pattern matches every line. A
// pattern is matched against each line alone unless Multiline is set.
//
// # Text
//
// Binary content is not searched, and stands in the summary; what that is
// [charset.Classify] says. UTF-16 with a byte order mark is searched as UTF-8.
// Everything else is searched as the bytes it is.
//
// # Order and limits
//
// Results come sorted by path, segment by segment in byte order: a folder before
// what is in it, and before its siblings behind it. A Limit therefore cuts a stable
// list; Truncated says that there was more.
//
// # Concurrency
//
// Searches run on several goroutines; yield is called on the caller's alone, and
// Keep never at the same time as another Keep or yield. All goroutines have ended
// when a search returns.
package search
