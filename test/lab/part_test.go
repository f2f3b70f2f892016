package lab

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab/guard"
	"github.com/ironflow/ironflow/test/lab/prereq"
)

// scripted is a part that runs a shell script and is ready once the file exists.
func scripted(t *testing.T, script string) (p *part, ready string) {
	t.Helper()
	dir := t.TempDir()
	ready = filepath.Join(dir, "ready")
	p = &part{
		name:    "thing",
		command: guard.Command{Path: "sh", Args: []string{"-c", script}, Dir: dir},
		log:     filepath.Join(dir, "output.log"),
		logs:    []string{filepath.Join(dir, "own.log")},
		doomed:  "giving up",
		ready: func(context.Context) error {
			_, err := os.Stat(ready)
			return err
		},
		deadline: time.Minute, grace: time.Minute,
		next: "buy a new one",
	}
	t.Cleanup(p.kill)
	return p, ready
}

func TestPartThatDoesNotStart(t *testing.T) {
	tests := []struct {
		name     string
		script   string
		deadline time.Duration
		want     []string
	}{
		{
			name: "ends at once", script: "echo cannot open the box >&2; exit 3", deadline: time.Minute,
			want: []string{"thing did not start: it ended at once: exit status 3", "  cannot open the box", "output.log", "next: buy a new one"},
		},
		{
			name: "ends without an error", script: "exit 0", deadline: time.Minute,
			want: []string{"it ended at once: exit status 0", "(nothing was written)"},
		},
		{
			name: "never answers", script: "echo thinking; sleep 1000", deadline: 300 * time.Millisecond,
			want: []string{"it did not answer in time", "ready: no such file", "  thinking"},
		},
		{
			name: "goes on for nothing", script: "echo 'error: giving up' >> own.log; sleep 1000", deadline: time.Minute,
			want: []string{`its log says "giving up"`, "  error: giving up"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			p, _ := scripted(t, test.script)
			p.deadline = test.deadline
			err := p.start(t.Context())
			_, ok := errors.AsType[*StartError](err)
			g.Expect(ok).To(BeTrue(), "%v", err)
			for _, want := range test.want {
				g.Expect(err).To(MatchError(ContainSubstring(want)))
			}
			g.Expect(p.processes()).To(BeEmpty())
		})
	}
	t.Run("the caller loses patience", func(t *testing.T) {
		g := NewWithT(t)
		p, _ := scripted(t, "sleep 1000")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("Ctrl-C"))
		g.Expect(p.start(ctx)).To(MatchError(ContainSubstring("Ctrl-C")))
	})
}

func TestPartStartsAgain(t *testing.T) {
	g := NewWithT(t)
	p, ready := scripted(t, "echo alive; : > ready; exec sleep 1000")
	// An earlier life's last words must not count against a later one.
	g.Expect(os.WriteFile(p.logs[0], []byte("giving up\n"), 0o600)).To(Succeed())
	g.Expect(p.start(t.Context())).To(Succeed())
	g.Expect(p.start(t.Context())).To(MatchError(ContainSubstring("already running")))
	g.Expect(p.processes()).To(HaveLen(2))
	p.stop(t.Context())
	g.Expect(p.processes()).To(BeEmpty())
	p.stop(t.Context())
	g.Expect(os.Remove(ready)).To(Succeed())
	g.Expect(p.start(t.Context())).To(Succeed())
	p.kill()
	g.Expect(os.ReadFile(p.log)).To(BeEquivalentTo("alive\nalive\n"))
}

func TestNeeds(t *testing.T) {
	complete := t.TempDir()
	for _, name := range []string{"etcd", "kube-apiserver"} {
		NewWithT(t).Expect(os.WriteFile(filepath.Join(complete, name), nil, 0o755)).To(Succeed())
	}
	tests := []struct {
		name    string
		assets  string
		options Options
		want    prereq.Needs
		err     string
	}{
		{name: "nothing"},
		{name: "control plane", options: Options{ControlPlane: &ControlPlaneOptions{Port: 6443}}, want: prereq.Needs{Go: true, Cold: true, Ports: []int{6443}}},
		{name: "control plane that exists", assets: complete, options: Options{ControlPlane: &ControlPlaneOptions{}}, want: prereq.Needs{Ports: []int{0}}},
		{
			name: "control plane that exists, with controllers", assets: complete,
			options: Options{ControlPlane: &ControlPlaneOptions{Controllers: true}}, want: prereq.Needs{Go: true, Cold: true, Ports: []int{0}},
		},
		{
			name: "incomplete control plane", assets: t.TempDir(), options: Options{ControlPlane: &ControlPlaneOptions{}},
			err: "which has no etcd: set it to a folder with both",
		},
		{
			name: "Ironic and BMCs", options: Options{Ironic: &IronicOptions{Port: 6385}, Emulator: &EmulatorOptions{Port: 8000}},
			want: prereq.Needs{Python: true, Ports: []int{6385, 8000}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			t.Setenv(envAssets, test.assets)
			test.options.CacheDir, test.options.StateDir = t.TempDir(), "/state"
			needs, err := needsOf(test.options)
			if test.err != "" {
				g.Expect(err).To(MatchError(ContainSubstring(test.err)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			test.want.CacheDir, test.want.StateDir = test.options.CacheDir, "/state"
			g.Expect(needs).To(Equal(test.want))
		})
	}
}

func TestSourceRoot(t *testing.T) {
	g := NewWithT(t)
	root, err := sourceRoot()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(filepath.Join(root, "test", "controlplane", "main.go")).To(BeAnExistingFile())
}
