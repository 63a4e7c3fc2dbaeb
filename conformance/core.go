// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import "slices"

// coreChecks are the checks of the level core.
func coreChecks() []*check {
	return slices.Concat(
		capabilityChecks(),
		pathTextChecks(LevelCore),
		pathChecks(),
		workingDirectoryChecks(LevelCore),
		orderChecks(LevelCore),
		contextChecks(LevelCore),
		openChecks(),
		readAtChecks(),
		verifyChecks(),
		statChecks(),
		listChecks(),
		versionChecks(),
		lstatChecks(),
		subChecks(),
	)
}
