package client_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
)

func TestVerify(t *testing.T) {
	full := says(http.StatusServiceUnavailable, message("IDRAC.2.8.RAC0218", "The maximum number of user sessions is reached."))
	cases := map[string]struct {
		arrange   func(f *fake)
		password  client.Secret
		kind      client.Kind
		presented int
	}{
		"right":                        {password: password, presented: 1},
		"wrong":                        {password: "another", kind: client.Credentials, presented: 1},
		"right, without sessions":      {arrange: func(f *fake) { f.login = says(http.StatusMethodNotAllowed, "") }, password: password, presented: 2},
		"wrong, without sessions":      {arrange: func(f *fake) { f.login = says(http.StatusNotImplemented, "") }, password: "another", kind: client.Credentials, presented: 2},
		"right, the table full":        {arrange: func(f *fake) { f.login = full }, password: password, presented: 2},
		"a session that opens nothing": {arrange: func(f *fake) { f.paths["/redfish/v1/Systems"] = answers(401, "") }, password: password, kind: client.Credentials, presented: 1},
		"a service that fails":         {arrange: func(f *fake) { f.login = says(http.StatusInternalServerError, "") }, password: password, kind: client.Failed, presented: 1},
		"a service that reads nothing": {arrange: func(f *fake) { f.paths["/redfish/v1/Systems"] = answers(500, "") }, password: password, kind: client.Failed, presented: 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, f := NewWithT(t), newFake()
				it := inside(t, f, quick())
				g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
				before, _, _ := f.counts()
				if c.arrange != nil {
					c.arrange(f)
				}
				g.Expect(client.KindOf(it.Verify(t.Context(), c.password))).To(Equal(c.kind))
				presented, _, open := f.counts()
				g.Expect(presented-before).To(Equal(c.presented), "the login, and the read where it is not enough")
				g.Expect(open).To(Equal(1), "its session is ended, the client's is not")
				f.login = nil
				g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed(), "the client's own password is as good as before")
				after, _, _ := f.counts()
				g.Expect(after).To(Equal(presented))
			})
		})
	}
}

func TestVerifyWorksAfterAVerdict(t *testing.T) {
	g, f := NewWithT(t), newFake()
	f.setPassword("new")
	it := newClient(t, serve(t, f), quick())
	g.Expect(client.KindOf(it.Get(t.Context(), system, &struct{}{}))).To(Equal(client.Credentials))
	g.Expect(it.Verify(t.Context(), "new")).To(Succeed())
	g.Expect(client.KindOf(it.Get(t.Context(), system, &struct{}{}))).To(Equal(client.Credentials), "the target's password is still wrong")
	_, wrong, open := f.counts()
	g.Expect(wrong).To(Equal(1))
	g.Expect(open).To(BeZero())
}

func TestVerifyEndsItsSessionWhenTheCallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := NewWithT(t), newFake()
		ctx, cancel := context.WithCancel(t.Context())
		f.paths["/redfish/v1/Systems"] = func(_ http.ResponseWriter, r *http.Request) {
			cancel()
			<-r.Context().Done()
		}
		it := inside(t, f, quick())
		g.Expect(it.Verify(ctx, password)).To(MatchError(context.Canceled))
		_, _, open := f.counts()
		g.Expect(open).To(BeZero())
	})
}
