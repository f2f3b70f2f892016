package messages

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/api/hostfile"
)

// Folders of the texts: what a terminal shows above its login prompt, and after a login.
const (
	issues = "/etc/issue.d/"
	motds  = "/etc/motd.d/"
	// Notes is where the messages that are shown lie for [Reporter].
	Notes = hostfile.RunDir + "/messages"
)

// Note is a message as it is shown.
type Note struct {
	ID       ID       `json:"id"`
	Severity Severity `json:"severity"`
	Text     string   `json:"text"`
}

// Console shows messages of one host. It is for one goroutine.
type Console struct {
	Dir hostfile.Dir
	// Commands runs agetty, which makes terminals show the new text.
	Commands command.Runner
	Log      *slog.Logger

	shown map[Slot]Note
}

// colours are agetty's escape sequences for a severity.
var colours = map[Severity]string{Info: `\e{lightgreen}`, Warning: `\e{yellow}`, Error: `\e{lightred}`}

// Show shows the message in its slot. Saying the same again does nothing, unless somebody has
// removed it. A console that cannot be written holds nobody up: that is logged.
func (c *Console) Show(ctx context.Context, id ID, args ...string) {
	m := find(id)
	note := Note{ID: id, Severity: m.Severity, Text: m.text(args)}
	if c.shown[m.Slot] == note && places.Exists(c.Dir, motds+string(m.Slot)) {
		return
	}
	c.Log.Log(ctx, level(m.Severity), "message on the console", "message", string(id), "text", note.Text)
	err := errors.Join(
		places.Write(c.Dir, issues+string(m.Slot)+".issue", []byte(issue(note)), 0o644),
		places.Write(c.Dir, motds+string(m.Slot), []byte(note.Text+"\n"), 0o644),
		c.Dir.Write(Notes+"/"+string(m.Slot)+".json", note),
	)
	c.settle(ctx, err, func() {
		if c.shown == nil {
			c.shown = map[Slot]Note{}
		}
		c.shown[m.Slot] = note
	})
}

// Fail shows a message whose argument is the reason of a failure: in one line of bounded length,
// and without the secrets that the host's settings have.
func (c *Console) Fail(ctx context.Context, id ID, err error) { c.Show(ctx, id, reason(c.Dir, err)) }

// Shows returns the slot's message, whoever has shown it, and whether there is one.
func (c *Console) Shows(slot Slot) (Note, bool) {
	var there Note
	err := c.Dir.Read(Notes+"/"+string(slot)+".json", &there)
	return there, err == nil
}

// Clear removes the slot's message, also one that another process has shown.
func (c *Console) Clear(ctx context.Context, slot Slot) {
	if _, err := os.Stat(c.Dir.Path(issues + string(slot) + ".issue")); errors.Is(err, os.ErrNotExist) {
		delete(c.shown, slot)
		return
	}
	err := errors.Join(
		places.Remove(c.Dir, issues+string(slot)+".issue"),
		places.Remove(c.Dir, motds+string(slot)),
		places.Remove(c.Dir, Notes+"/"+string(slot)+".json"),
	)
	c.settle(ctx, err, func() { delete(c.shown, slot) })
}

// Retract removes the slot's message if it is still the one that this process has shown: others
// may have said something since.
func (c *Console) Retract(ctx context.Context, slot Slot) {
	own, said := c.shown[slot]
	if !said {
		return
	}
	if there, _ := c.Shows(slot); there != own {
		delete(c.shown, slot)
		return
	}
	c.Clear(ctx, slot)
}

// reloadTime bounds agetty.
const reloadTime = 10 * time.Second

// settle has terminals show what has been written. What could not be written is tried
// again with the next call.
func (c *Console) settle(ctx context.Context, err error, done func()) {
	if err != nil {
		c.Log.WarnContext(ctx, "the console's message cannot be written", "error", err)
		return
	}
	done()
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), reloadTime, errors.New("agetty --reload has not ended in time"))
	defer cancel()
	if err := c.Commands.Run(ctx, command.Command{Name: "agetty", Args: []string{"--reload"}}); err != nil {
		c.Log.InfoContext(ctx, "terminals show the message at their next prompt", "error", err)
	}
}

// issue is the text in the form of issue(5), where backslashes have a meaning.
func issue(n Note) string {
	return colours[n.Severity] + strings.ReplaceAll(n.Text, `\`, `\\`) + `\e{reset}` + "\n"
}

func level(s Severity) slog.Level {
	switch s {
	case Error:
		return slog.LevelError
	case Warning:
		return slog.LevelWarn
	default:
		return slog.LevelInfo
	}
}
