// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

// Package patch applies patches to several files at once, all or none.
package patch
