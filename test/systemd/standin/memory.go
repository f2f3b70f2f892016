package standin

import (
	"path/filepath"
	"syscall"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/systemd"
)

// memory is what the stand-in remembers of a unit for later programs of the
// same boot; a real systemd outlives the programs that talk to it.
type memory struct {
	BootID string             `json:"boot_id"`
	Unit   systemd.Properties `json:"unit"`
}

func memoryPath(unit string) string {
	return filepath.Join("/run/systemd/standin", unit+".json")
}

// remember writes the unit's state; without it a later program sees a unit that
// never ran, which is no reason to disturb the one that runs.
func remember(root hostfile.Dir, name string, p systemd.Properties) {
	id, _ := root.BootID()
	_ = root.Write(memoryPath(name), memory{BootID: id, Unit: p})
}

// recall returns the unit as it was left in this boot. What ran then died with
// the program that ran it.
func recall(root hostfile.Dir, name string) (systemd.Properties, bool) {
	var m memory
	if err := root.Read(memoryPath(name), &m); err != nil {
		return systemd.Properties{}, false
	}
	if id, err := root.BootID(); err != nil || id != m.BootID {
		return systemd.Properties{}, false
	}
	if p := &m.Unit; !p.Ended() {
		p.ActiveState, p.SubState, p.Result, p.MainPID = "failed", "failed", resultSignal, 0
		p.ExecMainCode, p.ExecMainStatus = systemd.Killed, int(syscall.SIGKILL)
	}
	return m.Unit, true
}
