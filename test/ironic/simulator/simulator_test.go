package simulator_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// client makes plain requests to a simulated Ironic.
type client struct {
	t *testing.T
	*simulator.Server
}

// do returns the status and the decoded answer.
func (c client) do(method, path string, body any) (int, map[string]any) {
	c.t.Helper()
	return c.doAs("1.110", method, path, body)
}

// doAs asks in a version of the API.
func (c client) doAs(version, method, path string, body any) (int, map[string]any) {
	c.t.Helper()
	e := NewWithT(c.t)
	raw, err := json.Marshal(body)
	e.Expect(err).NotTo(HaveOccurred())
	r, err := http.NewRequestWithContext(c.t.Context(), method, "http://ironic.test/v1/"+path, bytes.NewReader(raw))
	e.Expect(err).NotTo(HaveOccurred())
	r.Header.Set("X-OpenStack-Ironic-API-Version", version)
	answer, err := c.Transport().RoundTrip(r)
	e.Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	var decoded map[string]any
	_ = json.NewDecoder(answer.Body).Decode(&decoded) // some answers are empty
	return answer.StatusCode, decoded
}

func (c client) enrol(name string) string {
	c.t.Helper()
	status, n := c.do("POST", "nodes", map[string]any{"name": name, "driver": "redfish"})
	NewWithT(c.t).Expect(status).To(Equal(http.StatusCreated))
	return n["uuid"].(string)
}

func (c client) provision(uuid, target string) int {
	status, _ := c.do("PUT", "nodes/"+uuid+"/states/provision", map[string]any{"target": target})
	return status
}

func newClient(t *testing.T, o simulator.Options) client {
	c := client{t, simulator.New(o)}
	t.Cleanup(c.Close)
	return c
}

func (c client) state(uuid string) string {
	n, _ := c.Node(uuid)
	return n.ProvisionState
}

// pass lets time go by in the test's bubble and waits until all is quiet.
func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the clock of testing/synctest: nobody waits
	synctest.Wait()
}

func TestPagesCoverAllNodesInEachOrder(t *testing.T) {
	c := newClient(t, simulator.Options{MaxLimit: 7})
	var uuids []string
	for i := range 25 {
		uuids = append(uuids, c.enrol(fmt.Sprint("n", i)))
	}
	for _, i := range []int{3, 19, 3, 7} {
		c.Edit(uuids[i], map[string]any{"power_state": "power on"})
	}
	newest := append([]string{uuids[7], uuids[3], uuids[19]}, without(uuids, 3, 7, 19)...)
	for name, want := range map[string][]string{"": uuids, "&sort_key=updated_at&sort_dir=desc": newest} {
		e := NewWithT(t)
		var got []string
		marker := ""
		for {
			_, page := c.do("GET", "nodes?fields=uuid&limit=1000"+name+marker, nil)
			for _, n := range page["nodes"].([]any) {
				got = append(got, n.(map[string]any)["uuid"].(string))
			}
			if page["next"] == nil {
				break
			}
			e.Expect(page["nodes"]).To(HaveLen(7), "max_limit cuts silently")
			marker = "&marker=" + got[len(got)-1]
		}
		e.Expect(got).To(Equal(want), "sorted by %q", name)
	}
	status, _ := c.do("GET", "nodes?fields=uuid,updated_at", nil)
	NewWithT(t).Expect(status).To(Equal(http.StatusBadRequest), "updated_at cannot be listed")
}

func without(all []string, drop ...int) []string {
	var kept []string
	for i, s := range all {
		keep := true
		for _, d := range drop {
			keep = keep && i != d
		}
		if keep {
			kept = append(kept, s)
		}
	}
	return kept
}

func TestLocksAnswerConflict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := NewWithT(t)
		c := newClient(t, simulator.Options{Delays: simulator.Delays{Verify: time.Minute}})
		uuid := c.enrol("n")
		e.Expect(c.provision(uuid, "manage")).To(Equal(http.StatusAccepted))
		e.Expect(c.provision(uuid, "manage")).To(Equal(http.StatusConflict))
		status, _ := c.do("PATCH", "nodes/"+uuid, []any{map[string]any{"op": "add", "path": "/extra/a", "value": 1}})
		e.Expect(status).To(Equal(http.StatusConflict))
		status, answer := c.do("PUT", "nodes/"+uuid+"/states/power", map[string]any{"target": "power on"})
		e.Expect(status).To(Equal(http.StatusConflict))
		e.Expect(answer["error_message"]).To(ContainSubstring("locked by host"))
		pass(time.Minute + time.Second)
		synctest.Wait()
		e.Expect(c.state(uuid)).To(Equal("manageable"))
	})
}

func TestRestartFailsWhatTheConductorWorkedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := NewWithT(t)
		c := newClient(t, simulator.Options{Delays: simulator.Delays{Verify: time.Minute, Deploy: time.Minute}})
		working, waiting := c.enrol("working"), c.enrol("waiting")
		e.Expect(c.provision(working, "manage")).To(Equal(http.StatusAccepted))
		c.Edit(waiting, map[string]any{"provision_state": "available"})
		e.Expect(c.provision(waiting, "active")).To(Equal(http.StatusAccepted))
		pass(time.Second)
		c.Restart()
		e.Expect(c.state(working)).To(Equal("enroll"))
		n, _ := c.Node(working)
		e.Expect(n.LastError).To(ContainSubstring("can't be resumed by conductor"))
		e.Expect(c.state(waiting)).To(Equal("wait call-back"))
		pass(2 * time.Minute)
		synctest.Wait()
		e.Expect(c.state(working)).To(Equal("enroll"), "the old operation has ended")
		e.Expect(c.state(waiting)).To(Equal("active"))
	})
}

func TestALostAgentTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := NewWithT(t)
		c := newClient(t, simulator.Options{Delays: simulator.Delays{Deploy: time.Minute}, CallbackTimeout: 10 * time.Minute})
		uuid := c.enrol("n")
		c.Edit(uuid, map[string]any{"provision_state": "available"})
		e.Expect(c.provision(uuid, "active")).To(Equal(http.StatusAccepted))
		pass(time.Second)
		c.LoseAgent(uuid, true)
		pass(12 * time.Minute)
		synctest.Wait()
		n, _ := c.Node(uuid)
		e.Expect(n.ProvisionState).To(Equal("deploy failed"))
		e.Expect(n.LastError).To(ContainSubstring("Timeout reached while waiting for callback"))
	})
}

func TestFaultsAndCounts(t *testing.T) {
	e := NewWithT(t)
	c := newClient(t, simulator.Options{})
	uuid := c.enrol("n")
	c.ResetCounts()
	c.Intercept(func(r *http.Request) *simulator.Fault {
		if r.Method == http.MethodDelete {
			return &simulator.Fault{Status: http.StatusServiceUnavailable, Text: "later", AfterHandling: true}
		}
		return nil
	})
	status, answer := c.do("DELETE", "nodes/"+uuid, nil)
	e.Expect(status).To(Equal(http.StatusServiceUnavailable))
	e.Expect(answer["error_message"]).To(ContainSubstring("later"))
	status, _ = c.do("GET", "nodes/"+uuid, nil)
	e.Expect(status).To(Equal(http.StatusNotFound), "it took effect all the same")
	e.Expect(c.Counts()).To(Equal(map[string]int{"DELETE /v1/nodes/{node}": 1, "GET /v1/nodes/{node}": 1}))
	e.Expect(c.Total("GET ")).To(Equal(1))
}

// TestHealthIsShownWhereTheVersionHasIt reads health in a node and in lists: each
// change makes the node the newest, and clients older than it cannot ask for it.
func TestHealthIsShownWhereTheVersionHasIt(t *testing.T) {
	e := NewWithT(t)
	c := newClient(t, simulator.Options{})
	uuid := c.enrol("ill")
	c.Edit(c.enrol("well"), map[string]any{"health": "OK"})
	e.Expect(c.Edit(uuid, map[string]any{"health": "Critical"})).To(BeTrue())
	const rows = "nodes?fields=uuid,health&sort_key=updated_at&sort_dir=desc"
	status, list := c.doAs("1.109", "GET", rows, nil)
	e.Expect(status).To(Equal(http.StatusOK))
	e.Expect(list["nodes"].([]any)[0]).To(Equal(map[string]any{"uuid": uuid, "health": "Critical"}))
	status, _ = c.doAs("1.108", "GET", rows, nil)
	e.Expect(status).To(Equal(http.StatusNotAcceptable))
	_, n := c.doAs("1.109", "GET", "nodes/ill", nil)
	e.Expect(n).To(HaveKeyWithValue("health", "Critical"))
	_, n = c.doAs("1.108", "GET", "nodes/ill", nil)
	e.Expect(n).NotTo(HaveKey("health"))
	c.Edit(uuid, map[string]any{"health": nil})
	_, n = c.do("GET", "nodes/ill", nil)
	e.Expect(n).To(HaveKeyWithValue("health", BeNil()))
}

// TestALostBMCIsAPowerFailure takes a node through the fault of the power sync and
// back, as Ironic does it.
func TestALostBMCIsAPowerFailure(t *testing.T) {
	e := NewWithT(t)
	c := newClient(t, simulator.Options{})
	uuid := c.enrol("n")
	c.Edit(uuid, map[string]any{"provision_state": "available", "power_state": "power on"})
	c.LoseBMC("n", "HTTP GET https://192.0.2.1/redfish/v1/Systems returned code 401")
	_, n := c.do("GET", "nodes/n", nil)
	e.Expect(n).To(And(HaveKeyWithValue("fault", "power failure"), HaveKeyWithValue("maintenance", true), HaveKeyWithValue("power_state", BeNil())))
	e.Expect(n["last_error"]).To(And(ContainSubstring("max retries exceeded"), ContainSubstring("code 401")))
	e.Expect(n["maintenance_reason"]).To(Equal(n["last_error"]))
	e.Expect(c.provision(uuid, "active")).To(Equal(http.StatusBadRequest), "a node in maintenance is not deployed")
	c.FindBMC("n", "power off")
	_, n = c.do("GET", "nodes/n", nil)
	e.Expect(n).To(And(HaveKeyWithValue("fault", BeNil()), HaveKeyWithValue("maintenance", false), HaveKeyWithValue("power_state", "power off")))
}

// BenchmarkFeed is one feed read with 10,000 nodes.
func BenchmarkFeed(b *testing.B) {
	s := simulator.New(simulator.Options{})
	defer s.Close()
	ask := func(method, path string, body []byte) {
		r, _ := http.NewRequest(method, "http://ironic.test/v1/"+path, bytes.NewReader(body))
		r.Header.Set("X-OpenStack-Ironic-API-Version", "1.110")
		answer, err := s.Transport().RoundTrip(r)
		if err != nil {
			b.Fatal(err)
		}
		answer.Body.Close()
	}
	for i := range 10000 {
		ask("POST", "nodes", fmt.Appendf(nil, `{"name": "n%d", "driver": "redfish"}`, i))
	}
	for b.Loop() {
		ask("GET", "nodes?fields=uuid,name,provision_state,last_error&sort_key=updated_at&sort_dir=desc&limit=50", nil)
	}
}

// TestReactionsAreMeasured lets an operation end and looks at the node later:
// lists do not count, and neither does the second look.
func TestReactionsAreMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		c := client{t, simulator.New(simulator.Options{Delays: simulator.Delays{Verify: time.Second}})}
		defer c.Close()
		g.Expect(c.provision(c.enrol("a"), "manage")).To(Equal(http.StatusAccepted))
		<-time.After(3 * time.Second)
		c.do("GET", "nodes", nil)
		g.Expect(c.Reactions()).To(BeEmpty())
		c.do("GET", "nodes/a", nil)
		c.do("GET", "nodes/a", nil)
		g.Expect(c.Reactions()).To(Equal([]simulator.Reaction{{Operation: "verify", Took: 2 * time.Second}}))
		c.ResetCounts()
		g.Expect(c.Reactions()).To(BeEmpty())
	})
}
