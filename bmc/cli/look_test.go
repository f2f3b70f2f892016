package cli_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/cli"
	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// looking are the arguments of a verb for one BMC.
func looking(t *testing.T, verb string, args ...string) []string {
	t.Helper()
	return append([]string{verb}, probing(t, args...)[1:]...)
}

func TestHealthNamesThePartThatFails(t *testing.T) {
	g := NewWithT(t)
	server, s := bmc(t, dell)
	got, err := run(t.Context(), looking(t, "health", "--insecure", server.URL)...)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.out).To(ContainSubstring("Cooling"))
	g.Expect(got.out).NotTo(ContainSubstring("Critical"))

	g.Expect(s.SetPart("1", simulator.Part{Kind: simulator.PartFan, ID: "Fan1"}, simulator.Condition{Health: "Critical"})).To(Succeed())
	got, err = run(t.Context(), looking(t, "health", "--insecure", server.URL)...)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.out).To(MatchRegexp(`(?m)^Cooling .*Critical`))
	g.Expect(s.Sessions()).To(BeEmpty(), "our session was ended")
}

// TestALookHarmsNoBMC: the quirks of the BMC count for those who look, too.
func TestALookHarmsNoBMC(t *testing.T) {
	for _, verb := range []string{"health", "log"} {
		t.Run(verb, func(t *testing.T) {
			g := NewWithT(t)
			old := dell
			old.ManagerModel, old.Quirks = "iDRAC8", map[simulator.Quirk]int{simulator.RAIDChassis: simulator.Always}
			_, s := bmc(t, old)
			var asked, harm atomic.Int64
			server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if asked.Add(1); strings.Contains(r.URL.Path, "/Chassis/Enclosure.") {
					harm.Add(1)
				}
				s.ServeHTTP(w, r)
			}))
			t.Cleanup(server.Close)
			_, err := run(t.Context(), looking(t, verb, "--insecure", server.URL)...)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(asked.Load()).To(BeNumerically(">", 10))
			g.Expect(harm.Load()).To(BeZero(), "that restarts the BMC")
		})
	}
}

// TestWhatCouldNotBeSeenIsSaid: an empty list is not taken for a machine that is well.
func TestWhatCouldNotBeSeenIsSaid(t *testing.T) {
	refuse := func(part string) func(*simulator.Server) http.Handler {
		return func(s *simulator.Server) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(r.URL.Path, part) {
					w.WriteHeader(http.StatusForbidden)
					return
				}
				s.ServeHTTP(w, r)
			})
		}
	}
	off := func(s *simulator.Server) http.Handler {
		_ = s.SetPower("1", simulator.Off)
		return s
	}
	for name, c := range map[string]struct {
		verb    string
		machine func(*simulator.Server) http.Handler
		says    string
	}{
		"the log is refused":        {"log", refuse("/LogServices"), "Log could not be read: GET /redfish/v1/Systems/1/LogServices: forbidden"},
		"a part is refused":         {"health", refuse("/Memory"), "Memory could not be read: GET /redfish/v1/Systems/1/Memory: forbidden"},
		"the drives are refused":    {"health", refuse("/Drives/"), "Storage: 4 parts could not be read, of the first: GET /redfish/v1/"},
		"the machine is off":        {"health", off, "the machine is off"},
		"the log of a machine, off": {"log", off, "CREATED"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, s := bmc(t, dell)
			server := httptest.NewTLSServer(c.machine(s))
			t.Cleanup(server.Close)
			got, err := run(t.Context(), looking(t, c.verb, "--insecure", server.URL)...)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got.out).To(ContainSubstring(c.says))
		})
	}
}

// TestALookIsLimited: --timeout holds for those who look, too.
func TestALookIsLimited(t *testing.T) {
	for _, verb := range []string{"health", "log"} {
		t.Run(verb, func(t *testing.T) {
			server, _ := bmc(t, dell)
			_, err := run(t.Context(), looking(t, verb, "--insecure", "--timeout", "1ns", server.URL)...)
			NewWithT(t).Expect(err).To(MatchError(And(ContainSubstring("(Timeout)"), ContainSubstring("raise --timeout"))))
		})
	}
}

func TestLogShowsTheLastEntries(t *testing.T) {
	g := NewWithT(t)
	server, s := bmc(t, dell)
	g.Expect(s.AddLog("1",
		simulator.Entry{Event: simulator.Event{Severity: "Warning", Message: "a fan is slow"}},
		simulator.Entry{Event: simulator.Event{Severity: "Critical", Message: "a fan has stopped"}},
	)).To(Succeed())
	got, err := run(t.Context(), looking(t, "log", "--insecure", "--limit", "1", server.URL)...)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.out).To(ContainSubstring("a fan has stopped"))
	g.Expect(got.out).NotTo(ContainSubstring("a fan is slow"))
	g.Expect(s.Total("")).To(BeNumerically("<=", 20), "at two a second, a person waits for them")
}

// buffer is written by the command and read by the test.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestEventsAreShownUntilInterrupted(t *testing.T) {
	g := NewWithT(t)
	server, s := bmc(t, dell)
	ctx, stop := context.WithCancel(t.Context())
	out := &buffer{}
	c := cli.NewCommand()
	c.SetOut(out)
	c.SetArgs(looking(t, "events", "--insecure", server.URL))
	ended := make(chan error, 1)
	go func() { ended <- c.ExecuteContext(ctx) }()
	g.Eventually(func() string {
		_ = s.Emit("1", simulator.Event{Type: "Alert", MessageID: "Platform.1.0.PlatformError", Severity: "Critical", Message: "the machine has burnt down"})
		return out.String()
	}).WithTimeout(30 * time.Second).WithPolling(50 * time.Millisecond).Should(ContainSubstring("the machine has burnt down"))
	stop()
	g.Eventually(ended).WithTimeout(30 * time.Second).Should(Receive(BeNil()))
}

func TestOneAddressIsLookedAt(t *testing.T) {
	for _, verb := range []string{"health", "log", "events"} {
		t.Run(verb, func(t *testing.T) {
			g := NewWithT(t)
			_, err := run(t.Context(), verb)
			g.Expect(err).To(MatchError(ContainSubstring("accepts 1 arg")))
			_, err = run(t.Context(), looking(t, verb, "http://127.0.0.1:1")...)
			g.Expect(err).To(MatchError(ContainSubstring("Unreachable")))
			g.Expect(strings.Contains(err.Error(), password)).To(BeFalse())
		})
	}
}
