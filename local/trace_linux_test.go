// Copyright The Ambit Authors
// SPDX-License-Identifier: Apache-2.0

//go:build amd64 || arm64

package local_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A traced process marks what it does by writing to no descriptor at all; the
// text is read from its memory while it stands still at the call.
const noDescriptor = -1

func mark(text string) { syscall.Write(noDescriptor, []byte(text)) }

// The marks of a traced process. File-system calls are counted from begin to
// end, in all of its threads.
const (
	markReady = "ready"
	markBegin = "begin"
	markEnd   = "end" // followed by the outcome
)

// plan says what happens to a traced process at its file-system calls, which
// are numbered from 0 at each begin.
type plan struct {
	at     int           // number of the call; a negative one: none
	errno  syscall.Errno // the call fails with it; 0: the process is killed before the call runs
	before func(n int)   // called before each call, while the process stands still
}

func (p plan) String() string {
	if p.errno == 0 {
		return "killed"
	}
	return fmt.Sprintf("made to fail (%v)", p.errno)
}

func undisturbed() plan { return plan{at: -1} }

// tracee is a process of which every system call is seen. It belongs to the
// thread that has started it.
type tracee struct {
	t       testing.TB
	pid     int
	plan    plan
	counts  bool
	calls   []string              // names of the calls that were counted since the last begin
	halted  int                   // the thread that stands at a mark; 0: none
	failing map[int]syscall.Errno // threads in a call that is made to fail
	fresh   map[int]bool          // threads that have not yet made their first stop
	gone    bool
	hangs   atomic.Bool
}

// mayTrace skips the test where the system lets nobody be traced.
func mayTrace(t testing.TB) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p, err := launch(t, "operation", t.TempDir(), operationVariable+"=nothing")
	if err == nil {
		_, err = p.next()
		p.kill()
	}
	if err != nil {
		t.Skipf("no process can be traced here: %v", err)
	}
}

// trace starts this binary in a role, traced, and follows it to its first
// mark. The caller has locked its thread. It fails the test when that does not
// work.
func trace(t testing.TB, role, dir string, environment ...string) *tracee {
	t.Helper()
	p, err := launch(t, role, dir, environment...)
	if err == nil {
		var text string
		if text, err = p.next(); err == nil && text != markReady {
			err = fmt.Errorf("its first mark is %q", text)
		}
	}
	if err != nil {
		t.Fatalf("a traced process: %v", err)
	}
	return p
}

func launch(t testing.TB, role, dir string, environment ...string) (*tracee, error) {
	binary := testBinary(t)
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	// A preemption would interrupt calls and so number them differently.
	environment = append(environment, roleVariable+"="+role, dirVariable+"="+dir, "GODEBUG=asyncpreemptoff=1", "GOGC=off")
	inherited := slices.DeleteFunc(os.Environ(), func(old string) bool {
		return slices.ContainsFunc(environment, func(own string) bool {
			name, _, _ := strings.Cut(own, "=")
			return strings.HasPrefix(old, name+"=")
		})
	})
	pid, err := syscall.ForkExec(binary, []string{binary}, &syscall.ProcAttr{
		Env:   append(inherited, environment...),
		Files: []uintptr{null.Fd(), os.Stderr.Fd(), os.Stderr.Fd()},
		Sys:   &syscall.SysProcAttr{Ptrace: true, Setpgid: true},
	})
	if err != nil {
		return nil, err
	}
	p := &tracee{t: t, pid: pid, plan: undisturbed(), failing: make(map[int]syscall.Errno), fresh: make(map[int]bool)}
	var status syscall.WaitStatus
	if _, err := waitFor(pid, &status); err != nil || !status.Stopped() {
		p.kill()
		return nil, fmt.Errorf("no stop at its start: %v, status %#x", err, status)
	}
	if err := syscall.PtraceSetOptions(pid, unix.PTRACE_O_TRACECLONE|unix.PTRACE_O_TRACESYSGOOD|unix.PTRACE_O_EXITKILL); err != nil {
		p.kill()
		return nil, err
	}
	p.halted = pid
	return p, nil
}

// waitFor waits for a process, or with a negative number for any thread of
// that process group: no other child of this program is taken.
func waitFor(pid int, status *syscall.WaitStatus) (int, error) {
	for {
		tid, err := syscall.Wait4(pid, status, unix.WALL, nil)
		if err != syscall.EINTR {
			return tid, err
		}
	}
}

// kill ends the process, if it has not ended, and waits until nothing of it is
// left.
func (p *tracee) kill() {
	if p.gone {
		return
	}
	syscall.Kill(p.pid, syscall.SIGKILL)
	var status syscall.WaitStatus
	for {
		if _, err := waitFor(-p.pid, &status); err != nil {
			break
		}
		// A thread that stops on its way is dead by the same signal.
	}
	p.gone = true
}

// patience is how long a process may be between two marks.
const patience = 20 * time.Second

// next lets the process go on to its next mark, and returns its text. It is
// empty when the process was killed as planned.
func (p *tracee) next() (string, error) {
	timer := time.AfterFunc(patience, func() {
		p.hangs.Store(true)
		syscall.Kill(p.pid, syscall.SIGKILL)
	})
	defer timer.Stop()
	if p.halted != 0 {
		p.resume(p.halted, 0)
		p.halted = 0
	}
	for {
		var status syscall.WaitStatus
		tid, err := waitFor(-p.pid, &status)
		switch {
		case err != nil:
			return "", err
		case status.Exited() || status.Signaled():
			if tid != p.pid {
				continue
			}
			p.gone = true
			if p.hangs.Load() {
				return "", fmt.Errorf("it hangs after %d calls, the last being %q", len(p.calls), p.last())
			}
			return "", fmt.Errorf("it ended by itself, status %#x", status)
		case !status.Stopped():
		case status.StopSignal() == syscall.SIGTRAP|0x80:
			text, halt, err := p.call(tid)
			if halt || err != nil {
				return text, err
			}
			p.resume(tid, 0)
		case status.StopSignal() == syscall.SIGTRAP && status.TrapCause() > 0:
			p.resume(tid, 0)
		case status.StopSignal() == syscall.SIGSTOP && tid != p.pid && !p.fresh[tid]:
			p.fresh[tid] = true
			p.resume(tid, 0)
		default:
			p.resume(tid, int(status.StopSignal()))
		}
	}
}

func (p *tracee) last() string {
	if len(p.calls) == 0 {
		return ""
	}
	return p.calls[len(p.calls)-1]
}

// resume has no error: a thread that is not there any more is seen by the next
// wait.
func (p *tracee) resume(tid, signal int) { _ = syscall.PtraceSyscall(tid, signal) }

// callStop is what the kernel tells of a thread that stands at a system call.
type callStop struct {
	Op   uint8
	_    [3]uint8
	Arch uint32
	IP   uint64
	SP   uint64
	Call struct {
		Number uint64
		Args   [6]uint64
		_      uint64
	}
}

const (
	stopEntry = 1
	stopExit  = 2
)

// call handles a thread at the entry or the exit of a call. halt: it stays
// there, at a mark or dead.
func (p *tracee) call(tid int) (text string, halt bool, err error) {
	var stop callStop
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(tid), unsafe.Sizeof(stop), uintptr(unsafe.Pointer(&stop)), 0, 0)
	if errno == syscall.ESRCH {
		return "", false, nil // it dies; the next wait tells
	} else if errno != 0 {
		return "", false, fmt.Errorf("PTRACE_GET_SYSCALL_INFO: %w", errno)
	}
	if stop.Op == stopExit {
		if errno, ok := p.failing[tid]; ok {
			delete(p.failing, tid)
			return "", false, answerCall(tid, errno)
		}
		return "", false, nil
	}
	if stop.Op != stopEntry {
		return "", false, fmt.Errorf("a stop of kind %d at a call", stop.Op)
	}
	number, args := stop.Call.Number, stop.Call.Args
	if number == unix.SYS_WRITE && int32(args[0]) == noDescriptor {
		b := make([]byte, args[2])
		if _, err := syscall.PtracePeekData(tid, uintptr(args[1]), b); err != nil {
			return "", false, err
		}
		text = string(b)
		if p.counts = text == markBegin; p.counts {
			p.calls = nil
		}
		p.halted = tid
		return text, true, nil
	}
	if !p.counts || !p.isFileCall(number, args[0]) {
		return "", false, nil
	}
	n := len(p.calls)
	p.calls = append(p.calls, callName(number))
	if p.plan.before != nil {
		p.plan.before(n)
	}
	if n != p.plan.at {
		return "", false, nil
	}
	if p.plan.errno == 0 {
		p.kill()
		return "", true, nil
	}
	p.failing[tid] = p.plan.errno
	if number == unix.SYS_CLOSE {
		return "", false, nil // whatever close answers, the descriptor is closed
	}
	return "", false, skipCall(tid)
}

// isFileCall leaves out what the Go runtime does for itself: memory, threads,
// signals, time. Whatever is not known to be of that kind counts.
func (p *tracee) isFileCall(number, fd uint64) bool {
	switch number {
	case unix.SYS_FUTEX, unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MPROTECT, unix.SYS_MADVISE, unix.SYS_MREMAP, unix.SYS_MINCORE, unix.SYS_BRK,
		unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES, unix.SYS_GETTIMEOFDAY,
		unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_CLONE, unix.SYS_CLONE3, unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
		unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_TGKILL, unix.SYS_TKILL,
		unix.SYS_GETTID, unix.SYS_GETPID, unix.SYS_GETPPID, unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID,
		unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_PWAIT2, unix.SYS_EVENTFD2,
		unix.SYS_PRCTL, unix.SYS_GETRANDOM, unix.SYS_RESTART_SYSCALL, unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_MEMBARRIER,
		unix.SYS_PRLIMIT64, unix.SYS_UNAME, unix.SYS_TIMER_CREATE, unix.SYS_TIMER_SETTIME, unix.SYS_TIMER_DELETE, unix.SYS_SETITIMER:
		return false
	case unix.SYS_READ, unix.SYS_WRITE:
		// The runtime wakes itself through a descriptor.
		to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", p.pid, int32(fd)))
		return err != nil || !strings.HasPrefix(to, "anon_inode:")
	}
	return true
}

func callName(number uint64) string {
	if name, ok := callNames[number]; ok {
		return name
	}
	if name, ok := ownCallNames[number]; ok {
		return name
	}
	return fmt.Sprintf("call-%d", number)
}

var callNames = map[uint64]string{
	unix.SYS_CLOSE: "close", unix.SYS_COPY_FILE_RANGE: "copy_file_range", unix.SYS_DUP: "dup", unix.SYS_DUP3: "dup3",
	unix.SYS_FACCESSAT: "faccessat", unix.SYS_FACCESSAT2: "faccessat2", unix.SYS_FALLOCATE: "fallocate",
	unix.SYS_FCHMOD: "fchmod", unix.SYS_FCHMODAT: "fchmodat", unix.SYS_FCHMODAT2: "fchmodat2", unix.SYS_FCHOWN: "fchown", unix.SYS_FCHOWNAT: "fchownat",
	unix.SYS_FCNTL: "fcntl", unix.SYS_FDATASYNC: "fdatasync", unix.SYS_FGETXATTR: "fgetxattr", unix.SYS_FLISTXATTR: "flistxattr",
	unix.SYS_FLOCK: "flock", unix.SYS_FREMOVEXATTR: "fremovexattr", unix.SYS_FSETXATTR: "fsetxattr", unix.SYS_FSTAT: "fstat", unix.SYS_FSTATFS: "fstatfs",
	unix.SYS_FSYNC: "fsync", unix.SYS_FTRUNCATE: "ftruncate", unix.SYS_GETDENTS64: "getdents64", unix.SYS_GETXATTR: "getxattr",
	unix.SYS_IOCTL: "ioctl", unix.SYS_LGETXATTR: "lgetxattr", unix.SYS_LINKAT: "linkat", unix.SYS_LISTXATTR: "listxattr", unix.SYS_LLISTXATTR: "llistxattr",
	unix.SYS_LSEEK: "lseek", unix.SYS_LSETXATTR: "lsetxattr", unix.SYS_MKDIRAT: "mkdirat", unix.SYS_MKNODAT: "mknodat",
	unix.SYS_NAME_TO_HANDLE_AT: "name_to_handle_at", unix.SYS_OPENAT: "openat", unix.SYS_OPENAT2: "openat2", unix.SYS_OPEN_BY_HANDLE_AT: "open_by_handle_at",
	unix.SYS_PREAD64: "pread64", unix.SYS_PWRITE64: "pwrite64", unix.SYS_READ: "read", unix.SYS_READLINKAT: "readlinkat", unix.SYS_READV: "readv",
	unix.SYS_RENAMEAT: "renameat", unix.SYS_RENAMEAT2: "renameat2", unix.SYS_SENDFILE: "sendfile", unix.SYS_SETXATTR: "setxattr", unix.SYS_SPLICE: "splice",
	unix.SYS_STATFS: "statfs", unix.SYS_STATX: "statx", unix.SYS_SYMLINKAT: "symlinkat", unix.SYS_SYNCFS: "syncfs", unix.SYS_SYNC_FILE_RANGE: "sync_file_range",
	unix.SYS_UMASK: "umask", unix.SYS_UNLINKAT: "unlinkat", unix.SYS_UTIMENSAT: "utimensat", unix.SYS_WRITE: "write", unix.SYS_WRITEV: "writev",
	unix.SYS_NEWFSTATAT: "newfstatat",
}

// The tracer itself: every call is seen and numbered, and exactly the one that
// is asked for fails or is never run.
func TestTracer(t *testing.T) {
	mayTrace(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	run := func(how plan) (dir, outcome string, calls []string) {
		dir = t.TempDir()
		p := trace(t, "operation", dir, operationVariable+"=traced")
		defer p.kill()
		p.plan = how
		if text, err := p.next(); err != nil || text != markBegin {
			t.Fatalf("%q, %v in place of the beginning", text, err)
		}
		outcome, err := p.next()
		must(t, err)
		return dir, outcome, p.calls
	}
	there := func(dir string) string {
		entries, err := os.ReadDir(dir)
		must(t, err)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return strings.Join(names, " ")
	}
	// Calls of two threads, in this order.
	all := []string{"mkdirat", "mkdirat", "mkdirat"}
	dir, outcome, calls := run(undisturbed())
	if outcome != markEnd || !slices.Equal(calls, all) || there(dir) != "0 1 2" {
		t.Errorf("undisturbed: %q, calls %q, there is %s", outcome, calls, there(dir))
	}
	dir, outcome, calls = run(plan{at: 1})
	if outcome != "" || !slices.Equal(calls, all[:2]) || there(dir) != "0" {
		t.Errorf("killed at the second: %q, calls %q, there is %s", outcome, calls, there(dir))
	}
	dir, outcome, calls = run(plan{at: 1, errno: syscall.EDQUOT})
	if outcome != markEnd+" "+syscall.EDQUOT.Error() || !slices.Equal(calls, all) || there(dir) != "0 2" {
		t.Errorf("the second fails: %q, calls %q, there is %s", outcome, calls, there(dir))
	}
}
