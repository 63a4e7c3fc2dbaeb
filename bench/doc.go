// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package bench measures Ambit against other ways to reach files. It is a module of its own, so that what it compares with
// never becomes a dependency of the library.
package bench

// A module that imports nothing of the root loses its requirement when it is tidied.
import _ "github.com/ambitfs/ambit"
