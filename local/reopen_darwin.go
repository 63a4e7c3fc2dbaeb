// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"os"
)

func reopenUnnamed(*os.File) (*os.File, error) { return nil, errors.ErrUnsupported }
