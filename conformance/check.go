// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// Level groups checks by what they are about.
type Level string

// The levels.
const (
	LevelCore       Level = "core"       // reading, listing, reasons, paths, options, capabilities
	LevelWrite      Level = "write"      // every kind of change
	LevelText       Level = "text"       // lines, edits, patches and search over the file system
	LevelHostile    Level = "hostile"    // links, escapes, rules, odd names, disturbances
	LevelConcurrent Level = "concurrent" // many callers at once
	LevelRemote     Level = "remote"     // what a wire adds
)

var levels = []Level{LevelCore, LevelWrite, LevelText, LevelHostile, LevelConcurrent, LevelRemote}

// CheckInfo describes a check.
type CheckInfo struct {
	ID       string // the level, a slash and a name; stable between versions
	Rule     string // one sentence of the contract
	Level    Level
	Requires []string // capabilities, "Disturb", "Beside" or "Peer"
}

// check is one rule and how it is proved.
type check struct {
	id       string
	rule     string
	requires []requirement
	tree     Tree
	run      func(p *probe)

	// control is the same probe on a file system that confines nothing: it
	// must succeed there. Hostile checks have one.
	control func(p *probe)

	// machine marks a check that speaks of the machine's root, which cannot
	// run in a scratch folder.
	machine bool

	// refusedCell is what a check of nothing but a refusal does, which can be tried
	// on other paths too; else nil.
	refusedCell *refusedCell

	// anywhere marks a check that proves something whatever the file system
	// holds.
	anywhere bool
}

func (c *check) level() Level {
	level, _, _ := strings.Cut(c.id, "/")
	return Level(level)
}

func (c *check) info() CheckInfo {
	info := CheckInfo{ID: c.id, Rule: c.rule, Level: c.level()}
	for _, r := range c.requires {
		info.Requires = append(info.Requires, r.name)
	}
	return info
}

// requirement is a capability that a check needs.
type requirement struct {
	name string
	met  func(c ambit.Capabilities, t *Target) bool
	// refusal proves what the contract says of a file system without the
	// capability: that the operation is refused and changes nothing. nil: it
	// says nothing. notRun marks what the target lacks, which is no capability.
	refusal func(p *probe)
	notRun  bool
}

// Checks returns all checks, in the order in which they run.
func Checks() []CheckInfo {
	infos := make([]CheckInfo, 0, len(checks()))
	for _, c := range checks() {
		infos = append(infos, c.info())
	}
	return infos
}

// checks returns all checks in order.
func checks() []*check {
	return slices.Concat(coreChecks(), writeChecks(), textChecks(), hostileChecks(), concurrentChecks())
}
