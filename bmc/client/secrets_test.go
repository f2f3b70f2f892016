package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
)

// TestSecretsStayInside lets a BMC repeat all that it gets, in every way in which
// something can fail, and searches everything that the client says.
func TestSecretsStayInside(t *testing.T) {
	const oldSecret, newSecret, header = `p"ä\ss wo<rd`, `n&w"p\ss wörd`, "header-secret"
	echo := func(w http.ResponseWriter, r *http.Request, status int) {
		got, _ := io.ReadAll(r.Body)
		_, basic, _ := r.BasicAuth()
		all := fmt.Sprintf("%s %s %s %s %v", got, r.Header.Get("X-Auth-Token"), r.Header.Get("Authorization"), basic, r.Header)
		var in map[string]any
		_ = json.Unmarshal(got, &in)
		args := []string{all, oldSecret, basic}
		for _, v := range in {
			args = append(args, fmt.Sprint(v))
		}
		w.Header().Set("X-Echo", strings.Map(func(r rune) rune {
			if r < ' ' {
				return -1
			}
			return r
		}, all))
		body(w, status, message("Base.1.0."+all, all, args...))
	}
	steps := map[string]func(f *fake){
		"the login is refused": func(f *fake) {
			f.login = func(w http.ResponseWriter, r *http.Request) bool { echo(w, r, http.StatusUnauthorized); return true }
		},
		"the login fails": func(f *fake) {
			f.login = func(w http.ResponseWriter, r *http.Request) bool {
				echo(w, r, http.StatusInternalServerError)
				return true
			}
		},
		"sessions are refused": func(f *fake) {
			f.login = func(w http.ResponseWriter, r *http.Request) bool {
				echo(w, r, http.StatusMethodNotAllowed)
				return true
			}
			f.paths[system] = func(w http.ResponseWriter, r *http.Request) { echo(w, r, http.StatusBadRequest) }
		},
		"everything is refused": func(f *fake) {
			f.paths[system] = func(w http.ResponseWriter, r *http.Request) { echo(w, r, http.StatusBadRequest) }
		},
		"everything fails in its header": func(f *fake) {
			f.paths[system] = func(w http.ResponseWriter, r *http.Request) {
				raw("HTTP/1.1 "+r.Header.Get("X-Auth-Token")+" "+oldSecret+"\r\n\r\n")(w, r)
			}
		},
		"the token comes back": func(f *fake) {
			f.paths[system] = func(w http.ResponseWriter, r *http.Request) {
				body(w, http.StatusForbidden, `"`+r.Header.Get("X-Auth-Token")+`"`)
			}
		},
		"links hold them": func(f *fake) {
			f.paths[system] = func(w http.ResponseWriter, r *http.Request) {
				body(w, http.StatusOK, `{"Members":["https://evil.example/`+r.Header.Get("X-Auth-Token")+`","/x"],"Members@odata.nextLink":"/`+r.Header.Get("X-Auth-Token")+`"}`)
			}
		},
	}
	for name, arrange := range steps {
		t.Run(name, func(t *testing.T) {
			g, f := NewWithT(t), newFake()
			f.password = oldSecret
			arrange(f)
			var out bytes.Buffer
			target := serve(t, f)
			target.Password = oldSecret
			options := quick()
			options.Log = slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
			it := newClient(t, target, options)
			say := func(err error) {
				for ; err != nil; err = unwrap(err) {
					fmt.Fprintf(&out, "%v %+v %#v %s %q\n", err, err, err, err, err)
					if e, is := errors.AsType[*client.Error](err); is {
						_ = json.NewEncoder(&out).Encode(e)
						options.Log.Info("failed", "err", e, "whole", fmt.Sprintf("%+v", *e))
					}
				}
			}
			say(it.Get(t.Context(), system, &struct{}{}))
			_, err := it.Post(t.Context(), system, map[string]any{"Password": newSecret, "HttpHeaders": []string{"X: " + header}})
			say(err)
			_, err = it.Patch(t.Context(), system, map[string]any{"Oem": map[string]any{"UserPassword": newSecret}})
			say(err)
			_, err = it.Delete(t.Context(), system)
			say(err)
			_, _, err = it.Members(t.Context(), system, 0)
			say(err)
			_, err = it.Stream(t.Context(), system)
			say(err)
			say(it.Verify(t.Context(), newSecret))
			fmt.Fprintf(&out, "%v %+v %#v %s\n", target, target, target, target.Password)
			_ = json.NewEncoder(&out).Encode(target)
			options.Log.Info("target", "target", target, "password", target.Password)

			said := out.String()
			g.Expect(said).To(ContainSubstring("redacted"))
			for _, secret := range []string{oldSecret, newSecret, header, "token-1", "token-2"} {
				asJSON, _ := json.Marshal(secret)
				g.Expect(said).NotTo(ContainSubstring(secret))
				g.Expect(said).NotTo(ContainSubstring(strings.Trim(string(asJSON), `"`)))
				g.Expect(said).NotTo(ContainSubstring(strings.Trim(fmt.Sprintf("%q", secret), `"`)))
			}
			g.Expect(said).NotTo(ContainSubstring(basicOf(oldSecret)))
			g.Expect(said).NotTo(ContainSubstring(basicOf(newSecret)))
		})
	}
}

// TestATokenStaysASecret: the token of a session is known as one for as long as the
// session lives, however many other secrets were sent since.
func TestATokenStaysASecret(t *testing.T) {
	g, f := NewWithT(t), newFake()
	it := newClient(t, serve(t, f), quick())
	for i := range 100 {
		_, err := it.Post(t.Context(), system, map[string]string{"Destination": fmt.Sprintf("https://events.example/%d", i)})
		g.Expect(err).NotTo(HaveOccurred())
	}
	f.paths[system] = func(w http.ResponseWriter, r *http.Request) {
		body(w, http.StatusBadRequest, message("Base.1.0.GeneralError", "What is "+r.Header.Get("X-Auth-Token")+"?"))
	}
	err := it.Get(t.Context(), system, &struct{}{})
	g.Expect(err).To(MatchError(ContainSubstring("What is [redacted]?")))
}

// TestASecretHasNoOtherForm: not even a wrong verb shows it.
func TestASecretHasNoOtherForm(t *testing.T) {
	g := NewWithT(t)
	target := client.Target{URL: "https://192.0.2.1", Password: "hunter2"}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%08.3f", "%z"} {
		for _, value := range []any{target, &target, target.Password, []client.Secret{target.Password}, map[string]client.Secret{"a": target.Password}} {
			g.Expect(fmt.Sprintf(verb, value)).NotTo(Or(ContainSubstring("hunter2"), ContainSubstring("68756e74657232")), verb)
		}
	}
}

func unwrap(err error) error {
	if u, is := err.(interface{ Unwrap() error }); is {
		return u.Unwrap()
	}
	return nil
}

func basicOf(password string) string {
	r := &http.Request{Header: http.Header{}}
	r.SetBasicAuth(user, password)
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Basic ")
}

func TestSecretInABodyIsAMistake(t *testing.T) {
	g, f := NewWithT(t), newFake()
	it := newClient(t, serve(t, f), quick())
	_, err := it.Patch(context.Background(), system, map[string]client.Secret{"Password": "x"})
	g.Expect(err).To(MatchError(ContainSubstring("string(secret)")))
	g.Expect(f.requests()).To(BeEmpty())
}
