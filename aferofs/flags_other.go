// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package aferofs

import "os"

const (
	readFlags  = os.O_RDONLY
	probeFlags = os.O_WRONLY
)
