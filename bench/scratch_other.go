// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

// spread is for the disks of Linux.
func spread(string) {}
