package kubeapi

import (
	"os"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// Main is for packages whose tests have clocks of their own (testing/synctest): after an error, client-go pauses for as long as
// the last one is ago, which is years where that one was told by another clock, and a manager does not end meanwhile.
func Main(m *testing.M) {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] //nolint:reassign // the first one logs, and there is no other way
	os.Exit(m.Run())
}
