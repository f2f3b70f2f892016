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

// Pullable tells what the registry says of an image, asked as machines ask: nil, or why it does
// not give it. known is false where nobody could be asked from here.
type Pullable func(ctx context.Context, image string) (known bool, err error)

// AgentImage looks at ironic-python-agent's container images, which machines pull: that of all
// architectures first. Registries are not asked where ask is nil.
func AgentImage(images []string, ask Pullable) Check {
	return Check{"agent image", func(ctx context.Context) (findings []Finding) {
		const next = "set --ironic-agent-image or IRONIC_AGENT_IMAGE to an image with ironic-python-agent and Ironflow's plugin that machines can pull, such as registry.example/ironic-python-agent:v1"
		if len(images) == 0 || images[0] == "" {
			return doubtful("no container image of ironic-python-agent is set: base images have to have /usr/local/bin/ironic-python-agent themselves", next)
		}
		for _, image := range images {
			switch {
			case image == "":
			case imagename.Full(image) != nil:
				findings = append(findings, wrong(imagename.Full(image).Error(), next)...)
			case ask == nil:
				findings = append(findings, good(image+" (machines pull it; whether the registry has it was not checked)")...)
			default:
				findings = append(findings, askFor(ctx, image, ask))
			}
		}
		return findings
	}}
}

// askFor is what the registry says of an image. One that only machines reach is no fault.
func askFor(ctx context.Context, image string, ask Pullable) Finding {
	switch known, err := ask(ctx, image); {
	case err == nil:
		return Finding{Level: OK, Text: image + " (its registry has it)"}
	case known:
		return Finding{Level: Error, Text: err.Error(), Next: "push the image, or correct its name; where the registry wants a login, set --ironic-agent-pull-secret-file"}
	default:
		return Finding{Level: OK, Text: fmt.Sprintf("%s (machines pull it; whether the registry has it could not be asked from here: %v)", image, err)}
	}
}
