// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"strings"

	"github.com/ambitfs/ambit"
)

// checkNames refuses texts that Windows would read as something else than a
// name: drives, streams, devices, and what it would silently cut off.
func checkNames(clean, path string) error {
	refuse := func(detail string) error {
		return &ambit.Error{Reason: ambit.ErrInvalidPath, Detail: detail}
	}
	if strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || strings.ContainsRune(`\:*?"<>|`, r) }) {
		return refuse("the path holds a character that Windows keeps for itself")
	}
	// The path as written: "a ./.." must not pass because its text resolves.
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || name == "." || name == ".." {
			continue
		}
		if strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") {
			return refuse("a name ends in a dot or a space, which Windows cuts off")
		}
		base, _, _ := strings.Cut(name, ".")
		if isDevice(strings.ToUpper(strings.TrimRight(base, " "))) {
			return refuse("a name stands for a device of Windows")
		}
	}
	return nil
}

func isDevice(name string) bool {
	switch name {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	for _, prefix := range []string{"COM", "LPT"} {
		if n, ok := strings.CutPrefix(name, prefix); ok && (len(n) == 1 && n >= "0" && n <= "9" || n == "¹" || n == "²" || n == "³") {
			return true
		}
	}
	return false
}
