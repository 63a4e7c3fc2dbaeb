// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import "context"

// TextEngine is what the checks of the level text call.
type TextEngine = textEngine

// TextIndex is what a TextEngine's Index returns.
type TextIndex = textIndex

// RunWith is Run with another engine than the packages'.
func RunWith(ctx context.Context, t Target, o *Options, change func(e *TextEngine)) *Report {
	r := newRunner(ctx, t, o)
	change(&r.text)
	return r.run(ctx)
}
