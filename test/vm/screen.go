package vm

import (
	"context"
	"fmt"
	"path/filepath"
)

// Screenshot writes what is on the machine's screen to the file as PNG.
func (m *Machine) Screenshot(ctx context.Context, path string) error {
	l, err := m.powered()
	if err != nil {
		return err
	}
	path, err = filepath.Abs(path)
	if err == nil {
		err = l.qmp.Execute(ctx, "screendump", map[string]any{"filename": path, "format": "png"}, nil)
	}
	if err != nil {
		return fmt.Errorf("machine %s: screenshot: %w", m.config.Name, err)
	}
	return nil
}
