package service_test

import (
	"context"
	"debug/elf"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/service"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
)

// started are the programs that an installation starts; the host's own firmware,
// leftovers on its disk and the bootstrap role are all there.
var started = []string{
	"blockdev", "coreos-installer", "lsblk", "lvm", "mdadm", "mount", "podman", "udevadm", "umount", "wipefs",
}

// playsProgram plays one of these programs when the test's own binary was started
// by its name, inside the root of a host.
func playsProgram() bool {
	name := filepath.Base(os.Args[0])
	if !slices.Contains(started, name) {
		return false
	}
	if err := (childHost{hostfile.Dir{}}).Run(context.Background(), command.Command{Name: name, Args: os.Args[1:], Stdout: os.Stdout}); err != nil {
		os.Exit(1)
	}
	return true
}

// static tells whether the program needs no interpreter.
func static(t *testing.T, path string) bool {
	t.Helper()
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	return !slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
}

// TestWhatAWholeRunStarts compares what an agent has started, from its
// registration to the done marker, with the table of what it may start.
func TestWhatAWholeRunStarts(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("programs run in the host's root, which needs root")
	}
	v := newVictim(t, orders()["single node"])
	g := v.g
	own, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	if !static(t, own) {
		t.Skip("this test was linked to shared libraries, which the root of its host lacks: set CGO_ENABLED=0, as the Makefile does")
	}
	raw, err := os.ReadFile(own)
	g.Expect(err).NotTo(HaveOccurred())
	program := v.dir.Path("/usr/bin/played")
	g.Expect(os.MkdirAll(filepath.Dir(program), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(program, raw, 0o755)).To(Succeed())
	for _, name := range started {
		g.Expect(os.Link(program, v.dir.Path("/usr/bin/"+name))).To(Succeed())
	}
	var mu sync.Mutex
	seen := map[string]bool{}
	var log lockedText
	code := service.Run(t.Context(), service.Config{
		URL: v.hub, InfraEnvID: infraEnv, AgentVersion: image, Interval: time.Second, Dir: v.dir, Units: childHost{v.dir},
		Started: func(c command.Command) {
			mu.Lock()
			defer mu.Unlock()
			seen[c.Name] = true
		},
		Log: slog.New(slog.NewTextHandler(&log, nil)), OwnLog: func() []byte { return nil },
	})
	g.Expect(code).To(Equal(exitcode.AgentInstalled), "%v", &log)
	mu.Lock()
	defer mu.Unlock()
	found := slices.Sorted(maps.Keys(seen))
	table := map[string]string{}
	for _, p := range command.Allowed() {
		table[p.Name] = p.Why
	}
	for _, name := range found {
		g.Expect(table).To(HaveKey(name), "the table knows what is started")
		t.Logf("%-18s %s", name, table[name])
	}
	g.Expect(found).To(Equal(started), "an installation starts these and no others")
}

// TestOnlyOnePackageStartsPrograms: what the seam does not see cannot be compared.
func TestOnlyOnePackageStartsPrograms(t *testing.T) {
	g := NewWithT(t)
	var guilty []string
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range file.Imports {
			if i.Path.Value == `"os/exec"` && filepath.Dir(path) != "../command" {
				guilty = append(guilty, path)
			}
		}
		return nil
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(guilty).To(BeEmpty(), "programs are started by agent/command only")
}
