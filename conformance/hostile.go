// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import "slices"

// hostileChecks are about what an enemy could write: links, escapes, odd
// names, absurd arguments, and changes behind the file system's back.
func hostileChecks() []*check {
	return slices.Concat(
		linkChecks(),
		followChecks(),
		refusedLinkChecks(),
		fifoChecks(),
		escapeChecks(),
		guardChecks(),
		nameChecks(),
		argumentChecks(),
		foreignChecks(),
		raceChecks(),
	)
}
