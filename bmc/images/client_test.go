package images

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
)

// TestWhoIsNotAsked: no address that is another machine for a BMC, under any name.
func TestWhoIsNotAsked(t *testing.T) {
	for address, asked := range map[string]bool{
		"192.0.2.9:80": true, "10.0.0.1:443": true, "[2001:db8::1]:443": true, "[fd00::1]:80": true,
		"127.0.0.1:80": false, "127.8.8.8:80": false, "[::1]:80": false, "[::ffff:127.0.0.1]:80": false,
		"169.254.169.254:80": false, "[fe80::1%eth0]:80": false, "0.0.0.0:80": false, "[::]:80": false, "224.0.0.1:80": false, "no address": false,
	} {
		t.Run(address, func(t *testing.T) {
			NewWithT(t).Expect(othersOnly("tcp", address, nil) == nil).To(Equal(asked))
		})
	}
}

// TestNothingOfThisMachineIsAsked: the rule holds where the connection is made, so that
// a name does not help.
func TestNothingOfThisMachineIsAsked(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Length", "7")
	}))
	t.Cleanup(server.Close)
	byName := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	g := NewWithT(t)
	g.Expect(Sizes(t.Context(), Client(), []string{server.URL, byName})).To(BeEmpty())
	g.Expect(asked.Load()).To(BeZero())
}

// TestRedirects: some are followed, and the next server does not hear from where.
func TestRedirects(t *testing.T) {
	var referers atomic.Int64
	hops := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Referer") != "" {
			referers.Add(1)
		}
		switch left := strings.TrimPrefix(r.URL.Path, "/"); left {
		case "":
			w.Header().Set("Content-Length", "7")
		case "round":
			http.Redirect(w, r, "/round?token=secret", http.StatusFound)
		default:
			http.Redirect(w, r, "/"+left[1:]+"?token=secret", http.StatusFound)
		}
	})
	plain, encrypted := httptest.NewServer(hops), httptest.NewTLSServer(nil)
	t.Cleanup(plain.Close)
	t.Cleanup(encrypted.Close)
	encrypted.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, plain.URL, http.StatusFound) })
	careful := Client()
	careful.Transport = encrypted.Client().Transport // which may ask this machine
	g := NewWithT(t)
	got := Sizes(t.Context(), careful, []string{plain.URL + "/aaa", plain.URL + "/aaaa", plain.URL + "/round", encrypted.URL})
	g.Expect(got).To(Equal(map[string]int64{plain.URL + "/aaa": 7}))
	g.Expect(referers.Load()).To(BeZero())
}
