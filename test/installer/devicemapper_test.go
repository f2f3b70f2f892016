//go:build e2e

package installer_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/test/guest"
	"github.com/ironflow/ironflow/test/livesystem"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

// Bad parts of a disk. The speed check writes the first 22 MiB, the image is
// 64 MiB long.
var (
	insideTheImage = livesystem.Range{From: 40 << 20, To: 48 << 20}
	behindTheImage = livesystem.Range{From: 1 << 30, To: 2 << 30}
)

// imageBytes is the size of the image (test/fixtures/coreos-disk).
const imageBytes = 64 << 20

// ioError is what the kernel answers where a disk is bad, in the words of coreos-installer.
const ioError = `input/output error \(os error 5\)`

// TestMain is needed as the first process of a guest.
func TestMain(m *testing.M) {
	if guest.IsInit() {
		guest.Init()
		return
	}
	os.Exit(m.Run())
}

// TestDeviceMapperInAGuest runs TestOnDeviceMapper in a guest with Debian's
// kernel, with this same binary.
func TestDeviceMapperInAGuest(t *testing.T) {
	if livesystem.HasDeviceMapper() {
		t.Skip("this kernel has device-mapper, so TestOnDeviceMapper runs here")
	}
	guest.Need(t)
	livesystem.Need(t)
	needs.CoreOSInstaller(t)
	needs.Program(t, "dmsetup", "dmsetup")
	g := NewWithT(t)
	programs := t.TempDir()
	for _, name := range []string{"ironflow-agent", "ironflow-step"} {
		g.Expect(os.Rename(systemdtest.Build(t, "github.com/ironflow/ironflow/cmd/"+name), filepath.Join(programs, name))).To(Succeed())
	}
	console, err := guest.Guest{
		Args: []string{"-test.run=^TestOnDeviceMapper$", "-test.v"}, Env: []string{programsEnv + "=" + programs}, Files: true, MemoryMiB: 3072, Console: t.Output(),
	}.Run(t.Context())
	g.Expect(err).NotTo(HaveOccurred(), console)
	for _, name := range []string{"agent", "step", "bad_behind_the_image"} {
		g.Expect(console).To(ContainSubstring("--- PASS: TestOnDeviceMapper/"+name), "it has run")
	}
	t.Log(console)
}

// TestOnDeviceMapper is the whole protocol on a disk with a part that answers
// with an input/output error.
func TestOnDeviceMapper(t *testing.T) {
	livesystem.NeedDeviceMapper(t, "TestDeviceMapperInAGuest")
	t.Run("agent", func(t *testing.T) {
		w := newWorld(t, livesystem.Disk{Bad: insideTheImage})
		w.addIPA()
		// What an earlier system has left behind the place of the image.
		left := bytes.Repeat([]byte("left by an earlier system\n"), 4096)
		at := int64(imageBytes)
		w.system.Write(t, at, left)
		wait := w.start()
		key := w.approve()
		w.g.Expect(wait()).To(Equal(exitcode.AgentFailed))
		w.failed(key, ioError)
		w.g.Expect(bytes.Equal(w.system.Section(t, at, int64(len(left))), left)).To(BeTrue(), "nothing is written but the image")
		// coreos-installer leaves a partition table with 128 empty entries.
		w.g.Expect(bytes.Trim(w.system.Section(t, 2*512, 128*128), "\x00")).To(BeEmpty(), "half an image has no partitions, so nothing boots from it")
	})
	t.Run("step", func(t *testing.T) {
		w := newWorld(t, livesystem.Disk{Bad: insideTheImage})
		w.stepFails(ioError)
	})
	t.Run("bad behind the image", func(t *testing.T) {
		w := newWorld(t, livesystem.Disk{Bad: behindTheImage})
		w.addIPA()
		wait := w.start()
		key := w.approve()
		w.g.Expect(wait()).To(Equal(exitcode.AgentInstalled))
		w.installed(key)
	})
}
