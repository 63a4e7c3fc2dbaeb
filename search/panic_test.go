// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/search"
)

// TestPanicsAreTheCallers has a Keep and a yield that do not return: what they do
// happens on the goroutine of the search, which nothing of it outlives.
func TestPanicsAreTheCallers(t *testing.T) {
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("d%d/f%d", i%20, i)] = "k\n"
	}
	for name, fsys := range backends(t, files) {
		for end, how := range map[string]func(){"panic": func() { panic("boom") }, "Goexit": runtime.Goexit} {
			for place, q := range map[string]ambit.GrepQuery{
				"Keep":  {Pattern: "k", Keep: func(string, ambit.Kind) bool { how(); return true }},
				"yield": {Pattern: "k"},
			} {
				before := runtime.NumGoroutine()
				var recovered any
				returned := false
				var group sync.WaitGroup
				group.Go(func() {
					defer func() { recovered = recover() }()
					search.GrepEach(t.Context(), fsys, q, func(ambit.GrepMatch) bool { how(); return true })
					returned = true
				})
				group.Wait()
				if returned || end == "panic" && recovered != "boom" {
					t.Errorf("%s, %s in %s: returned %v, recovered %v", name, end, place, returned, recovered)
				}
				for range 1000 {
					if runtime.NumGoroutine() <= before {
						break
					}
					time.Sleep(time.Millisecond)
				}
				if now := runtime.NumGoroutine(); now > before {
					t.Errorf("%s, %s in %s: %d goroutines are left of %d", name, end, place, now, before)
				}
			}
		}
	}
}
