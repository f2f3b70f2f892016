// Package labtest gives tests the parts of the lab that they need. A part that
// does not start fails the test with the end of its log; the end of the test
// kills everything and, if the test failed, says where the logs are kept.
package labtest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/progress"
)

// EnvLogs names the environment variable with a folder that the logs of failed
// tests are kept in. Without it they go with the test's temporary folder.
const EnvLogs = "IRONFLOW_TEST_LOGS"

// New prepares a lab for the test; nothing runs in it yet. Under -short the
// test is skipped: a part takes seconds to start, and minutes the first time.
func New(t *testing.T) *lab.Lab {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real parts; run without -short")
	}
	l, err := lab.New(lab.Options{Progress: logging(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			keepLogs(t, l)
		}
		// Nobody reads what is left, so its parts are killed: kube-apiserver takes ten seconds to end by
		// itself while somebody watches.
		ended, end := context.WithCancel(context.Background())
		end()
		if err := l.Stop(ended); err != nil {
			t.Errorf("stop the lab: %v", err)
		}
	})
	return l
}

// ControlPlane starts a Kubernetes API for the test.
func ControlPlane(t *testing.T, options lab.ControlPlaneOptions) *lab.ControlPlane {
	t.Helper()
	c, err := New(t).StartControlPlane(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// logging shows what takes long as part of the test's log.
func logging(t *testing.T) progress.Func {
	return func(e progress.Event) {
		if e.State != progress.Started {
			t.Log(e)
		}
	}
}

// keepLogs copies the logs to where they outlive the test.
func keepLogs(t *testing.T, l *lab.Lab) {
	dir := os.Getenv(EnvLogs)
	if dir == "" {
		t.Logf("set %s to a folder to keep the logs of the lab's parts", EnvLogs)
		return
	}
	dir = filepath.Join(dir, filepath.Base(l.Dir))
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(l.Dir, "log"))); err != nil {
		t.Logf("keep the logs: %v", err)
		return
	}
	t.Logf("the logs of the lab's parts are in %s", dir)
}
