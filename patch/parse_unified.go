// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package patch

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/ambitfs/ambit"
)

// unified parses unified diffs. It finds where files and hunks begin and end,
// and what their names are; what their lines say is read by package gitdiff,
// one file at a time, which keeps neither line numbers nor whole names.
type unified struct {
	cursor

	// Lines of the text, 0 for none, that show how names are written: one with
	// whole names, and one where a prefix was taken off without a second name
	// that has the other prefix.
	unprefixed, assumed int
}

// parseUnified parses a text that may have anything else before, between and
// behind the diffs.
func parseUnified(text string) (*Patch, error) {
	p := unified{cursor: newCursor(text)}
	var patch Patch
	for !p.end {
		var s Section
		var err *ambit.Error
		switch line := p.own(); {
		case strings.HasPrefix(line, "diff --git "):
			s, err = p.git()
		case p.atNames():
			s, err = p.plain()
		case line == beginMark, strings.HasPrefix(line, addMark), strings.HasPrefix(line, deleteMark), strings.HasPrefix(line, updateMark):
			err = invalid(p.number, "expected %q in the first line, and no text before it", beginMark)
		case hunkHeader.MatchString(line):
			err = invalid(p.number, `expected the names of a file ("--- " and "+++ ") before the hunk %s`, p.found())
		case strings.HasPrefix(line, "diff --cc "), strings.HasPrefix(line, "diff --combined "):
			err = fault(ambit.ErrUnsupported, p.number, "the combined diff of a merge: expected a diff of two versions")
		case atBinary(line):
			err = fault(ambit.ErrNotText, p.number, "a binary file: %s", p.found())
		default:
			p.advance()
			continue
		}
		if err != nil {
			return nil, err
		}
		patch.Sections = append(patch.Sections, s)
	}
	if len(patch.Sections) == 0 {
		return nil, invalid(1, "no patch: expected %q in the first line, or a unified diff", beginMark)
	}
	if p.unprefixed > 0 && p.assumed > 0 {
		return nil, invalid(p.assumed, "the name may begin with a prefix or not: line %d has names without prefixes", p.unprefixed)
	}
	return &patch, nil
}

// atNames tells whether the cursor stands at the two lines that name a file.
func (p *unified) atNames() bool {
	if !strings.HasPrefix(p.line, "--- ") {
		return false
	}
	next := p.cursor
	next.advance()
	return strings.HasPrefix(next.line, "+++ ")
}

func atBinary(line string) bool {
	return line == "GIT binary patch" || strings.HasPrefix(line, "Binary files ") && strings.HasSuffix(line, " differ")
}

// header returns the line as one of the section's header and goes on.
func (p *unified) header(first bool) (string, *ambit.Error) {
	crlf := strings.HasSuffix(p.line, "\r")
	if first {
		p.crlf = crlf
	}
	if crlf != p.crlf {
		return "", invalid(p.number, "expected a line that ends as the first one of this file's header does, with CR LF or without")
	}
	line := p.own()
	p.advance()
	return line, nil
}

// plain parses the diff of one file as program diff writes it.
func (p *unified) plain() (s Section, err *ambit.Error) {
	s.Line = p.number
	before, after, err := p.names(true)
	if err != nil {
		return s, err
	}
	var feed bytes.Buffer
	feed.WriteString("--- f\n+++ f\n")
	extents, err := p.hunks(&feed)
	switch {
	case err != nil:
		return s, err
	case len(extents) == 0:
		return s, invalid(p.number, "expected %s, not %s", anyHunk, p.found())
	case before.null && after.null:
		return s, invalid(s.Line, "expected the name of a file in one of the two lines")
	case before.null, before.epoch && extents[0].createsFile():
		s.Action = Add
	case after.null, after.epoch && extents[0].removesFile():
		s.Action = Delete
	default:
		s.Action = Update
	}
	switch {
	case before.null:
		s.Path = p.lone(after.name, "b/", s.Line)
	case after.null:
		s.Path = p.lone(before.name, "a/", s.Line)
	default:
		n, ok := pair(before.name, after.name)
		if !ok {
			n, ok = backup(before.name, after.name)
		}
		if !ok {
			return s, invalid(s.Line, "cannot tell which file is meant, %q or %q: expected one name in both lines, or a/name and b/name", before.name, after.name)
		}
		s.Path = n.path
		if !n.prefixed {
			p.unprefixed = s.Line
		}
	}
	_, err = p.read(&s, &feed, extents)
	return s, err
}

// lone returns the path that a name means which has no second one beside it.
func (p *unified) lone(name, prefix string, line int) string {
	if path, ok := strings.CutPrefix(name, prefix); ok && path != "" {
		p.assumed = line
		return path
	}
	p.unprefixed = line
	return name
}

// A headerName is one of the two lines that name a file.
type headerName struct {
	name  string
	null  bool // "/dev/null": no file
	epoch bool // the time stamp is what program diff writes for a missing file
}

// names reads the two lines that name a file, which may be the first ones of its
// header.
func (p *unified) names(first bool) (before, after headerName, err *ambit.Error) {
	if before, err = p.name(first); err == nil {
		after, err = p.name(false)
	}
	return before, after, err
}

func (p *unified) name(first bool) (headerName, *ambit.Error) {
	number := p.number
	line, err := p.header(first)
	if err != nil {
		return headerName{}, err
	}
	line = line[len("--- "):]
	name, rest, ok := line, "", true
	if strings.HasPrefix(line, `"`) {
		name, rest, ok = unquote(line)
	} else if i := strings.IndexByte(line, '\t'); i >= 0 {
		name, rest = line[:i], line[i:]
	}
	if !ok || name == "" || rest != "" && rest[0] != '\t' {
		return headerName{}, invalid(number, "expected the name of a file, and behind it nothing or a tab and a time")
	}
	return headerName{name: name, null: name == nullName, epoch: isEpoch(strings.TrimPrefix(rest, "\t"))}, nil
}

// isEpoch tells whether the time stamp is the first instant of 1970.
func isEpoch(stamp string) bool {
	t, err := time.Parse("2006-01-02 15:04:05.999999999 -0700", stamp)
	return err == nil && t.Equal(time.Unix(0, 0))
}

// An extent is where a hunk stands in the text, and what its first line says.
type extent struct {
	line                                   int
	oldStart, oldLines, newStart, newLines int
}

func (x extent) createsFile() bool { return x.oldStart == 0 && x.oldLines == 0 }
func (x extent) removesFile() bool { return x.newStart == 0 && x.newLines == 0 }

// hunks finds the hunks of a file and writes them to feed, as package gitdiff
// reads them.
func (p *unified) hunks(feed *bytes.Buffer) ([]extent, *ambit.Error) {
	var extents []extent
	var last ended
	for {
		p.skipBlank()
		if !strings.HasPrefix(p.line, "@@") {
			break
		}
		x, err := p.hunk(feed, &last)
		if err != nil {
			return nil, err
		}
		extents = append(extents, x)
	}
	if p.line != "" && strings.Contains(" -+\\", p.line[:1]) && !p.atNames() && !p.atSignature() {
		if len(extents) == 0 {
			return nil, invalid(p.number, "expected %s before a line of a file, not %s", anyHunk, p.found())
		}
		return nil, invalid(p.number, "the hunk of line %d has more lines than it says: expected another hunk or file, not %s", extents[len(extents)-1].line, p.found())
	}
	return extents, nil
}

// atSignature tells whether the cursor stands at the line that git puts before
// the signature of a mail, which is the last of a file's diff there.
func (p *unified) atSignature() bool {
	if line := p.own(); line != "-- " && line != "--" {
		return false
	}
	next := p.cursor
	next.advance()
	return next.line != "" && !strings.Contains(" -+@\\\r", next.line[:1])
}

// nullName stands for a file that is not there.
const nullName = "/dev/null"

var hunkHeader = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

const anyHunk = `a hunk ("@@ -line,count +line,count @@")`

// ended tells which of the two files have come to their end without a newline.
type ended struct{ before, after bool }

func (p *unified) hunk(feed *bytes.Buffer, ended *ended) (x extent, err *ambit.Error) {
	m := hunkHeader.FindStringSubmatch(p.line)
	if m == nil {
		return x, invalid(p.number, "expected %s, not %s", anyHunk, p.found())
	}
	x = extent{line: p.number, oldLines: 1, newLines: 1}
	for i, n := range []*int{&x.oldStart, &x.oldLines, &x.newStart, &x.newLines} {
		if m[i+1] == "" {
			continue
		}
		number, err := strconv.Atoi(m[i+1])
		if err != nil || number > math.MaxInt/2 {
			return x, invalid(p.number, "the number %.20s is too large", m[i+1])
		}
		*n = number
	}
	if x.oldStart == 0 && x.oldLines > 0 || x.newStart == 0 && x.newLines > 0 {
		return x, invalid(p.number, "expected no lines from line 0 on, since lines count from 1, not %s", p.found())
	}
	feed.WriteString(m[0])
	feed.WriteByte('\n')
	p.advance()

	before, after, changes := x.oldLines, x.newLines, false
	var last byte // how the line before begins
	for before > 0 || after > 0 || strings.HasPrefix(p.line, `\ `) {
		kind := byte(' ') // of an empty line, which some programs write for empty context
		if p.line != "" && (p.line != "\r" || !p.crlf) {
			kind = p.line[0]
		}
		isOld, isNew := kind == ' ' || kind == '-', kind == ' ' || kind == '+'
		switch {
		case strings.HasPrefix(p.line, `\ `) && last != 0 && last != '\\':
			ended.before = ended.before || last != '+'
			ended.after = ended.after || last != '-'
			feed.WriteString("\\ No newline at end of file\n") // in whatever language it is
		case p.end || !isOld && !isNew:
			return x, invalid(p.number, "expected %d more old and %d more new lines of the hunk that line %d begins, not %s", before, after, x.line, p.found())
		case isOld && before == 0 || isNew && after == 0:
			return x, invalid(p.number, "expected %d more old and %d more new lines of the hunk that line %d begins, not one that is more: %s", before, after, x.line, p.found())
		case isOld && ended.before || isNew && ended.after:
			return x, invalid(p.number, "expected nothing behind the line without a newline, which is the last of its file, not %s", p.found())
		default:
			if isOld {
				before--
			}
			if isNew {
				after--
			}
			changes = changes || kind != ' '
			feed.WriteString(p.text())
		}
		last = kind
		p.advance()
	}
	if !changes {
		return x, invalid(x.line, "the hunk changes nothing: expected a line that begins with - or + in it")
	}
	return x, nil
}

// read has package gitdiff read the diff of one file, and takes over the hunks.
func (p *unified) read(s *Section, feed *bytes.Buffer, extents []extent) (*gitdiff.File, *ambit.Error) {
	for i, x := range extents {
		switch {
		case s.Action == Add && (x.oldLines > 0 || i > 0):
			return nil, invalid(x.line, "expected one hunk without old lines, since the file is new")
		case s.Action == Delete && (x.newLines > 0 || i > 0):
			return nil, invalid(x.line, "expected one hunk without new lines, since the file is removed")
		}
	}
	files, _, err := gitdiff.Parse(feed)
	switch {
	case err != nil:
		// The feed has one line for each of the header.
		n, message := 1, err.Error()
		if _, scanErr := fmt.Sscanf(message, "gitdiff: line %d:", &n); scanErr == nil {
			message = message[strings.IndexByte(message[len("gitdiff: "):], ':')+len("gitdiff: "):]
		}
		return nil, invalid(s.Line+n-1, "%s", strings.TrimLeft(message, ": "))
	case len(files) != 1 || len(files[0].TextFragments) != len(extents):
		return nil, invalid(s.Line, "expected the diff of one file with %d hunks", len(extents))
	}
	for i, f := range files[0].TextFragments {
		h := Hunk{Line: extents[i].line, Start: extents[i].oldStart, Numbered: true, Lines: make([]Line, len(f.Lines))}
		for j, l := range f.Lines {
			h.Lines[j] = Line{Kind: LineKind(l.Op.String()[0]), Text: l.Line}
		}
		s.Hunks = append(s.Hunks, h)
	}
	return files[0], nil
}

// A gitHeader is what the lines between "diff --git" and the names say.
type gitHeader struct {
	action   Action // "" where they do not tell
	from, to string // of a file that is moved or copied
	newMode  bool
}

// gitHeaders are the beginnings of these lines, and what each makes of the file.
var gitHeaders = []struct {
	prefix string
	action Action
	isMode bool
	name   func(h *gitHeader) *string
}{
	{prefix: "old mode ", isMode: true},
	{prefix: "new mode ", isMode: true},
	{prefix: "deleted file mode ", action: Delete, isMode: true},
	{prefix: "new file mode ", action: Add, isMode: true},
	{prefix: "copy from ", action: Copy, name: (*gitHeader).old},
	{prefix: "copy to ", action: Copy, name: (*gitHeader).new},
	{prefix: "rename from ", action: Update, name: (*gitHeader).old},
	{prefix: "rename to ", action: Update, name: (*gitHeader).new},
	{prefix: "rename old ", action: Update, name: (*gitHeader).old},
	{prefix: "rename new ", action: Update, name: (*gitHeader).new},
	{prefix: "similarity index "},
	{prefix: "dissimilarity index "},
	{prefix: "index "},
}

func (h *gitHeader) old() *string { return &h.from }
func (h *gitHeader) new() *string { return &h.to }

var fileMode = regexp.MustCompile(`^100[0-7]{3}$`)

// gitHeader reads the lines between "diff --git" and the names, and writes them
// to feed.
func (p *unified) gitHeader(feed *bytes.Buffer) (h gitHeader, err *ambit.Error) {
next:
	for {
		for _, known := range gitHeaders {
			value, ok := strings.CutPrefix(p.own(), known.prefix)
			if !ok {
				continue
			}
			number := p.number
			line, err := p.header(false)
			if err != nil {
				return h, err
			}
			if known.action != "" && h.action != "" && known.action != h.action {
				return h, invalid(number, "expected a file to be only one of new, deleted, renamed and copied, not %q", line)
			}
			h.action = cmp.Or(h.action, known.action)
			if known.name != nil {
				name, rest, ok := value, "", true
				if strings.HasPrefix(value, `"`) {
					name, rest, ok = unquote(value)
				}
				to := known.name(&h)
				if !ok || rest != "" || name == "" || *to != "" && *to != name {
					return h, invalid(number, "expected one name behind %q", known.prefix)
				}
				// Package gitdiff gets names without traps.
				*to, line = name, known.prefix+"old"
				if to == &h.to {
					line = known.prefix + "new"
				}
			}
			mode := ""
			if known.isMode {
				mode = value
			} else if known.prefix == "index " {
				_, mode, _ = strings.Cut(value, " ")
			}
			switch {
			case mode == "120000":
				return h, fault(ambit.ErrUnsupported, number, "a symbolic link (mode %s): only files can be patched", mode)
			case mode == "160000":
				return h, fault(ambit.ErrUnsupported, number, "a submodule (mode %s): only files can be patched", mode)
			case (known.isMode || mode != "") && !fileMode.MatchString(mode):
				return h, invalid(number, "expected the mode of a file, 100644 or 100755, not %q", mode)
			}
			h.newMode = h.newMode || known.prefix == "new mode "
			feed.WriteString(line + "\n")
			continue next
		}
		return h, nil
	}
}

// git parses the diff of one file as git writes it.
func (p *unified) git() (s Section, err *ambit.Error) {
	s.Line = p.number
	line, err := p.header(true)
	if err != nil {
		return s, err
	}
	named, decided := gitNames(strings.TrimPrefix(line, "diff --git "))
	var feed bytes.Buffer
	feed.WriteString("diff --git a/old b/old\n")
	h, err := p.gitHeader(&feed)
	if err != nil {
		return s, err
	}
	moved := h.from != "" || h.to != ""
	if moved && (h.from == "" || h.to == "") {
		return s, invalid(p.number, `expected both names, behind "rename from" and "rename to" or "copy from" and "copy to"`)
	}
	if atBinary(p.own()) {
		return s, fault(ambit.ErrNotText, p.number, "%q is a binary file: only text can be patched", cmp.Or(h.to, named.path, strings.TrimPrefix(line, "diff --git ")))
	}
	hasNames := p.atNames()
	if hasNames {
		number := p.number
		before, after, err := p.names(false)
		if err != nil {
			return s, err
		}
		if before.null {
			h.action = cmp.Or(h.action, Add)
		}
		if after.null {
			h.action = cmp.Or(h.action, Delete)
		}
		if before.null != (h.action == Add) || after.null != (h.action == Delete) {
			return s, invalid(number, "expected %s in place of the old name if the file is new, and of the new one if it is deleted, and not else", nullName)
		}
		if moved {
			if !before.ends(h.from) || !after.ends(h.to) {
				return s, invalid(number, "expected the names %q and %q again", h.from, h.to)
			}
		} else if named, decided = agreeing(named, decided, before, after); !decided {
			return s, invalid(number, `expected the name that "diff --git" has, in both lines`)
		}
		newName := "new"
		if !moved {
			newName = "old"
		}
		for _, n := range []struct {
			prefix, name string
			null         bool
		}{{"--- a/", "old", before.null}, {"+++ b/", newName, after.null}} {
			if n.null {
				n.prefix, n.name = n.prefix[:4], nullName
			}
			feed.WriteString(n.prefix + n.name + "\n")
		}
	}
	s.Action = cmp.Or(h.action, Update)
	switch {
	case moved:
		s.Path, s.To, s.Original = h.from, h.to, true
	case !decided:
		return s, invalid(s.Line, `cannot tell which file is meant: expected "diff --git a/name b/name"`)
	default:
		s.Path = named.path
		if !named.prefixed {
			p.unprefixed = s.Line
		}
	}
	extents, err := p.hunks(&feed)
	if err != nil {
		return s, err
	}
	if hasNames && len(extents) == 0 {
		return s, invalid(p.number, "expected %s, not %s", anyHunk, p.found())
	}
	if len(extents) == 0 && h.action == "" && !h.newMode {
		return s, invalid(s.Line, "expected a change of %q, its content, name or mode", s.Path)
	}
	file, err := p.read(&s, &feed, extents)
	if err != nil {
		return s, err
	}
	if s.Action == Delete && len(s.Hunks) == 0 && isEmptyBlob(file.OldOIDPrefix) {
		s.Hunks = []Hunk{{Line: s.Line, Numbered: true}}
	}
	switch {
	case file.NewMode == 0 || s.Action == Delete:
	case file.NewMode&0o100 != 0:
		s.Mode = 0o755
	default:
		s.Mode = 0o644
	}
	return s, nil
}

// isEmptyBlob tells whether git calls empty content by this name, by SHA-1 or
// SHA-256, which the line "index" may cut short.
func isEmptyBlob(name string) bool {
	const shortest = 7
	return len(name) >= shortest &&
		(strings.HasPrefix("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", name) ||
			strings.HasPrefix("473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813", name))
}

// ends tells whether the name is that one, whatever prefix it has.
func (n headerName) ends(name string) bool {
	return !n.null && (n.name == name || strings.HasSuffix(n.name, "/"+name))
}
