// Package shell makes a small live system that does nothing by itself: Debian's
// kernel with the drivers of test/vm's machines, and a shell on the serial
// console, with which a test asks the machine what it has and makes it work.
package shell

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/ironflow/ironflow/test/boot"
	"github.com/ironflow/ironflow/test/lab/cache"
)

// Ready is what the system says when its shell waits for commands.
const Ready = "SHELL READY"

//go:embed guest
var scripts embed.FS

// Make returns the system's ISO, made on first use and kept in the user's cache.
// It needs root and the programs of test/scripts/boot-tools.sh.
func Make(ctx context.Context) (string, error) {
	root, err := cache.DefaultDir()
	if err != nil {
		return "", err
	}
	var parts [][]byte
	for _, name := range []string{"guest/make.sh", "guest/init"} {
		raw, err := scripts.ReadFile(name)
		if err != nil {
			return "", err
		}
		parts = append(parts, raw)
	}
	dir, err := cache.Entry{Dir: root, Name: "vm-shell", Key: cache.Key(parts...)}.Get(ctx, nil, build)
	if err != nil {
		return "", fmt.Errorf("make the system with a shell: %w", err)
	}
	return filepath.Join(dir, "shell.iso"), nil
}

// build runs the script over the medium of the boot tests.
func build(ctx context.Context, dir string) error {
	base, err := boot.Make(ctx)
	if err != nil {
		return err
	}
	from, err := os.MkdirTemp("", "vm-shell-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(from)
	if err := os.CopyFS(from, scripts); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "bash", filepath.Join(from, "guest", "make.sh"), base.ISO, dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, out.Bytes()[max(0, out.Len()-2000):])
	}
	return nil
}
