package contract

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega" //nolint:staticcheck // a package of test cases, though its files are not _test.go

	"github.com/ironflow/ironflow/test/machine/ironictest"
)

// testCase is one row of the contract.
type testCase struct {
	name string
	// clean makes a node with automated cleaning.
	clean bool
	run   func(t *testing.T, m *machine)
}

var cases = []testCase{
	{name: "inspection", run: inspection},
	{name: "automated cleaning", clean: true, run: automatedCleaning},
	{name: "failing clean step", run: failingCleanStep},
	{name: "deployment", run: deployment},
	{name: "failing deploy step", run: failingDeployStep},
	{name: "unexpected exception", run: unexpectedException},
	{name: "access to the commands", run: access},
	{name: "power cycle behind Ironic's back", run: powerCycle},
	{name: "restart with its token", run: restartWithToken},
	{name: "reboot by Ironic in mid step", run: rebootByIronic},
}

// hardText has what texts get lost by: lines, quotes, alphabets, length.
var hardText = "first line: \"quoted\"\nzweite Zeile: äöü €\nтретья строка 日本語 🔥\n" + strings.Repeat("x", 1500)

func inspection(t *testing.T, m *machine) {
	g := NewWithT(t)
	m.Manageable()
	m.Provision("inspect", nil)
	m.Until("manageable")
	g.Expect(m.bootCount()).To(Equal(1))
	inventory, plugin := m.Inventory()
	g.Expect(inventory).To(And(HaveKey("cpu"), HaveKey("memory"), HaveKey("disks"), HaveKey("system_vendor"), HaveKey("boot"), HaveKey("hostname"),
		HaveKeyWithValue("interfaces", ContainElement(HaveKeyWithValue("mac_address", m.mac)))))
	g.Expect(inventory["memory"]).To(And(HaveKey("total"), HaveKey("physical_mb")))
	g.Expect(inventory["cpu"]).To(And(HaveKeyWithValue("count", BeNumerically(">", 0)), HaveKeyWithValue("architecture", "x86_64")))
	g.Expect(plugin).To(And(HaveKey("configuration"), HaveKey("boot_interface")))
}

func automatedCleaning(t *testing.T, m *machine) {
	g := NewWithT(t)
	m.Manageable()
	m.Provision("provide", nil)
	step := m.UntilView("the agent cleans", func(v ironictest.View) bool {
		return v.CleanStep["step"] == StepErase || v.ProvisionState == "available"
	})
	g.Expect(step.Internal).To(HaveKey("agent_cached_clean_steps"))
	m.Until("available")
	g.Expect(m.bootCount()).To(Equal(1))
}

func failingCleanStep(t *testing.T, m *machine) {
	m.Manageable()
	m.Clean(StepFail, map[string]any{ArgText: hardText})
	m.UntilView("cleaning has failed", func(v ironictest.View) bool { return v.ProvisionState == "clean failed" })
	NewWithT(t).Expect(m.History()).To(ContainElement(ContainSubstring(hardText)))
}

func deployment(t *testing.T, m *machine) {
	g := NewWithT(t)
	m.Available()
	m.Deploy(StepEcho, map[string]any{"word": "hello", "number": 1})
	during := m.UntilView("the step that nobody asked for runs by itself, after ours", func(v ironictest.View) bool {
		return v.DeployStep["step"] == StepAfter || v.ProvisionState == "deploy failed"
	})
	g.Expect(during.LastError).To(BeEmpty())
	g.Expect(during.Internal).To(And(
		HaveKeyWithValue("agent_url", HavePrefix("https://127.")), HaveKeyWithValue("agent_version", "13.0.0"),
		HaveKey("agent_last_heartbeat"), HaveKey("agent_verify_ca"), HaveKeyWithValue("agent_secret_token", "******"),
		HaveKey("hardware_manager_version"), HaveKey("agent_cached_deploy_steps")))
	m.Until("active")
	g.Expect(m.bootCount()).To(BeNumerically(">=", 1))
}

func failingDeployStep(t *testing.T, m *machine) {
	m.Available()
	m.Deploy(StepFail, map[string]any{ArgText: hardText})
	m.UntilView("the deployment has failed", func(v ironictest.View) bool { return v.ProvisionState == "deploy failed" })
	NewWithT(t).Expect(m.History()).To(ContainElement("Deploy step deploy." + StepFail + " failed on node " + m.UUID + ". " + hardText))
}

func unexpectedException(t *testing.T, m *machine) {
	m.Available()
	m.Deploy(StepRaise, map[string]any{ArgText: "odd thing"})
	m.UntilView("the deployment has failed", func(v ironictest.View) bool { return v.ProvisionState == "deploy failed" })
	NewWithT(t).Expect(m.History()).To(ContainElement(And(
		ContainSubstring("Unexpected exception performing deploy step "+StepRaise+". "), HaveSuffix("odd thing"))))
}

// inStep deploys with a step that does not end, and returns the node in it.
func inStep(m *machine) ironictest.View {
	m.Available()
	m.Deploy(StepHang, nil)
	return m.UntilView("the agent is in the step", func(v ironictest.View) bool {
		return v.ProvisionState == "wait call-back" && v.DeployStep["step"] == StepHang
	})
}

// access talks to the agent as somebody else than Ironic.
func access(t *testing.T, m *machine) {
	g := NewWithT(t)
	agent := inStep(m).Internal["agent_url"].(string)
	g.Expect(m.token()).To(Equal("******"), "the token is handed out once")
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the certificate is not the question here
		DisableKeepAlives: true,
	}}
	for _, c := range []struct {
		method, path, body string
		code               int
		text               string
	}{
		{http.MethodGet, "/v1/status", "", 200, `"version": "13.0.0"`},
		{http.MethodGet, "/v1/commands/", "", 401, "Token invalid."},
		{http.MethodGet, "/v1/commands/?agent_token=******", "", 401, "Token invalid."},
		{http.MethodPost, "/v1/commands/?agent_token=nonsense", `{"name": "standby.power_off", "params": {}}`, 401, "Token invalid."},
		{http.MethodGet, "/v1/commands/some-id", "", 401, "Token invalid."},
		{http.MethodGet, "/v2/", "", 404, ""},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, agent+c.path, strings.NewReader(c.body))
		g.Expect(err).NotTo(HaveOccurred())
		answer, err := client.Do(req)
		g.Expect(err).NotTo(HaveOccurred())
		raw, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(answer.StatusCode).To(Equal(c.code), "%s %s", c.method, c.path)
		g.Expect(spaced(raw)).To(ContainSubstring(c.text), "%s %s", c.method, c.path)
	}
	m.Provision("deleted", nil)
	m.Until("available")
}

// spaced is JSON as Python writes it, so that both agents' answers read alike.
func spaced(raw []byte) string {
	var v map[string]any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	var b strings.Builder
	for name, value := range v {
		text, _ := json.Marshal(value)
		b.WriteString(`"` + name + `": ` + string(text) + "\n")
	}
	return b.String()
}

// powerCycle restarts the machine in mid step. The fresh agent gets no token and
// must not go on by itself; once Ironic has rebooted the machine, the next step
// runs in the agent after it, and the one that was cut off is not repeated.
func powerCycle(t *testing.T, m *machine) {
	g := NewWithT(t)
	before := inStep(m)
	m.cycle()
	g.Consistently(func() ironictest.View { return m.Get() }, 15*time.Second, time.Second).Should(And(
		HaveField("ProvisionState", "wait call-back"),
		HaveField("DeployStep", HaveKeyWithValue("step", StepHang)),
		HaveField("Internal", HaveKeyWithValue("agent_last_heartbeat", before.Internal["agent_last_heartbeat"]))), "the locked agent is silent")
	m.Power("rebooting")
	m.Until("active")
	g.Expect(m.bootCount()).To(BeNumerically(">=", 3))
}

// rebootByIronic is the same without the power cycle before.
func rebootByIronic(t *testing.T, m *machine) {
	inStep(m)
	m.Power("rebooting")
	m.UntilView("the next step runs", func(v ironictest.View) bool {
		return v.DeployStep["step"] != StepHang && len(v.DeployStep) > 0 || v.ProvisionState == "active"
	})
	m.Until("active")
	NewWithT(t).Expect(m.bootCount()).To(BeNumerically(">=", 2))
}

// restartWithToken restarts the agent alone. With token, certificate and address
// kept it goes on where Ironic is: the step that was cut off is over.
func restartWithToken(t *testing.T, m *machine) {
	before := inStep(m)
	m.restartAgent()
	after := m.UntilView("the next step runs", func(v ironictest.View) bool {
		return v.DeployStep["step"] == StepAfter || v.ProvisionState == "active"
	})
	if url, ok := after.Internal["agent_url"]; ok {
		NewWithT(t).Expect(url).To(Equal(before.Internal["agent_url"]))
	}
	m.Until("active")
}
