package notify

import (
	"errors"
	"fmt"
	"os"

	"github.com/ironflow/ironflow/api/hostfile"
)

// File keeps a status in the host's status file, as that of the run of the unit with
// this invocation id. A file that cannot be written is removed: an old one would be
// believed.
func File(dir hostfile.Dir, invocation string) func(hostfile.Status) error {
	return func(s hostfile.Status) error {
		boot, err := dir.BootID()
		if err == nil {
			err = dir.Write(hostfile.StatusFile, hostfile.AgentStatus{BootID: boot, InvocationID: invocation, Status: s})
		}
		if err == nil {
			return nil
		}
		if gone := os.Remove(dir.Path(hostfile.StatusFile)); gone != nil && !errors.Is(gone, os.ErrNotExist) {
			err = errors.Join(err, gone)
		}
		return fmt.Errorf("write the status: %w", err)
	}
}
