package flows

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Keep copies what tells why a flow failed into a folder: the machine's consoles,
// a picture of its screen, and what it did.
func (h *Host) Keep(ctx context.Context, dir string) error {
	dir = filepath.Join(dir, h.Name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	errs := []error{
		copyFile(filepath.Join(dir, "console.log"), h.Machine.ConsoleLog()),
		copyFile(filepath.Join(dir, "journal.log"), h.Machine.JournalLog()),
	}
	if h.Machine.On() {
		errs = append(errs, h.Machine.Screenshot(ctx, filepath.Join(dir, "screen.png")))
	}
	var events []byte
	for _, e := range h.Machine.Events() {
		events = fmt.Appendf(events, "%s %s %s\n", e.Time.Format("15:04:05.000"), e.Kind, e.Detail)
	}
	errs = append(errs, os.WriteFile(filepath.Join(dir, "machine.log"), events, 0o600))
	return errors.Join(errs...)
}

func copyFile(to, from string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}
