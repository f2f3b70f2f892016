// Package handover replaces the running agent by the one of another container
// image, as a hub may order in its answer to a registration: the image is
// pulled, its agent is taken out, and the process becomes that agent. The old
// program stays where it is; until the new one has polled, a restart of the unit
// brings the old one back, which then goes on by itself. Its main type is
// [Handover].
package handover

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"syscall"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

const (
	// ImageEnv tells an agent which image it was taken out of, whatever the unit's
	// command line says.
	ImageEnv = "IRONFLOW_AGENT_IMAGE"
	// Path is the host path of the record of hand-overs.
	Path = hostfile.RunDir + "/handover.json"
	// Binary is where the agent of another image lies on the host.
	Binary = hostfile.RunDir + "/agent-of-image"
	// program is the name of the agent in its image, and of the new process.
	program = "agent"
	// maxTotal bounds the hand-overs of one boot: two hubs, or one that changes
	// its mind, must not make agents that do nothing but become each other.
	maxTotal = 5
)

// ErrStays means that this process is not replaced; its text says why.
var ErrStays = errors.New("this agent stays")

// Handover knows the running agent and how to become another one. The zero value
// always stays.
type Handover struct {
	// Running is the image that this process counts as.
	Running string
	// Args are the flags of the agent, for the one that takes over.
	Args []string
	// Dir is the host's root, Commands starts podman.
	Dir      hostfile.Dir
	Commands command.Runner
	// Exec becomes the program; nil means that this process stays.
	Exec func(path string, argv, env []string) error
	Log  *slog.Logger
}

// record is what the processes of one boot tell each other.
type record struct {
	BootID string `json:"boot_id"`
	// Image is the last one that took over, Polled whether it has polled since.
	Image  string `json:"image"`
	Polled bool   `json:"polled"`
	// Total counts the hand-overs of this boot.
	Total int `json:"total"`
}

// Running is the image that a process with this --agent-version counts as.
func Running(agentVersion string) string {
	if image := os.Getenv(ImageEnv); image != "" {
		return image
	}
	return agentVersion
}

// Prepare makes the agent of the image ready on this host, and returns what
// becomes it. The error wraps [ErrStays] where this process is not to be
// replaced, and says what is wrong otherwise.
func (h Handover) Prepare(ctx context.Context, image string) (*Next, error) {
	if h.Exec == nil {
		return nil, fmt.Errorf("%w: it is not one of its own image", ErrStays)
	}
	if why := Carried(h.Dir); why != "" {
		return nil, fmt.Errorf("%w: %s", ErrStays, why)
	}
	known := h.read()
	switch {
	case known.Image == image && !known.Polled:
		return nil, fmt.Errorf("%w: the agent of %s took over before and never polled", ErrStays, image)
	case known.Total >= maxTotal:
		return nil, fmt.Errorf("%w: there were %d hand-overs since the boot", ErrStays, known.Total)
	}
	if _, err := os.Stat(h.Dir.Path(Binary)); known.Image != image || err != nil {
		if err := (Engine{Dir: h.Dir, Commands: h.Commands}).Extract(ctx, image, "/usr/bin/"+program, Binary); err != nil {
			if errors.Is(err, hostexec.ErrMissing) {
				return nil, fmt.Errorf("%w: %w", ErrStays, err)
			}
			return nil, err
		}
	}
	known.Image, known.Polled, known.Total = image, false, known.Total+1
	return &Next{handover: h, record: known}, nil
}

// Polled notes that this process, which counts as the image, has polled: from now
// on a restart of the unit may hand over to it again.
func (h Handover) Polled() {
	if known := h.read(); h.Exec != nil && known.Image == h.Running && !known.Polled {
		known.Polled = true
		if err := h.Dir.Write(Path, known); err != nil {
			h.Log.Warn("the hand-over cannot be recorded", "error", err)
		}
	}
}

// read returns the record of this boot; an unreadable one counts as none.
func (h Handover) read() record {
	boot, err := h.Dir.BootID()
	if err != nil {
		h.Log.Debug("the boot id is not known", "error", err) // the empty one is the same for the whole boot
	}
	var found record
	if err := h.Dir.Read(Path, &found); err != nil || found.BootID != boot {
		return record{BootID: boot}
	}
	return found
}

// Next is an agent that is ready to take over.
type Next struct {
	handover Handover
	record   record
}

// Become replaces this process. It returns only when that fails, and the agent
// of that image is not tried again in this boot.
func (n *Next) Become() error {
	h := n.handover
	if err := h.Dir.Write(Path, n.record); err != nil {
		return fmt.Errorf("record the hand-over: %w", err)
	}
	argv := append([]string{program}, h.Args...)
	env := append(os.Environ(), ImageEnv+"="+n.record.Image)
	if err := h.Exec(h.Dir.Path(Binary), argv, env); err != nil {
		return fmt.Errorf("become the agent of %s: %w", n.record.Image, err)
	}
	return nil
}

// Carried says why the running program cannot be exchanged: it is the one that
// the live image brings along, or it lies on a medium that cannot be written.
// Empty when neither is so.
func Carried(dir hostfile.Dir) string {
	self, err := os.Executable()
	if err != nil {
		return "its own program is not known"
	}
	return carried(dir, self)
}

func carried(dir hostfile.Dir, self string) string {
	if same(self, dir.Path(hostfile.AgentBinary)) {
		return "the live image carries the agent"
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(self, &fs); err == nil && fs.Flags&syscall.MS_RDONLY != 0 {
		return "the image carries the agent; its programs lie read-only"
	}
	return ""
}

func same(a, b string) bool {
	left, err := os.Stat(a)
	if err != nil {
		return false
	}
	right, err := os.Stat(b)
	return err == nil && os.SameFile(left, right)
}
