// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package edit changes files exactly: text that is found once, or lines that are
// named, and nothing else.
//
//	outcome, err := edit.File(ctx, fsys, "main.go", []edit.Op{
//		edit.Replace{Old: "port = 80", New: "port = 8080"},
//		edit.Insert{After: 3, Text: "import \"log\""},
//	}, nil)
//
// All ops of a call see the file as it was before the call, and all are made or
// none. A text that is missing or found several times is refused, with the
// lines that are nearest or the lines of all places; nothing is ever guessed.
//
// # What changes
//
// Only the bytes that an op names. Other lines keep their endings, a byte order
// mark stays and is no part of the text, bytes that are not UTF-8 stay as they
// are, and a file keeps having, or lacking, a final newline, unless a Replace
// says otherwise. Lines end as docs/contract.md says: at LF; a CR right before
// it belongs to the ending.
//
// # Several callers
//
// [File] publishes over the very version that it has read: an edit that somebody
// else made meanwhile is never lost.
package edit
