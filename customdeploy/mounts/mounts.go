// Package mounts reads the mount table of the host's first process: the agent's
// own may be that of a container.
package mounts

import (
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/customdeploy/source"
)

// file is the table of the host's first process, own that of this one.
const (
	file = "/proc/1/mountinfo"
	own  = "/proc/self/mountinfo"
)

// Mount is one line of the table.
type Mount struct {
	// Device is "major:minor" of the mounted file system, as sysfs writes it.
	Device string
	// Target is the mount point, Type the file system's kind, Source what was
	// mounted, mostly a path below /dev.
	Target, Type, Source string
}

// Read returns the mount table; empty when it cannot be read.
func Read(m source.Machine) []Mount {
	raw, err := m.Read(file)
	if err != nil {
		return nil
	}
	return parse(string(raw))
}

// All returns the mount tables of the first process and of this one: what either
// has mounted is in use. It fails when one cannot be read.
func All(m source.Machine) ([]Mount, error) {
	var out []Mount
	for _, file := range []string{file, own} {
		raw, err := m.Read(file)
		if err != nil {
			return nil, err
		}
		out = append(out, parse(string(raw))...)
	}
	return out, nil
}

// parse reads lines of mountinfo, see proc(5):
//
//	id parent major:minor root target options [optional…] - type source options
func parse(text string) []Mount {
	var out []Mount
	for line := range strings.Lines(text) {
		head, tail, ok := strings.Cut(line, " - ")
		left, right := strings.Fields(head), strings.Fields(tail)
		if ok && len(left) >= 5 && len(right) >= 2 {
			out = append(out, Mount{Device: left[2], Target: Unescape(left[4]), Type: right[0], Source: Unescape(right[1])})
		}
	}
	return out
}

// Unescape replaces the octal escapes of white space and backslash that procfs writes.
func Unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+4 <= len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
