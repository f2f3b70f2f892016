// Package nodeword is the word of a node about its disks: which of them nobody may touch.
// The deploy step leaves it for all that may write one; it is for those as well that
// start no program, and so have no lsblk. The main function is [Spared].
package nodeword

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/diskuse"
	"github.com/ironflow/ironflow/customdeploy/source"
)

// OfNode are the disks and arrays that nobody may touch, whoever orders it, with the
// reason, by their paths: what the deploy step of this boot has left of the node's word.
func OfNode(m source.Machine) (map[string]string, error) {
	raw, err := m.Read(hostfile.StepFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // no step: no node
	}
	var state hostfile.StepState
	if err == nil {
		err = json.Unmarshal(raw, &state)
	}
	if err != nil {
		return nil, fmt.Errorf("which disks must stay is not known: %s: %w", hostfile.StepFile, err)
	}
	boot := m.Line(hostfile.BootIDPath())
	if boot == "" {
		return nil, errors.New("which disks must stay is not known: the boot has no id")
	}
	if state.BootID != boot {
		return nil, nil
	}
	return state.Kept, nil
}

// Word is what [OfNode] says, by "major:minor": for those that have no lsblk.
type Word map[string]string

// WordOf reads it.
func WordOf(m source.Machine) (Word, error) {
	kept, err := OfNode(m)
	if err != nil {
		return nil, err
	}
	return ByNumber(m, kept), nil
}

// ByNumber is the word about devices by their paths, with the reason for each.
func ByNumber(m source.Machine, kept map[string]string) Word {
	w := Word{}
	for device, why := range kept {
		if number := m.Line("/sys/class/block", path.Base(m.Resolve(device)), "dev"); number != "" { // or it is gone
			w[number] = fmt.Sprintf("%s must stay as it is: %s", device, why)
		}
	}
	return w
}

// Against is what the word has against writing a disk, by the numbers of the disk and of
// all that lies on it; empty for nothing.
func (w Word) Against(numbers []string) string {
	for _, number := range numbers {
		if w[number] != "" {
			return w[number]
		}
	}
	return ""
}

// Spared says by sysfs why the word of the node is against writing a disk; nil if it is not.
func Spared(m source.Machine, disk string) error {
	word, err := WordOf(m)
	if err != nil {
		return err
	}
	name := path.Base(m.Resolve(disk))
	if against := word.Against(diskuse.Numbers(m, name, diskuse.Partitions(m, name))); against != "" {
		return fmt.Errorf("%s may not be written: %s", disk, against)
	}
	return nil
}
