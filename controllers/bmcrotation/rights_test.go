package bmcrotation

import (
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/credentials/reason"
	"github.com/ironflow/ironflow/test/kubeapi"
)

// TestARightThatIsMissingIsSaid: by default the program may not create Secrets. The BMC is not
// touched before the record is there.
func TestARightThatIsMissingIsSaid(t *testing.T) {
	w := newWorld(t)
	w.api.Intercept(func(r *http.Request) *kubeapi.Fault {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/secrets") {
			return &kubeapi.Fault{Status: http.StatusForbidden, Text: "secrets is forbidden"}
		}
		return nil
	})
	defer w.start()()
	w.ask("1")
	w.until(reason.Unsupported, "kubectl apply -k config/bmc-rotation")
	w.Expect(w.bmcPassword()).To(Equal(original))
}
