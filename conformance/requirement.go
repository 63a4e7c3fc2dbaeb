// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import "github.com/ambitfs/ambit"

// What checks require. An operation that is not claimed has a refusal form,
// and a fact that is not claimed is not there; see refusal.go.
var (
	needList     = operation("List", func(c ambit.Capabilities) bool { return c.List }, refuseList)
	needWrite    = operation("Write", func(c ambit.Capabilities) bool { return c.Write }, refuseWrite)
	needRemove   = operation("Remove", func(c ambit.Capabilities) bool { return c.Remove }, refuseRemove)
	needAppend   = operation("Append", func(c ambit.Capabilities) bool { return c.Append }, refuseAppend)
	needRename   = operation("Rename", func(c ambit.Capabilities) bool { return c.Rename }, refuseRename)
	needMkdir    = operation("Mkdir", func(c ambit.Capabilities) bool { return c.Mkdir }, refuseMkdir)
	needStage    = operation("Stage", func(c ambit.Capabilities) bool { return c.Stage }, refuseStage)
	needCommit   = operation("Commit", func(c ambit.Capabilities) bool { return c.Commit }, refuseCommit)
	needReadLink = operation("ReadLink", func(c ambit.Capabilities) bool { return c.ReadLink }, refuseReadLink)
	needSearch   = operation("Search", func(c ambit.Capabilities) bool { return c.Search }, refuseSearch)
	needSub      = operation("Sub", func(c ambit.Capabilities) bool { return c.Sub }, refuseSub)
	needGuard    = operation("Guard", func(c ambit.Capabilities) bool { return c.Guard }, refuseGuard)

	needVersions = operation("Versions", func(c ambit.Capabilities) bool { return c.Versions }, noVersions)
	needIdentity = operation("Identity", func(c ambit.Capabilities) bool { return c.Identity }, noIdentity)
	needSwap     = operation("Swap", func(c ambit.Capabilities) bool { return c.Swap >= ambit.SwapChecked }, refuseIf)

	needExactSwap     = quality("Swap exact", func(c ambit.Capabilities) bool { return c.Swap >= ambit.SwapExact })
	needForeignSwap   = quality("Swap foreign", func(c ambit.Capabilities) bool { return c.Swap >= ambit.SwapForeign })
	needReadAt        = quality("ReadAt", func(c ambit.Capabilities) bool { return c.ReadAt })
	needLinks         = quality("Links followed", func(c ambit.Capabilities) bool { return c.Links == ambit.LinksFollowed })
	needConfined      = quality("Confined", func(c ambit.Capabilities) bool { return c.Confined })
	needAtomicReplace = quality("AtomicReplace", func(c ambit.Capabilities) bool { return c.AtomicReplace })
	needAtomicRemove  = quality("AtomicRemove", func(c ambit.Capabilities) bool { return c.AtomicRemove })
	needKeepsMode     = quality("KeepsMode", func(c ambit.Capabilities) bool { return c.KeepsMode })
	needMaxFileSize   = quality("MaxFileSize", func(c ambit.Capabilities) bool { return c.MaxFileSize > 0 })

	needDisturb = requirement{name: "Disturb", notRun: true, met: func(_ ambit.Capabilities, t *Target) bool { return t.Disturb != nil }}
	needPeer    = requirement{name: "Peer", notRun: true, met: func(_ ambit.Capabilities, t *Target) bool { return t.Peer != nil }}
)

func operation(name string, claimed func(ambit.Capabilities) bool, refusal func(*probe)) requirement {
	return requirement{
		name: name, refusal: refusal,
		met: func(c ambit.Capabilities, _ *Target) bool { return claimed(c) },
	}
}

// quality is a claim that says nothing where it is absent.
func quality(name string, claimed func(ambit.Capabilities) bool) requirement {
	return operation(name, claimed, nil)
}
