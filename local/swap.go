// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"io/fs"
	"time"

	"github.com/ambitfs/ambit"
)

// A conditional change must not lose what another program, which knows nothing
// of locks, puts at the place between check and change. So what is there is
// taken out in one step that loses nothing, and looked at afterwards: if it is
// not what the caller had seen, it is put back.

// swap is a change of one name that can still be taken back. The caller holds
// the lock of the folder.
type swap struct {
	in     *folder
	name   string
	hidden string     // where what was there is
	staged *temporary // what is there now; nil for nothing
	was    *node      // what has to have been there
	pin    *pinned    // keeps the inode number of was from being given to another file
	leased bool       // the system tells through pin of writers
	keep   bool       // the change may have to be taken back after it was made
	unsafe bool       // the disk cannot exchange
	litter bool       // something is left under the hidden name that nobody needs
}

// writerPatience is how long a writer that has the file open is waited for.
const writerPatience = 5 * time.Millisecond

// newSwap pins what is at p, which must be the file that judged holds for. It
// is nil when something else is there by now.
func newSwap(p *place, staged *temporary, judged func(*node) bool) (*swap, error) {
	pin, err := p.parent.dir.pin(p.name)
	if err != nil {
		return nil, unlessSwapped(err)
	}
	s := &swap{in: p.parent, name: p.name, staged: staged, pin: pin}
	for begun := time.Now(); ; {
		alone, known := pin.lease()
		if alone || !known {
			s.leased = alone
			break
		}
		if time.Since(begun) > writerPatience {
			s.release()
			return nil, &ambit.Error{Reason: ambit.ErrChanged, Target: p.path(), Detail: "another program has the file open for writing"}
		}
		time.Sleep(writerPatience / 20)
	}
	s.was, err = pin.describe()
	if err != nil || !judged(s.was) {
		s.release()
		return nil, err
	}
	return s, nil
}

// release lets go of what was there; every swap ends with it.
func (s *swap) release() {
	if s.pin != nil {
		s.pin.close() // a lease ends with it
		s.pin = nil
	}
}

// prepare gives what is staged the hidden name.
func (s *swap) prepare(hidden string) error {
	s.hidden = hidden
	if s.staged == nil {
		return nil
	}
	return s.staged.called(s.in, hidden)
}

// make takes out what is there and puts in what is staged, in one step. It is
// false when it was not what had to be there, which is then there again.
func (s *swap) make() (bool, error) {
	how := exchanging
	from, to := s.hidden, s.name
	if s.staged == nil {
		how = keeping
		from, to = s.name, s.hidden
	}
	err := s.in.dir.rename(from, s.in.dir, to, how)
	if errors.Is(err, errors.ErrUnsupported) {
		return s.makeUnsafe()
	}
	if err != nil {
		return false, unlessSwapped(err)
	}
	if ok, err := s.right(); !ok || err != nil {
		if backErr := s.back(); backErr != nil {
			err = backErr
		}
		return false, err
	}
	if s.leased {
		s.pin.drop() // nobody has to wait for the disk
	}
	return true, nil
}

// makeUnsafe is for disks that cannot exchange: the look comes just before.
func (s *swap) makeUnsafe() (bool, error) {
	s.unsafe = true
	now, err := s.in.dir.lookup(s.name)
	if err != nil || !s.still(now) {
		return false, unlessSwapped(err)
	}
	if s.staged == nil {
		return s.ok(s.in.dir.rename(s.name, s.in.dir, s.hidden, replacing))
	}
	if err := s.staged.called(s.in, temporaryName()); err != nil {
		return s.ok(err)
	}
	err = s.in.dir.link(s.name, s.in.dir, s.hidden)
	switch {
	case err == nil:
	case !noLinks(err):
		return s.ok(err)
	case s.keep:
		if err := s.in.dir.rename(s.name, s.in.dir, s.hidden, replacing); err != nil {
			return s.ok(err)
		}
	default:
		s.hidden = "" // nothing needs to be put back any more
	}
	return s.ok(s.in.dir.rename(s.staged.name, s.in.dir, s.name, replacing))
}

// ok is the end of makeUnsafe: after an error the place is as it was.
func (s *swap) ok(err error) (bool, error) {
	if err == nil {
		return true, nil
	}
	if s.hidden != "" {
		if now, lookErr := s.in.dir.lookup(s.name); lookErr == nil && now.same(s.was) {
			_ = s.in.dir.remove(s.hidden, false)
		} else if lookErr != nil {
			_ = s.in.dir.rename(s.hidden, s.in.dir, s.name, replacing)
		}
		s.hidden = ""
	}
	return false, unlessSwapped(err)
}

// right reports that what came out is what had to be there. Its ctime does not
// count: the exchange itself changes it.
func (s *swap) right() (bool, error) {
	out, err := s.in.dir.lookup(s.hidden)
	if err != nil {
		return false, unlessSwapped(err)
	}
	return s.still(out) && (!s.leased || s.pin.kept()), nil
}

// still reports that now describes what had to be there, unwritten.
func (s *swap) still(now *node) bool {
	return now.same(s.was) && now.size == s.was.size && now.modified == s.was.modified
}

// again looks once more, after the wait for the disk: a program may have looked
// the name up before the exchange, and opened it for writing since.
func (s *swap) again() (bool, error) {
	if !s.leased || s.hidden == "" {
		return true, nil
	}
	alone, known := s.pin.lease()
	s.leased = alone
	now, err := s.pin.describe()
	if err != nil {
		return false, err
	}
	return (alone || !known) && s.still(now), nil
}

// settle deletes what came out: the change stands.
func (s *swap) settle() {
	if s.hidden != "" {
		s.litter = s.in.dir.remove(s.hidden, false) != nil
	}
}

// back puts the newest there was at the place back: what came out, or what
// another program has put there since.
func (s *swap) back() error {
	if s.hidden == "" {
		return nil
	}
	if s.unsafe {
		return s.backUnsafe()
	}
	if s.staged == nil {
		err := s.in.dir.rename(s.hidden, s.in.dir, s.name, keeping)
		if errors.Is(err, fs.ErrExist) {
			// Somebody has made the name anew: what came out is older.
			s.settle()
			return nil
		}
		return err
	}
	last := s.staged.info
	for {
		out, err := s.in.dir.pin(s.hidden)
		if outOfDescriptors(err) {
			// Better unpinned than not put back.
			var info *node
			info, err = s.in.dir.lookup(s.hidden)
			out = &pinned{info: info}
		}
		if err != nil {
			return err
		}
		outInfo, err := out.describe()
		if err == nil {
			err = s.in.dir.rename(s.hidden, s.in.dir, s.name, exchanging)
		}
		if errors.Is(err, fs.ErrNotExist) {
			// A stranger has removed the name: that is the newest wish.
			out.close()
			s.discardHidden()
			return nil
		}
		if err != nil {
			out.close()
			return err
		}
		now, err := lookupOrNone(s.in, s.hidden)
		if err != nil {
			out.close()
			return err // what is hidden may be the newest: a sweep will see
		}
		if now == nil || now.same(last) {
			// What was put in last has come out: the place holds the newest.
			out.close()
			s.discardHidden()
			return nil
		}
		// Something newer came out. It goes back in; out is kept open until
		// then, so that its number names nothing else.
		last = outInfo
		defer out.close()
	}
}

func (s *swap) backUnsafe() error {
	now, err := lookupOrNone(s.in, s.name)
	switch {
	case err != nil:
		return err
	case s.staged == nil && now == nil, s.staged != nil && now != nil && now.same(s.staged.info):
		err = s.in.dir.rename(s.hidden, s.in.dir, s.name, replacing)
	default:
		s.settle() // there is something newer
	}
	if s.staged != nil {
		s.staged.gone = true
	}
	return err
}

func (s *swap) discardHidden() {
	s.staged.gone = true
	if err := s.in.dir.remove(s.hidden, false); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.litter = true
	}
}
