package lab_test

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

func TestMain(m *testing.M) {
	// The clients' own log says nothing here, and complains if nobody takes it.
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}
