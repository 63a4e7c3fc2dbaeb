// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package charset tells text from binary, and turns content in any common
// character encoding into UTF-8 text and back without losing a byte.
//
// # Bytes first
//
// Most files need no conversion. Under the zero [Encoding] content is taken as
// it is: lines, edits and patches work on UTF-8 and on any other bytes that
// contain ASCII as itself, and stray bytes stay what they are. Only a byte order
// mark changes that: it says UTF-8 or UTF-16, and UTF-16 is converted.
//
// # Nothing is lost
//
// Under any other Encoding content is decoded strictly. What would not come back
// byte for byte is refused as [ambit.ErrNotText] (an odd byte at the end of
// UTF-16, a lone surrogate, a byte that the encoding does not define, a sequence
// that has a shorter or preferred form), and so is text that the encoding cannot
// express. U+FFFD never stands in for anything.
//
// # The byte order mark
//
// It is outside the text: [Document.Text] does not have it, [Document.Encode]
// puts it back. A second one behind it is content.
package charset
