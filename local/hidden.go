// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/ambitfs/ambit"
)

// Names of these forms belong to the library: what a call prepares, and what
// it has taken away and not yet deleted. They are long and fixed so that nobody
// has one by accident. Letters of either case count, since some disks take
// them for the same.
const (
	// Content that was not published, and folders that were removed.
	temporaryPrefix = ".ambit.tmp."
	// What a conditional change has taken from its place, until it is known
	// that it was what the caller had seen: digits of two files and the name of
	// the place follow.
	swapPrefix = ".ambit.swap."
	// What a Commit has put aside; only the journal tells what to do about it.
	commitPrefix = ".ambit.commit."
	// The journal of a Commit, and that of one which has been made as a whole.
	journalPrefix = ".ambit.journal."
	donePrefix    = ".ambit.done."

	hiddenDigits = 32
	maxName      = 255
)

// isHidden reports that the name belongs to the library.
func isHidden(name string) bool {
	for _, prefix := range []string{temporaryPrefix, commitPrefix, journalPrefix, donePrefix} {
		if _, rest, ok := cutHidden(name, prefix); ok && rest == "" {
			return true
		}
	}
	_, rest, ok := cutHidden(name, swapPrefix)
	return ok && (rest == "" || rest[0] == '.')
}

// holdsHidden reports that one of the names of the path belongs to the library.
func holdsHidden(path string) bool {
	if path == "" || path[0] != '.' && !strings.Contains(path, "/.") {
		return false
	}
	for name := range strings.SplitSeq(path, "/") {
		if isHidden(name) {
			return true
		}
	}
	return false
}

// cutHidden splits a name of the form of prefix after its digits.
func cutHidden(name, prefix string) (digits, rest string, ok bool) {
	if len(name) < len(prefix)+hiddenDigits || !strings.EqualFold(name[:len(prefix)], prefix) {
		return "", "", false
	}
	digits, rest = name[len(prefix):len(prefix)+hiddenDigits], name[len(prefix)+hiddenDigits:]
	if _, err := hex.DecodeString(digits); err != nil {
		return "", "", false
	}
	return digits, rest, true
}

func randomDigits() string {
	b := make([]byte, hiddenDigits/2)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

func temporaryName() string { return temporaryPrefix + randomDigits() }

// noFile stands in a swap name for no file.
const noFile = "0000000000000000"

// swapKey tells the file from every other that has ever been, in 16 digits.
func (n *node) swapKey() string {
	if n == nil {
		return noFile
	}
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte(n.generation), n.inode))
	return hex.EncodeToString(sum[:8])
}

// swapName is the hidden name for a swap at the place called name: staged is
// what is to come there, nil for nothing, and expected what is to go.
func swapName(staged, expected *node, name string) string {
	hidden := swapPrefix + staged.swapKey() + expected.swapKey()
	if len(hidden)+1+len(name) > maxName {
		return hidden
	}
	return hidden + "." + name
}

// parseSwapName takes apart what swapName has put together; place is "" when
// the name was too long to be kept.
func parseSwapName(hidden string) (staged, expected, place string, ok bool) {
	digits, rest, ok := cutHidden(hidden, swapPrefix)
	if !ok || rest != "" && rest[0] != '.' {
		return "", "", "", false
	}
	return digits[:16], digits[16:], strings.TrimPrefix(rest, "."), true
}

// reserved is the error of a call that would make a name of that form.
func reserved(p *place) error {
	return &ambit.Error{
		Reason: ambit.ErrDenied, Rule: "temporary-name", Target: p.path(),
		Detail: "names of this form are kept for the file system itself",
	}
}
