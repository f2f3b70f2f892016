package sdbus

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/customdeploy/hostexec"
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
	var out bytes.Buffer
	err := hostexec.Program{
		Path: "/usr/bin/journalctl", Args: args, Root: m.root.Path("/"), Stdout: &out,
		Env: []string{"PATH=/usr/bin:/bin", "LANG=C.UTF-8", "SYSTEMD_COLORS=0"},
	}.Run(ctx)
	if err != nil {
		return nil, fmt.Errorf("journal of %s: %w", unit, err)
	}
	text := strings.TrimRight(out.String(), "\n")
	if text == "" {
		return nil, nil
	}
	return strings.Split(text, "\n"), nil
}
