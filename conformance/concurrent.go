// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

func concurrentChecks() []*check { return nil }
