// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

// bareReaders are none: no other system has one call that opens confined.
func bareReaders(int, func(int, reader) starter) []contender { return nil }
