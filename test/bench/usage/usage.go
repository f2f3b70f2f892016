// Package usage reads what a process has used, for the benchmarks.
package usage

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Process is what a process has used since its start.
type Process struct {
	CPU time.Duration
	// Resident is its resident memory, Peak the most that it was, in bytes.
	Resident, Peak int64
	Threads        int64
}

// clockTick is the unit of /proc/PID/stat on every Linux that Go runs on.
const clockTick = 10 * time.Millisecond

// Of reads the usage of a living process.
func Of(pid int) (Process, error) { return In("/proc", strconv.Itoa(pid)) }

// In reads it in a procfs, which may be that of another namespace, where the process has the number.
func In(proc, pid string) (Process, error) {
	var u Process
	raw, err := os.ReadFile(filepath.Join(proc, pid, "stat"))
	if err != nil {
		return u, err
	}
	// The name, in parentheses, may hold blanks; the fields behind it are numbered from 3.
	_, rest, _ := strings.Cut(string(raw), ") ")
	fields := strings.Fields(rest)
	for _, i := range []int{14, 15} { // utime, stime
		ticks, err := strconv.Atoi(fields[i-3])
		if err != nil {
			return u, err
		}
		u.CPU += time.Duration(ticks) * clockTick
	}
	status, err := os.ReadFile(filepath.Join(proc, pid, "status"))
	if err != nil {
		return u, err
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		into := map[string]*int64{"VmHWM": &u.Peak, "VmRSS": &u.Resident, "Threads": &u.Threads}[name]
		if into == nil {
			continue
		}
		number, size := strings.CutSuffix(strings.TrimSpace(value), " kB")
		if *into, err = strconv.ParseInt(number, 10, 64); err != nil {
			return u, err
		}
		if size {
			*into <<= 10
		}
	}
	return u, nil
}

// Sum is the usage of several.
func Sum(pids []int) (sum Process, err error) {
	for _, pid := range pids {
		u, err := Of(pid)
		if err != nil {
			return sum, err
		}
		sum.CPU += u.CPU
		sum.Resident += u.Resident
		sum.Peak += u.Peak
	}
	return sum, nil
}

// ForgetPeak begins to count the most resident memory anew.
func ForgetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}
