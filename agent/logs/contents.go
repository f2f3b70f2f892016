package logs

import (
	"context"
	"io"
	"time"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/state"
	"github.com/ironflow/ironflow/api/hostfile"
)

// Sources is what logs are read from.
type Sources struct {
	Dir hostfile.Dir
	// Own is the agent's own log in memory, for hosts without a journal; optional.
	Own func() []byte
	// Inventory returns the inventory as JSON; nothing when there is none; optional.
	Inventory func(ctx context.Context) ([]byte, error)
	// Commands starts the programs of the live image; nil collects without them.
	Commands command.Runner
	// Secrets are values that are redacted wherever they stand.
	Secrets []string
	// partLimit replaces the limits of all parts; tests set it.
	partLimit time.Duration
}

// journalLimit bounds the export of the whole journal.
const journalLimit = 3 * time.Minute

// pieces lists the files of text in the order of the archive: what is small and
// matters most comes first.
func (s Sources) pieces(order Order) []Piece {
	pieces := []Piece{
		{"agent.logs", []Part{{Write: s.ownJournal(order)}}},
		s.journal("installer.logs", order, "TAG=installer"),
		s.journal("ironic-agent.logs", order, "--unit="+hostfile.IPAUnit),
	}
	if order.Bootstrap {
		pieces = append(pieces, s.journal("bootkube.logs", order, "--unit=bootkube.service"))
	}
	pieces = append(pieces,
		s.mounts(),
		s.network(),
		single("inventory.json", s.inventory),
		s.file("step.json", hostfile.StepFile),
		s.file("status.json", hostfile.StatusFile),
		s.file("reason.json", hostfile.ReasonFile),
		s.file("agent.json", state.Path),
	)
	if !order.InstallerGather {
		return pieces
	}
	journal := s.journal("journal.logs", order)
	journal.Parts[0].Limit = journalLimit
	pieces = append(pieces, single("dmesg.logs", s.kernelLog))
	if order.Bootstrap {
		pieces = append(pieces, s.openVSwitch())
	}
	return append(pieces, journal)
}

// journal is an export of the journal; matches choose entries, none all of them.
func (s Sources) journal(name string, order Order, matches ...string) Piece {
	return single(name, func(ctx context.Context, w io.Writer) error { return s.exportJournal(ctx, w, order, matches...) })
}

// exportJournal writes journal entries with whole fields; a journal without such
// entries, or a unit that does not exist, writes nothing.
func (s Sources) exportJournal(ctx context.Context, w io.Writer, order Order, matches ...string) error {
	if s.Commands == nil {
		return nil
	}
	args := []string{"--no-pager", "--quiet", "--all", "--output=short-iso-precise"}
	if order.Since != "" {
		args = append(args, "--since="+order.Since)
	}
	return s.Commands.Run(ctx, command.Command{Name: "journalctl", Args: append(args, matches...), Stdout: w})
}

// ownJournal is what the programs of this binary wrote to the journal, or, on a
// host where that is nothing, what this process has in memory.
func (s Sources) ownJournal(order Order) func(ctx context.Context, w io.Writer) error {
	return func(ctx context.Context, w io.Writer) error {
		count := &counter{out: w}
		err := s.exportJournal(ctx, count, order, "TAG=agent")
		if count.n == 0 && s.Own != nil {
			if _, err := w.Write(s.Own()); err != nil {
				return err
			}
		}
		return err
	}
}

func (s Sources) inventory(ctx context.Context, w io.Writer) error {
	if s.Inventory == nil {
		return nil
	}
	raw, err := s.Inventory(ctx)
	if err != nil {
		return err
	}
	_, err = w.Write(raw)
	return err
}
