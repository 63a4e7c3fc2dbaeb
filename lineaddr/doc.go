// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package lineaddr reads and changes text by line numbers.
//
// # Lines
//
// Lines end at LF. A CR right before it belongs to the ending; a CR anywhere
// else, a form feed, U+0085 and U+2028 are content. Lines are numbered from 1,
// and the last line of a [Range] belongs to it. A final newline ends the last
// line and starts none: "alpha\nbeta\n" has two lines, an empty text none. The
// text may be UTF-8 or any other bytes that hold ASCII as it is; nothing is
// decoded, so nothing is lost and no character is cut.
//
// # Reading
//
// [Slice], [Head], [Copy] and [Count] read a stream; [Tail] and [Index] read
// an open file from where the lines are. A [Window] is verbatim: endings, a
// byte order mark and stray bytes are as they stand in the file. A range is
// clamped to the last line; one that starts behind it is
// [ambit.ErrOutOfRange], and the error has the number of lines. Lines may have
// any length and files any size: nothing is held but the result and one or two
// blocks of 256 KiB.
//
// # Changing
//
// [Splice] and [Insert] are pure functions from a content to the next.
//
// # Failures
//
// Every failure is an [*ambit.Error]. What concerns the arguments has no Op
// and no Path, since a stream has neither: who knows them adds them by
// [ambit.Wrap]; an [*ambit.Error] of the reader, the
// file or the writer is passed on as it is. A nil reader, file or writer, also
// as a nil pointer, and one that returns impossible counts are
// [ambit.ErrInvalid].
//
// Everything here is safe for concurrent use, on readers, files and writers of
// one's own.
package lineaddr
