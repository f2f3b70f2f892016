package bmcrotation

import (
	"net/http"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
)

// TestNobodyElseLogsInMeanwhile: a program that was killed in the middle of a change is
// followed by one that asks the BMC for other things first.
func TestNobodyElseLogsInMeanwhile(t *testing.T) {
	w := newWorld(t)
	guard := Guard{Pool: w.pool, Reader: cached{w.kube}}
	read := func(pass string) error {
		c, err := guard.Client(key.String(), client.Target{URL: w.base, System: "/redfish/v1/Systems/1", Username: user, Password: client.Secret(pass)})
		w.Expect(err).NotTo(HaveOccurred())
		return c.Get(t.Context(), "/redfish/v1/Systems/1", &struct{}{})
	}
	w.Expect(read(original)).To(Succeed(), "a host that was never rotated")

	w.cut(http.MethodPatch, "bmc", 0)
	stop := w.start()
	w.ask("1")
	w.reach(rotation.Promoting)
	stop()
	asked := w.sim.Total("")
	w.Expect(read(original)).To(MatchError(ContainSubstring("password is being changed")))
	w.Expect(w.sim.Total("")).To(Equal(asked), "nothing has reached the BMC")

	w.api.Intercept(nil)
	w.start()
	fresh := w.done()
	w.Expect(read(fresh)).To(Succeed())
	w.Expect(read(original)).To(MatchError(ContainSubstring("another password")), "an old copy of the Secret does no harm")
}
