// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package charset

// Detect returns what [Classify] returns, but for the media type, which is "",
// and in a small part of the time: for those who ask it of every file on their
// way.
func Detect(head []byte, whole bool) Class {
	if len(head) > HeadSize {
		head, whole = head[:HeadSize], false
	}
	if c, _ := classify(head, whole); c.Text {
		return c
	}
	return Class{}
}
