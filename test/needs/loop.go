package needs

import (
	"context"
	"os/exec"
	"strings"
	"testing"
)

// LoopDevice returns the name of a read-only block device over a file, which goes
// with the test.
func LoopDevice(t testing.TB, file string) string {
	t.Helper()
	Root(t)
	losetup := Program(t, "losetup", "mount")
	out, err := exec.CommandContext(t.Context(), losetup, "--find", "--show", "--read-only", file).CombinedOutput()
	if err != nil {
		t.Fatalf("losetup: %v: %s", err, out)
	}
	device := strings.TrimSpace(string(out))
	t.Cleanup(func() {
		if out, err := exec.CommandContext(context.WithoutCancel(t.Context()), losetup, "--detach", device).CombinedOutput(); err != nil {
			t.Errorf("losetup: %v: %s", err, out)
		}
	})
	return device
}
