// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package ambit_test

import "errors"

func makeFIFO(string) error { return errors.ErrUnsupported }
