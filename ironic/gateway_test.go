package ironic_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

func TestNegotiation(t *testing.T) {
	cases := map[string]struct {
		max     int
		want    string
		refused string
	}{
		"the oldest supported":      {max: 89, want: "1.89"},
		"in between":                {max: 104, want: "1.104"},
		"newer than anything known": {max: 300, want: "1.115"},
		"too old":                   {max: 88, refused: "upgrade Ironic"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := NewWithT(t)
			g, _ := newGateway(t, simulator.Options{MaxMinor: c.max})
			err := g.Ready(t.Context())
			e.Expect(g.APIVersion()).To(Equal(c.want))
			if c.refused != "" {
				e.Expect(ironic.KindOf(err)).To(Equal(ironic.Unavailable))
				e.Expect(err).To(MatchError(ContainSubstring(c.refused)))
				return
			}
			e.Expect(err).NotTo(HaveOccurred())
			e.Expect(g.Supports(ironic.FeatureDeployAbort)).To(Equal(c.max >= 110))
		})
	}
}

func TestMissingFeaturesAreNamed(t *testing.T) {
	e := NewWithT(t)
	g, s := newGateway(t, simulator.Options{MaxMinor: 89})
	n := enrol(t, g, "ns~host")
	s.Edit(n.UUID, map[string]any{"provision_state": "wait call-back"})
	_, vmedia := g.VirtualMedia(t.Context(), n.UUID)
	_, _, power := g.Update(t.Context(), n, ironic.Desired{DisablePowerOff: new(true)})
	abort := g.Transition(t.Context(), n.UUID, ironic.Transition{Target: ironic.TargetAbort})
	for version, err := range map[string]error{"1.93": vmedia, "1.95": power, "1.110": abort} {
		e.Expect(ironic.KindOf(err)).To(Equal(ironic.Rejected))
		e.Expect(err).To(MatchError(And(ContainSubstring("needs Ironic API "+version), ContainSubstring("upgrade Ironic"))))
	}
}

// A replaced Ironic that speaks less must not be answered in a version that it
// does not know for ever.
func TestVersionIsNegotiatedAgainAfterADowngrade(t *testing.T) {
	e := NewWithT(t)
	g, s := newGateway(t, simulator.Options{})
	e.Expect(g.Ready(t.Context())).To(Succeed())
	old := simulator.New(simulator.Options{MaxMinor: 95})
	t.Cleanup(old.Close)
	s.Intercept(func(r *http.Request) *simulator.Fault {
		if r.Header.Get("X-OpenStack-Ironic-API-Version") == "1.115" {
			return &simulator.Fault{Status: http.StatusNotAcceptable, Text: "Version 1.115 was requested but is not supported"}
		}
		return nil
	})
	_, err := g.Get(t.Context(), "x")
	e.Expect(ironic.KindOf(err)).NotTo(Equal(ironic.Gone))
	s.ResetCounts()
	_, _ = g.Get(t.Context(), "x")
	e.Expect(s.Counts()).To(HaveKey("GET /v1/"), "asked for its versions again")
}

func TestOutcomes(t *testing.T) {
	cases := map[string]struct {
		fault simulator.Fault
		kind  ironic.Kind
		text  string
	}{
		"locked":              {simulator.Fault{Status: 409, Text: "Node x is locked by host lab, please retry after the current operation is completed."}, ironic.Busy, "locked by host lab"},
		"name taken":          {simulator.Fault{Status: 409, Text: "A node with name x already exists."}, ironic.Rejected, "already exists"},
		"bad request":         {simulator.Fault{Status: 400, Text: "no such thing"}, ironic.Rejected, "no such thing"},
		"node gone":           {simulator.Fault{Status: 404, Text: "Node x could not be found."}, ironic.Gone, ""},
		"something else gone": {simulator.Fault{Status: 404, Text: "Not Found"}, ironic.Rejected, "Not Found"},
		"no conductor": {
			simulator.Fault{Status: 400, Text: "No valid host was found. Reason: No conductor service registered which supports driver redfish for conductor group ''."},
			ironic.Unavailable, "conductor",
		},
		"conductor full":    {simulator.Fault{Status: 503, Text: "Requested action cannot be performed due to lack of free conductor workers."}, ironic.Unavailable, "lack of free"},
		"broken":            {simulator.Fault{Status: 500, Text: "database is locked"}, ironic.Unavailable, "database is locked"},
		"wrong credentials": {simulator.Fault{Status: 401, Text: "Incorrect username or password"}, ironic.Unavailable, "refused our credentials"},
		"not allowed":       {simulator.Fault{Status: 403, Text: "Access was denied"}, ironic.Unavailable, "role"},
		"too many":          {simulator.Fault{Status: 429, Text: "slow down"}, ironic.Unavailable, "slow down"},
		"cut":               {simulator.Fault{Cut: true}, ironic.Unavailable, "EOF"},
		"silent":            {simulator.Fault{Delay: time.Hour, Cut: true}, ironic.Unavailable, "no answer within 30s"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := NewWithT(t)
				g, s := newGateway(t, simulator.Options{})
				e.Expect(g.Ready(t.Context())).To(Succeed())
				s.Intercept(func(r *http.Request) *simulator.Fault {
					if strings.Contains(r.URL.Path, "/nodes/") {
						return &c.fault
					}
					return nil
				})
				_, err := g.Get(t.Context(), "some-node")
				e.Expect(ironic.KindOf(err)).To(Equal(c.kind), "%v", err)
				e.Expect(err).To(MatchError(And(ContainSubstring("get node of node some-node"), ContainSubstring(c.text))))
				e.Expect(err.Error()).NotTo(ContainSubstring("http://"))
			})
		})
	}
}

func TestAFailedPortListIsNotNotFound(t *testing.T) {
	e := NewWithT(t)
	g, s := newGateway(t, simulator.Options{})
	s.Intercept(func(r *http.Request) *simulator.Fault {
		if r.URL.Path == "/v1/ports" {
			return &simulator.Fault{Status: 500, Text: "boom"}
		}
		return nil
	})
	_, err := g.Find(t.Context(), ironic.Identity{Name: "ns~host", BootMAC: "52:54:00:00:00:01"})
	e.Expect(errors.Is(err, ironic.ErrNotFound)).To(BeFalse())
	e.Expect(ironic.KindOf(err)).To(Equal(ironic.Unavailable))
}

func TestASilentIronicHoldsUpOneCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := NewWithT(t)
		g, s := newGateway(t, simulator.Options{})
		e.Expect(g.Ready(t.Context())).To(Succeed())
		s.ResetCounts()
		e.Expect(g.Ready(t.Context())).To(Succeed())
		e.Expect(s.Total("")).To(BeZero(), "the answer is kept")
		s.Intercept(func(*http.Request) *simulator.Fault { return &simulator.Fault{Delay: time.Hour, Cut: true} })
		pass(6 * time.Second)
		answers := make(chan error, 1)
		go func() { answers <- g.Ready(t.Context()) }()
		synctest.Wait()
		begin := time.Now()
		for range 100 {
			e.Expect(g.Ready(t.Context())).To(Succeed(), "the last answer")
		}
		e.Expect(time.Since(begin)).To(BeZero())
		e.Expect(s.Total("")).To(Equal(1), "one probe for all")
		e.Expect(ironic.KindOf(<-answers)).To(Equal(ironic.Unavailable))
		e.Expect(ironic.KindOf(g.Ready(t.Context()))).To(Equal(ironic.Unavailable))
		s.Intercept(nil)
		pass(6 * time.Second)
		e.Expect(g.Ready(t.Context())).To(Succeed(), "at once, when it is back")
	})
}

func TestFailureReasonPicksTheNewestError(t *testing.T) {
	e := NewWithT(t)
	g, s := newGateway(t, simulator.Options{Behave: func(o simulator.Operation) simulator.Outcome {
		if o.Name == "verify" {
			return simulator.Outcome{Error: "no route to the BMC; password=hunter2hunter2"}
		}
		return simulator.Outcome{}
	}})
	n := enrol(t, g, "ns~host")
	e.Expect(g.Transition(t.Context(), n.UUID, ironic.Transition{Target: ironic.TargetManage})).To(Succeed())
	e.Eventually(func() string { view, _ := s.Node(n.UUID); return view.LastError }, 5*time.Second).ShouldNot(BeEmpty())
	reason, err := g.FailureReason(t.Context(), n.UUID, n.CreatedAt)
	e.Expect(err).NotTo(HaveOccurred())
	e.Expect(reason).To(And(ContainSubstring("no route to the BMC"), Not(ContainSubstring("hunter2"))))
	reason, err = g.FailureReason(t.Context(), n.UUID, time.Now().Add(time.Hour))
	e.Expect(err).NotTo(HaveOccurred())
	e.Expect(reason).To(BeEmpty())
}

func TestSecretsStayOutOfErrors(t *testing.T) {
	e := NewWithT(t)
	s := simulator.New(simulator.Options{Username: "ironflow", Password: "gateway-secret"})
	t.Cleanup(s.Close)
	g, err := ironic.New(t.Context(), ironic.Config{
		URL: "http://ironic.test", Transport: s.Transport(),
		Auth: ironic.Auth{Basic: &ironic.Basic{Username: "ironflow", Password: "gateway-secret"}},
	})
	e.Expect(err).NotTo(HaveOccurred())
	e.Expect(g.Ready(t.Context())).To(Succeed())
	s.Intercept(func(*http.Request) *simulator.Fault {
		return &simulator.Fault{Status: 400, Text: `Bad value 'bmc-secret' for redfish_password; you sent gateway-secret; user data c2VjcmV0IGRhdGE=; ` +
			`{"agent_token": "abcdefgh"} while fetching https://bob:builder@images.test/x`}
	})
	_, enrolErr := g.Enrol(t.Context(), ironic.Enrolment{Name: "n", Driver: "redfish", DriverInfo: map[string]any{"redfish_password": "bmc-secret"}})
	_, _, updateErr := g.Update(t.Context(), &ironic.Node{Row: ironic.Row{UUID: "u"}}, ironic.Desired{DriverInfo: ironic.Fields{"redfish_password": "bmc-secret"}})
	deployErr := g.Transition(t.Context(), "u", ironic.Transition{Target: ironic.TargetActive, ConfigDrive: map[string]any{"user_data": "c2VjcmV0IGRhdGE="}})
	for _, err := range []error{enrolErr, updateErr} {
		e.Expect(err.Error()).NotTo(ContainSubstring("bmc-secret"))
	}
	e.Expect(deployErr.Error()).NotTo(ContainSubstring("c2VjcmV0"))
	for _, err := range []error{enrolErr, updateErr, deployErr} {
		e.Expect(err.Error()).NotTo(Or(ContainSubstring("gateway-secret"), ContainSubstring("abcdefgh"), ContainSubstring("builder")))
		e.Expect(err.Error()).To(ContainSubstring("[redacted]"))
	}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		e.Expect(fmt.Sprintf(format, ironic.Basic{Password: "gateway-secret"})).NotTo(ContainSubstring("gateway-secret"), format)
	}
}

// Headers of a subscription reach Ironic and the BMC; both may say them back.
func TestHeadersStayOutOfErrors(t *testing.T) {
	e := NewWithT(t)
	g, s := newGateway(t, simulator.Options{})
	n := enrol(t, g, "ns~host")
	s.Intercept(func(r *http.Request) *simulator.Fault {
		if r.Method != http.MethodPost {
			return nil
		}
		return &simulator.Fault{Status: 400, Text: `BMC refused {'HttpHeaders': [{'Authorization': 'Basic aXJvbmZsb3c6cHc='}, {'X-Who': 'receiver-key-17'}]}`}
	})
	_, err := g.CreateSubscription(t.Context(), n.UUID, ironic.Subscription{
		Destination: "https://events.test/in", Headers: map[string]string{"Authorization": "Basic aXJvbmZsb3c6cHc=", "X-Who": "receiver-key-17"},
	})
	e.Expect(err).To(MatchError(ContainSubstring("[redacted]")))
	e.Expect(err.Error()).NotTo(Or(ContainSubstring("aXJvbmZsb3c6cHc="), ContainSubstring("receiver-key-17")))
}

func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		"Authorization: Bearer abc.def, X-Seen: yes":     "Authorization: Bearer [redacted], X-Seen: yes",
		`{"Authorization":"Basic Zm9v"}`:                 `{"Authorization":"Basic [redacted]"}`,
		"authorization=Zm9v":                             "authorization=[redacted]",
		"GET http://bob:builder@images.test/a.raw":       "GET http://[redacted]@images.test/a.raw",
		"https://token@images.test/a.raw is gone":        "https://[redacted]@images.test/a.raw is gone",
		"oci://registry.test/os@sha256:0123":             "oci://registry.test/os@sha256:0123",
		"redfish_password: hunter2;":                     "redfish_password: [redacted];",
		"image http://images.test/a.raw is 3 bytes long": "image http://images.test/a.raw is 3 bytes long",
	} {
		NewWithT(t).Expect(ironic.Redact(text)).To(Equal(want))
	}
}

// What Ironic notes on a node ends up in status.error and in events.
func TestSecretsStayOutOfLastError(t *testing.T) {
	e := NewWithT(t)
	g, s := newGateway(t, simulator.Options{})
	n := enrol(t, g, "ns~host")
	s.Edit(n.UUID, map[string]any{"last_error": "cannot fetch http://bob:builder@images.test/a.raw"})
	n, err := g.Get(t.Context(), n.UUID)
	e.Expect(err).NotTo(HaveOccurred())
	e.Expect(n.LastError).To(Equal("cannot fetch http://[redacted]@images.test/a.raw"))
}

func TestBasicCredentialsAreReloaded(t *testing.T) {
	e := NewWithT(t)
	dir := t.TempDir()
	user, password := filepath.Join(dir, "username"), filepath.Join(dir, "password")
	write := func(path, content string, at time.Time) {
		e.Expect(os.WriteFile(path, []byte(content), 0o600)).To(Succeed())
		e.Expect(os.Chtimes(path, at, at)).To(Succeed())
	}
	write(user, "ironflow\n", time.Unix(1, 0))
	write(password, "old-one\n", time.Unix(1, 0))
	s := simulator.New(simulator.Options{Username: "ironflow", Password: "new-one"})
	t.Cleanup(s.Close)
	g, err := ironic.New(t.Context(), ironic.Config{
		URL: "http://ironic.test/v1/", Transport: s.Transport(),
		Auth: ironic.Auth{Basic: &ironic.Basic{UsernameFile: user, PasswordFile: password}},
	})
	e.Expect(err).NotTo(HaveOccurred())
	_, err = g.Get(t.Context(), "x")
	e.Expect(err).To(MatchError(ContainSubstring("refused our credentials")))
	write(password, "new-one\n", time.Unix(2, 0))
	_, err = g.Get(t.Context(), "x")
	e.Expect(ironic.KindOf(err)).To(Equal(ironic.Gone), "let in, and told that there is no such node: %v", err)
}

func TestConfigurationMistakes(t *testing.T) {
	cases := map[string]struct {
		config ironic.Config
		want   string
	}{
		"no URL":               {ironic.Config{}, "no URL"},
		"not a URL":            {ironic.Config{URL: "ironic.example.com:6385"}, "must look like https://host:6385"},
		"another scheme":       {ironic.Config{URL: "ftp://x"}, "must look like"},
		"credentials in URL":   {ironic.Config{URL: "https://a:topsecret@x"}, "must not carry"},
		"half a certificate":   {ironic.Config{URL: "https://x", CertFile: "c"}, "both CertFile and KeyFile"},
		"two ways to log in":   {ironic.Config{URL: "https://x", Auth: ironic.Auth{Basic: &ironic.Basic{}, Keystone: &ironic.Keystone{URL: "k"}}}, "choose one"},
		"Keystone without URL": {ironic.Config{Auth: ironic.Auth{Keystone: &ironic.Keystone{}}}, "identity service's URL"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := NewWithT(t)
			_, err := ironic.New(t.Context(), c.config)
			e.Expect(err).To(MatchError(ContainSubstring(c.want)))
			e.Expect(err.Error()).NotTo(ContainSubstring("topsecret"))
		})
	}
}

// The call that was cut off before its answer may be repeated: nothing happens twice.
func TestCallsAreIdempotent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := NewWithT(t)
		g, s := newGateway(t, simulator.Options{Delays: simulator.Delays{Verify: time.Minute}})
		lost := true
		s.Intercept(func(r *http.Request) *simulator.Fault {
			if r.Method == http.MethodGet || !lost {
				return nil
			}
			lost = false
			return &simulator.Fault{Cut: true, AfterHandling: true}
		})
		twice := func(call func() error) {
			lost = true
			e.Expect(ironic.KindOf(call())).To(Equal(ironic.Unavailable))
			e.Expect(call()).To(Succeed())
		}
		var n *ironic.Node
		twice(func() error {
			var err error
			n, err = g.Enrol(t.Context(), ironic.Enrolment{Name: "ns~h", Driver: "redfish"})
			return err
		})
		e.Expect(s.Nodes()).To(HaveLen(1))
		twice(func() error {
			_, err := g.EnsurePorts(t.Context(), n.UUID, []ironic.Port{{MAC: "52:54:00:00:00:01"}})
			return err
		})
		e.Expect(s.Nodes()[0].Ports).To(HaveLen(1))
		twice(func() error {
			return g.Transition(t.Context(), n.UUID, ironic.Transition{Target: ironic.TargetManage})
		})
		pass(2 * time.Minute)
		twice(func() error { return g.SetMaintenance(t.Context(), n.UUID, true, "x") })
		twice(func() error { return g.Delete(t.Context(), n.UUID) })
		e.Expect(s.Nodes()).To(BeEmpty())
	})
}

func TestMetrics(t *testing.T) {
	e := NewWithT(t)
	registry := prometheus.NewRegistry()
	s := simulator.New(simulator.Options{})
	t.Cleanup(s.Close)
	for _, name := range []string{"east", "west"} {
		g, err := ironic.New(t.Context(), ironic.Config{Name: name, URL: "http://ironic.test", Transport: s.Transport(), Registerer: registry})
		e.Expect(err).NotTo(HaveOccurred(), "several endpoints share the registry")
		_, _ = g.Get(t.Context(), "nobody")
	}
	families, err := registry.Gather()
	e.Expect(err).NotTo(HaveOccurred())
	seen := map[string]int{}
	for _, f := range families {
		seen[f.GetName()] = len(f.GetMetric())
	}
	e.Expect(seen).To(HaveKeyWithValue("ironflow_ironic_request_duration_seconds", 2))
	e.Expect(seen).To(HaveKeyWithValue("ironflow_ironic_request_errors_total", 2))
	e.Expect(seen).To(HaveKeyWithValue("ironflow_ironic_up", 2))
}

// Each metric of the table is described in the documentation, with its labels.
func TestMetricsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/ironic.md")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, m := range ironic.Metrics() {
		row := fmt.Sprintf("| `%s` | %s | %s | %s |", m.Name, m.Type, strings.Join(m.Labels, ", "), m.Help)
		NewWithT(t).Expect(string(page)).To(ContainSubstring(row))
	}
}
