// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
	"github.com/ambitfs/ambit/patch"
)

const (
	patchers       = 2
	patchedFiles   = 6
	patchesOfEach  = 300
	patcherSetting = "AMBIT_LOCAL_TEST_PATCHER"
)

func patchedFile(i int) string { return fmt.Sprintf("d%d/log", i) }

func init() {
	// Each patch of a patcher adds its name to some of the files. What was
	// applied is told on standard output, with the files.
	roles["patcher"] = func(dir string) {
		fsys, err := local.New(dir, &local.Options{Durability: local.NotDurable})
		if err != nil {
			panic(err)
		}
		who := os.Getenv(patcherSetting)
		seed, err := strconv.ParseUint(who, 10, 64)
		if err != nil {
			panic(err)
		}
		random := rand.New(rand.NewPCG(seed, 0))
		for i := range patchesOfEach {
			name := fmt.Sprintf("%s.%d", who, i)
			files := random.Perm(patchedFiles)[:2+random.IntN(3)]
			var text strings.Builder
			text.WriteString("*** Begin Patch\n")
			for _, f := range files {
				fmt.Fprintf(&text, "*** Update File: %s\n@@\n+%s\n*** End of File\n", patchedFile(f), name)
			}
			text.WriteString("*** End Patch\n")
			p, err := patch.Parse(text.String())
			if err != nil {
				panic(err)
			}
			_, err = patch.Apply(ctx, fsys, p, nil)
			switch ambit.ReasonOf(err) {
			case "":
				fmt.Println(name, files)
			case ambit.ErrChanged:
			default:
				panic(err)
			}
		}
	}
}

// TestPatchersOfTwoProcesses: patches of overlapping sets of files end as if one
// had come after the other: each is in all of its files or in none, and there is
// one order that all files agree with.
func TestPatchersOfTwoProcesses(t *testing.T) {
	dir := fastDir(t)
	w := &world{root: dir}
	for i := range patchedFiles {
		must(t, os.Mkdir(w.host(fmt.Sprintf("d%d", i)), 0o777))
		must(t, os.WriteFile(w.host(patchedFile(i)), []byte("begin\n"), 0o666))
	}
	outputs := make([]strings.Builder, patchers)
	var wait []func() error
	for i := range patchers {
		command := start(t, "patcher", dir)
		command.Env = append(command.Env, patcherSetting+"="+strconv.Itoa(i+1))
		command.Stdout = &outputs[i]
		must(t, command.Start())
		wait = append(wait, command.Wait)
	}
	for _, w := range wait {
		must(t, w())
	}
	want := make(map[string]map[string]bool) // files, by patch
	for i := range outputs {
		for line := range strings.Lines(outputs[i].String()) {
			name, files, _ := strings.Cut(strings.TrimSuffix(line, "]\n"), " [")
			want[name] = make(map[string]bool)
			for _, f := range strings.Fields(files) {
				i, err := strconv.Atoi(f)
				must(t, err)
				want[name][patchedFile(i)] = true
			}
		}
		t.Logf("process %d: %d of %d patches were applied", i+1, strings.Count(outputs[i].String(), "\n"), patchesOfEach)
	}
	logs := make(map[string][]string)
	for i := range patchedFiles {
		content, err := os.ReadFile(w.host(patchedFile(i)))
		must(t, err)
		logs[patchedFile(i)] = strings.Fields(string(content))[1:]
	}
	for _, complaint := range judgeLogs(logs, want) {
		t.Error(complaint)
	}
	// The judge must see what it is for: an update that is lost, and an order that
	// no two patches can have come in.
	if len(judgeLogs(map[string][]string{"a": {"1"}, "b": {}}, map[string]map[string]bool{"1": {"a": true, "b": true}})) == 0 {
		t.Error("a lost update is not seen")
	}
	if len(judgeLogs(map[string][]string{"a": {"1", "2"}, "b": {"2", "1"}}, map[string]map[string]bool{"1": {"a": true, "b": true}, "2": {"a": true, "b": true}})) == 0 {
		t.Error("two orders are not seen")
	}
}

// judgeLogs compares which patches the files log with which were applied to
// them, and looks for one order of all.
func judgeLogs(logs map[string][]string, want map[string]map[string]bool) (complaints []string) {
	waits := make(map[string]int) // for how many
	behind := make(map[string][]string)
	for file, log := range logs {
		seen := make(map[string]bool)
		for i, name := range log {
			if seen[name] || !want[name][file] {
				complaints = append(complaints, fmt.Sprintf("%s has %s twice, or was not to have it", file, name))
			}
			seen[name] = true
			if i > 0 {
				behind[log[i-1]] = append(behind[log[i-1]], name)
				waits[name]++
			}
		}
		for name, files := range want {
			if files[file] && !seen[name] {
				complaints = append(complaints, fmt.Sprintf("%s lacks %s, which was applied", file, name))
			}
		}
	}
	var next []string
	for name := range want {
		if waits[name] == 0 {
			next = append(next, name)
		}
	}
	ordered := 0
	for ; len(next) > 0; ordered++ {
		name := next[0]
		next = next[1:]
		for _, other := range behind[name] {
			if waits[other]--; waits[other] == 0 {
				next = append(next, other)
			}
		}
	}
	if ordered < len(want) {
		complaints = append(complaints, fmt.Sprintf("of %d patches, %d can have come one after the other", len(want), ordered))
	}
	return complaints
}
