// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import "github.com/ambitfs/ambit"

// secret is what lies beside the root; no check may ever see it.
const secret = "SECRET-BESIDE-THE-ROOT\n"

// standard is the tree that most checks start from: one of every kind.
var standard = append(ParseTree(`
-- file --
alpha
beta
-- empty --
-- folder/inner --
inner
-- folder/deep/leaf --
leaf
-- hollow/ --
-- sib/x --
x
-- sibling/x --
other x
-- sib.txt --
sib
-- .dot --
dot
-- link-file -> file --
-- link-folder -> folder --
-- link-inner -> folder/inner --
-- dangling -> nowhere --
-- dangling-deep -> nowhere/at/all --
-- outward -> ../beside/secret --
-- outward-folder -> ../beside --
-- outward-dangling -> ../beside/none --
-- loop -> loop --
-- loop-a -> loop-b --
-- loop-b -> loop-a --
`[1:]), Node{Path: "../beside/secret", Kind: ambit.KindRegular, Data: secret})

// standardTree is the standard tree as far as a file system can hold it.
func standardTree(c ambit.Capabilities) Tree {
	if c.Links != ambit.LinksFollowed {
		return standard.WithoutLinks()
	}
	return standard
}
