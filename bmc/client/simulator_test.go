package client_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/lenient"
	"github.com/ironflow/ironflow/test/bmc/simulator"
)

const (
	user     = "admin"
	password = "correct horse battery"
	systemID = "00000000-0000-4000-8000-000000000001"
	system   = "/redfish/v1/Systems/" + systemID
	sessions = "/redfish/v1/SessionService/Sessions"
)

// bmc is a simulated BMC over TLS.
type bmc struct {
	*simulator.Server

	URL  string
	http *http.Client
	log  bytes.Buffer
}

func startBMC(t *testing.T) *bmc {
	t.Helper()
	s := simulator.New(simulator.Options{Username: user, Password: password})
	server := httptest.NewUnstartedServer(s)
	server.Config.ErrorLog = quiet()
	server.StartTLS()
	t.Cleanup(func() {
		server.Close()
		s.Close()
	})
	NewWithT(t).Expect(s.AddSystem(simulator.System{ID: systemID, NICs: []simulator.NIC{{MAC: "52:54:00:00:00:01"}}})).To(Succeed())
	return &bmc{Server: s, URL: server.URL, http: server.Client()}
}

// quick are limits that do not slow a test down.
func quick() client.Options {
	return client.Options{Rate: 10000, Burst: 1000, Concurrency: 1}
}

func (b *bmc) target() client.Target {
	return client.Target{URL: b.URL, Username: user, Password: password, TLS: client.Trust{Insecure: true}}
}

func (b *bmc) client(t *testing.T, change func(*client.Target, *client.Options)) *client.Client {
	t.Helper()
	target, options := b.target(), quick()
	options.Log = slog.New(slog.NewTextHandler(&b.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if change != nil {
		change(&target, &options)
	}
	return newClient(t, target, options)
}

func newClient(t *testing.T, target client.Target, options client.Options) *client.Client {
	t.Helper()
	c, err := client.New(target, options)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
	return c
}

// sessions are those that the BMC has, asked with basic credentials.
func (b *bmc) sessions(t *testing.T) []string {
	t.Helper()
	target := b.target()
	target.Basic = true
	c := newClient(t, target, quick())
	paths, complete, err := c.Members(t.Context(), sessions, 0)
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(complete).To(BeTrue())
	return paths
}

func TestSessionIsKeptAndEnded(t *testing.T) {
	g, b := NewWithT(t), startBMC(t)
	c := b.client(t, nil)
	ctx, asked := client.WithCounter(t.Context())
	for range 5 {
		var in struct {
			UUID       lenient.String
			PowerState lenient.String
		}
		g.Expect(c.Get(ctx, system, &in)).To(Succeed())
		g.Expect(in.PowerState).To(Equal(lenient.String("Off")))
	}
	g.Expect(b.Counts()).To(HaveKeyWithValue("POST "+sessions, 1))
	g.Expect(b.sessions(t)).To(HaveLen(1))
	// The root, the login, five reads.
	g.Expect(asked.Requests()).To(BeEquivalentTo(7))
	g.Expect(c.Close(t.Context())).To(Succeed())
	g.Expect(b.sessions(t)).To(BeEmpty())
	g.Expect(c.Get(t.Context(), system, &struct{}{})).To(MatchError(client.ErrClosed))
}

// TestTheRootIsReadOnce by who begins there, as a probe does: where sessions are opened is
// known then.
func TestTheRootIsReadOnce(t *testing.T) {
	g, b := NewWithT(t), startBMC(t)
	c := b.client(t, nil)
	ctx, asked := client.WithCounter(t.Context())
	_, err := c.GetRaw(ctx, "/redfish/v1/")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Get(ctx, system, &struct{}{})).To(Succeed())
	g.Expect(b.Counts()).To(And(HaveKeyWithValue("GET /redfish/v1", 1), HaveKeyWithValue("POST "+sessions, 1)))
	g.Expect(asked.Requests()).To(BeEquivalentTo(3), "the root, the login, one read")
}

func TestLostSessionIsRenewedOnce(t *testing.T) {
	g, b := NewWithT(t), startBMC(t)
	c := b.client(t, func(_ *client.Target, o *client.Options) { o.Concurrency = 20 })
	g.Expect(c.Get(t.Context(), system, &struct{}{})).To(Succeed())
	g.Expect(b.SetQuirk(systemID, simulator.SessionLost, 1)).To(Succeed())
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			if err := c.Get(t.Context(), system, &struct{}{}); err != nil {
				t.Errorf("call %d: %v", i, err)
			}
		})
	}
	wait.Wait()
	g.Expect(b.Counts()).To(HaveKeyWithValue("POST "+sessions, 2))
	g.Expect(b.sessions(t)).To(HaveLen(1))
}

func TestWithoutSessions(t *testing.T) {
	g, b := NewWithT(t), startBMC(t)
	g.Expect(b.SetQuirk(systemID, simulator.NoSessions, simulator.Always)).To(Succeed())
	c := b.client(t, nil)
	for range 5 {
		g.Expect(c.Get(t.Context(), system, &struct{}{})).To(Succeed())
	}
	g.Expect(b.Counts()).To(HaveKeyWithValue("POST "+sessions, 1), "basic authentication is remembered")
}

func TestPatchWithTheTagThatIsDemanded(t *testing.T) {
	g, b := NewWithT(t), startBMC(t)
	g.Expect(b.SetQuirk(systemID, simulator.ETagRequired, simulator.Always)).To(Succeed())
	c := b.client(t, nil)
	boot := func(target string) map[string]any {
		return map[string]any{"Boot": map[string]string{"BootSourceOverrideTarget": target, "BootSourceOverrideEnabled": "Once"}}
	}
	_, err := c.Patch(t.Context(), system, boot("Pxe"))
	g.Expect(err).NotTo(HaveOccurred(), "the tag is not known")
	g.Expect(c.Get(t.Context(), system, &struct{}{})).To(Succeed())
	other := b.client(t, nil)
	_, err = other.Patch(t.Context(), system, boot("Hdd"))
	g.Expect(err).NotTo(HaveOccurred())
	_, err = c.Patch(t.Context(), system, boot("Cd"))
	g.Expect(err).NotTo(HaveOccurred(), "the tag is out of date")
	state, _ := b.State(systemID)
	g.Expect(fmt.Sprint(state.Boot)).To(ContainSubstring("Cd"))
}
