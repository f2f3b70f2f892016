package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Faults counts how often the faults of one scenario file have happened. The
// machine and the agent in dry run share the count: it lies in a file beside
// the scenario, is locked while it changes, and so survives any process.
type Faults struct {
	// Path is the scenario file's path; the count lies in Path + ".faults".
	Path string
	// List are the scenario's faults.
	List []Fault
}

// FaultsOf returns the faults of a scenario that was loaded from path.
func FaultsOf(path string, s *Scenario) Faults { return Faults{Path: path, List: s.Faults} }

// Take claims one occurrence of a fault of this kind at this stage. It returns
// the fault and true when one is left; the occurrence is then counted before
// Take returns, so that a process that dies of the fault does not die of it again.
func (f Faults) Take(kind FaultKind, stage string) (Fault, bool, error) {
	for i, fault := range f.List {
		if fault.Kind != kind || fault.Stage != stage {
			continue
		}
		taken, err := f.count(i, max(fault.Times, 1))
		if err != nil || taken {
			return fault, taken, err
		}
	}
	return Fault{}, false, nil
}

// count adds one to the count of the fault at the index unless it has reached the limit.
func (f Faults) count(index, limit int) (bool, error) {
	path := f.Path + ".faults"
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return false, fmt.Errorf("count faults: %w", err)
	}
	defer file.Close() // releases the lock too
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return false, fmt.Errorf("lock %s: %w", path, err)
	}
	counts, err := readCounts(path)
	if err != nil {
		return false, err
	}
	key := strconv.Itoa(index)
	if counts[key] >= limit {
		return false, nil
	}
	counts[key]++
	raw, err := json.Marshal(counts)
	if err != nil {
		return false, err
	}
	// Written in place: a replaced file would carry no lock.
	if err := errors.Join(file.Truncate(0), writeAt(file, raw), file.Sync()); err != nil {
		return false, fmt.Errorf("count faults in %s: %w", filepath.Base(path), err)
	}
	return true, nil
}

func writeAt(file *os.File, raw []byte) error {
	_, err := file.WriteAt(raw, 0)
	return err
}

func readCounts(path string) (map[string]int, error) {
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	counts := map[string]int{}
	if len(raw) == 0 {
		return counts, nil
	}
	if err := json.Unmarshal(raw, &counts); err != nil {
		return nil, fmt.Errorf("%s is not a fault count, delete it: %w", path, err)
	}
	return counts, nil
}
