package client_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
)

func TestWhereSessionsAreOpened(t *testing.T) {
	cases := map[string]struct {
		root, path string
		status     int
	}{
		"by the root's links":    {`{"RedfishVersion":"1.6.0","Links":{"Sessions":{"@odata.id":"/redfish/v1/Other/Sessions"}}}`, "/redfish/v1/Other/Sessions", 200},
		"by the session service": {`{"RedfishVersion":"1.6.0","SessionService":{"@odata.id":"/redfish/v1/Sess/"}}`, "/redfish/v1/Sess/Sessions", 200},
		"by a bare text":         {`{"RedfishVersion":"1.6.0","Links":{"Sessions":"/redfish/v1/Other/Sessions"}}`, "/redfish/v1/Other/Sessions", 200},
		"a root behind a login":  {``, sessions, 401},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g, f := NewWithT(t), newFake()
			f.free["/redfish/v1/"] = answers(c.status, c.root)
			if c.path != sessions {
				f.free[c.path] = f.open
			}
			it := newClient(t, serve(t, f), quick())
			g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
			g.Expect(f.requests()).To(ContainElement("POST " + c.path))
		})
	}
}

// TestServiceThatAnnouncesNoSessions has services that answer 401 to whatever they
// do not know: it says nothing of the password.
func TestServiceThatAnnouncesNoSessions(t *testing.T) {
	cases := map[string]struct {
		root   http.HandlerFunc
		logins int
	}{
		"none":                  {answers(http.StatusOK, `{"RedfishVersion":"1.6.0"}`), 0},
		"links of a wrong type": {answers(http.StatusOK, `{"RedfishVersion":"1.6.0","Links":7}`), 0},
		"a root behind a login": {answers(http.StatusUnauthorized, ""), 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g, f := NewWithT(t), newFake()
			f.free["/redfish/v1/"], f.login = c.root, says(http.StatusUnauthorized, "")
			target := serve(t, f)
			it := newClient(t, target, quick())
			for range 5 {
				g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
			}
			g.Expect(it.Verify(t.Context(), password)).To(Succeed())
			g.Expect(logins(f)).To(Equal(2 * c.logins))

			target.Password = "wrong"
			before, _, _ := f.counts()
			it = newClient(t, target, quick())
			for range 5 {
				g.Expect(client.KindOf(it.Get(t.Context(), system, &struct{}{}))).To(Equal(client.Credentials))
			}
			after, _, _ := f.counts()
			g.Expect(after - before).To(Equal(1 + c.logins))
		})
	}
}

func TestWhatIsNoRedfishServiceGetsNoPassword(t *testing.T) {
	cases := map[string]struct {
		answer http.HandlerFunc
		kind   client.Kind
	}{
		"a web page":                {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<!DOCTYPE html><html>")) }, client.NotRedfish},
		"nothing there":             {answers(http.StatusNotFound, "<html>"), client.NotRedfish},
		"another API":               {answers(http.StatusOK, `{"name":"another"}`), client.NotRedfish},
		"half a document":           {answers(http.StatusOK, `{"RedfishVersion":`), client.NotRedfish},
		"a list":                    {answers(http.StatusOK, `[]`), client.NotRedfish},
		"sessions elsewhere":        {answers(http.StatusOK, `{"RedfishVersion":"1.6.0","Links":{"Sessions":{"@odata.id":"https://evil.example/s"}}}`), client.Broken},
		"a service in trouble":      {answers(http.StatusInternalServerError, ``), client.Failed},
		"a service without licence": {answers(http.StatusForbidden, message("Base.1.0.0.OemLicenseNotPassed", "Not licensed to perform this request.")), client.Licence},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g, f := NewWithT(t), newFake()
			f.free["/redfish/v1/"] = c.answer
			it := newClient(t, serve(t, f), quick())
			err := it.Get(t.Context(), system, &struct{}{})
			g.Expect(client.KindOf(err)).To(Equal(c.kind), "%v", err)
			presented, _, _ := f.counts()
			g.Expect(presented).To(BeZero())
		})
	}
}

func TestRootNeedsNoCredentials(t *testing.T) {
	g, f := NewWithT(t), newFake()
	target := serve(t, f)
	target.Password = "wrong"
	it := newClient(t, target, quick())
	g.Expect(it.Get(t.Context(), "/redfish/v1/", &struct{}{})).To(Succeed())
	g.Expect(client.KindOf(it.Get(t.Context(), system, &struct{}{}))).To(Equal(client.Credentials))
	g.Expect(it.Get(t.Context(), "/redfish/v1", &struct{}{})).To(Succeed(), "the root can be read all the same")
}

func TestLoginIsNotLostWhenItsCallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := NewWithT(t), newFake()
		f.login = func(http.ResponseWriter, *http.Request) bool {
			elapse(5 * time.Second)
			return false
		}
		it := inside(t, f, quick())
		hasty, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		g.Expect(it.Get(hasty, system, &struct{}{})).To(MatchError(context.DeadlineExceeded))
		_, _, open := f.counts()
		g.Expect(open).To(BeZero(), "the login is still under way")
		g.Expect(it.Close(t.Context())).To(Succeed())
		g.Expect(logins(f)).To(Equal(1))
		_, _, open = f.counts()
		g.Expect(open).To(BeZero(), "its session was ended")
		g.Expect(f.serial).To(Equal(1), "there was one")
	})
}

func TestLoginIsNotLostWhenCloseDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := NewWithT(t), newFake()
		f.login = func(http.ResponseWriter, *http.Request) bool {
			elapse(5 * time.Second)
			return false
		}
		it := inside(t, f, quick())
		hasty, cancel := contextFor(t, time.Second)
		defer cancel()
		g.Expect(it.Get(hasty, system, &struct{}{})).To(MatchError(context.DeadlineExceeded))
		g.Expect(it.Close(hasty)).To(MatchError(context.DeadlineExceeded))
		elapse(time.Minute)
		_, _, open := f.counts()
		g.Expect(open).To(BeZero())
		g.Expect(f.serial).To(Equal(1), "there was a session")
	})
}

func TestSessionPath(t *testing.T) {
	cases := map[string]struct{ location, body, ended string }{
		"a path":           {sessions + "/a", `{}`, sessions + "/a"},
		"an absolute URL":  {"https://%s" + sessions + "/a", `{}`, sessions + "/a"},
		"of another host":  {"https://10.0.0.9" + sessions + "/a", `{}`, sessions + "/a"},
		"by the body":      {"https://10.0.0.9" + sessions + "/b", `{"@odata.id":"` + sessions + `/a"}`, sessions + "/a"},
		"without location": {"", `{"@odata.id":"` + sessions + `/a"}`, sessions + "/a"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g, f := NewWithT(t), newFake()
			f.login = func(w http.ResponseWriter, r *http.Request) bool {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.tokens["a"] = true
				w.Header().Set("X-Auth-Token", "a")
				if c.location != "" {
					w.Header().Set("Location", strings.Replace(c.location, "%s", r.Host, 1))
				}
				body(w, http.StatusCreated, c.body)
				return true
			}
			it := newClient(t, serve(t, f), quick())
			g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
			g.Expect(it.Close(t.Context())).To(Succeed())
			g.Expect(f.requests()).To(ContainElement("DELETE " + c.ended))
			_, _, open := f.counts()
			g.Expect(open).To(BeZero())
		})
	}
}

// TestASessionThatEnded: one that was not used for long is not ended once more; one that
// was refused in the midst of work may still be there.
func TestASessionThatEnded(t *testing.T) {
	for name, c := range map[string]struct {
		idle time.Duration
		want []string
	}{
		"at work":       {time.Second, []string{"GET " + system, "DELETE " + sessions + "/token-1", "POST " + sessions, "GET " + system}},
		"after a pause": {time.Minute, []string{"GET " + system, "POST " + sessions, "GET " + system}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, f := NewWithT(t), newFake()
				it := inside(t, f, quick())
				g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
				_ = f.requests() // those of the first login
				elapse(c.idle)
				f.forgetSessions()
				g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
				g.Expect(f.requests()).To(Equal(c.want))
			})
		})
	}
}

// TestASessionThatEndedInAnOddWay: however a BMC says so, another one is opened, once.
func TestASessionThatEndedInAnOddWay(t *testing.T) {
	for name, says := range map[string]http.HandlerFunc{
		// An iDRAC 8 breaks the connection in the middle of its page.
		"401 with half a page": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte("<!DOCTYPE html>"))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
		// bmcweb has this status for the message.
		"403 that says so": answers(http.StatusForbidden, message("Base.1.13.0.NoValidSession", "There is no valid session established with the implementation.")),
	} {
		t.Run(name, func(t *testing.T) {
			g, f := NewWithT(t), newFake()
			it := newClient(t, serve(t, f), quick())
			g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
			f.refuse = says
			f.forgetSessions()
			g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
			g.Expect(logins(f)).To(Equal(2))
			_, err := it.Patch(t.Context(), system, map[string]string{"AssetTag": "x"})
			g.Expect(err).NotTo(HaveOccurred())
			f.forgetSessions()
			_, err = it.Patch(t.Context(), system, map[string]string{"AssetTag": "y"})
			g.Expect(err).NotTo(HaveOccurred(), "a refusal proves that nothing was changed")
			g.Expect(logins(f)).To(Equal(1))
		})
	}
}

// TestAnErrorWhoseTextIsCut is the error that its status says; a resource that is cut is none.
func TestAnErrorWhoseTextIsCut(t *testing.T) {
	cut := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`{"error":{"code":"Base.1.0.General`))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}
	for status, kind := range map[int]client.Kind{
		http.StatusNotFound: client.NotSupported, http.StatusForbidden: client.Refused, http.StatusInternalServerError: client.Failed, http.StatusOK: client.Unreachable,
	} {
		g, f := NewWithT(t), newFake()
		f.paths[system] = cut(status)
		it := newClient(t, serve(t, f), quick())
		g.Expect(client.KindOf(it.Get(t.Context(), system, &struct{}{}))).To(Equal(kind), "%d", status)
	}
}
