package lab_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

func TestMain(m *testing.M) {
	// The clients' own log says nothing here, and complains if nobody takes it.
	ctrl.SetLogger(logr.Discard())
	if dir := os.Getenv(envVictim); dir != "" {
		if err := runVictim(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}
