// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ambitfs/ambit"
)

var needBeside = requirement{name: "Beside", notRun: true, met: func(_ ambit.Capabilities, t *Target) bool { return t.Beside != nil }}

// raced is the tree of the races: what lies beside the root has the same names
// as what is within, and one more.
var raced = append(ParseTree(`
-- swap/file --
inside
-- swap/deep/file --
inside
-- plain --
inside
-- still/file --
inside
`[1:]),
	Node{Path: "../beside/file", Kind: ambit.KindRegular, Data: secret},
	Node{Path: "../beside/deep/file", Kind: ambit.KindRegular, Data: secret},
	Node{Path: "../beside/secret", Kind: ambit.KindRegular, Data: secret},
)

const (
	raceTime    = 300 * time.Millisecond
	leastTries  = 300              // within raceTime, or longer on a machine at work
	leastSwaps  = 20               // the same
	longestRace = 5 * time.Second  // whatever was tried by then
	controlTime = 20 * time.Second // a control that has not lost by then proves nothing
)

// race swaps folders and files within the root for links out of it, as fast as
// it can, while all that the file system claims is done through them, until
// the time is over or an escape was seen. It returns the escapes.
type race struct {
	mu      sync.Mutex
	escapes []string
	stop    chan struct{}
	swaps   atomic.Int64
	tries   atomic.Int64
}

func (r *race) escaped(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.escapes) < maxFaults {
		r.escapes = append(r.escapes, fmt.Sprintf(format, args...))
	}
}

// over reports whether the race has ended.
func (r *race) over() bool {
	select {
	case <-r.stop:
		return true
	default:
		return false
	}
}

// swap is one swapper: it makes the link and then what was there before,
// until the race is over. Errors are those of two programs in each other's
// way.
func (r *race) swap(p *probe, path, target string, restore ...Change) {
	disturb := func(c Change) bool {
		err := p.target.Disturb(p.ctx, p.storage(), c)
		return err == nil
	}
	for !r.over() {
		if !disturb(Change{Kind: DisturbLink, Path: path, Target: target}) {
			continue
		}
		r.swaps.Add(1)
		stand()
		// Only what is surely no link any more is written beneath.
		if !disturb(Change{Kind: DisturbRemove, Path: path}) {
			continue
		}
		for _, c := range restore {
			if !disturb(c) {
				break
			}
		}
		stand()
	}
}

// stand lets what was swapped stand for a moment, now longer and now shorter
// than what a racer does between two looks at it.
func stand() { time.Sleep(time.Duration(rand.IntN(100)) * time.Microsecond) }

// run runs the race for limit, or until enough was tried. Contestants run until
// it is over.
func (r *race) run(p *probe, limit time.Duration, contestants ...func(p *probe, r *race, n int)) {
	p.disturb(Change{Kind: DisturbLink, Path: "/plain", Target: "../beside/file"}) // a storage without links ends here
	r.stop = make(chan struct{})
	inside := "inside\n"
	tasks := []func(p *probe){
		func(p *probe) {
			r.swap(p, "/swap", "../beside",
				Change{Kind: DisturbReplace, Path: "/swap/file", Data: inside},
				Change{Kind: DisturbReplace, Path: "/swap/deep/file", Data: inside})
		},
		func(p *probe) {
			r.swap(p, "/plain", "../beside/file", Change{Kind: DisturbReplace, Path: "/plain", Data: inside})
		},
		func(p *probe) {
			defer close(r.stop)
			more := func(since time.Duration) bool {
				few := r.tries.Load() < leastTries || r.swaps.Load() < leastSwaps
				return since < limit || few && since < longestRace
			}
			for start := time.Now(); more(time.Since(start)) && p.ctx.Err() == nil; time.Sleep(time.Millisecond) {
				r.mu.Lock()
				lost := len(r.escapes) > 0
				r.mu.Unlock()
				if lost {
					return
				}
			}
		},
	}
	for _, c := range contestants {
		tasks = append(tasks, func(p *probe) {
			for n := 0; !r.over(); n++ {
				c(p, r, n)
			}
		})
	}
	p.together(tasks...)
}

// racingReader reads in every way.
func racingReader(p *probe, r *race, n int) {
	r.tries.Add(1)
	path := []string{"swap/file", "swap/deep/file", "plain", "swap/secret"}[n%4]
	seen, err := func() (string, error) {
		f, err := p.fs.Open(p.ctx, path)
		if err != nil {
			return "", err
		}
		defer f.Close()
		data, err := io.ReadAll(f)
		return string(data), err
	}()
	r.saw("open", path, seen, err)
	info, err := p.fs.Stat(p.ctx, path)
	if err == nil && info.Size == int64(len(secret)) {
		r.escaped("stat %q tells the size of a file beside the root", path)
	}
	r.saw("stat", path, "", err)
	if !p.caps.List {
		return
	}
	dir := []string{"swap", "swap/deep", "swap/"}[n%3]
	l, err := p.fs.List(p.ctx, dir, &ambit.ListOptions{Details: n%2 == 0})
	if err == nil {
		for _, e := range l.Entries {
			if e.Name == "secret" || e.Info.Size == int64(len(secret)) && e.Info.Kind == ambit.KindRegular {
				r.escaped("list %q shows %q, beside the root", dir, e.Name)
			}
		}
	}
	r.saw("list", dir, "", err)
}

// saw judges what a call returned.
func (r *race) saw(op, path, seen string, err error) {
	if told := secretIn(path, seen, err); told != "" {
		r.escaped("%s %q tells what is beside the root: %s", op, path, brief(told))
	}
}

// racingWriter changes in every way. Whether a call succeeds is a matter of
// luck.
func racingWriter(p *probe, r *race, n int) {
	r.tries.Add(1)
	content := func() io.Reader { return strings.NewReader("by the race\n") }
	w := p.writable()
	did := func(op, path string, err error) { r.saw(op, path, "", err) }
	switch name := fmt.Sprintf("swap/new-%d", n%50); n % 11 {
	case 0:
		_, err := w.Write(p.ctx, "swap/file", content(), nil)
		did("write", "swap/file", err)
	case 1:
		_, err := w.Write(p.ctx, name, content(), nil)
		did("write", name, err)
	case 2:
		_, err := w.Write(p.ctx, "swap/made/deep/new", content(), &ambit.WriteOptions{Parents: true})
		did("write", "swap/made/deep/new", err)
	case 3:
		_, err := w.Write(p.ctx, "plain", content(), nil)
		did("write", "plain", err)
	case 4:
		if p.caps.Append {
			_, err := implements[ambit.Appender](p).Append(p.ctx, "swap/deep/file", content(), nil)
			did("append", "swap/deep/file", err)
		}
	case 5:
		if p.caps.Stage {
			s, err := implements[ambit.Stager](p).Stage(p.ctx, "swap/deep/staged", content(), nil)
			did("stage", "swap/deep/staged", err)
			if err == nil {
				_, err = s.Publish(p.ctx)
				did("publish", "swap/deep/staged", err)
			}
		}
	case 6:
		if p.caps.Mkdir {
			_, err := implements[ambit.DirMaker](p).Mkdir(p.ctx, "swap/folder/deep", &ambit.MkdirOptions{Parents: true})
			did("mkdir", "swap/folder/deep", err)
		}
	case 7:
		if p.caps.Rename {
			_, err := implements[ambit.Renamer](p).Rename(p.ctx, "swap/secret", "still/stolen", nil)
			if err == nil {
				r.escaped("a file beside the root was moved")
			}
			did("rename", "swap/secret", err)
			_, err = implements[ambit.Renamer](p).Rename(p.ctx, "swap/file", "swap/deep/moved", &ambit.RenameOptions{Replace: true})
			did("rename", "swap/file", err)
		}
	case 8:
		if p.caps.Rename {
			_, err := w.Write(p.ctx, "still/source", content(), nil)
			did("write", "still/source", err)
			_, err = implements[ambit.Renamer](p).Rename(p.ctx, "still/source", "swap/target", &ambit.RenameOptions{Replace: true, Parents: true})
			did("rename", "swap/target", err)
		}
	case 9:
		if p.caps.Remove {
			err := w.Remove(p.ctx, "swap/secret", nil)
			if err == nil {
				r.escaped("a file beside the root was removed")
			}
			did("remove", "swap/secret", err)
			did("remove", "swap/deep", w.Remove(p.ctx, "swap/deep", &ambit.RemoveOptions{Recursive: true}))
			did("remove", "swap", w.Remove(p.ctx, "swap/file", nil))
		}
	case 10:
		if p.caps.Commit {
			_, err := implements[ambit.Committer](p).Commit(p.ctx, []ambit.Change{
				{Op: ambit.OpWrite, Path: "swap/committed", Content: content()},
				{Op: ambit.OpWrite, Path: "swap/made/committed", Content: content(), Parents: true},
			})
			did("commit", "swap/committed", err)
		}
	}
}

// watch looks at what lies beside the root.
func watch(before map[string]string) func(p *probe, r *race, n int) {
	return func(p *probe, r *race, _ int) {
		now, err := p.target.Beside(p.ctx, p.storage())
		if err != nil {
			r.escaped("Beside failed: %v", err)
			return
		}
		for path, content := range now {
			if was, ok := before[path]; !ok || was != content {
				r.escaped("beside the root %q came to be or was changed: %s", path, brief(content))
			}
		}
		for path := range before {
			if _, ok := now[path]; !ok {
				r.escaped("beside the root %q is gone", path)
			}
		}
	}
}

// raceChecks are about a system that anchors every step at the root.
func raceChecks() []*check {
	changing := func(p *probe, r *race, limit time.Duration) {
		r.run(p, limit, racingWriter, racingWriter, watch(p.beside()))
	}
	reading := func(p *probe, r *race, limit time.Duration) { r.run(p, limit, racingReader, racingReader) }
	// must returns a check of a race that nobody may lose.
	must := func(id, rule string, run func(*probe, *race, time.Duration), needs ...requirement) *check {
		return &check{
			id: id, rule: rule, requires: append([]requirement{needConfined, needDisturb}, needs...), tree: raced,
			run: func(p *probe) {
				var r race
				run(p, &r, raceTime)
				for _, escape := range r.escapes {
					p.errorf("%s", escape)
				}
				if r.swaps.Load() == 0 {
					p.errorf("nothing was swapped within %v, so nothing was proved", longestRace)
				}
			},
			control: func(p *probe) {
				var r race
				run(p.on(checkThenAct{p.fs.(unconfined)}), &r, controlTime)
				if len(r.escapes) == 0 {
					p.errorf("a file system that looks first and acts then did not lose within %v and %d swaps", controlTime, r.swaps.Load())
				}
			},
		}
	}
	return []*check{
		must("hostile/race-reading", "Folders and files that are swapped for links out of the root during a call lead no reading call out of it.", reading),
		must("hostile/race-changing", "Folders and files that are swapped for links out of the root during a call lead no changing call out of it.", changing, needBeside, needWrite),
	}
}

// checkThenAct is how not to do it better: it refuses what leads out of the
// root when it looks, and then acts by path. The pause is what a machine at
// work would put between the two now and then.
type checkThenAct struct{ unconfined }

func (c checkThenAct) look(op, path string) error {
	host := c.host(path)
	real, err := filepath.EvalSymlinks(host)
	if err != nil {
		dir, dirErr := filepath.EvalSymlinks(filepath.Dir(host))
		if dirErr != nil {
			return ambit.Wrap(op, path, err)
		}
		real = filepath.Join(dir, filepath.Base(host))
	}
	root, err := filepath.EvalSymlinks(c.root)
	if err == nil && !strings.HasPrefix(real, root+string(filepath.Separator)) {
		err = ambit.ErrOutside
	}
	time.Sleep(20 * time.Microsecond)
	return ambit.Wrap(op, path, err)
}

func (c checkThenAct) Open(ctx context.Context, path string) (ambit.File, error) {
	if err := c.look(ambit.OpOpen, path); err != nil {
		return nil, err
	}
	return c.unconfined.Open(ctx, path)
}

func (c checkThenAct) Stat(ctx context.Context, path string) (ambit.FileInfo, error) {
	if err := c.look(ambit.OpStat, path); err != nil {
		return ambit.FileInfo{}, err
	}
	return c.unconfined.Stat(ctx, path)
}

func (c checkThenAct) List(ctx context.Context, dir string, o *ambit.ListOptions) (*ambit.Listing, error) {
	if err := c.look(ambit.OpList, dir); err != nil {
		return nil, err
	}
	return c.unconfined.List(ctx, dir, o)
}

func (c checkThenAct) Write(ctx context.Context, path string, content io.Reader, o *ambit.WriteOptions) (ambit.WriteResult, error) {
	if err := c.look(ambit.OpWrite, path); err != nil {
		return ambit.WriteResult{}, err
	}
	return c.unconfined.Write(ctx, path, content, o)
}

func (c checkThenAct) Remove(ctx context.Context, path string, o *ambit.RemoveOptions) error {
	if err := c.look(ambit.OpRemove, path); err != nil {
		return err
	}
	return c.unconfined.Remove(ctx, path, o)
}

func (c checkThenAct) Rename(ctx context.Context, from, to string, o *ambit.RenameOptions) (ambit.FileInfo, error) {
	if err := errors.Join(c.look(ambit.OpRename, from), c.look(ambit.OpRename, to)); err != nil {
		return ambit.FileInfo{}, err
	}
	return c.unconfined.Rename(ctx, from, to, o)
}

func (c checkThenAct) Mkdir(ctx context.Context, dir string, o *ambit.MkdirOptions) ([]string, error) {
	if err := c.look(ambit.OpMkdir, dir); err != nil {
		return nil, err
	}
	return c.unconfined.Mkdir(ctx, dir, o)
}
