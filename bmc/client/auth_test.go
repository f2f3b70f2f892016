package client_test

import (
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
		hourly  bool // a login an hour
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
			kind: client.LockedOut, hourly: true,
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
				if c.hourly {
					g.Expect(presented - before).To(Equal(5))
				} else {
					g.Expect(presented - before).To(BeNumerically("<=", 2))
				}
			})
		})
	}
}

// TestALockEnds: a user who was locked out, by whoever, is tried again after an hour
// with one login, so that a right password works again by itself.
func TestALockEnds(t *testing.T) {
	for name, basic := range map[string]bool{"with sessions": false, "without sessions": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, f := NewWithT(t), newFake()
				locked := says(http.StatusForbidden, message("Vendor.1.0.AccountLocked", "The account is locked out."))
				f.login = locked
				f.free[system] = func(w http.ResponseWriter, r *http.Request) {
					switch {
					case !f.allowed(r):
						body(w, http.StatusUnauthorized, "")
					case basic && f.login != nil:
						body(w, http.StatusUnauthorized, message("Vendor.1.0.AccountLocked", "The account is locked out."))
					default:
						body(w, http.StatusOK, `{}`)
					}
				}
				it := insideBasic(t, f, quick(), basic)
				ask := func() error { return it.Get(t.Context(), system, &struct{}{}) }
				for range 12 {
					err := ask()
					g.Expect(client.KindOf(err)).To(Equal(client.LockedOut))
					g.Expect(err).To(HaveField("RetryAfter", BeNumerically("<=", time.Hour)))
					g.Expect(err).To(HaveField("RetryAfter", BeNumerically(">", 0)))
					elapse(10 * time.Minute)
				}
				presented, _, _ := f.counts()
				g.Expect(presented).To(Equal(2), "one login an hour")
				f.login = nil
				g.Expect(ask()).To(Succeed())
				presented, _, _ = f.counts()
				g.Expect(presented).To(Equal(3))

				f.login = locked
				f.forgetSessions()
				g.Expect(client.KindOf(ask())).To(Equal(client.LockedOut))
				f.login = nil
				f.setPassword("another")
				elapse(time.Hour)
				_, before, _ := f.counts()
				for range 30 {
					g.Expect(client.KindOf(ask())).To(Equal(client.Credentials))
					elapse(10 * time.Minute)
				}
				_, refused, _ := f.counts()
				g.Expect(refused-before).To(Equal(1), "the lock may have been for that password: it is tried once")
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
	// An iLO delays the answer to a wrong password, and locks nobody out.
	for name, root := range map[string]string{
		"of the first login at an iLO":        `{"RedfishVersion":"1.13.0","Vendor":"HPE","Links":{"Sessions":{"@odata.id":"` + sessions + `"}}}`,
		"of the first login at an iLO 4 or 5": `{"RedfishVersion":"1.6.0","Oem":{"Hpe":{}},"Links":{"Sessions":{"@odata.id":"` + sessions + `"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, f, armed := NewWithT(t), newFake(), true
				f.root, f.login = root, once(&armed)
				g.Expect(inside(t, f, quick()).Get(t.Context(), system, &struct{}{})).To(Succeed())
				f.setPassword("another")
				before, _, _ := f.counts()
				it := inside(t, f, quick())
				for range 5 {
					g.Expect(client.KindOf(it.Get(t.Context(), system, &struct{}{}))).To(Equal(client.Credentials))
				}
				after, _, _ := f.counts()
				g.Expect(after-before).To(Equal(2), "one that lasts is believed")
			})
		})
	}
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

// TestARootBehindAuthenticationThatNamesNoSessions: they are opened at the standard's place
// then, also after the root was read with one.
func TestARootBehindAuthenticationThatNamesNoSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := NewWithT(t), newFake()
		f.free["/redfish/v1/"] = func(w http.ResponseWriter, r *http.Request) {
			if !f.allowed(r) {
				body(w, http.StatusUnauthorized, "")
				return
			}
			body(w, http.StatusOK, `{"RedfishVersion":"1.6.0"}`)
		}
		it := inside(t, f, quick())
		_, err := it.GetRaw(t.Context(), "/redfish/v1/")
		g.Expect(err).NotTo(HaveOccurred())
		f.forgetSessions()
		g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
		_, _, open := f.counts()
		g.Expect(open).To(Equal(1), "the second one")
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
