// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package conformance

import "github.com/ambitfs/ambit"

func makeFIFO(string) error { return ambit.ErrUnsupported }
