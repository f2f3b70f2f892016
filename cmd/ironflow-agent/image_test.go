package main_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/handover"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/needs"
)

const image = "localhost/ironflow-agent:test"

// storage gives the container tools a storage of their own.
func storage(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("the storage of containers needs root here")
		}
		t.Skip("the storage of containers needs root here")
	}
	folder := t.TempDir()
	file := filepath.Join(folder, "storage.conf")
	text := fmt.Sprintf("[storage]\ndriver = \"vfs\"\nrunroot = %q\ngraphroot = %q\n", folder+"/run", folder+"/graph")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CONTAINERS_STORAGE_CONF", file)
}

// run runs a program and returns what it says.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// local is a container engine whose images are there already.
type local struct{ command.Runner }

func (l local) Run(ctx context.Context, c command.Command) error {
	if c.Args[0] == "pull" {
		return nil
	}
	return l.Runner.Run(ctx, c)
}

// TestTheAgentsImage builds the image of the Containerfile with Debian's buildah and
// does with it what units of hubs do: they call an agent in it, and copy the agent
// out of it. Then the agent's own hand-over takes it out with Debian's podman.
func TestTheAgentsImage(t *testing.T) {
	g := NewWithT(t)
	needs.Program(t, "buildah", "buildah")
	needs.Program(t, "podman", "podman")
	storage(t)
	t.Setenv("CGO_ENABLED", "0")
	folder := t.TempDir()
	program := filepath.Join(folder, "bin", "ironflow-agent")
	run(t, "go", "build", "-ldflags", "-s -w", "-o", program, ".")
	run(t, program, "install-links", filepath.Dir(program))
	run(t, "buildah", "build", "--isolation=chroot", "--file", "Containerfile", "--tag", image, folder)
	raw, err := os.ReadFile(program)
	g.Expect(err).NotTo(HaveOccurred())

	run(t, "buildah", "from", "--name", "agent", "--pull-never", image)
	for _, name := range []string{"agent", "next_step_runner", "logs_sender", "inventory"} {
		g.Expect(run(t, "buildah", "run", "--isolation=chroot", "agent", "--", "/usr/bin/"+name, "--help")).To(HavePrefix("Usage: " + name + " [FLAGS]"))
	}
	out := t.TempDir()
	run(t, "buildah", "run", "--isolation=chroot", "--volume", out+":/hostbin", "agent", "--", "cp", "/usr/bin/agent", "/hostbin/")
	copied, err := os.ReadFile(filepath.Join(out, "agent"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(copied).To(Equal(raw))
	g.Expect(run(t, filepath.Join(out, "agent"), "--version")).To(HavePrefix("ironflow-agent "), "it runs on the host")
	run(t, "buildah", "rm", "agent")

	dir := hostfile.Dir{Root: t.TempDir()}
	engine := handover.Engine{Dir: dir, Commands: local{command.Host{Log: slog.New(slog.DiscardHandler)}}}
	g.Expect(engine.Extract(t.Context(), image, "/usr/bin/agent", handover.Binary)).To(Succeed())
	taken, err := os.ReadFile(dir.Path(handover.Binary))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(taken).To(Equal(raw))
	g.Expect(run(t, "podman", "ps", "--all", "--quiet")).To(BeEmpty(), "no container is left behind")
	run(t, "podman", "image", "rm", "--force", image)
}
