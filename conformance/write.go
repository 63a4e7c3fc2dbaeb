// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import "slices"

// writeChecks are the checks of the level write.
func writeChecks() []*check {
	return slices.Concat(
		pathTextChecks(LevelWrite),
		workingDirectoryChecks(LevelWrite),
		orderChecks(LevelWrite),
		contextChecks(LevelWrite),
		creationChecks(),
		replaceChecks(),
		contentChecks(),
		meanwhileChecks(),
		modeChecks(),
		sizeLimitChecks(),
		preconditionChecks(),
		newVersionChecks(),
		openWhileChangedChecks(),
		appendChecks(),
		stageChecks(),
		removeChecks(),
		renameChecks(),
		mkdirChecks(),
		commitChecks(),
		subWriteChecks(),
	)
}
