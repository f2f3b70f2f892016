package prereq_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab/prereq"
)

// complete is a machine that lacks nothing.
func complete() prereq.Machine {
	return prereq.Machine{
		Getenv:       func(string) string { return "" },
		GoVersion:    func(context.Context) (string, error) { return "1.26.3", nil },
		Python:       pythons(map[string]prereq.PythonInfo{"python3": {Version: "3.11.2", Venv: true, Pip: true}}),
		FreeSpace:    func(string) (uint64, error) { return 100 << 30, nil },
		Writable:     func(string) error { return nil },
		FileLimit:    func() (uint64, uint64, error) { return 65536, 65536, nil },
		SetFileLimit: func(uint64) error { return errors.New("not expected") },
		PortFree:     func(int) error { return nil },
	}
}

// pythons answers for the interpreters that exist.
func pythons(found map[string]prereq.PythonInfo) func(context.Context, string) (prereq.PythonInfo, error) {
	return func(_ context.Context, name string) (prereq.PythonInfo, error) {
		info, ok := found[name]
		if !ok {
			return info, exec.ErrNotFound
		}
		return info, nil
	}
}

var everything = prereq.Needs{Go: true, Python: true, CacheDir: "/cache", StateDir: "/state", Cold: true, Ports: []int{0, 6385}}

func TestCheck(t *testing.T) {
	tests := []struct {
		name  string
		needs func(*prereq.Needs)
		spoil func(*prereq.Machine)
		// want are parts of the one sentence; nil means that nothing is missing.
		want []string
	}{
		{name: "nothing missing"},
		{
			name: "no Go",
			spoil: func(m *prereq.Machine) {
				m.GoVersion = func(context.Context) (string, error) { return "", exec.ErrNotFound }
			},
			want: []string{"Go tool chain", "install Go 1.26 or newer"},
		},
		{
			name:  "old Go",
			spoil: func(m *prereq.Machine) { m.GoVersion = func(context.Context) (string, error) { return "1.25.11", nil } },
			want:  []string{"version 1.25.11", "install Go 1.26 or newer"},
		},
		{
			name:  "no Go where none is needed",
			needs: func(n *prereq.Needs) { n.Go = false },
			spoil: func(m *prereq.Machine) {
				m.GoVersion = func(context.Context) (string, error) { return "", exec.ErrNotFound }
			},
		},
		{
			name:  "no Python",
			spoil: func(m *prereq.Machine) { m.Python = pythons(nil) },
			want:  []string{"no Python, which Ironic runs on, was found", "install Python 3.11 or newer"},
		},
		{
			name:  "no Python where none is needed",
			needs: func(n *prereq.Needs) { n.Python = false },
			spoil: func(m *prereq.Machine) { m.Python = pythons(nil) },
		},
		{
			name: "old Python",
			spoil: func(m *prereq.Machine) {
				m.Python = pythons(map[string]prereq.PythonInfo{"python3": {Version: "3.9.2", Venv: true, Pip: true}})
			},
			want: []string{"python3 is Python 3.9.2", "install Python 3.11 or newer"},
		},
		{
			name: "old Python beside a newer one",
			spoil: func(m *prereq.Machine) {
				m.Python = pythons(map[string]prereq.PythonInfo{
					"python3": {Version: "3.9.2", Venv: true, Pip: true}, "python3.12": {Version: "3.12.1", Venv: true, Pip: true},
				})
			},
		},
		{
			name: "Python without venv",
			spoil: func(m *prereq.Machine) {
				m.Python = pythons(map[string]prereq.PythonInfo{"python3": {Version: "3.11.2", Pip: true}})
			},
			want: []string{"lacks the venv module", "apt-get install python3-venv"},
		},
		{
			name: "Python without ensurepip",
			spoil: func(m *prereq.Machine) {
				m.Python = pythons(map[string]prereq.PythonInfo{"python3": {Version: "3.11.2", Venv: true}})
			},
			want: []string{"lacks the ensurepip module", "apt-get install python3-venv"},
		},
		{
			name: "chosen Python does not exist",
			spoil: func(m *prereq.Machine) {
				m.Getenv = func(name string) string { return map[string]string{prereq.EnvPython: "/opt/python"}[name] }
			},
			want: []string{"was found (/opt/python)", "IRONFLOW_PYTHON"},
		},
		{
			name:  "folder of state not writable",
			spoil: func(m *prereq.Machine) { m.Writable = refuse("/state") },
			want:  []string{"/state cannot be written to", "choose another folder of state"},
		},
		{
			name:  "cache not writable",
			spoil: func(m *prereq.Machine) { m.Writable = refuse("/cache") },
			want:  []string{"/cache cannot be written to", "set IRONFLOW_CACHE"},
		},
		{
			name:  "too little space for a cold start",
			spoil: func(m *prereq.Machine) { m.FreeSpace = func(string) (uint64, error) { return 5 << 30, nil } },
			want:  []string{"the disk with /cache has 5.0 GB free and the lab needs 6.0 GB", "free some"},
		},
		{
			name:  "enough space for a warm start",
			needs: func(n *prereq.Needs) { n.Cold = false },
			spoil: func(m *prereq.Machine) { m.FreeSpace = func(string) (uint64, error) { return 5 << 30, nil } },
		},
		{
			name: "too few file handles",
			spoil: func(m *prereq.Machine) {
				m.FileLimit = func() (uint64, uint64, error) { return 1024, 1024, nil }
			},
			want: []string{"may open 1024 files at most", "raise the hard limit"},
		},
		{
			name: "too few file handles that can be raised",
			spoil: func(m *prereq.Machine) {
				m.FileLimit = func() (uint64, uint64, error) { return 1024, 8192, nil }
				m.SetFileLimit = func(soft uint64) error {
					if soft != 8192 {
						return errors.New("wrong limit")
					}
					return nil
				}
			},
		},
		{
			name: "port taken",
			spoil: func(m *prereq.Machine) {
				m.PortFree = func(int) error { return errors.New("port 6385 on 127.0.0.1 is taken: choose another") }
			},
			want: []string{"port 6385", "choose another"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			machine, needs := complete(), everything
			if test.spoil != nil {
				test.spoil(&machine)
			}
			if test.needs != nil {
				test.needs(&needs)
			}
			err := prereq.Check(t.Context(), needs, machine)
			if test.want == nil {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(HaveOccurred())
			g.Expect(strings.Count(err.Error(), "\n")).To(BeZero(), "one sentence")
			for _, part := range test.want {
				g.Expect(err).To(MatchError(ContainSubstring(part)))
			}
		})
	}
}

// refuse answers for one folder that cannot be written to.
func refuse(dir string) func(string) error {
	return func(asked string) error {
		if asked == dir {
			return syscall.EACCES
		}
		return nil
	}
}

func TestLocal(t *testing.T) {
	machine := prereq.Local()
	t.Run("folder", func(t *testing.T) {
		g := NewWithT(t)
		dir := filepath.Join(t.TempDir(), "a", "b")
		g.Expect(machine.Writable(dir)).To(Succeed())
		g.Expect(os.ReadDir(dir)).To(BeEmpty())
		g.Expect(machine.Writable("/proc/nothing/here")).NotTo(Succeed())
	})
	t.Run("space, also of a folder still to be made", func(t *testing.T) {
		g := NewWithT(t)
		g.Expect(machine.FreeSpace(filepath.Join(t.TempDir(), "not", "yet"))).To(BeNumerically(">", 0))
	})
	t.Run("file handles reach children", func(t *testing.T) {
		g := NewWithT(t)
		soft, hard, err := machine.FileLimit()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(hard).To(BeNumerically(">=", soft))
		out, err := exec.Command("sh", "-c", "ulimit -n").Output()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(strings.TrimSpace(string(out))).To(BeEquivalentTo(strconv.FormatUint(soft, 10)))
	})
	t.Run("versions", func(t *testing.T) {
		g := NewWithT(t)
		g.Expect(machine.GoVersion(t.Context())).To(MatchRegexp(`^1\.\d+`))
		_, err := machine.Python(t.Context(), "no-such-python")
		g.Expect(err).To(MatchError(exec.ErrNotFound))
	})
}
