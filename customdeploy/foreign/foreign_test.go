package foreign_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/customdeploy/foreign"
)

// here runs the command on this computer, with a podman of the test's.
type here struct{ dir string }

func (h here) Run(ctx context.Context, _ string, argv []string, _ time.Duration) (bool, error) {
	if strings.Contains(strings.Join(argv, " "), "${") {
		return false, errors.New("systemd would take this for a variable of its own")
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=" + h.dir + ":/usr/bin:/bin", "SAID=" + h.said()}
	return cmd.Run() == nil, nil
}

func (h here) said() string { return filepath.Join(h.dir, "said") }

// withPodman is a computer whose podman is the script.
func withPodman(t *testing.T, script string) here {
	t.Helper()
	h := here{t.TempDir()}
	text := "#!/bin/sh\necho \"$@\" >> $SAID\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(h.dir, "podman"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return h
}

// withoutPodman is a computer that has a shell and nothing else.
func withoutPodman(*testing.T) foreign.Host { return bare{} }

type bare struct{}

func (bare) Run(ctx context.Context, _ string, argv []string, _ time.Duration) (bool, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=/nowhere"}
	return cmd.Run() == nil, nil
}

// present is an engine that has such a container, which began just after the step.
const present = "[ $1 = inspect ] && { date +%s; exit; }\n"

func TestInstalled(t *testing.T) {
	for name, tc := range map[string]struct {
		podman string
		want   bool
	}{
		"ended well":                      {present + `[ "$1 $2" = "wait assisted-installer" ] && echo 0`, true},
		"failed":                          {present + `[ $1 = wait ] && echo 1`, false},
		"gone, had ended well":            {`[ $1 = events ] && { echo 1; echo 0; }`, true},
		"gone, had failed":                {`[ $1 = events ] && { echo 0; echo 137; }`, false},
		"gone while it is looked at":      {`case $1 in wait) echo 0;; events) echo 0;; *) exit 1;; esac`, true},
		"never there":                     {`[ $1 = events ]`, false},
		"wait breaks off in mid sentence": {`[ $1 = wait ] && { echo 0; exit 125; }`, false},
		"made, but never started":         {`case $1 in wait) echo 0;; inspect) echo -62135596800;; esac`, false}, // as podman 4.3 answers
		"its beginning is not known":      {`case $1 in wait) echo 0;; inspect) echo "no such field";; esac`, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			began := time.Now() // to the second
			g.Expect(foreign.Installer{Host: withPodman(t, tc.podman)}.Installed(t.Context(), began)).To(Equal(tc.want))
		})
	}
	t.Run("no podman", func(t *testing.T) {
		NewWithT(t).Expect(foreign.Installer{Host: withoutPodman(t)}.Installed(t.Context(), time.Now())).To(BeFalse())
	})
}

// TestAnEarlierContainerProvesNothing: the name stays taken by the installer of an earlier attempt of this boot, and
// `podman wait` answers for it at once. The step has asked for one that began after it.
func TestAnEarlierContainerProvesNothing(t *testing.T) {
	podman := `case $1 in
wait) echo 0 ;;
events) ;;
inspect|container|ps) echo "2026-01-01T00:00:00Z 1767225600" ;;
esac
`
	g := NewWithT(t)
	host := withPodman(t, podman)
	g.Expect(foreign.Installer{Host: host}.Installed(t.Context(), time.Now())).To(BeFalse())
	same := withPodman(t, strings.Replace(podman, "2026-01-01T00:00:00Z ", "", 1))
	g.Expect(foreign.Installer{Host: same}.Installed(t.Context(), time.Unix(1767225600, 0))).To(BeTrue(), "one that began in the same second")
	g.Expect(foreign.Installer{Host: same}.Installed(t.Context(), time.Unix(1767225601, 0))).To(BeFalse())
}

// TestStop: whoever gives up ends the container; there being none is well.
func TestStop(t *testing.T) {
	for name, tc := range map[string]struct {
		host foreign.Host
		fail bool
	}{
		"podman does it":       {host: withPodman(t, "")},
		"podman fails":         {host: withPodman(t, "exit 125"), fail: true},
		"no podman":            {host: withoutPodman(t)},
		"systemd is not there": {host: unreachable{}, fail: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			installer := foreign.Installer{Host: tc.host}
			for _, err := range []error{installer.Stop(t.Context()), installer.Remove(t.Context())} {
				g.Expect(err != nil).To(Equal(tc.fail), "%v", err)
			}
		})
	}
	g := NewWithT(t)
	host := withPodman(t, "")
	g.Expect(foreign.Installer{Host: host}.Stop(t.Context())).To(Succeed())
	g.Expect(foreign.Installer{Host: host}.Remove(t.Context())).To(Succeed())
	said, err := os.ReadFile(host.said())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(strings.Split(strings.TrimSpace(string(said)), "\n")).To(Equal([]string{
		"stop --ignore --time 5 assisted-installer",
		"stop --ignore --time 5 assisted-installer", "rm --force --ignore assisted-installer",
	}))
}

type unreachable struct{}

func (unreachable) Run(context.Context, string, []string, time.Duration) (bool, error) {
	return false, errors.New("no answer from systemd")
}
