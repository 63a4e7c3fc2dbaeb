// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const modulePath = "github.com/ambitfs/ambit"

// The layers of the module, by package paths within it; a last element "..." stands for every package beneath.
var (
	contract = []string{"."}
	insides  = []string{"internal/..."}
	engines  = []string{"lineaddr", "charset", "edit", "patch", "search"}
	backends = []string{"local", "memory", "aferofs", "remote"}
	wrappers = []string{"route", "policy"}
	faces    = []string{"shell", "tool"}
	proof    = []string{"conformance"}
	examples = []string{"examples/..."}

	beneathBackends = slices.Concat(contract, insides, engines)
)

// mayImport names every package of the module and what else of the module its code may import, tests aside. A package that
// is not here has no place yet: give it one.
var mayImport = map[string][]string{
	".":            nil,
	"internal/...": beneathBackends,

	"lineaddr": beneathBackends,
	"charset":  beneathBackends,
	"edit":     beneathBackends,
	"patch":    beneathBackends,
	"search":   beneathBackends,

	"local":   beneathBackends,
	"memory":  append([]string{"aferofs"}, beneathBackends...),
	"aferofs": beneathBackends,
	"remote":  beneathBackends,

	"route":  beneathBackends,
	"policy": beneathBackends,

	"shell": append([]string{"local"}, beneathBackends...),
	"tool":  slices.Concat(beneathBackends, wrappers),

	"conformance": beneathBackends,

	"examples/...": slices.Concat(beneathBackends, backends, wrappers, faces, proof, examples),
}

// A dependency is a module that code of this one, tests aside, may import.
type dependency struct {
	module      string
	importedBy  []string // packages that import it themselves
	reachedFrom []string // when set, the only packages that depend on it, through whatever chain
}

// Another entry here is a decision; docs/decisions.md has the reason for each.
var dependencies = []dependency{
	{module: "github.com/spf13/afero", importedBy: []string{"aferofs", "memory", "examples/..."}, reachedFrom: []string{"aferofs", "memory", "examples/..."}},
	{module: "github.com/gobwas/glob", importedBy: []string{"search", "policy", "internal/..."}},
	{module: "golang.org/x/text", importedBy: []string{"charset"}},
	{module: "github.com/gabriel-vasile/mimetype", importedBy: []string{"charset"}},
	{module: "github.com/bluekeyes/go-gitdiff", importedBy: []string{"patch"}, reachedFrom: []string{"patch", "tool", "remote", "conformance", "examples/..."}},
	{module: "github.com/aymanbagabas/go-udiff", importedBy: []string{"internal/diff"}},
	{module: "golang.org/x/sys", importedBy: []string{"local", "shell"}},
}

// A listedPackage is what go list tells of a package.
type listedPackage struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string // of every depth
}

// TestImports keeps the layers of the module apart on every operating system it builds for.
func TestImports(t *testing.T) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		t.Run(system, func(t *testing.T) {
			packages := listPackages(t, system)
			if !slices.ContainsFunc(packages, func(p listedPackage) bool { return p.ImportPath == modulePath }) {
				t.Fatalf("go list knows %d packages and %s is not among them", len(packages), modulePath)
			}
			for _, complaint := range judgeImports(packages) {
				t.Error(complaint)
			}
		})
	}
}

// listPackages lists the packages of the module and all they depend on. It leaves out go.work: the answer must be the same
// in a released copy, which has no nested modules.
func listPackages(t *testing.T, system string) []listedPackage {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Standard,Imports,Deps", "./...")
	command.Env = append(os.Environ(), "GOWORK=off", "GOOS="+system, "CGO_ENABLED=0")
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command.Args, err, stderr.Bytes())
	}
	var packages []listedPackage
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var p listedPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// judgeImports returns a sentence for each import that goes against mayImport or dependencies. Packages holds everything
// that it depends on as well.
func judgeImports(packages []listedPackage) []string {
	standard := make(map[string]bool)
	for _, p := range packages {
		standard[p.ImportPath] = p.Standard
	}
	var complaints []string
	complain := func(format string, args ...any) {
		complaints = append(complaints, fmt.Sprintf(format, args...))
	}
	for _, p := range packages {
		name, ours := withinModule(p.ImportPath)
		if !ours {
			continue
		}
		allowed, known := rowFor(name)
		if !known {
			complain("package %s has no row in the table mayImport", name)
			continue
		}
		for _, imported := range p.Imports {
			if standard[imported] || imported == "C" {
				continue
			}
			if other, ours := withinModule(imported); ours {
				if !matches(allowed, other) {
					complain("package %s must not import %s", name, other)
				}
				continue
			}
			i := slices.IndexFunc(dependencies, func(d dependency) bool { return beneath(d.module, imported) })
			if i < 0 {
				complain("package %s imports %s, which is of no module in the table dependencies", name, imported)
			} else if !matches(dependencies[i].importedBy, name) {
				complain("package %s must not import %s itself", name, imported)
			}
		}
		for _, reached := range p.Deps {
			if name == "." && !standard[reached] {
				complain("package %s depends on %s: it must depend on the standard library alone", name, reached)
			}
			for _, d := range dependencies {
				if d.reachedFrom != nil && beneath(d.module, reached) && !matches(d.reachedFrom, name) {
					complain("package %s must not depend on %s", name, reached)
				}
			}
		}
	}
	return complaints
}

// withinModule returns the path of a package within this module, "." for the root, and whether it is of this module.
func withinModule(importPath string) (name string, ours bool) {
	if importPath == modulePath {
		return ".", true
	}
	return strings.CutPrefix(importPath, modulePath+"/")
}

// rowFor returns the row of mayImport that speaks of the package.
func rowFor(name string) (allowed []string, known bool) {
	for pattern, allowed := range mayImport {
		if matches([]string{pattern}, name) {
			return allowed, true
		}
	}
	return nil, false
}

// matches reports whether one of the patterns speaks of the package.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if folder, all := strings.CutSuffix(pattern, "/..."); all {
			return beneath(folder, name)
		}
		return pattern == name
	})
}

// beneath reports whether path is folder or lies in it.
func beneath(folder, path string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// TestImportsJudge proves that TestImports can fail, by packages that break one rule each.
func TestImportsJudge(t *testing.T) {
	const (
		afero = "github.com/spf13/afero"
		xsys  = "golang.org/x/sys/unix"
		xtext = "golang.org/x/text/encoding"
	)
	for _, test := range []struct {
		name    string
		pkg     string
		imports []string
		deps    []string // beyond imports
		want    string   // part of the only complaint; "" for none
	}{
		{name: "contract on the standard library", pkg: ".", imports: []string{"io"}},
		{name: "engine on contract, engine and inside", pkg: "edit", imports: []string{".", "lineaddr", "internal/diff", "io"}},
		{name: "memory on aferofs", pkg: "memory", imports: []string{".", "aferofs"}, deps: []string{afero}},
		{name: "aferofs on afero", pkg: "aferofs", imports: []string{".", afero, afero + "/mem"}},
		{name: "local on x/sys", pkg: "local", imports: []string{".", xsys}},
		{name: "tool on policy", pkg: "tool", imports: []string{".", "policy", "search"}},
		{name: "example on everything", pkg: "examples/quickstart", imports: []string{".", "local", "memory", "tool", "conformance"}, deps: []string{afero}},

		{name: "contract on a package of the module", pkg: ".", imports: []string{"lineaddr"}, want: "package . must not import lineaddr"},
		{name: "contract on an inside", pkg: ".", imports: []string{"internal/diff"}, want: "package . must not import internal/diff"},
		{name: "contract on another module", pkg: ".", imports: []string{xtext}, want: "package . must not import " + xtext},
		{name: "contract on another module from afar", pkg: ".", deps: []string{xtext}, want: "standard library alone"},
		{name: "engine on backend", pkg: "search", imports: []string{".", "local"}, want: "package search must not import local"},
		{name: "engine on wrapper", pkg: "patch", imports: []string{"policy"}, want: "package patch must not import policy"},
		{name: "inside on backend", pkg: "internal/wire", imports: []string{"remote"}, want: "package internal/wire must not import remote"},
		{name: "backend on backend", pkg: "remote", imports: []string{".", "local"}, want: "package remote must not import local"},
		{name: "aferofs on memory", pkg: "aferofs", imports: []string{"memory"}, want: "package aferofs must not import memory"},
		{name: "backend on wrapper", pkg: "local", imports: []string{"policy"}, want: "package local must not import policy"},
		{name: "wrapper on backend", pkg: "route", imports: []string{"memory"}, want: "package route must not import memory"},
		{name: "wrapper on wrapper", pkg: "route", imports: []string{"policy"}, want: "package route must not import policy"},
		{name: "tool on backend", pkg: "tool", imports: []string{"local"}, want: "package tool must not import local"},
		{name: "shell on another backend", pkg: "shell", imports: []string{"remote"}, want: "package shell must not import remote"},
		{name: "proof on backend", pkg: "conformance", imports: []string{".", "memory"}, want: "package conformance must not import memory"},
		{name: "library on proof", pkg: "local", imports: []string{"conformance"}, want: "package local must not import conformance"},
		{name: "library on example", pkg: "tool", imports: []string{"examples/quickstart"}, want: "package tool must not import examples/quickstart"},
		{name: "afero from afar", pkg: "search", deps: []string{afero + "/mem"}, want: "package search must not depend on " + afero + "/mem"},
		{name: "x/sys elsewhere", pkg: "remote", imports: []string{xsys}, want: "package remote must not import " + xsys},
		{name: "module with a like name", pkg: "aferofs", imports: []string{afero + "x"}, want: "no module in the table"},
		{name: "unknown module", pkg: "search", imports: []string{"example.com/other"}, want: "no module in the table"},
		{name: "unknown package", pkg: "util", want: "package util has no row"},
		{name: "unknown package beneath a known one", pkg: "local/util", want: "package local/util has no row"},
	} {
		t.Run(test.name, func(t *testing.T) {
			full := func(name string) string {
				if name == "." {
					return modulePath
				}
				if _, known := rowFor(name); known {
					return modulePath + "/" + name
				}
				return name
			}
			p := listedPackage{ImportPath: modulePath + "/" + test.pkg}
			if test.pkg == "." {
				p.ImportPath = modulePath
			}
			for _, name := range test.imports {
				p.Imports = append(p.Imports, full(name))
			}
			for _, name := range test.deps {
				p.Deps = append(p.Deps, full(name))
			}
			complaints := judgeImports([]listedPackage{{ImportPath: "io", Standard: true}, p})
			switch {
			case test.want == "" && len(complaints) > 0:
				t.Errorf("complaints about what is allowed: %q", complaints)
			case test.want != "" && (len(complaints) != 1 || !strings.Contains(complaints[0], test.want)):
				t.Errorf("complaints: %q, want one with %q", complaints, test.want)
			}
		})
	}
}

// TestLicenseHeaders looks at every Go file of every module. That it opens them all also makes the go command run these
// tests anew when a package has changed that this one does not import.
func TestLicenseHeaders(t *testing.T) {
	files := repositoryFiles(t, func(path string) bool { return filepath.Ext(path) == ".go" })
	if len(files) == 0 {
		t.Fatal("no Go file found")
	}
	for _, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !hasLicenseHeader(content) {
			t.Errorf("%s does not begin with the license header", path)
		}
	}
}

const licenseHeader = "// Copyright The Ambit Authors\n// SPDX-License-Identifier: Apache-2.0\n\n"

// hasLicenseHeader reports whether a Go file begins with the two lines and an empty one, without which they would be taken
// for a part of the package's documentation.
func hasLicenseHeader(content []byte) bool {
	return bytes.HasPrefix(content, []byte(licenseHeader))
}

func TestLicenseHeadersJudge(t *testing.T) {
	for content, want := range map[string]bool{
		licenseHeader + "package a\n":                     true,
		licenseHeader + "//go:build linux\n\npackage a\n": true,
		"":                                   false,
		"package a\n":                        false,
		"\n" + licenseHeader + "package a\n": false,
		"// Copyright The Ambit Authors\n// SPDX-License-Identifier: Apache-2.0\npackage a\n":               false,
		"// Copyright The Ambit Authors\n// SPDX-License-Identifier: MIT\n\npackage a\n":                    false,
		"// Copyright Somebody\n// SPDX-License-Identifier: Apache-2.0\n\npackage a\n":                      false,
		"// Copyright The Ambit Authors\r\n// SPDX-License-Identifier: Apache-2.0\r\n\r\npackage a\r\n":     false,
		"//go:build linux\n\n// Copyright The Ambit Authors\n// SPDX-License-Identifier: Apache-2.0\n\n...": false,
	} {
		if got := hasLicenseHeader([]byte(content)); got != want {
			t.Errorf("hasLicenseHeader(%q) = %t, want %t", content, got, want)
		}
	}
}

// A moduleFile is what go mod edit -json tells of a go.mod, or go work edit -json of a go.work.
type moduleFile struct {
	Module  struct{ Path string }
	Use     []struct{ DiskPath string }
	Require []moduleVersion
	Replace []struct{ Old, New moduleVersion }
}

type moduleVersion struct{ Path, Version string }

// TestNestedModules keeps the nested modules installable: no replace directive, which go install refuses, and joined by
// go.work to the version of the root that they require, which may be unpublished.
func TestNestedModules(t *testing.T) {
	if _, err := os.Stat(".git"); errors.Is(err, fs.ErrNotExist) {
		t.Skip("this is a released copy of the root module: it has no nested modules")
	}
	work := readModuleFile(t, "go.work")
	modules := make(map[string]moduleFile)
	for _, path := range repositoryFiles(t, func(path string) bool { return filepath.Base(path) == "go.mod" }) {
		modules[filepath.ToSlash(filepath.Dir(path))] = readModuleFile(t, path)
	}
	if len(modules) < 2 {
		t.Errorf("%d modules found, want the root and at least one more", len(modules))
	}
	for _, complaint := range judgeModules(work, modules) {
		t.Error(complaint)
	}
}

func readModuleFile(t *testing.T, path string) moduleFile {
	t.Helper()
	// For the go command's cache of test results, as the command below leaves no trace there.
	if _, err := os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	kind := strings.TrimPrefix(filepath.Ext(path), ".")
	command := exec.CommandContext(t.Context(), "go", kind, "edit", "-json", path)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command.Args, err, stderr.Bytes())
	}
	var m moduleFile
	if err := json.Unmarshal(output, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// judgeModules returns a sentence for each rule that go.work or a module, keyed by its folder, breaks.
func judgeModules(work moduleFile, modules map[string]moduleFile) []string {
	var complaints []string
	complain := func(format string, args ...any) {
		complaints = append(complaints, fmt.Sprintf(format, args...))
	}
	ours := make(map[string]string) // folder of each module of the repository, by its path
	for folder, m := range modules {
		ours[m.Module.Path] = folder
		want := modulePath
		if folder != "." {
			want += "/" + folder
		}
		if m.Module.Path != want {
			complain("%s/go.mod is of module %s, want %s", folder, m.Module.Path, want)
		}
	}
	var used []string
	for _, use := range work.Use {
		used = append(used, strings.TrimPrefix(use.DiskPath, "./"))
	}
	replaced := make(map[moduleVersion]string)
	for _, r := range work.Replace {
		replaced[r.Old] = strings.TrimPrefix(r.New.Path, "./")
	}
	for folder, m := range modules {
		if len(m.Replace) > 0 {
			complain("%s/go.mod has a replace directive", folder)
		}
		if !slices.Contains(used, folder) {
			complain("go.work does not use ./%s", folder)
		}
		for _, required := range m.Require {
			tree, known := ours[required.Path]
			if !known {
				continue
			}
			if folder == "." {
				complain("the root module requires %s, which is nested in it", required.Path)
			}
			if to, ok := replaced[required]; !ok || strings.TrimPrefix(tree, ".") != to {
				complain("%s/go.mod requires %s %s, which go.work does not replace by ./%s", folder, required.Path, required.Version, strings.TrimPrefix(tree, "."))
			}
		}
	}
	return complaints
}

// TestNestedModulesJudge proves that TestNestedModules can fail.
func TestNestedModulesJudge(t *testing.T) {
	const (
		root   = `{"Module": {"Path": "github.com/ambitfs/ambit"}}`
		nested = `{"Module": {"Path": "github.com/ambitfs/ambit/cmd/ambit"}, "Require": [{"Path": "github.com/ambitfs/ambit", "Version": "v0.1.0"}]}`
		work   = `{"Use": [{"DiskPath": "."}, {"DiskPath": "./cmd/ambit"}], "Replace": [{"Old": {"Path": "github.com/ambitfs/ambit", "Version": "v0.1.0"}, "New": {"Path": "./"}}]}`
	)
	for _, test := range []struct {
		name               string
		root, nested, work string // each as above when empty
		want               string
	}{
		{name: "as it must be"},
		{
			name:   "replace in the nested module",
			nested: `{"Module": {"Path": "github.com/ambitfs/ambit/cmd/ambit"}, "Replace": [{"Old": {"Path": "github.com/ambitfs/ambit"}, "New": {"Path": "../.."}}]}`,
			want:   "cmd/ambit/go.mod has a replace directive",
		},
		{
			name: "replace in the root",
			root: `{"Module": {"Path": "github.com/ambitfs/ambit"}, "Replace": [{"Old": {"Path": "example.com/a"}, "New": {"Path": "../a"}}]}`,
			want: "./go.mod has a replace directive",
		},
		{
			name: "module that go.work leaves out",
			work: `{"Use": [{"DiskPath": "."}], "Replace": [{"Old": {"Path": "github.com/ambitfs/ambit", "Version": "v0.1.0"}, "New": {"Path": "./"}}]}`,
			want: "go.work does not use ./cmd/ambit",
		},
		{
			name: "version that go.work does not replace",
			work: `{"Use": [{"DiskPath": "."}, {"DiskPath": "./cmd/ambit"}], "Replace": [{"Old": {"Path": "github.com/ambitfs/ambit", "Version": "v0.2.0"}, "New": {"Path": "./"}}]}`,
			want: "requires github.com/ambitfs/ambit v0.1.0, which go.work does not replace by ./",
		},
		{
			name: "version that go.work replaces by another folder",
			work: `{"Use": [{"DiskPath": "."}, {"DiskPath": "./cmd/ambit"}], "Replace": [{"Old": {"Path": "github.com/ambitfs/ambit", "Version": "v0.1.0"}, "New": {"Path": "./cmd/ambit"}}]}`,
			want: "requires github.com/ambitfs/ambit v0.1.0, which go.work does not replace by ./",
		},
		{
			name: "root on a nested module",
			root: `{"Module": {"Path": "github.com/ambitfs/ambit"}, "Require": [{"Path": "github.com/ambitfs/ambit/cmd/ambit", "Version": "v0.1.0"}]}`,
			work: `{"Use": [{"DiskPath": "."}, {"DiskPath": "./cmd/ambit"}], "Replace": [
				{"Old": {"Path": "github.com/ambitfs/ambit", "Version": "v0.1.0"}, "New": {"Path": "./"}},
				{"Old": {"Path": "github.com/ambitfs/ambit/cmd/ambit", "Version": "v0.1.0"}, "New": {"Path": "./cmd/ambit"}}]}`,
			want: "the root module requires github.com/ambitfs/ambit/cmd/ambit",
		},
		{
			name:   "module path that is not its folder",
			nested: `{"Module": {"Path": "github.com/ambitfs/cmd"}}`,
			want:   "cmd/ambit/go.mod is of module github.com/ambitfs/cmd",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			decode := func(text, otherwise string) (m moduleFile) {
				if text == "" {
					text = otherwise
				}
				if err := json.Unmarshal([]byte(text), &m); err != nil {
					t.Fatal(err)
				}
				return m
			}
			complaints := judgeModules(decode(test.work, work), map[string]moduleFile{
				".":         decode(test.root, root),
				"cmd/ambit": decode(test.nested, nested),
			})
			switch {
			case test.want == "" && len(complaints) > 0:
				t.Errorf("complaints about what is allowed: %q", complaints)
			case test.want != "" && (len(complaints) != 1 || !strings.Contains(complaints[0], test.want)):
				t.Errorf("complaints: %q, want one with %q", complaints, test.want)
			}
		})
	}
}

// repositoryFiles returns the files of all modules that want asks for, as the go command sees them: no testdata, no folder
// whose name begins with a dot or an underscore.
func repositoryFiles(t *testing.T, want func(path string) bool) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && path != "." && (name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
			return fs.SkipDir
		}
		if entry.Type().IsRegular() && want(path) {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
