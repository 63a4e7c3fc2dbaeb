// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ambitfs/ambit"
	"github.com/ambitfs/ambit/local"
)

// A contest is several processes that change one file at the same time. Each
// of their goroutines keeps a log of what the calls have told it, and the end
// is that the logs and the file agree. See raceTime for how long it lasts.
type contest struct {
	Kind       string
	Number     int // of the process
	Goroutines int
	Lasts      time.Duration
	end        time.Time
}

const (
	contestVariable = "AMBIT_LOCAL_TEST_CONTEST"
	contestFile     = "f"
)

// contestKinds are what one goroutine does until the contest ends.
var contestKinds = map[string]func(c *contestant){
	"edit":    func(c *contestant) { c.edit(false) },
	"stage":   func(c *contestant) { c.edit(true) },
	"append":  (*contestant).appendAndEdit,
	"token":   (*contestant).takeToken,
	"stamp":   func(c *contestant) { c.stampOver(c.swap) },
	"naive":   func(c *contestant) { c.stampOver(c.naiveSwap) },
	"foreign": (*contestant).replaceBlindly,
}

func init() {
	roles["contest"] = func(dir string) {
		var plan contest
		if err := json.Unmarshal([]byte(os.Getenv(contestVariable)), &plan); err != nil {
			panic(err)
		}
		root := filepath.Join(dir, "root")
		var served [2]*local.FileSystem
		for i := range served {
			var o *local.Options
			switch {
			case plan.Kind != "stamp" && plan.Number%2 == 1:
				o = local.Portable(nil) // one contest between both ways to open; only the other one claims SwapForeign
			case plan.Kind == "stamp" && i == 1:
				o = &local.Options{Durability: local.NotDurable} // more of them in the same time
			}
			var err error
			if served[i], err = local.New(root, o); err != nil {
				panic(err)
			}
		}
		// All begin when the last one is ready.
		os.Stdout.WriteString("ready\n")
		os.Stdin.Read(make([]byte, 1))
		plan.end = time.Now().Add(plan.Lasts)
		var wg sync.WaitGroup
		for i := range plan.Goroutines {
			wg.Go(func() {
				c := &contestant{contest: plan, name: fmt.Sprintf("%s-%d-%d", plan.Kind, plan.Number, i), base: dir, root: root, fsys: served[i%2], peer: served[(i+1)%2]}
				contestKinds[plan.Kind](c)
				if err := os.WriteFile(filepath.Join(dir, "log."+c.name), c.log.Bytes(), 0o666); err != nil {
					panic(err)
				}
			})
		}
		wg.Wait()
	}
}

// A contestant is one goroutine of one process.
type contestant struct {
	contest
	name       string
	base, root string
	fsys, peer *local.FileSystem
	count      int
	log        bytes.Buffer // a line for each success, and one with "!" for each fault
}

func (c *contestant) running() bool { return time.Now().Before(c.end) }

// id is a new name for one change.
func (c *contestant) id() string {
	c.count++
	return fmt.Sprintf("%s-%d", c.name, c.count)
}

func (c *contestant) success(id string) { fmt.Fprintln(&c.log, id) }

func (c *contestant) fault(format string, args ...any) {
	fmt.Fprintf(&c.log, "! %s: %s\n", c.name, strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " "))
}

// lost reports whether a call was refused because somebody else was faster;
// every other refusal is a fault.
func (c *contestant) lost(what string, err error) bool {
	if err == nil {
		return false
	}
	if ambit.ReasonOf(err) != ambit.ErrChanged {
		var full *ambit.Error
		errors.As(err, &full)
		c.fault("%s: %v (%+v)", what, err, full)
	}
	return true
}

func checksum(data []byte) uint64 {
	h := fnv.New64a()
	h.Write(data)
	return h.Sum64()
}

// A history is the names of all changes, a line each, behind a line with their
// number and a checksum: no part of it and no mixture of two is one.
func historyOf(names []byte) []byte {
	return append(fmt.Appendf(nil, "%08d %016x\n", bytes.Count(names, []byte("\n")), checksum(names)), names...)
}

const historyHead = len("00000000 0000000000000000\n")

func namesOfHistory(data []byte) ([]byte, error) {
	if len(data) < historyHead || !bytes.Equal(data, historyOf(data[historyHead:])) {
		return nil, fmt.Errorf("%d bytes that are no whole history: %.40q", len(data), data)
	}
	return data[historyHead:], nil
}

// A ledger is lines that each carry their own checksum; lines can be appended
// to it.
func ledgerLine(name string) string { return fmt.Sprintf("%s %016x\n", name, checksum([]byte(name))) }

func namesOfLedger(data []byte) ([]byte, error) {
	var names bytes.Buffer
	for line := range bytes.Lines(data) {
		name, _, _ := bytes.Cut(line, []byte(" "))
		if string(line) != ledgerLine(string(name)) {
			return nil, fmt.Errorf("a line that is not whole: %.80q", line)
		}
		names.Write(name)
		names.WriteByte('\n')
	}
	if names.Len() == 0 {
		return nil, errors.New("an empty ledger")
	}
	return names.Bytes(), nil
}

// namesOfBegunLedger takes no notice of a last line without its end: the kernel
// may show a part of what is being appended.
func namesOfBegunLedger(data []byte) ([]byte, error) {
	return namesOfLedger(data[:bytes.LastIndexByte(data, '\n')+1])
}

// edit adds to the history, each time on the condition that it is as it was
// read.
func (c *contestant) edit(stage bool) {
	for c.running() {
		data, info, err := ambit.ReadFile(ctx, c.fsys, contestFile)
		if c.lost("read", err) {
			continue
		}
		names, err := namesOfHistory(data)
		if err != nil {
			c.fault("read %v", err)
			return
		}
		id := c.id()
		content := historyOf(append(slices.Clone(names), id+"\n"...))
		o := &ambit.WriteOptions{If: ambit.IfVersion(info.Version)}
		if !stage || rand.N(3) == 0 {
			if _, err := ambit.WriteFile(ctx, c.fsys, contestFile, content, o); !c.lost("write", err) {
				c.success(id)
			}
			continue
		}
		s, err := c.fsys.Stage(ctx, contestFile, bytes.NewReader(content), o)
		if c.lost("stage", err) {
			continue
		}
		if rand.N(8) == 0 {
			c.lost("discard", s.Discard(ctx))
		} else if _, err := s.Publish(ctx); !c.lost("publish", err) {
			c.success(id)
		}
	}
}

// appendAndEdit adds to the ledger by appending, on a condition or none, and
// by writing it whole.
func (c *contestant) appendAndEdit() {
	for c.running() {
		id := c.id()
		line := ledgerLine(id)
		how := rand.N(4)
		if how < 2 {
			_, err := ambit.Append(ctx, c.fsys, contestFile, strings.NewReader(line), nil)
			if !c.lost("append", err) {
				c.success(id)
			}
			continue
		}
		data, info, err := ambit.ReadFile(ctx, c.fsys, contestFile)
		if c.lost("read", err) {
			continue
		}
		if _, err := namesOfLedger(data); err != nil {
			if _, err := namesOfBegunLedger(data); err != nil {
				c.fault("read %v", err)
				return
			}
			// What is read of an append in the middle must not be built upon.
			_, err = ambit.WriteFile(ctx, c.fsys, contestFile, data, &ambit.WriteOptions{If: ambit.IfVersion(info.Version)})
			if !c.lost("edit", err) {
				c.fault("the version of a part of an append was good for an edit")
			}
			continue
		}
		if how == 2 {
			_, err = ambit.Append(ctx, c.fsys, contestFile, strings.NewReader(line), &ambit.AppendOptions{If: ambit.IfVersion(info.Version)})
		} else {
			_, err = ambit.WriteFile(ctx, c.fsys, contestFile, append(data, line...), &ambit.WriteOptions{If: ambit.IfVersion(info.Version)})
		}
		if !c.lost("edit", err) {
			c.success(id)
		}
	}
}

const tokenFile = "token"

// tokenText has one length for all, so that no size tells two tokens apart.
func tokenText(id string) []byte { return fmt.Appendf(nil, "%-60s.\n", id) }

// takeToken counts while it holds a file that it has created and then removes.
// It also tries to remove what others have created by the version of what it
// has removed itself.
func (c *contestant) takeToken() {
	var stale ambit.Version
	removeStale := func() {
		if stale == "" {
			return
		}
		if err := c.fsys.Remove(ctx, tokenFile, &ambit.RemoveOptions{If: ambit.IfVersion(stale)}); !c.lost("stale removal", err) {
			c.fault("a token was removed by the version of one that was removed before")
		}
	}
	for c.running() {
		id := c.id()
		r, err := ambit.WriteFile(ctx, c.fsys, tokenFile, tokenText(id), &ambit.WriteOptions{If: ambit.IfAbsent()})
		if ambit.ReasonOf(err) == ambit.ErrExists {
			if rand.N(4) == 0 {
				removeStale()
			}
			time.Sleep(rand.N(time.Millisecond)) // or the holder hardly gets a turn
			continue
		}
		if c.lost("create", err) {
			continue
		}
		c.alone(id)
		if rand.N(4) == 0 {
			removeStale()
		}
		// Two try it at once: the second one must not take the next token.
		var errs [2]error
		var wg sync.WaitGroup
		for i, fsys := range []*local.FileSystem{c.fsys, c.peer} {
			wg.Go(func() {
				errs[i] = fsys.Remove(ctx, tokenFile, &ambit.RemoveOptions{If: ambit.IfVersion(r.Info.Version)})
			})
		}
		wg.Wait()
		if lost := []bool{c.lost("removal", errs[0]), c.lost("removal", errs[1])}; lost[0] == lost[1] {
			c.fault("two removed %s, its holder and another: %v, %v", id, errs[0], errs[1])
			return
		}
		stale = r.Info.Version
		c.success(id)
	}
}

// alone adds one to a number in a way that loses where two do it at once, and
// fails where another one holds the lock that everybody takes here.
func (c *contestant) alone(id string) {
	f, err := os.OpenFile(filepath.Join(c.base, "counter"), os.O_RDWR, 0)
	if err != nil {
		c.fault("%v", err)
		return
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		c.fault("%s holds the token, and so does another: %v", id, err)
		return
	}
	var b [8]byte
	f.ReadAt(b[:], 0)
	binary.BigEndian.PutUint64(b[:], binary.BigEndian.Uint64(b[:])+1)
	f.WriteAt(b[:], 0)
}

// stamped is content that names itself and what it was written over, and fills
// a page, so that no part of it and no mixture of two is one.
func stamped(id, over string) []byte {
	line := fmt.Sprintf("%s over %s\n", id, over)
	return []byte(strings.Repeat(line, 4096/len(line)+1))
}

func readStamp(data []byte) (id string, err error) {
	line, _, _ := strings.Cut(string(data), "\n")
	id, over, ok := strings.Cut(line, " over ")
	if !ok || !bytes.Equal(data, stamped(id, over)) {
		return "", fmt.Errorf("%d bytes that are no whole stamp: %.80q", len(data), data)
	}
	return id, nil
}

const foreignPrefix = "foreign-"

// stampOver replaces what it has read, and logs what it was told to have
// replaced.
func (c *contestant) stampOver(swap func(id string) (over string, ok bool)) {
	for c.running() {
		id := c.id()
		if over, ok := swap(id); ok {
			c.success(id + " " + over)
		}
	}
}

func (c *contestant) swap(id string) (over string, ok bool) {
	data, info, err := ambit.ReadFile(ctx, c.fsys, contestFile)
	if c.lost("read", err) {
		return "", false
	}
	if over, err = readStamp(data); err != nil {
		c.fault("read %v", err)
		return "", false
	}
	_, err = ambit.WriteFile(ctx, c.fsys, contestFile, stamped(id, over), &ambit.WriteOptions{If: ambit.IfVersion(info.Version)})
	return over, !c.lost("write", err)
}

// naiveSwap is what programs do that have nothing but stat and rename.
func (c *contestant) naiveSwap(id string) (over string, ok bool) {
	path, temporary := filepath.Join(c.root, contestFile), filepath.Join(c.root, id)
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	data := make([]byte, 1<<14)
	n, _ := f.Read(data)
	before, err := f.Stat()
	if err != nil {
		return "", false
	}
	if over, err = readStamp(data[:n]); err != nil || os.WriteFile(temporary, stamped(id, over), 0o666) != nil {
		return "", false
	}
	now, err := os.Stat(path)
	if err != nil || !os.SameFile(before, now) || now.Size() != before.Size() || !now.ModTime().Equal(before.ModTime()) {
		os.Remove(temporary)
		return "", false
	}
	return over, os.Rename(temporary, path) == nil
}

// replaceBlindly is a foreign program. The name of the file that it renames
// tells which one it is to whoever watches the folder.
func (c *contestant) replaceBlindly() {
	for c.running() {
		id := c.id()
		temporary := filepath.Join(c.root, id)
		if err := os.WriteFile(temporary, stamped(id, "anything"), 0o666); err != nil {
			c.fault("%v", err)
			return
		}
		if err := os.Rename(temporary, filepath.Join(c.root, contestFile)); err != nil {
			c.fault("%v", err)
			return
		}
		c.success(id)
		time.Sleep(rand.N(2 * time.Millisecond))
	}
}

// eachDisk runs a test in memory, and where temporary folders lie: there a
// disk may give the number of a removed file to the next one at once.
func eachDisk(t *testing.T, test func(t *testing.T, dir string)) {
	t.Run("memory", func(t *testing.T) { test(t, fastDir(t)) })
	t.Run("disk", func(t *testing.T) { test(t, t.TempDir()) })
}

// contestWorld makes a folder with a file in it, beneath dir.
func contestWorld(t *testing.T, dir string, content []byte) (base string) {
	t.Helper()
	base, err := os.MkdirTemp(dir, "contest-")
	must(t, err)
	must(t, os.Mkdir(filepath.Join(base, "root"), 0o777))
	must(t, os.WriteFile(filepath.Join(base, "root", contestFile), content, 0o666))
	must(t, os.WriteFile(filepath.Join(base, "counter"), make([]byte, 8), 0o666))
	return base
}

// hold runs a contest of so many processes of each kind, beside what watch
// does, which runs until its channel is closed.
func hold(t *testing.T, base string, plans []contest, watch ...func(stop <-chan struct{})) {
	t.Helper()
	const patience = 60 * time.Second
	var processes []*exec.Cmd
	var signals []io.WriteCloser
	for i, plan := range plans {
		plan.Number, plan.Lasts = i, raceTime()
		text, err := json.Marshal(plan)
		must(t, err)
		p := start(t, "contest", base)
		p.Env = append(p.Env, contestVariable+"="+string(text))
		ready, err := p.StdoutPipe()
		must(t, err)
		begin, err := p.StdinPipe()
		must(t, err)
		must(t, p.Start())
		defer time.AfterFunc(raceTime()+patience, func() { p.Process.Kill() }).Stop()
		if _, err := io.ReadFull(ready, make([]byte, len("ready\n"))); err != nil {
			t.Errorf("a process has not begun: %v", err)
		}
		processes, signals = append(processes, p), append(signals, begin)
	}
	for _, begin := range signals {
		begin.Close()
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for _, w := range watch {
		wg.Go(func() { w(stop) })
	}
	for _, p := range processes {
		if err := p.Wait(); err != nil {
			t.Errorf("a process: %v", err)
		}
	}
	close(stop)
	wg.Wait()
}

// logs returns the lines of the successes, fails for every fault, and wants a
// success of at least two processes for each kind.
func logs(t *testing.T, base string) []string {
	t.Helper()
	var successes []string
	found, err := filepath.Glob(filepath.Join(base, "log.*"))
	must(t, err)
	faults, told, processes := 0, map[string]bool{}, map[string]bool{}
	for _, path := range found {
		data, err := os.ReadFile(path)
		must(t, err)
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSuffix(line, "\n")
			if strings.HasPrefix(line, "!") {
				faults++
				// One of a kind is enough, whoever met it.
				if _, kind, _ := strings.Cut(line, ": "); !told[kind] && len(told) < 12 {
					told[kind] = true
					t.Errorf("fault: %s", line[2:])
				}
				continue
			}
			processes[strings.Join(strings.Split(line, "-")[:2], "-")] = true
			successes = append(successes, line)
		}
	}
	if faults > len(told) {
		t.Errorf("%d faults in all", faults)
	}
	if len(processes) < 2 {
		t.Errorf("only %v had a success: nothing met", processes)
	}
	return successes
}

// watchGrowing reads the file over and over, through the library and without
// it, and wants it whole and never shorter than before.
func watchGrowing(t *testing.T, base string, parse func([]byte) ([]byte, error)) []func(stop <-chan struct{}) {
	t.Helper()
	root := filepath.Join(base, "root")
	fsys := serve(t, root, nil)
	watch := func(what string, read func() ([]byte, error), parse func([]byte) ([]byte, error)) func(stop <-chan struct{}) {
		return func(stop <-chan struct{}) {
			var last []byte
			reads, faults := 0, 0
			for {
				select {
				case <-stop:
					if reads == 0 {
						t.Errorf("%s: nobody has read", what)
					}
					return
				default:
				}
				data, err := read()
				if ambit.ReasonOf(err) == ambit.ErrChanged {
					continue
				}
				var names []byte
				if err == nil {
					names, err = parse(data)
				}
				if err == nil && !bytes.HasPrefix(names, last) {
					err = fmt.Errorf("it had %d names and then %d, and not the same ones", bytes.Count(last, []byte("\n")), bytes.Count(names, []byte("\n")))
				}
				if reads++; err != nil {
					if faults++; faults <= 3 {
						t.Errorf("%s: %v", what, err)
					}
				}
				last = names
				time.Sleep(rand.N(200 * time.Microsecond))
			}
		}
	}
	return []func(stop <-chan struct{}){
		watch("a reader", func() ([]byte, error) {
			data, _, err := ambit.ReadFile(ctx, fsys, contestFile)
			return data, err
		}, parse),
		watch("a stranger who reads", func() ([]byte, error) { return os.ReadFile(filepath.Join(root, contestFile)) }, parse),
	}
}

// Four processes of eight goroutines change one file by compare and swap:
// every success is in it exactly once, and nothing else is; and whoever reads
// it meanwhile sees a whole file.
func TestContestOfEdits(t *testing.T) {
	type parser = func(data []byte) ([]byte, error)
	for _, kind := range []struct {
		name    string
		first   []byte
		parse   parser
		reading parser // of who reads meanwhile
	}{
		{"edit", historyOf([]byte("first\n")), namesOfHistory, namesOfHistory},
		{"stage", historyOf([]byte("first\n")), namesOfHistory, namesOfHistory},
		{"append", []byte(ledgerLine("first")), namesOfLedger, namesOfBegunLedger},
	} {
		t.Run(kind.name, func(t *testing.T) {
			base := contestWorld(t, fastDir(t), kind.first)
			hold(t, base, slices.Repeat([]contest{{Kind: kind.name, Goroutines: 8}}, 4), watchGrowing(t, base, kind.reading)...)
			data, err := os.ReadFile(filepath.Join(base, "root", contestFile))
			must(t, err)
			names, err := kind.parse(data)
			must(t, err)
			want := append(logs(t, base), "first")
			missing, foreign := compareNames(want, strings.Fields(string(names)))
			if len(missing)+len(foreign) > 0 {
				t.Errorf("of %d successes the file lacks %d: %.12q; and it has %d that are none, or twice: %.12q", len(want), len(missing), missing, len(foreign), foreign)
			}
			leftovers(t, filepath.Join(base, "root"))
			t.Logf("%d successes", len(want))
		})
	}
}

// compareNames returns what of want is not in got, and what of got is not in
// want, each as often as it is so.
func compareNames(want, got []string) (missing, more []string) {
	for _, line := range difference(want, got) {
		if line[0] == '-' {
			missing = append(missing, line[1:])
		} else {
			more = append(more, line[1:])
		}
	}
	return missing, more
}

// Creation on the condition that nothing is there, and removal on the
// condition that it is what was created, are mutual exclusion.
func TestContestForAToken(t *testing.T) { eachDisk(t, contestForAToken) }

func contestForAToken(t *testing.T, dir string) {
	base := contestWorld(t, dir, []byte("unused"))
	root := filepath.Join(base, "root")
	fsys := serve(t, root, nil)
	var seen atomic.Int64
	hold(t, base, slices.Repeat([]contest{{Kind: "token", Goroutines: 8}}, 4), func(stop <-chan struct{}) {
		for {
			select {
			case <-stop:
				return
			default:
			}
			data, err := os.ReadFile(filepath.Join(root, tokenFile))
			if err == nil {
				seen.Add(1)
				if id := strings.Fields(string(data)); len(id) != 2 || !bytes.Equal(data, tokenText(id[0])) {
					t.Errorf("torn: %q", data)
				}
			} else if !errors.Is(err, fs.ErrNotExist) {
				t.Error(err)
			}
			data, _, err = ambit.ReadFile(ctx, fsys, tokenFile)
			if err == nil {
				if id := strings.Fields(string(data)); len(id) != 2 || !bytes.Equal(data, tokenText(id[0])) {
					t.Errorf("torn: %q", data)
				}
			} else if r := ambit.ReasonOf(err); r != ambit.ErrNotFound && r != ambit.ErrChanged {
				t.Error(err)
			}
			time.Sleep(rand.N(200 * time.Microsecond))
		}
	})
	successes := logs(t, base)
	b, err := os.ReadFile(filepath.Join(base, "counter"))
	must(t, err)
	if n := binary.BigEndian.Uint64(b); n != uint64(len(successes)) {
		t.Errorf("%d have held the token, the number is %d", len(successes), n)
	}
	if _, err := os.Lstat(filepath.Join(root, tokenFile)); err == nil {
		t.Error("the token is there though everybody has given it back")
	}
	if seen.Load() == 0 {
		t.Error("the stranger has never seen a token")
	}
	leftovers(t, root)
	t.Logf("%d successes", len(successes))
}

// A namer tells in which order names were given and taken in a folder: the
// kernel reports that to whoever watches it while it still holds the folder.
type namer struct {
	fd       int
	events   []nameEvent
	overflow bool
	err      error
}

type nameEvent struct {
	mask, cookie uint32
	name         string
}

const lastName = "end-of-contest"

func watchNames(t *testing.T, dir string) *namer {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	must(t, err)
	t.Cleanup(func() { unix.Close(fd) })
	_, err = unix.InotifyAddWatch(fd, dir, unix.IN_MOVED_FROM|unix.IN_MOVED_TO|unix.IN_DELETE|unix.IN_CREATE|unix.IN_ONLYDIR)
	must(t, err)
	return &namer{fd: fd}
}

// run collects until lastName is made.
func (n *namer) run() {
	buffer := make([]byte, 1<<20)
	for {
		k, err := unix.Read(n.fd, buffer)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			n.err = err
			return
		}
		for b := buffer[:k]; len(b) >= unix.SizeofInotifyEvent; {
			e := nameEvent{mask: binary.NativeEndian.Uint32(b[4:]), cookie: binary.NativeEndian.Uint32(b[8:])}
			length := binary.NativeEndian.Uint32(b[12:])
			b = b[unix.SizeofInotifyEvent:]
			e.name = string(bytes.TrimRight(b[:length], "\x00"))
			b = b[length:]
			if e.mask&unix.IN_Q_OVERFLOW != 0 {
				n.overflow = true
			}
			if e.name == lastName {
				return
			}
			n.events = append(n.events, e)
		}
	}
}

// A tenure is one content that has had, or was meant to have, the contested
// name.
type tenure struct {
	id      string // "" while it is not known which call published it
	since   int    // when it first came to the name; later it can only have been put back
	left    int    // when it last left the name; 0: it has not
	next    *tenure
	byUs    bool // who put next in its place
	dropped int  // when its last name went; 0: it has not
	ours    bool // who did that
}

// trial replays the events and holds the claims of the writers against them:
// claims tells for each content that a call says to have replaced which
// call's content came in its place. It returns what was lost or wrongly told.
func trial(events []nameEvent, claims map[string]string) (faults []string, exchanges int) {
	at := map[string]*tenure{contestFile: {id: "first", since: -1}}
	all := []*tenure{at[contestFile]}
	get := func(name string) *tenure {
		c := at[name]
		if c == nil {
			c = &tenure{}
			if strings.HasPrefix(name, foreignPrefix) {
				c.id = name
			}
			all = append(all, c)
		}
		return c
	}
	var arrivals []int // of foreign replacements
	enter := func(c, before *tenure, foreign bool, now int) {
		if c.since == 0 {
			c.since = now
		}
		if foreign {
			arrivals = append(arrivals, now)
		}
		if before != nil {
			before.left, before.next, before.byUs = now, c, !foreign
		}
	}
	drop := func(c *tenure, foreign bool, now int) {
		if c != nil {
			c.dropped, c.ours = now, !foreign
		}
	}
	move := func(i int) (from, to string, ok bool) {
		if i+1 < len(events) && events[i].mask&unix.IN_MOVED_FROM != 0 && events[i+1].mask&unix.IN_MOVED_TO != 0 && events[i].cookie == events[i+1].cookie {
			return events[i].name, events[i+1].name, true
		}
		return "", "", false
	}
	for i := 0; i < len(events); i++ {
		now := i + 1
		e := events[i]
		from, to, ok := move(i)
		switch {
		case ok:
			i++
			if back, forth, ok := move(i + 1); ok && back == to && forth == from {
				// The kernel reports an exchange as two moves.
				i += 2
				a, b := get(from), get(to)
				at[from], at[to] = b, a
				if to == contestFile {
					enter(a, b, false, now)
				} else if from == contestFile {
					enter(b, a, false, now)
				}
				exchanges++
				continue
			}
			foreign := strings.HasPrefix(from, foreignPrefix)
			c, before := get(from), at[to]
			delete(at, from)
			at[to] = c
			if to == contestFile {
				enter(c, before, foreign, now)
			}
			drop(before, foreign, now)
		case e.mask&(unix.IN_MOVED_FROM|unix.IN_MOVED_TO) != 0:
			faults = append(faults, fmt.Sprintf("%s was moved in or out of the folder", e.name))
		case e.mask&unix.IN_DELETE != 0:
			drop(at[e.name], false, now)
			delete(at, e.name)
			if e.name == contestFile {
				faults = append(faults, "the file was removed")
			}
		}
	}
	superseded := func(after, before int) bool {
		for _, a := range arrivals {
			if a > after && a < before {
				return true
			}
		}
		return false
	}
	// Which call has published what came in the place of a known content
	// follows from the claims, and so on to the last one.
	known := map[string]*tenure{}
	var next []*tenure
	for _, c := range all {
		if c.id != "" {
			known[c.id] = c
			next = append(next, c)
		}
	}
	told := 0
	for len(next) > 0 {
		c := next[0]
		next = next[1:]
		claim, ok := claims[c.id]
		if !ok {
			continue
		}
		told++
		switch {
		case c.left == 0:
			faults = append(faults, fmt.Sprintf("%s says it has replaced %s, which is still there", claim, c.id))
			continue
		case !c.byUs:
			faults = append(faults, fmt.Sprintf("%s says it has replaced %s; a foreign program has", claim, c.id))
			continue
		case superseded(c.since, c.left):
			faults = append(faults, fmt.Sprintf("%s has replaced %s, which had come back over a newer foreign one", claim, c.id))
		}
		if c.next.id == "" {
			c.next.id = claim
			known[claim] = c.next
			next = append(next, c.next)
		} else {
			faults = append(faults, fmt.Sprintf("%s and %s have both published one content", claim, c.next.id))
		}
	}
	if told != len(claims) {
		faults = append(faults, fmt.Sprintf("%d writers say they have replaced what was never the newest, or was taken back", len(claims)-told))
	}
	for _, c := range all {
		_, claimed := claims[c.id]
		switch {
		case c.id == "" && at[contestFile] == c:
			faults = append(faults, "what a refused call has written has stayed")
		case c.id == "" || claimed || c.dropped == 0 || !c.ours:
		case !superseded(c.since, c.dropped):
			faults = append(faults, fmt.Sprintf("lost: %s was dropped and nobody had seen it", c.id))
		}
	}
	return faults, exchanges
}

// contestWithStrangers lets writers of a kind compete with three foreign
// programs, and returns what was lost. Where the kernel's queue of reports has
// overflowed it starts again.
func contestWithStrangers(t *testing.T, dir, kind string) (lost []string, successes, foreign int) {
	t.Helper()
	const tries = 3
	for range tries {
		base := contestWorld(t, dir, stamped("first", "nothing"))
		root := filepath.Join(base, "root")
		n := watchNames(t, root)
		var collector sync.WaitGroup
		collector.Go(n.run)
		plans := append(slices.Repeat([]contest{{Kind: kind, Goroutines: 4}}, 4), slices.Repeat([]contest{{Kind: "foreign", Goroutines: 1}}, 3)...)
		var reads atomic.Int64
		hold(t, base, plans, func(stop <-chan struct{}) {
			for {
				select {
				case <-stop:
					return
				default:
				}
				data, err := os.ReadFile(filepath.Join(root, contestFile))
				if err == nil {
					_, err = readStamp(data)
				}
				if err != nil {
					t.Errorf("a stranger reads: %v", err)
				}
				reads.Add(1)
				time.Sleep(rand.N(200 * time.Microsecond))
			}
		})
		must(t, os.WriteFile(filepath.Join(root, lastName), nil, 0o666))
		collector.Wait()
		must(t, n.err)
		if n.overflow {
			t.Log("the queue of the kernel has overflowed")
			continue
		}
		if reads.Load() == 0 {
			t.Error("nobody has read")
		}
		claims := map[string]string{}
		for _, line := range logs(t, base) {
			id, over, ok := strings.Cut(line, " ")
			if !ok {
				foreign++
				continue
			}
			successes++
			if other, twice := claims[over]; twice {
				lost = append(lost, fmt.Sprintf("%s and %s have both replaced %s", id, other, over))
			}
			claims[over] = id
		}
		faults, exchanges := trial(n.events, claims)
		lost = append(lost, faults...)
		if kind != "naive" {
			leftovers(t, root)
		}
		t.Logf("%s: %d successes, %d foreign replacements, %d reads, %d events, %d exchanges, %d lost", kind, successes, foreign, reads.Load(), len(n.events), exchanges, len(lost))
		return lost, successes, foreign
	}
	t.Fatalf("%d times in a row the order of the names was not known", tries)
	return nil, 0, 0
}

// Against foreign programs that replace the file by rename, every success has
// replaced what it says, and no foreign file goes that nobody has seen, unless
// a newer foreign one has come.
func TestContestWithStrangers(t *testing.T) {
	eachDisk(t, func(t *testing.T, dir string) {
		if got := serve(t, dir, nil).Capabilities().Swap; got != ambit.SwapForeign {
			for _, name := range []string{"a", "b"} {
				must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o666))
			}
			if exchange(filepath.Join(dir, "a"), filepath.Join(dir, "b")) {
				t.Errorf("Swap is %v, on a disk that exchanges names", got)
			}
			t.Skipf("Swap is %v here: nothing is promised against programs that replace by rename", got)
		}
		lost, successes, foreign := contestWithStrangers(t, dir, "stamp")
		for i, text := range lost {
			if i < 12 {
				t.Error(text)
			}
		}
		if len(lost) > 0 || successes == 0 || foreign == 0 {
			t.Errorf("%d lost, with %d successes against %d foreign replacements", len(lost), successes, foreign)
		}
	})
}

// The control: looking once more and then renaming loses in the same contest.
func TestContestWithStrangersControl(t *testing.T) {
	eachDisk(t, func(t *testing.T, dir string) {
		const tries = 5
		for try := range tries {
			lost, _, _ := contestWithStrangers(t, dir, "naive")
			// They lose of each other's too.
			if i := slices.IndexFunc(lost, func(text string) bool { return strings.HasPrefix(text, "lost: "+foreignPrefix) }); i >= 0 {
				t.Log("for example: " + lost[i])
				return
			}
			t.Log("nothing foreign lost in try " + strconv.Itoa(try))
		}
		t.Errorf("nothing foreign was lost in %d tries: the contest proves nothing", tries)
	})
}

// The judgement of the contest with strangers, on short stories whose outcome
// is known: mv A f, x A f for an exchange, rm A; f is the contested name.
func TestTrial(t *testing.T) {
	for _, story := range []struct {
		name, events, claims string // claims: WRITER>REPLACED
		want                 string // a part of one of the faults; "" for none
	}{
		{"renamed over", "mv a f", "w1>first", ""},
		{"exchanged", "x a f, rm a, x b f, rm b", "w1>first w2>w1", ""},
		{"a foreign one seen", "mv foreign-1 f, x a f, rm a", "w1>foreign-1", ""},
		{"a foreign one over ours", "x a f, rm a, mv foreign-1 f", "w1>first", ""},
		{"a foreign one over a foreign one", "mv foreign-1 f, mv foreign-2 f", "", ""},
		{"put back", "mv foreign-1 f, x a f, x a f, rm a", "", ""},
		{"put back under a newer one", "mv foreign-1 f, x a f, mv foreign-2 f, x a f, x a f, rm a", "", ""},
		{"ours put back", "x a f, rm a, x b f, x b f, rm b", "w1>first", ""},
		{"refused before anything", "rm a", "", ""},
		{"a foreign one lost by rename", "mv foreign-1 f, mv a f", "", "lost: foreign-1"},
		{"a foreign one lost by exchange", "mv foreign-1 f, x a f, rm a, x b f, rm b", "w2>w1", "lost: foreign-1"},
		{"the newer one lost by putting back once", "mv foreign-1 f, x a f, mv foreign-2 f, x a f, rm a", "", "lost: foreign-2"},
		{"ours lost", "x a f, rm a, x b f, rm b, mv foreign-1 f", "w1>first", "lost: w1"},
		{"an old one is back", "mv foreign-1 f, x a f, mv foreign-2 f, x a f, x b f, rm b", "w1>foreign-1", "had come back"},
		{"a foreign one in between", "mv foreign-1 f, mv foreign-2 f, x a f", "w1>foreign-1", "a foreign program has"},
		{"replaced nothing", "", "w1>first", "still there"},
		{"replaced what was taken back", "x a f, x a f, rm a", "w2>w1", "was taken back"},
		{"a refused one has stayed", "x a f", "", "has stayed"},
		{"removed", "rm f", "", "lost: first"},
	} {
		var events []nameEvent
		move := func(from, to string) {
			cookie := uint32(len(events) + 1)
			events = append(events, nameEvent{unix.IN_MOVED_FROM, cookie, from}, nameEvent{unix.IN_MOVED_TO, cookie, to})
		}
		for step := range strings.SplitSeq(story.events, ", ") {
			switch w := strings.Fields(step); {
			case len(w) == 0:
			case w[0] == "mv":
				move(w[1], w[2])
			case w[0] == "x":
				move(w[1], w[2])
				move(w[2], w[1])
			default:
				events = append(events, nameEvent{unix.IN_DELETE, 0, w[1]})
			}
		}
		claims := map[string]string{}
		for _, claim := range strings.Fields(story.claims) {
			w, over, _ := strings.Cut(claim, ">")
			claims[over] = w
		}
		faults, _ := trial(events, claims)
		if story.want == "" && len(faults) > 0 || story.want != "" && !slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, story.want) }) {
			t.Errorf("%s: the judgement is %q, want %q", story.name, faults, story.want)
		}
	}
}
