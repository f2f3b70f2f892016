package systemdtest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// The root file system: a Debian release and what it holds besides the minimum.
const (
	suite    = "bookworm"
	packages = "systemd-sysv,dbus"
	// packagesWithUdev are those of a machine with udev.
	packagesWithUdev = packages + ",udev"
)

// missing skips the test with what to do, or fails it where nothing may be
// missing (environment CI=true).
func missing(t testing.TB, text string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(text)
	}
	t.Skip(text)
}

// rootfs returns the folder of the root file system, made on first use.
func rootfs(t testing.TB, packages string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(suite + " " + packages))
	dir := filepath.Join(cache, "ironflow", "systemd-rootfs", suite+"-"+hex.EncodeToString(sum[:6]))
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	if _, err := exec.LookPath("mmdebstrap"); err != nil {
		missing(t, "a real systemd needs the program mmdebstrap: apt-get install mmdebstrap")
	}
	unlock := lock(t, dir+".lock")
	defer unlock()
	if _, err := os.Stat(dir); err == nil {
		return dir // another test made it meanwhile
	}
	t.Logf("making %s with mmdebstrap, once, about a minute", dir)
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "making-*") //nolint:usetesting // it becomes the cached folder by a rename
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	out, err := exec.CommandContext(t.Context(), "mmdebstrap", "--variant=minbase", "--include="+packages, suite, tmp).CombinedOutput()
	if err == nil {
		err = os.Chmod(tmp, 0o755)
	}
	if err == nil {
		err = os.Rename(tmp, dir)
	}
	if err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		t.Fatalf("mmdebstrap: %v\n%s", err, strings.Join(lines[max(0, len(lines)-15):], "\n"))
	}
	return dir
}

// lock holds a file lock against other test processes.
func lock(t testing.TB, path string) func() {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(errors.Join(err, f.Close()))
	}
	return func() { _ = f.Close() }
}
