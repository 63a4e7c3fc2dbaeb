// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ambitfs/ambit"
)

// root is one folder of the host that is served, with all beneath it.
type root struct {
	at    string // its machine path
	top   *folder
	hosts [][]string // the names of its own paths on the host: as given and as resolved
	above []string   // the one of them that holds no link
	mount mount
	disk  disk
}

// openTopOf opens the folder dir of the host, to be served at at; "" is dir's
// own path.
func openTopOf(given, at string, portable bool) (*root, error) {
	if given == "" {
		return nil, &ambit.Error{Reason: ambit.ErrInvalid, Detail: "the root is not a path"}
	}
	absolute, err := filepath.Abs(given)
	if err != nil {
		return nil, &ambit.Error{Reason: ambit.ErrInvalid, Detail: "the root is not a path"}
	}
	d, err := openTop(absolute, portable)
	if err != nil {
		return nil, err
	}
	r, err := newRoot(d, absolute, at)
	if err != nil {
		d.close()
	}
	return r, err
}

func newRoot(d dir, given, at string) (*root, error) {
	info, err := d.self()
	if err != nil {
		return nil, err
	}
	r := &root{at: at, disk: d.disk()}
	if r.mount, err = d.mountOf(""); err != nil {
		return nil, err
	}
	// A name of the root counts only if it leads to the folder that was opened.
	resolved, err := filepath.EvalSymlinks(given)
	if err == nil && !leadsTo(resolved, info) {
		err = &ambit.Error{Reason: ambit.ErrChanged, Detail: "the root was moved while it was opened"}
	}
	if err != nil {
		return nil, err
	}
	if at == "" {
		r.at = "/" + strings.Join(hostNames(given), "/")
	}
	r.above = hostNames(resolved)
	r.hosts = [][]string{r.above}
	if leadsTo(given, info) {
		r.hosts = append(r.hosts, hostNames(given))
	}
	r.top = &folder{dir: d, path: r.at, info: info, root: r, top: true}
	return r, nil
}

func leadsTo(path string, want *node) bool {
	info, err := os.Stat(path)
	return err == nil && nodeOfInfo(info).same(want)
}

// hostNames splits a path of the host into its names; a volume is one of them.
func hostNames(path string) []string {
	return slices.DeleteFunc(strings.Split(filepath.ToSlash(path), "/"), func(name string) bool {
		return name == "" || name == "."
	})
}

// land returns the root that a path of the host lies in, the innermost one,
// and the names beneath it.
func (m *machine) land(host []string) (*root, []string, bool) {
	var found *root
	longest := -1
	for _, r := range m.roots {
		for _, names := range r.hosts {
			if len(names) > longest && len(host) >= len(names) && slices.Equal(host[:len(names)], names) {
				found, longest = r, len(names)
			}
		}
	}
	if found == nil {
		return nil, nil, false
	}
	return found, host[longest:], true
}

// rootOf returns the root that a clean machine path lies in, the innermost
// one, and the rest of the path.
func (m *machine) rootOf(clean string) (*root, string, bool) {
	for _, r := range m.roots { // the longest first
		switch {
		case r.at == "/":
			return r, clean[1:], true
		case !strings.HasPrefix(clean, r.at):
		case len(clean) == len(r.at):
			return r, "", true
		case clean[len(r.at)] == '/':
			return r, clean[len(r.at)+1:], true
		}
	}
	return nil, "", false
}

// rootAt returns the root whose machine path it is.
func (m *machine) rootAt(path string) *root {
	if len(m.roots) == 1 {
		return nil // none lies in another
	}
	for _, r := range m.roots {
		if r.at == path {
			return r
		}
	}
	return nil
}

// rootOn returns the root that lies in d as what info describes, where names do
// not tell.
func (m *machine) rootOn(d *folder, info *node) *root {
	if len(m.roots) == 1 || !d.root.disk.folds || info == nil || !info.isDir() {
		return nil
	}
	for _, r := range m.roots {
		if r != d.root && r.top.info.same(info) {
			return r
		}
	}
	return nil
}

// rootBeneath reports that a root lies beneath the machine path.
func (m *machine) rootBeneath(path string) bool {
	return slices.ContainsFunc(m.roots, func(r *root) bool { return r.at != path && ambit.Contains(path, r.at) })
}

// ways returns the names in a folder above the roots that lead to one.
func (m *machine) ways(path string) []entry {
	var ways []entry
	for _, r := range m.roots {
		if r.at == path || !ambit.Contains(path, r.at) {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(r.at[len(path):], "/"), "/")
		if !slices.ContainsFunc(ways, func(e entry) bool { return e.name == name }) {
			ways = append(ways, entry{name, ambit.KindDirectory})
		}
	}
	return ways
}
