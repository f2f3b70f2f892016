package logs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"

	"github.com/ironflow/ironflow/agent/state"
	"github.com/ironflow/ironflow/api/hostfile"
)

// Sources is what pieces are read from.
type Sources struct {
	Dir hostfile.Dir
	// Own is the agent's own log in memory.
	Own func() []byte
	// Inventory is the last inventory as JSON; nil when there was none.
	Inventory func() []byte
	// Commands allows programs of the live image to be run: journalctl, dmesg, lsblk.
	Commands bool
}

// Pieces lists what is collected, in the order of the archive.
func Pieces(s Sources) []Piece {
	pieces := []Piece{
		{"agent.logs", func(context.Context) ([]byte, error) { return s.Own(), nil }},
		{"inventory.json", func(context.Context) ([]byte, error) { return s.Inventory(), nil }},
		s.file("mounts.logs", "/proc/1/mountinfo"),
		s.file("partitions.logs", "/proc/partitions"),
		s.file("step.json", hostfile.StepFile),
		s.file("reason.json", hostfile.ReasonFile),
		s.file("agent.json", state.Path),
	}
	if !s.Commands {
		return pieces
	}
	return append(pieces,
		command("mount.logs", "lsblk", "--output-all", "--json"),
		command("ironic-agent.logs", "journalctl", "--no-pager", "-b", "-u", hostfile.IPAUnit),
		command("installer.logs", "journalctl", "--no-pager", "-b", "TAG=installer"),
		command("dmesg.logs", "dmesg", "-T"),
		command("journal.logs", "journalctl", "--no-pager", "-b"),
	)
}

func (s Sources) file(name, path string) Piece {
	return Piece{name, func(context.Context) ([]byte, error) {
		f, err := os.Open(s.Dir.Path(path))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return io.ReadAll(io.LimitReader(f, maxPiece))
	}}
}

// command collects a program's output; a host without the program has no such piece.
func command(name, program string, args ...string) Piece {
	return Piece{name, func(ctx context.Context) ([]byte, error) {
		path, err := exec.LookPath(program)
		if errors.Is(err, exec.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		var out tail
		cmd := exec.CommandContext(ctx, path, args...)
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			return out.Bytes(), fmt.Errorf("%s: %w", program, err)
		}
		return out.Bytes(), nil
	}}
}

// tail keeps the end of what is written, between one and two times [maxPiece].
type tail struct{ bytes.Buffer }

func (t *tail) Write(p []byte) (int, error) {
	if t.Len() > 2*maxPiece {
		t.Next(t.Len() - maxPiece)
	}
	return t.Buffer.Write(p)
}
