package client_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
)

// TestNoLockOut makes many calls with a password that is wrong: what the BMC counts
// against the account is the number that is allowed, and no more.
func TestNoLockOut(t *testing.T) {
	cases := map[string]struct {
		arrange func(f *fake)
		basic   bool
		// first is whether the password was right once.
		first   bool
		refused int
		kind    client.Kind
	}{
		"wrong from the beginning":     {refused: 1, kind: client.Credentials},
		"wrong, without sessions":      {basic: true, refused: 1, kind: client.Credentials},
		"right once, then changed":     {first: true, refused: 2, kind: client.Credentials},
		"right once, without sessions": {first: true, basic: true, refused: 2, kind: client.Credentials},
		"wrong where sessions are refused": {
			arrange: func(f *fake) { f.login = says(http.StatusMethodNotAllowed, "") },
			refused: 1, kind: client.Credentials,
		},
		"wrong where the table is full": {
			arrange: func(f *fake) {
				f.login = says(http.StatusServiceUnavailable, message("IDRAC.2.8.RAC0218", "The maximum number of user sessions is reached."))
			},
			refused: 1, kind: client.Credentials,
		},
		"locked out": {
			arrange: func(f *fake) {
				f.login = says(http.StatusForbidden, message("Vendor.1.0.AccountLocked", "The account is locked out."))
			},
			kind: client.LockedOut,
		},
		"an older HPE": {
			arrange: func(f *fake) {
				f.login = says(http.StatusBadRequest, message("iLO.0.10.UnauthorizedLoginAttempt", "nobody"))
			},
			kind: client.Credentials,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, f := NewWithT(t), newFake()
				if c.arrange != nil {
					c.arrange(f)
				}
				options := quick()
				options.Concurrency = 8
				it := insideBasic(t, f, options, c.basic)
				if c.first {
					g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
				}
				f.setPassword("another")
				f.forgetSessions()
				before, _, _ := f.counts()
				var wait sync.WaitGroup
				for range 8 {
					wait.Go(func() {
						for range 25 {
							if err := it.Get(t.Context(), system, &struct{}{}); client.KindOf(err) != c.kind {
								t.Errorf("%s: %v", client.KindOf(err), err)
							}
							elapse(10 * time.Minute)
						}
					})
				}
				wait.Wait()
				presented, refused, _ := f.counts()
				g.Expect(refused).To(Equal(c.refused))
				g.Expect(presented - before).To(BeNumerically("<=", 2))
			})
		})
	}
}

// says makes all logins end in an answer.
func says(status int, text string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		body(w, status, text)
		return true
	}
}

func TestChanceRefusalsAreForgiven(t *testing.T) {
	// once refuses the first time that it is asked after the arming.
	once := func(armed *bool) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			if !*armed {
				return false
			}
			*armed = false
			body(w, http.StatusUnauthorized, "")
			return true
		}
	}
	t.Run("of a login, where one had worked", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g, f, armed := NewWithT(t), newFake(), false
			f.login = once(&armed)
			it := inside(t, f, quick())
			g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
			f.forgetSessions()
			armed = true
			g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
			presented, _, open := f.counts()
			g.Expect(presented).To(Equal(3))
			g.Expect(open).To(Equal(1))
		})
	})
	t.Run("of a read, while the session lives", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g, f, armed := NewWithT(t), newFake(), false
			refuse := once(&armed)
			f.paths[system] = func(w http.ResponseWriter, r *http.Request) {
				if !refuse(w, r) {
					body(w, http.StatusOK, `{}`)
				}
			}
			it := inside(t, f, quick())
			g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
			armed = true
			g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
			_, _, open := f.counts()
			g.Expect(open).To(Equal(1), "the session that was given up is ended")
		})
	})
}

func TestRightPasswordThatMayNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := NewWithT(t), newFake()
		f.paths[system] = answers(http.StatusUnauthorized, message("Base.1.18.InsufficientPrivilege", "There are insufficient privileges."))
		it := inside(t, f, quick())
		for range 5 {
			err := it.Get(t.Context(), system, &struct{}{})
			g.Expect(client.KindOf(err)).To(Equal(client.Refused), "the password is right")
		}
		presented, refused, open := f.counts()
		g.Expect(refused).To(BeZero())
		g.Expect(presented).To(BeNumerically("<=", 1+5), "one login in the beginning, one renewal for each call")
		g.Expect(open).To(Equal(1))
	})
}

func TestFullTableIsLeftAloneForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := NewWithT(t), newFake()
		f.login = says(http.StatusServiceUnavailable, message("IDRAC.2.8.RAC0218", "The maximum number of user sessions is reached."))
		it := inside(t, f, quick())
		for range 4 {
			g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
			elapse(time.Minute)
		}
		g.Expect(logins(f)).To(Equal(1))
		f.login = nil
		elapse(2 * time.Minute)
		g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
		g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
		g.Expect(logins(f)).To(Equal(1), "a session is tried again, and kept")
		_, _, open := f.counts()
		g.Expect(open).To(Equal(1))
	})
}

// logins are the requests for a session since the last look.
func logins(f *fake) int {
	n := 0
	for _, request := range f.requests() {
		if strings.HasPrefix(request, "POST ") && strings.HasSuffix(request, "/Sessions") {
			n++
		}
	}
	return n
}

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

func TestPasswordThatMustBeChanged(t *testing.T) {
	const account = "/redfish/v1/AccountService/Accounts/1"
	must := message("Base.1.18.PasswordChangeRequired", "The password must be changed.", account)
	cases := map[string]func(f *fake){
		"said by the login": func(f *fake) { f.login = says(http.StatusForbidden, must) },
		"said with the session": func(f *fake) {
			f.login = func(w http.ResponseWriter, _ *http.Request) bool {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.tokens["t"] = true
				w.Header().Set("X-Auth-Token", "t")
				w.Header().Set("Location", sessions+"/t")
				body(w, http.StatusCreated, `{"@Message.ExtendedInfo":[{"MessageId":"Base.1.18.PasswordChangeRequired","MessageArgs":["`+account+`"]}]}`)
				return true
			}
			f.paths[system] = answers(http.StatusForbidden, message("Base.1.18.InsufficientPrivilege", "No."))
		},
		"said by each answer": func(f *fake) { f.paths[system] = answers(http.StatusForbidden, must) },
	}
	for name, arrange := range cases {
		t.Run(name, func(t *testing.T) {
			g, f := NewWithT(t), newFake()
			arrange(f)
			it := newClient(t, serve(t, f), quick())
			for range 3 {
				err := it.Get(t.Context(), system, &struct{}{})
				e, is := errors.AsType[*client.Error](err)
				g.Expect(is).To(BeTrue())
				g.Expect(e.Kind).To(Equal(client.PasswordChange))
				g.Expect(e.Args).To(Equal([]string{account}))
			}
			g.Expect(logins(f)).To(Equal(1))
		})
	}
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

func TestWithoutCredentials(t *testing.T) {
	g, f := NewWithT(t), newFake()
	f.free["/redfish/v1/Systems/open"] = answers(http.StatusOK, `{}`)
	target := serve(t, f)
	target.Username, target.Password = "", ""
	it := newClient(t, target, quick())
	g.Expect(it.Get(t.Context(), "/redfish/v1/Systems/open", &struct{}{})).To(Succeed())
	err := it.Get(t.Context(), system, &struct{}{})
	g.Expect(client.KindOf(err)).To(Equal(client.Credentials))
	g.Expect(err).To(MatchError(ContainSubstring("give a user name and a password")))
	g.Expect(logins(f)).To(BeZero())
}
