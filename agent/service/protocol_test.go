package service_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/dryrun"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/service"
	"github.com/ironflow/ironflow/test/played"
)

// The fixed points of the protocol: what the agent as it is shipped puts on the
// wire, byte for byte or JSON against JSON that was written by hand from the
// protocol's description; none of it is made by our own types.

const (
	hostID = "33333333-3333-4333-8333-333333333333"
	// otherHost is what the hub calls the host in the reply to its registration.
	otherHost = "44444444-4444-4444-8444-444444444444"
)

// exchange is one request as it came over the wire.
type exchange struct {
	method, uri, body string
	header            http.Header
}

// wireHub answers with texts that were written by hand, and records.
type wireHub struct {
	*httptest.Server
	// polls are the answers to the polls, one after the other; the last one stays.
	polls []string
	// broken polls are answered with 500.
	broken map[int]bool
	// enough ends the test's agent.
	enough func(h *wireHub) bool

	mu     sync.Mutex
	seen   []exchange
	polled int
	stop   context.CancelFunc
}

func newWireHub(t *testing.T, enough func(h *wireHub) bool, polls ...string) *wireHub {
	t.Helper()
	h := &wireHub{polls: polls, enough: enough}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

func (h *wireHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = append(h.seen, exchange{r.Method, r.URL.RequestURI(), string(raw), r.Header})
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/hosts"):
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"id":"`+otherHost+`","kind":"Host","href":"x","status":"discovering","next_step_runner_command":{"command":"","args":[`+
			`"{\"infra_env_id\":\"`+infraEnv+`\",\"host_id\":\"`+otherHost+`\",\"agent_version\":\"`+image+`\"}"],"retry_seconds":0}}`)
	case r.Method == http.MethodGet:
		h.polled++
		if h.broken[h.polled] {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, "<html><body>Application is not available</body></html>")
			break
		}
		_, _ = io.WriteString(w, h.polls[min(h.polled, len(h.polls))-1])
	case r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/progress"):
		w.WriteHeader(http.StatusOK)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
	if h.enough(h) {
		h.stop()
	}
}

// posted are the bodies of the replies to steps.
func (h *wireHub) posted() []string {
	var bodies []string
	for _, e := range h.seen {
		if e.method == http.MethodPost && strings.HasSuffix(e.uri, "/instructions") {
			bodies = append(bodies, e.body)
		}
	}
	return bodies
}

// replies ends the agent after so many replies.
func replies(n int) func(*wireHub) bool {
	return func(h *wireHub) bool { return len(h.posted()) >= n }
}

// serve runs the agent as shipped, in a dry run, until the hub has had enough.
func (h *wireHub) serve(t *testing.T, change func(*service.Config)) {
	t.Helper()
	m := newMachine(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	h.stop = cancel
	config := m.config(&hub{Server: h.Server})
	config.Dry.HostID = hostID
	config.Token = hubclient.GivenToken("s3cret")
	if change != nil {
		change(&config)
	}
	service.Run(ctx, config)
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.enough(h) {
		t.Fatalf("the hub has not had enough after a minute: %v", h.seen)
	}
}

// answer is a poll's answer with the steps in it.
func answer(steps ...string) string {
	return `{"next_instruction_seconds":1,"post_step_action":"continue","instructions":[` + strings.Join(steps, ",") + `]}`
}

// order is a step with arguments, written as JSON by hand but for the quotes around them.
func order(kind, id string, args ...string) string {
	quoted, _ := json.Marshal(args)
	return `{"step_type":"` + kind + `","step_id":"` + id + `","args":` + string(quoted) + `}`
}

func TestProtocolRegistrationAndPoll(t *testing.T) {
	g := NewWithT(t)
	before := time.Now().Unix()
	h := newWireHub(t, func(h *wireHub) bool { return h.polled >= 2 }, answer())
	h.serve(t, nil)
	registration, poll := h.seen[0], h.seen[1]
	g.Expect(registration.method + " " + registration.uri).To(Equal("POST /api/assisted-install/v2/infra-envs/" + infraEnv + "/hosts"))
	g.Expect(registration.body).To(MatchJSON(`{"host_id":"` + hostID + `","discovery_agent_version":"` + image + `"}`))
	g.Expect(registration.header.Get("Content-Type")).To(Equal("application/json"))

	path, query, _ := strings.Cut(poll.uri, "?")
	g.Expect(poll.method+" "+path).To(Equal("GET /api/assisted-install/v2/infra-envs/"+infraEnv+"/hosts/"+otherHost+"/instructions"), "the ids of the hub's reply count from now on")
	g.Expect(poll.body).To(BeEmpty())
	stamp, err := strconv.ParseInt(strings.TrimPrefix(query, "timestamp="), 10, 64)
	g.Expect(err).NotTo(HaveOccurred(), query)
	g.Expect(stamp).To(And(BeNumerically(">=", before), BeNumerically("<=", time.Now().Unix())), "whole seconds of the wall clock")
	ids := map[string]bool{}
	for _, e := range h.seen {
		g.Expect(e.header["X-Secret-Key"]).To(Equal([]string{"s3cret"}))
		g.Expect(e.header["Discovery_agent_version"]).To(Equal([]string{image}), "as Go and every proxy write it")
		id := e.header.Get("X-Request-Id")
		g.Expect(id).To(MatchRegexp(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`))
		g.Expect(ids[id]).To(BeFalse(), "each request has an id of its own")
		ids[id] = true
	}
}

func TestProtocolWithoutAToken(t *testing.T) {
	g := NewWithT(t)
	h := newWireHub(t, func(h *wireHub) bool { return h.polled >= 1 }, answer())
	h.serve(t, func(c *service.Config) { c.Token = nil })
	for _, e := range h.seen {
		g.Expect(e.header).NotTo(HaveKey("X-Secret-Key"))
	}
}

func TestProtocolAnswersWithoutSteps(t *testing.T) {
	for name, text := range map[string]string{
		"null":         `{"next_instruction_seconds":1,"post_step_action":"continue","instructions":null}`,
		"empty":        `{"next_instruction_seconds":1,"post_step_action":"continue","instructions":[]}`,
		"nothing else": `{"next_instruction_seconds":1}`,
		"more members": `{"next_instruction_seconds":1,"instructions":null,"members":["of","later"],"hubs":{"x":1}}`,
	} {
		t.Run(name, func(t *testing.T) {
			h := newWireHub(t, func(h *wireHub) bool { return h.polled >= 2 }, text)
			h.serve(t, nil)
			NewWithT(t).Expect(h.posted()).To(BeEmpty())
		})
	}
}

// The replies of a dry run, in the order of the steps; each is compared as JSON,
// the output as the JSON that it holds.
func TestProtocolReplies(t *testing.T) {
	for name, tc := range map[string]struct{ step, reply, output string }{
		"a list that is null in the request, empty in the reply": {
			order("domain-resolution", "domain-resolution-1a2b3c4d", `{"domains":null}`),
			`{"step_type":"domain-resolution","step_id":"domain-resolution-1a2b3c4d"}`, `{"resolutions":[]}`,
		},
		"a name": {
			order("domain-resolution", "domain-resolution-2", `{"domains":[{"domain_name":"api.c.example"}]}`),
			`{"step_type":"domain-resolution","step_id":"domain-resolution-2"}`,
			`{"resolutions":[{"domain_name":"api.c.example","ipv4_addresses":["192.0.2.10"],"ipv6_addresses":[],"cnames":null}]}`,
		},
		"a remote host without addresses": {
			order("connectivity-check", "connectivity-check-1", `[{"host_id":"`+otherHost+`","nics":null}]`),
			`{"step_type":"connectivity-check","step_id":"connectivity-check-1"}`,
			`{"remote_hosts":[{"host_id":"` + otherHost + `","l2_connectivity":[],"l3_connectivity":[],"mtu_report":[]}]}`,
		},
		"a remote host": {
			order("connectivity-check", "connectivity-check-2", `[{"host_id":"`+otherHost+`","nics":[{"name":"eth0","mac":"52:54:00:00:00:02","ip_addresses":["192.0.2.11"]}]}]`),
			`{"step_type":"connectivity-check","step_id":"connectivity-check-2"}`,
			`{"remote_hosts":[{"host_id":"` + otherHost + `",` +
				`"l2_connectivity":[{"outgoing_nic":"eth0","outgoing_ip_address":"192.0.2.10","remote_ip_address":"192.0.2.11","remote_mac":"52:54:00:00:00:02","successful":true}],` +
				`"l3_connectivity":[{"remote_ip_address":"192.0.2.11","successful":true,"average_rtt_ms":0.3}],"mtu_report":[]}]}`,
		},
		"free addresses": {
			order("free-network-addresses", "free-network-addresses-1", `["192.0.2.0/31"]`),
			`{"step_type":"free-network-addresses","step_id":"free-network-addresses-1"}`, `[{"network":"192.0.2.0/31","free_addresses":["192.0.2.0","192.0.2.1"]}]`,
		},
		"virtual addresses": {
			order("verify-vips", "verify-vips-1", `[{"vip":"192.0.2.5","vip_type":"api"}]`),
			`{"step_type":"verify-vips","step_id":"verify-vips-1"}`, `[{"vip":"192.0.2.5","vip_type":"api","verification":"succeeded"}]`,
		},
		"time sources": {
			order("ntp-synchronizer", "ntp-synchronizer-1", `{"ntp_source":"ntp1.example,192.0.2.1"}`),
			`{"step_type":"ntp-synchronizer","step_id":"ntp-synchronizer-1"}`,
			`{"ntp_sources":[{"source_name":"ntp1.example","source_state":"synced"},{"source_name":"192.0.2.1","source_state":"synced"}]}`,
		},
		"disk speed": {
			order("installation-disk-speed-check", "installation-disk-speed-check-1", `{"path":"/dev/disk/by-id/wwn-0x5000c500a0000001"}`, "480.00"),
			`{"step_type":"installation-disk-speed-check","step_id":"installation-disk-speed-check-1"}`,
			`{"io_sync_duration":1,"path":"/dev/disk/by-id/wwn-0x5000c500a0000001"}`,
		},
		"images": {
			order("container-image-availability", "container-image-availability-1", `{"images":["quay.example/a/b:c"],"timeout":960}`),
			`{"step_type":"container-image-availability","step_id":"container-image-availability-1"}`,
			`{"images":[{"name":"quay.example/a/b:c","result":"success","size_bytes":400000000,"time":10,"download_rate":100}]}`,
		},
		"an API": {
			order("api-vip-connectivity-check", "api-vip-connectivity-check-1", `{"url":"https://api.c.example:22623/config/worker"}`),
			`{"step_type":"api-vip-connectivity-check","step_id":"api-vip-connectivity-check-1"}`,
			`{"is_success":true,"url":"https://api.c.example:22623/config/worker","ignition":"{\"ignition\":{\"version\":\"3.2.0\"}}"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := newWireHub(t, replies(1), answer(tc.step))
			h.serve(t, nil)
			var reply map[string]any
			g.Expect(json.Unmarshal([]byte(h.posted()[0]), &reply)).To(Succeed())
			g.Expect(reply["output"]).To(MatchJSON(tc.output))
			delete(reply, "output")
			rest, err := json.Marshal(reply)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(rest).To(MatchJSON(tc.reply), "members with zero value are absent: no exit_code, no error")
		})
	}
}

func TestProtocolUnknownSteps(t *testing.T) {
	for _, kind := range []string{"execute", "next-step-runner", "dance"} {
		t.Run(kind, func(t *testing.T) {
			g := NewWithT(t)
			h := newWireHub(t, replies(1), answer(order(kind, kind+"-1", "rm", "-rf", "/")))
			h.serve(t, nil)
			g.Expect(h.posted()[0]).To(MatchJSON(`{"step_type":"` + kind + `","step_id":"` + kind + `-1","exit_code":-1,"error":"step type \"` + kind + `\" is not known to this agent"}`))
		})
	}
}

func TestProtocolBadArguments(t *testing.T) {
	g := NewWithT(t)
	h := newWireHub(t, replies(1), answer(order("inventory", "inventory-1", "not-a-uuid")))
	h.serve(t, nil)
	var reply map[string]any
	g.Expect(json.Unmarshal([]byte(h.posted()[0]), &reply)).To(Succeed())
	g.Expect(reply).To(And(HaveKeyWithValue("exit_code", -1.0), HaveKeyWithValue("error", ContainSubstring("not-a-uuid")), Not(HaveKey("output"))))
}

// A result that has not changed is posted once, by the type of its step, until
// a poll fails; failures are posted each time.
func TestProtocolUnchangedResultsAreSilent(t *testing.T) {
	g := NewWithT(t)
	good := func(n string) string {
		return order("verify-vips", "verify-vips-"+n, `[{"vip":"192.0.2.5","vip_type":"api"}]`)
	}
	bad := func(n string) string { return order("inventory", "inventory-"+n, "x") }
	h := newWireHub(t, func(h *wireHub) bool { return h.polled >= 5 && len(h.posted()) >= 6 },
		answer(good("1"), bad("1")), answer(good("2"), bad("2")), "", answer(good("4"), bad("4")), answer(good("5"), bad("5")))
	h.broken = map[int]bool{3: true}
	h.serve(t, nil)
	var ids []string
	for _, body := range h.posted() {
		var reply struct {
			ID string `json:"step_id"`
		}
		g.Expect(json.Unmarshal([]byte(body), &reply)).To(Succeed())
		ids = append(ids, reply.ID)
	}
	g.Expect(ids).To(ConsistOf("verify-vips-1", "inventory-1", "inventory-2", "verify-vips-4", "inventory-4", "inventory-5"),
		"the second is silent; after the failed poll it is said again, and then silent")
}

func TestProtocolInstallIsAlreadyRunning(t *testing.T) {
	g := NewWithT(t)
	request := `{"cluster_id":"` + cluster + `","infra_env_id":"` + infraEnv + `","host_id":"` + otherHost + `","role":"master","boot_device":"/dev/disk/by-id/wwn-0x5000c500a0000001",` +
		`"controller_image":"quay.example/controller:v1","installer_image":"quay.example/installer:v1","check_cvo":false,"service_ips":null}`
	h := newWireHub(t, replies(1), answer(order("install", "install-1", request)), answer(order("install", "install-2", request)))
	h.serve(t, func(c *service.Config) {
		raw, err := os.ReadFile(c.Dry.Scenario)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(os.WriteFile(c.Dry.Scenario, []byte(strings.Replace(string(raw), "defaultStage: 20ms", "defaultStage: 50s", 1)), 0o600)).To(Succeed())
	})
	g.Expect(h.posted()[0]).To(MatchJSON(`{"step_type":"install","step_id":"install-2","exit_code":125,"error":"the container name \"assisted-installer\" is already in use"}`))
	progress := ""
	for _, e := range h.seen {
		if strings.HasSuffix(e.uri, "/progress") {
			progress = e.method + " " + e.uri + " " + e.body
			break
		}
	}
	g.Expect(progress).To(HavePrefix("PUT /api/assisted-install/v2/infra-envs/" + infraEnv + "/hosts/" + otherHost + `/progress {"current_stage":"Starting installation"`))
}

// forReal makes the agent look for itself, in an empty root directory.
func forReal(c *service.Config) {
	c.Dry = dryrun.Settings{}
	refusing := &played.Programs{}
	refusing.On("", played.Fails(125, "manifest unknown"))
	c.Commands = refusing
}

func TestProtocolImageThatCannotBePulled(t *testing.T) {
	g := NewWithT(t)
	h := newWireHub(t, replies(1), answer(order("container-image-availability", "container-image-availability-1", `{"images":["quay.example/a/b:c"],"timeout":960}`)))
	h.serve(t, func(c *service.Config) { identifiable(t, c); forReal(c) })
	var reply map[string]any
	g.Expect(json.Unmarshal([]byte(h.posted()[0]), &reply)).To(Succeed())
	g.Expect(reply["exit_code"]).To(Equal(2.0))
	g.Expect(reply["output"]).To(MatchJSON(`{"images":[{"name":"quay.example/a/b:c","result":"failure"}]}`), "the hub reads it in spite of the code")
	g.Expect(reply["error"]).To(ContainSubstring("manifest unknown"))
}

func TestProtocolLostBootMedium(t *testing.T) {
	g := NewWithT(t)
	h := newWireHub(t, replies(1), answer(order("domain-resolution", "domain-resolution-1", `{"domains":[]}`)))
	h.serve(t, func(c *service.Config) {
		identifiable(t, c)
		forReal(c)
		for file, text := range map[string]string{
			"/run/media/iso/images": "", "/proc/1/mountinfo": "40 22 11:0 / /run/media/iso ro,relatime shared:1 - iso9660 /dev/sr0 ro\n",
		} {
			g.Expect(os.MkdirAll(filepath.Dir(c.Dir.Path(file)), 0o755)).To(Succeed())
			g.Expect(os.WriteFile(c.Dir.Path(file), []byte(text), 0o600)).To(Succeed())
		}
	})
	var reply map[string]any
	g.Expect(json.Unmarshal([]byte(h.posted()[0]), &reply)).To(Succeed())
	g.Expect(reply).To(And(HaveKeyWithValue("exit_code", 256.0), HaveKeyWithValue("error", ContainSubstring("boot medium")), Not(HaveKey("output"))))
}

// identifiable gives the root directory a board serial, so that a real run has an id.
func identifiable(t *testing.T, c *service.Config) {
	t.Helper()
	file := c.Dir.Path("/sys/class/dmi/id/board_serial")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("SER-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}
