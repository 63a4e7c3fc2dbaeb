// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"encoding/json"
	"io/fs"
	"time"
	"unicode/utf8"

	"github.com/ambitfs/ambit"
)

// The shapes of a report in JSON. Names and diffs are bytes: one that is not
// UTF-8 stands with U+FFFD for people, beside a key ending in _b64 that has the
// bytes and wins when it is read.

type reportJSON struct {
	Files       []File    `json:"files,omitempty"`
	Diff        string    `json:"diff,omitempty"`
	DiffB64     []byte    `json:"diff_b64,omitempty"`
	DiffClipped bool      `json:"diffClipped,omitempty"`
	Problems    []Problem `json:"problems,omitempty"`
	Applied     bool      `json:"applied"`
}

type fileJSON struct {
	Line           int         `json:"line"`
	Action         Action      `json:"action"`
	Path           string      `json:"path"`
	PathB64        []byte      `json:"path_b64,omitempty"`
	To             string      `json:"to,omitempty"`
	ToB64          []byte      `json:"to_b64,omitempty"`
	Before         *infoJSON   `json:"before,omitempty"`
	After          *infoJSON   `json:"after,omitempty"`
	CreatedDirs    []string    `json:"createdDirs,omitempty"`
	CreatedDirsB64 [][]byte    `json:"createdDirs_b64,omitempty"`
	Hunks          []Placement `json:"hunks,omitempty"`
	State          State       `json:"state"`
}

type infoJSON struct {
	Path    string        `json:"path"`
	PathB64 []byte        `json:"path_b64,omitempty"`
	Kind    ambit.Kind    `json:"kind"`
	Size    int64         `json:"size"`
	ModTime time.Time     `json:"modTime,omitzero"`
	Mode    fs.FileMode   `json:"mode,omitempty"`
	Links   int           `json:"links,omitempty"`
	Version ambit.Version `json:"version,omitempty"`
	ID      string        `json:"id,omitempty"`
}

type problemJSON struct {
	Line    int          `json:"line"`
	Path    string       `json:"path"`
	PathB64 []byte       `json:"path_b64,omitempty"`
	Err     *ambit.Error `json:"error"`
}

// MarshalJSON writes r with keys as its fields are named, in lower case.
func (r Report) MarshalJSON() ([]byte, error) {
	return json.Marshal(reportJSON{
		Files: r.Files, Diff: r.Diff, DiffB64: strayBytes(r.Diff), DiffClipped: r.DiffClipped, Problems: r.Problems, Applied: r.Applied,
	})
}

// UnmarshalJSON reads what MarshalJSON wrote; unknown keys are left alone.
func (r *Report) UnmarshalJSON(data []byte) error {
	var j reportJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*r = Report{Files: j.Files, Diff: prefer(j.Diff, j.DiffB64), DiffClipped: j.DiffClipped, Problems: j.Problems, Applied: j.Applied}
	return nil
}

// MarshalJSON writes f as a part of a report.
func (f File) MarshalJSON() ([]byte, error) {
	j := fileJSON{
		Line: f.Line, Action: f.Action, Path: f.Path, PathB64: strayBytes(f.Path), To: f.To, ToB64: strayBytes(f.To),
		Before: infoToJSON(f.Before), After: infoToJSON(f.After), CreatedDirs: f.CreatedDirs, Hunks: f.Hunks, State: f.State,
	}
	for _, dir := range f.CreatedDirs {
		if !utf8.ValidString(dir) {
			for _, dir := range f.CreatedDirs {
				j.CreatedDirsB64 = append(j.CreatedDirsB64, []byte(dir))
			}
			break
		}
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote; unknown keys are left alone.
func (f *File) UnmarshalJSON(data []byte) error {
	var j fileJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*f = File{
		Line: j.Line, Action: j.Action, Path: prefer(j.Path, j.PathB64), To: prefer(j.To, j.ToB64),
		Before: j.Before.info(), After: j.After.info(), CreatedDirs: j.CreatedDirs, Hunks: j.Hunks, State: j.State,
	}
	if j.CreatedDirsB64 != nil {
		f.CreatedDirs = nil
		for _, dir := range j.CreatedDirsB64 {
			f.CreatedDirs = append(f.CreatedDirs, string(dir))
		}
	}
	return nil
}

// MarshalJSON writes p as a part of a report.
func (p Problem) MarshalJSON() ([]byte, error) {
	return json.Marshal(problemJSON{Line: p.Line, Path: p.Path, PathB64: strayBytes(p.Path), Err: p.Err})
}

// UnmarshalJSON reads what MarshalJSON wrote; unknown keys are left alone.
func (p *Problem) UnmarshalJSON(data []byte) error {
	var j problemJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*p = Problem{Line: j.Line, Path: prefer(j.Path, j.PathB64), Err: j.Err}
	return nil
}

// infoToJSON returns nil for the zero value, which is nothing at all.
func infoToJSON(i ambit.FileInfo) *infoJSON {
	if i == (ambit.FileInfo{}) {
		return nil
	}
	return &infoJSON{
		Path: i.Path, PathB64: strayBytes(i.Path), Kind: i.Kind, Size: i.Size, ModTime: i.ModTime,
		Mode: i.Mode, Links: i.Links, Version: i.Version, ID: i.ID,
	}
}

func (j *infoJSON) info() ambit.FileInfo {
	if j == nil {
		return ambit.FileInfo{}
	}
	return ambit.FileInfo{
		Path: prefer(j.Path, j.PathB64), Kind: j.Kind, Size: j.Size, ModTime: j.ModTime,
		Mode: j.Mode, Links: j.Links, Version: j.Version, ID: j.ID,
	}
}

func strayBytes(s string) []byte {
	if utf8.ValidString(s) {
		return nil
	}
	return []byte(s)
}

func prefer(text string, b []byte) string {
	if b != nil {
		return string(b)
	}
	return text
}
