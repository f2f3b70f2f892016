//go:build machine

package flows

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ironflow/ironflow/test/needs"
)

// The environment of the tests.
const (
	// binEnv is the folder of the programs as shipped; `make test-machine` sets it.
	binEnv = "IRONFLOW_BIN"
	// isoEnv is a live ISO, ipaEnv the reference of an image of ironic-python-agent; a
	// site sets them (test/scripts/site-iso.sh), else both are made here.
	isoEnv, ipaEnv = "IRONFLOW_LIVE_ISO", "IRONFLOW_IPA_IMAGE"
	// logsEnv is the folder that keeps reports, and what failed flows leave.
	logsEnv = "IRONFLOW_MACHINE_LOGS"
)

// newWorld brings up the world for a test, with the changes to its options.
func newWorld(t *testing.T, changes ...func(*Options)) *World {
	t.Helper()
	needs.Root(t)
	ctrl.SetLogger(logr.Discard())
	for _, tool := range []struct{ program, debianPackage string }{
		{"qemu-system-x86_64", "qemu-system-x86"}, {"dnsmasq", "dnsmasq-base"}, {"sfdisk", "fdisk"}, {"mke2fs", "e2fsprogs"},
	} {
		needs.Program(t, tool.program, tool.debianPackage)
	}
	iso, ipa := os.Getenv(isoEnv), os.Getenv(ipaEnv)
	if iso == "" {
		needs.CoreOSInstaller(t)
		needs.Program(t, "mmdebstrap", "mmdebstrap")
	}
	if ipa == "" {
		needs.Program(t, "buildah", "buildah")
		needs.Program(t, "mmdebstrap", "mmdebstrap")
	}
	g := NewWithT(t)
	bin := os.Getenv(binEnv)
	if bin == "" {
		bin = "../../../bin"
	}
	bin, err := filepath.Abs(bin)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(programs(bin)).To(Succeed())
	logs := os.Getenv(logsEnv)
	if logs == "" {
		logs = filepath.Join(os.TempDir(), "ironflow-machine")
	}
	// Two worlds may begin in the same second.
	dir := filepath.Join(logs, time.Now().Format("0102-150405-")+strings.ReplaceAll(t.Name(), "/", "-"))
	g.Expect(os.MkdirAll(dir, 0o700)).To(Succeed())
	source, err := filepath.Abs("../../..")
	g.Expect(err).NotTo(HaveOccurred())
	options := Options{Dir: dir, BinDir: bin, Source: source, LiveISO: iso, IPAImage: ipa, Out: os.Stderr}
	for _, change := range changes {
		change(&options)
	}
	w, err := Start(t.Context(), options)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() {
		if err := w.Close(context.Background()); err != nil {
			t.Errorf("end the world: %v", err)
		}
		t.Logf("reports and logs: %s", dir)
	})
	return w
}

// flow is one flow of a test.
type flow struct {
	*testing.T
	*WithT
	world *World
	hosts []*Host
}

// newFlow makes the flow of the test; at its end the report is written, and what a
// failure needs is kept.
func newFlow(t *testing.T, w *World) *flow {
	f := &flow{T: t, WithT: NewWithT(t), world: w}
	t.Cleanup(f.end)
	return f
}

// host makes a machine for the flow.
func (f *flow) host(spec Spec) *Host {
	f.Helper()
	h, err := f.world.NewHost(f.Context(), spec)
	f.Expect(err).NotTo(HaveOccurred())
	f.hosts = append(f.hosts, h)
	return h
}

// end writes the report and takes the machines away.
func (f *flow) end() {
	report := Report{Flow: f.Name(), End: time.Now(), Hosts: map[string]*Timeline{}}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	kept := filepath.Join(f.world.options.Dir, strings.ReplaceAll(f.Name(), "/", "-"))
	if f.Failed() {
		report.Failed, report.Kept = "see the test's output", kept
	}
	for _, h := range f.hosts {
		report.Hosts[h.Name] = h.Timeline
		if f.Failed() {
			if err := h.Keep(ctx, kept); err != nil {
				f.Logf("keep what %s leaves: %v", h.Name, err)
			}
			if os.Getenv(lingerEnv) != "" {
				f.Logf("machine %s is left running until %s is removed", h.Name, os.Getenv(lingerEnv))
				linger(os.Getenv(lingerEnv))
			}
		}
		if err := h.Close(); err != nil {
			f.Errorf("end machine %s: %v", h.Name, err)
		}
	}
	var text strings.Builder
	if err := report.Write(&text); err != nil {
		f.Errorf("write the report: %v", err)
	}
	fmt.Fprintln(os.Stderr, text.String())
	if err := os.WriteFile(kept+".md", []byte(text.String()), 0o600); err != nil {
		f.Errorf("write the report: %v", err)
	}
}

// lingerEnv names a file: while it exists, the machines of a failed flow go on, so
// that somebody can look at them.
const lingerEnv = "IRONFLOW_MACHINE_LINGER"

func linger(file string) {
	for {
		if _, err := os.Stat(file); err != nil {
			return
		}
		<-time.After(time.Second)
	}
}

// programs says what is missing in the folder of programs.
func programs(dir string) error {
	for _, name := range []string{"ironflow", "ironflow-agent", "ironflow-step"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("the programs are not built: run `make build`: %w", err)
		}
	}
	return nil
}
