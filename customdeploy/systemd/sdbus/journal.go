package sdbus

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// Journal implements systemd.Manager with the host's own journalctl, run in the
// host's root: its journal format fits, and this program stays static.
func (m *Manager) Journal(ctx context.Context, unit, invocation string, n int) ([]string, error) {
	args := []string{"--no-pager", "--quiet", "--boot", "--output=cat", "--lines=" + strconv.Itoa(n)}
	if invocation == "" {
		args = append(args, "--unit="+unit)
	} else {
		// What the unit's processes wrote, and what systemd wrote about them.
		args = append(args, "_SYSTEMD_INVOCATION_ID="+invocation, "+", "INVOCATION_ID="+invocation)
	}
	cmd := exec.CommandContext(ctx, "/usr/bin/journalctl", args...)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LANG=C.UTF-8", "SYSTEMD_COLORS=0"}
	if root := m.root.Path("/"); root != "/" {
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
		cmd.Dir = "/"
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("journalctl for %s: %w: %s", unit, err, strings.TrimSpace(stderr.String()))
	}
	text := strings.TrimRight(string(out), "\n")
	if text == "" {
		return nil, nil
	}
	return strings.Split(text, "\n"), nil
}
