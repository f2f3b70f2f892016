package client_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
)

// TestRequestsAreCountedByPurpose: who asks is charged with the login that it begins, with
// repetitions and redirects, and not with what others ask with the same client.
func TestRequestsAreCountedByPurpose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := NewWithT(t), newFake()
		tries := 0
		f.paths[system] = func(w http.ResponseWriter, _ *http.Request) {
			if tries++; tries == 1 {
				body(w, http.StatusServiceUnavailable, "")
				return
			}
			body(w, http.StatusOK, `{}`)
		}
		const moved = "/redfish/v1/Moved"
		f.paths[moved] = func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, system, http.StatusTemporaryRedirect)
		}
		it := inside(t, f, quick())
		first, mine := client.WithCounter(t.Context())
		second, theirs := client.WithCounter(t.Context())

		g.Expect(it.Get(first, system, &struct{}{})).To(Succeed())
		g.Expect(mine.Requests()).To(BeEquivalentTo(4), "the root, the login, two tries")
		g.Expect(theirs.Requests()).To(BeZero())

		g.Expect(it.Get(second, moved, &struct{}{})).To(Succeed())
		g.Expect(theirs.Requests()).To(BeEquivalentTo(2), "the redirect, and where it leads")
		g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
		g.Expect(mine.Requests()).To(BeEquivalentTo(4))
		g.Expect(len(f.requests())).To(Equal(7), "one is nobody's")
	})
}
