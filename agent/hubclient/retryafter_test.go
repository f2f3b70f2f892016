package hubclient_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/hub/wire"
)

// calls are all that an agent asks a hub.
var calls = map[string]func(t *testing.T, c *hubclient.Client) error{
	"register": func(t *testing.T, c *hubclient.Client) error { _, err := c.Register(t.Context(), host); return err },
	"poll": func(t *testing.T, c *hubclient.Client) error {
		_, err := c.Instructions(t.Context(), host, time.Now())
		return err
	},
	"reply": func(t *testing.T, c *hubclient.Client) error { return c.Reply(t.Context(), host, wire.StepReply{}) },
	"progress": func(t *testing.T, c *hubclient.Client) error {
		return c.Progress(t.Context(), host, wire.HostProgress{})
	},
	"upload": func(t *testing.T, c *hubclient.Client) error {
		return c.UploadLogs(t.Context(), host, "c", "n", func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err })
	},
}

func TestRetryAfterOfEveryCall(t *testing.T) {
	for header, want := range map[string]time.Duration{
		"":                              0,
		"7":                             7 * time.Second,
		"0":                             0,
		"-7":                            0,
		"soon":                          0,
		"99999999999999999999999":       hubclient.MaxRetryAfter,
		"Wed, 21 Oct 2015 07:28:00 GMT": 0, // long ago
		"Tue, 01 Jan 2999 00:00:00 GMT": hubclient.MaxRetryAfter,
	} {
		for name, call := range calls {
			t.Run(name+" "+header, func(t *testing.T) {
				g := NewWithT(t)
				hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					w.Header().Set("Retry-After", header)
					w.WriteHeader(http.StatusServiceUnavailable)
				}))
				defer hub.Close()
				client, err := hubclient.New(hubclient.Options{URL: hub.URL})
				g.Expect(err).NotTo(HaveOccurred())
				defer client.Close()
				err = call(t, client)
				g.Expect(hubclient.Code(err)).To(Equal(503))
				g.Expect(hubclient.Delay(err, time.Millisecond)).To(And(
					BeNumerically(">=", max(want, time.Millisecond)), BeNumerically("<=", max(want*5/4, time.Millisecond))))
			})
		}
	}
}

func TestTheLongerDelayCounts(t *testing.T) {
	g := NewWithT(t)
	asked := &hubclient.StatusError{Code: 503, RetryAfter: 10 * time.Second}
	g.Expect(hubclient.Delay(asked, time.Minute)).To(Equal(time.Minute))
	g.Expect(hubclient.Delay(errors.New("connection refused"), time.Second)).To(Equal(time.Second))
	g.Expect(hubclient.Delay(nil, time.Second)).To(Equal(time.Second))
}

func TestTheHubsGap(t *testing.T) {
	for header, want := range map[string]time.Duration{"": 0, "20": 20 * time.Second, "86400": hubclient.MaxRetryAfter, "x": 0} {
		t.Run(header, func(t *testing.T) {
			g := NewWithT(t)
			hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Ironflow-Poll-Gap", header)
				_, _ = io.WriteString(w, `{"next_instruction_seconds":60,"instructions":null}`)
			}))
			defer hub.Close()
			client, err := hubclient.New(hubclient.Options{URL: hub.URL})
			g.Expect(err).NotTo(HaveOccurred())
			defer client.Close()
			answer, err := client.Instructions(t.Context(), host, time.Now())
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(answer.Gap).To(Equal(want))
			g.Expect(answer.NextInstructionSeconds).To(Equal(int64(60)))
		})
	}
}

// TestWhoHasWaitedSaysSo: the hub lets a host that it told to come later in before those that come for the first time,
// whatever it comes with, and also where something else went wrong in between.
func TestWhoHasWaitedSaysSo(t *testing.T) {
	g := NewWithT(t)
	var waited []string
	answers := []int{http.StatusNoContent, http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusCreated, http.StatusNoContent}
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(answers[len(waited)])
		waited = append(waited, r.Header.Get(wire.HeaderWaited))
		_, _ = io.WriteString(w, "{}")
	}))
	defer hub.Close()
	client, err := hubclient.New(hubclient.Options{URL: hub.URL})
	g.Expect(err).NotTo(HaveOccurred())
	defer client.Close()
	reply := func() error { return client.Reply(t.Context(), host, wire.StepReply{StepType: wire.StepTypeInventory}) }
	g.Expect(reply()).To(Succeed())
	for range 3 {
		_, err = client.Register(t.Context(), host)
	}
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(reply()).To(Succeed())
	g.Expect(waited).To(Equal([]string{"", "", "30", "30", "30"}))
}
