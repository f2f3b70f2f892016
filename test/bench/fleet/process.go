package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// usage is what a process has used since its start.
type usage struct {
	cpu  time.Duration
	peak int64 // bytes of resident memory at most
}

// clockTick is the unit of /proc/PID/stat on every Linux that Go runs on.
const clockTick = 10 * time.Millisecond

// usageOf reads a living process's usage.
func usageOf(pid int) (usage, error) {
	var u usage
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return u, fmt.Errorf("the controller is gone: %w", err)
	}
	// The name, in parentheses, may hold blanks; the fields behind it are numbered from 3.
	_, rest, _ := strings.Cut(string(raw), ") ")
	fields := strings.Fields(rest)
	for _, i := range []int{14, 15} { // utime, stime
		ticks, err := strconv.Atoi(fields[i-3])
		if err != nil {
			return u, err
		}
		u.cpu += time.Duration(ticks) * clockTick
	}
	raw, err = os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return u, err
	}
	for line := range strings.Lines(string(raw)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			if err != nil {
				return u, err
			}
			u.peak = kib << 10
		}
	}
	return u, nil
}
