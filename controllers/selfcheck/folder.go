package selfcheck

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/api/imagename"
)

// leastFree is how much room the data folder should have left: the store grows with hosts.
const leastFree = 256 << 20

// DataFolder looks whether files can be made in the data folder, and how much room it has.
func DataFolder(dir string) Check {
	return Check{"data folder", func(context.Context) []Finding {
		const next = "mount a volume there that user 65532 may write to (fsGroup), or set --data-dir"
		info, err := os.Stat(dir)
		switch {
		case err != nil:
			return wrong(fmt.Sprintf("%s: %v", dir, err), next)
		case !info.IsDir():
			return wrong(dir+" is no folder", next)
		}
		probe, err := os.CreateTemp(dir, ".check-*")
		if err != nil {
			return wrong(fmt.Sprintf("nothing can be written to %s: %v", dir, err), next)
		}
		defer os.Remove(probe.Name())
		defer probe.Close()
		var room unix.Statfs_t
		if err := unix.Fstatfs(int(probe.Fd()), &room); err != nil {
			return doubtful(fmt.Sprintf("cannot tell how much room %s has: %v", dir, err), "look at the volume")
		}
		if free := room.Bavail * uint64(room.Bsize); free < leastFree {
			return doubtful(fmt.Sprintf("%s has %d MiB left", dir, free>>20), "make the volume larger")
		}
		return good(dir + " can be written to")
	}}
}

// AgentImage looks at the name of ironic-python-agent's container image, which machines pull.
func AgentImage(image string) Check {
	return Check{"agent image", func(context.Context) []Finding {
		const next = "set --ironic-agent-image or IRONIC_AGENT_IMAGE to an image with ironic-python-agent and Ironflow's plugin that machines can pull, such as registry.example/ironic-python-agent:v1"
		if image == "" {
			return doubtful("no container image of ironic-python-agent is set: base images have to have /usr/local/bin/ironic-python-agent themselves", next)
		}
		if err := imagename.Full(image); err != nil {
			return wrong(err.Error(), next)
		}
		return good(image + " (machines pull it; whether the registry has it was not checked)")
	}}
}
