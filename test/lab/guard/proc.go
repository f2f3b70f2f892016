package guard

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// Descendants lists the living processes below pid, in no particular order.
// Zombies are left out. Tests use it to prove that nothing remains.
func Descendants(pid int) []int {
	var found []int
	for next := []int{pid}; len(next) > 0; {
		children := childrenOf(next[0])
		found = append(found, children...)
		next = append(next[1:], children...)
	}
	return found
}

// childrenOf lists the living children of pid by reading /proc.
func childrenOf(pid int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var children []int
	for _, entry := range entries {
		child, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if parent, state := parentOf(child); parent == pid && state != 'Z' {
			children = append(children, child)
		}
	}
	return children
}

// parentOf is the parent of a process and its state letter, 0 and 0 if it is gone.
func parentOf(pid int) (parent int, state byte) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0
	}
	// pid (name) state parent …; the name may hold spaces and parentheses.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0, 0
	}
	parent, err = strconv.Atoi(string(fields[1]))
	if err != nil {
		return 0, 0
	}
	return parent, fields[0][0]
}
