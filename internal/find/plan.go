// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package find

import (
	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/internal/glob"
)

// A Plan is a compiled query, for who puts one search together from several.
type Plan struct{ query *query }

// PlanGlob compiles a query. Its errors are those of [Glob] for a bad query.
func PlanGlob(q ambit.GlobQuery) (Plan, error) {
	c, err := compileGlob(q)
	return Plan{c}, err
}

// PlanGrep is to [PlanGlob] what Grep is to Glob.
func PlanGrep(q ambit.GrepQuery) (Plan, error) {
	c, err := compileGrep(q)
	return Plan{c}, err
}

// Start is the view from a base that is a folder.
func (p Plan) Start() View { return View{p.query, p.query.view()} }

// A View is what is left of the patterns of a query in a folder.
type View struct {
	query *query
	view  view
}

// A Fate is what becomes of an entry by its name and kind.
type Fate struct {
	Hit    bool // it is one that the search is for
	Hidden bool // it is left out for its dot alone
	In     View // of a folder
}

// Folder returns the fate of a folder by its name in the folder of the view. It is
// not ok when the search has nothing to do with it.
func (v View) Folder(name string) (f Fate, ok bool) {
	j, ok := v.query.judge(v.view, name, ambit.KindDirectory)
	return Fate{Hit: j.hit, Hidden: j.byDot, In: View{v.query, j.in}}, ok
}

// Dead reports that nothing beneath the folder can match.
func (v View) Dead() bool { return v.view.dead() }

// Rest returns patterns for a search that has the folder as its base.
func (v View) Rest() (include, exclude []string) {
	return rests(v.view.include), rests(v.view.exclude)
}

func rests(states []glob.State) []string {
	var patterns []string
	for _, s := range states {
		if !s.Dead() {
			patterns = append(patterns, s.Rest())
		}
	}
	return patterns
}
