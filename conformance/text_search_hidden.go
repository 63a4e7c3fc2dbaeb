// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import "github.com/ambitfs/ambit"

// leaves checks what a summary counts as left out.
func (p *probe) leaves(sum ambit.SearchSummary, hidden, ignored int) {
	if sum.Hidden != hidden || sum.Ignored != ignored {
		p.errorf("%d names are said to be hidden and %d ignored, want %d and %d", sum.Hidden, sum.Ignored, hidden, ignored)
	}
}

// hiddenChecks are about what a search leaves out by itself.
func hiddenChecks() []*check {
	return []*check{
		{
			id: "text/search-dots", requires: needsSearch,
			tree: ParseTree("-- app/.kimi/skills/report.md --\nk\n-- app/.kimi/.deep/x.md --\nk\n-- app/report.md --\nk\n-- .env --\nk\n-- .git/config --\nk\n-- b/.x/ --\n"),
			rule: "A name that begins with a dot is left out and counted in Hidden once, unless All is set or the pattern has that dot.",
			run: func(p *probe) {
				p.leaves(p.finds(ambit.GlobQuery{Pattern: "**/report.md", Base: "/"}, "/app/report.md"), 3, 0)
				p.leaves(p.finds(ambit.GlobQuery{Pattern: "**", Base: "/"}, "/app", "/app/report.md", "/b"), 4, 0)
				p.leaves(p.finds(ambit.GlobQuery{Pattern: "*", Base: "/"}, "/app", "/b"), 2, 0)
				p.leaves(p.finds(ambit.GlobQuery{Pattern: "app/*", Base: "/"}, "/app/report.md"), 1, 0)
				p.leaves(p.finds(ambit.GlobQuery{Pattern: "**/report.md", Base: "/", All: true}, "/app/.kimi/skills/report.md", "/app/report.md"), 0, 0)
				p.leaves(p.finds(ambit.GlobQuery{Pattern: ".*", Base: "/"}, "/.env", "/.git"), 0, 0)
				p.leaves(p.finds(ambit.GlobQuery{Pattern: ".git/*", Base: "/"}, "/.git/config"), 0, 0)
				p.leaves(p.finds(ambit.GlobQuery{Pattern: "**/.kimi/**", Base: "/"}, "/app/.kimi/skills", "/app/.kimi/skills/report.md"), 3, 0)
				p.leaves(p.finds(ambit.GlobQuery{Pattern: "**", Base: "app/.kimi"}, "/app/.kimi/skills", "/app/.kimi/skills/report.md"), 1, 0)
				p.leaves(p.greps(ambit.GrepQuery{Pattern: "k", Base: "/"}, "/app/report.md:1:k"), 4, 0)
				p.leaves(p.greps(ambit.GrepQuery{Pattern: "k", Base: "/", Mode: ambit.GrepFiles, All: true}, "/.env", "/.git/config", "/app/.kimi/.deep/x.md", "/app/.kimi/skills/report.md", "/app/report.md"), 0, 0)
				p.leaves(p.greps(ambit.GrepQuery{Pattern: "k", Base: "/", Include: []string{".env"}}, "/.env:1:k"), 3, 0)
			},
		},
		{
			id: "text/search-ignored", requires: needsSearch,
			tree: ParseTree(`
-- .gitignore --
# a comment
*.log
/only-top
build/
!keep.log
sub/anchored
-- a.log --
k
-- keep.log --
k
-- only-top --
k
-- build/keep.log --
k
-- sub/.gitignore --
!a.log
/sec
-- sub/a.log --
k
-- sub/b.log --
k
-- sub/build --
k
-- sub/only-top --
k
-- sub/sec --
k
-- sub/anchored --
k
-- sub/deep/sec --
k
-- sub/deep/anchored --
k
-- sub/deep/sub/anchored --
k
`[1:]),
			rule: "What a .gitignore ignores is left out and counted in Ignored once, as git reads these files: deeper ones and later lines first, with anchors, folders alone and negation, but nothing beneath an ignored folder.",
			run: func(p *probe) {
				files := []string{"/keep.log", "/sub/a.log", "/sub/build", "/sub/deep/anchored", "/sub/deep/sec", "/sub/deep/sub/anchored", "/sub/only-top"}
				p.leaves(p.finds(ambit.GlobQuery{Pattern: "**", Base: "/", Kinds: []ambit.Kind{ambit.KindRegular}}, files...), 2, 6)
				p.leaves(p.greps(ambit.GrepQuery{Pattern: "k", Base: "/", Mode: ambit.GrepFiles}, files...), 2, 6)
				p.leaves(p.finds(ambit.GlobQuery{Pattern: "*", Base: "/"}, "/keep.log", "/sub"), 1, 3)
				p.leaves(p.finds(ambit.GlobQuery{Pattern: "**/*.log", Base: "/", NoIgnore: true}, "/a.log", "/build/keep.log", "/keep.log", "/sub/a.log", "/sub/b.log"), 0, 0)
				p.leaves(p.finds(ambit.GlobQuery{Pattern: "*", Base: "/", All: true}, "/.gitignore", "/keep.log", "/sub"), 0, 3)
				// From within the rules above hold as well.
				p.leaves(p.finds(ambit.GlobQuery{Pattern: "*", Base: "sub"}, "/sub/a.log", "/sub/build", "/sub/deep", "/sub/only-top"), 1, 3)
			},
		},
		{
			id: "text/search-ignored-base", requires: needsSearch,
			tree: ParseTree("-- .gitignore --\nout/\n*.log\n-- out/x.log --\nk\n-- out/in/y.log --\nk\n-- out/in/.gitignore --\n*.tmp\n-- out/in/z.tmp --\nk\n-- free/x.log --\nk\n-- free/y --\nk\n"),
			rule: "A base that is ignored, or lies in what is, is searched, and the rules of the folders above have no say in it; its own have.",
			run: func(p *probe) {
				p.leaves(p.finds(ambit.GlobQuery{Pattern: "**", Base: "/"}, "/free", "/free/y"), 1, 2)
				p.leaves(p.finds(ambit.GlobQuery{Pattern: "**", Base: "out"}, "/out/in", "/out/in/y.log", "/out/x.log"), 1, 1)
				p.leaves(p.greps(ambit.GrepQuery{Pattern: "k", Base: "out/in"}, "/out/in/y.log:1:k"), 1, 1)
				p.leaves(p.greps(ambit.GrepQuery{Pattern: "k", Base: "out/in/z.tmp"}, "/out/in/z.tmp:1:k"), 0, 0)
				p.leaves(p.greps(ambit.GrepQuery{Pattern: "k", Base: "free"}, "/free/y:1:k"), 0, 1)
			},
		},
		{
			id: "text/search-repository", requires: needsSearch,
			tree: ParseTree("-- .gitignore --\n*.log\n-- repo/.git/HEAD --\nref\n-- repo/.git/info/exclude --\nsecret.txt\nkept.txt\n-- repo/.gitignore --\n!kept.txt\n-- repo/b.log --\nk\n-- repo/kept.txt --\nk\n-- repo/secret.txt --\nk\n-- repo/sub/c.log --\nk\n-- repo/sub/secret.txt --\nk\n-- tree/.git --\ngitdir: elsewhere\n-- tree/d.log --\nk\n-- e.log --\nk\n"),
			rule: "A folder with an entry .git begins a repository: the rules from above end there, and .git/info/exclude is read, which every .gitignore outranks.",
			run: func(p *probe) {
				p.leaves(p.finds(ambit.GlobQuery{Pattern: "**/*.*", Base: "/"}, "/repo/b.log", "/repo/kept.txt", "/repo/sub/c.log", "/tree/d.log"), 4, 3)
				p.leaves(p.greps(ambit.GrepQuery{Pattern: "k", Base: "repo/sub"}, "/repo/sub/c.log:1:k"), 0, 1)
				p.leaves(p.greps(ambit.GrepQuery{Pattern: "k", Base: "tree"}, "/tree/d.log:1:k"), 1, 0)
			},
		},
		{
			id: "text/search-ignore-link", requires: append([]requirement{needLinks}, needsSearch...),
			tree: ParseTree("-- rules --\n*.txt\n-- .gitignore -> rules --\n-- a.txt --\nk\n-- sub/.gitignore -> ../rules --\n-- sub/b.txt --\nk\n-- sub/in/.gitignore --\n*.md\n-- sub/in/c.md --\nk\n"),
			rule: "A .gitignore that is a link is not read.",
			run: func(p *probe) {
				p.leaves(p.finds(ambit.GlobQuery{Pattern: "**/*.*", Base: "/", Kinds: []ambit.Kind{ambit.KindRegular}}, "/a.txt", "/sub/b.txt"), 1, 1)
			},
		},
	}
}
