package foreign_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/customdeploy/foreign"
)

// here runs the command on this computer, with a podman of the test's.
type here struct{ dir string }

func (h here) Run(ctx context.Context, _ string, argv []string, _ time.Duration) (bool, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=" + h.dir + ":/usr/bin:/bin"}
	return cmd.Run() == nil, nil
}

func TestInstalled(t *testing.T) {
	for name, tc := range map[string]struct {
		podman string
		want   bool
	}{
		"ended well":                      {`[ "$1 $2" = "wait assisted-installer" ] && echo 0`, true},
		"failed":                          {`[ $1 = wait ] && echo 1`, false},
		"gone, had ended well":            {`[ $1 = events ] && { echo 1; echo 0; }`, true},
		"gone, had failed":                {`[ $1 = events ] && { echo 0; echo 137; }`, false},
		"never there":                     {`[ $1 = events ]`, false},
		"wait breaks off in mid sentence": {`[ $1 = wait ] && { echo 0; exit 125; }`, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			g.Expect(os.WriteFile(filepath.Join(dir, "podman"), []byte("#!/bin/sh\n"+tc.podman+"\n"), 0o755)).To(Succeed())
			g.Expect(foreign.Installed(t.Context(), here{dir}, time.Now())).To(Equal(tc.want))
		})
	}
	t.Run("no podman", func(t *testing.T) {
		NewWithT(t).Expect(foreign.Installed(t.Context(), here{t.TempDir()}, time.Now())).To(BeFalse())
	})
}
