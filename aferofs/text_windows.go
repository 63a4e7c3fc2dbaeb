// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package aferofs

import (
	"path/filepath"
	"strings"

	"github.com/ambitfs/ambit"
)

// refuseText returns the fault of a clean path that the host's own rules for
// names have: afero hands names on to functions that read them as Windows
// does.
func refuseText(clean string) error {
	for name := range strings.SplitSeq(clean[1:], "/") {
		if name == "" {
			continue
		}
		if strings.ContainsAny(name, `\:<>"|?*`) || strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") || !filepath.IsLocal(name) {
			return &ambit.Error{Reason: ambit.ErrInvalidPath, Detail: "the name means something else to Windows"}
		}
	}
	return nil
}
