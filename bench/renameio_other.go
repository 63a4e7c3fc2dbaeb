// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package main

// renameioContenders are none: the package is for systems whose rename
// replaces in one step.
func renameioContenders(string) []contender { return nil }
