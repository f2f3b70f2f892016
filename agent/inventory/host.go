package inventory

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/api/hostfile"
)

const (
	devDir    = "/dev/"
	byIDDir   = "/dev/disk/by-id/"
	byPathDir = "/dev/disk/by-path/"
	dmiDir    = "/sys/class/dmi/id/"
)

// Host returns the collectors of the machine below the root directory.
func Host(dir hostfile.Dir) []Collector {
	h := host{dir: dir, addresses: kernelAddresses, hostname: os.Hostname}
	return []Collector{
		{"cpu", h.cpu},
		{"memory", h.memory},
		{"system", h.system},
		{"boot", h.boot},
		{"tpm", h.tpm},
		{"interfaces", h.interfaces},
		{"routes", h.routes},
		{"disks", h.disks},
	}
}

// host reads the files of one machine; what is not in files is a function, so
// that a recorded machine can be read too.
type host struct {
	dir       hostfile.Dir
	addresses func() (map[string]nicState, error)
	hostname  func() (string, error)
}

// line reads a file of one line, trimmed; empty when it cannot be read.
func (h host) line(parts ...string) string {
	raw, err := os.ReadFile(h.dir.Path(filepath.Join(parts...)))
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(bytes.TrimRight(raw, "\x00")))
}

// number reads a file that holds one decimal number; 0 when it cannot be read.
func (h host) number(parts ...string) int64 {
	n, _ := strconv.ParseInt(h.line(parts...), 10, 64)
	return n
}

func (h host) exists(parts ...string) bool {
	_, err := os.Stat(h.dir.Path(filepath.Join(parts...)))
	return err == nil
}

// names lists a folder; nothing when it does not exist.
func (h host) names(parts ...string) []string {
	entries, err := os.ReadDir(h.dir.Path(filepath.Join(parts...)))
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// fields reads a file of "key : value" lines, calling each for every line.
func fields(text, separator string, each func(key, value string)) {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, separator); ok {
			each(strings.TrimSpace(key), strings.TrimSpace(value))
		}
	}
}
