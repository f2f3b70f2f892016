// Package played is a hub of a few calls for tests of the program inside a cluster. It
// has the rules of the protocol that such a program meets: stages of hosts only go up,
// the cluster is finalizing once its hosts are Done, the certificate of the routes is
// taken then, and the end follows from what was reported. It notes every change of its
// records, so that a test sees whether something was done twice.
package played

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ironflow/ironflow/hub/wire"
)

// ClusterID is the cluster's.
const ClusterID = "33333333-3333-4333-8333-333333333333"

// InfraEnvID is that of all hosts.
const InfraEnvID = "11111111-1111-4111-8111-111111111111"

// Hub is a played hub.
type Hub struct {
	URL string

	mu      sync.Mutex
	cluster wire.Cluster
	hosts   []wire.Host
	effects []string
	calls   int
	logs    []byte
	// signed are the events of signing requests, as NAME HOST TYPE REQUEST.
	signed []string
	routed bool
	// answer replaces the answer of all calls when it is not 0.
	answer int
	// ended has nobody answer any more.
	ended bool
	// after is told of each write that was taken, before its answer is sent.
	after func()
}

// Host is a host at a stage, with an address.
func Host(n int, name string, role wire.HostRole, stage wire.HostStage, address string) wire.Host {
	inventory, _ := json.Marshal(map[string]any{"hostname": name, "interfaces": []any{map[string]any{"ipv4_addresses": []string{address + "/24"}}}}) // plain values
	return wire.Host{
		ID: fmt.Sprintf("22222222-2222-4222-8222-%012d", n), InfraEnvID: InfraEnvID, Kind: wire.HostKindHost, RequestedHostname: name, Role: role,
		Status: wire.HostStatusInstallingInProgress, Inventory: string(inventory), Progress: &wire.HostProgressInfo{CurrentStage: stage},
	}
}

// Start starts a hub with a cluster that is being installed.
func Start(t testing.TB, hosts []wire.Host, operators ...wire.MonitoredOperator) *Hub {
	t.Helper()
	h, stop := Serve(hosts, operators...)
	t.Cleanup(stop)
	return h
}

// Serve is Start for those that are no test: they stop it.
func Serve(hosts []wire.Host, operators ...wire.MonitoredOperator) (h *Hub, stop func()) {
	h = &Hub{hosts: hosts, cluster: wire.Cluster{ID: ClusterID, Name: "inside", Status: wire.ClusterStatusInstalling, MonitoredOperators: operators}}
	server := httptest.NewServer(http.HandlerFunc(h.serve))
	h.URL = server.URL
	return h, server.Close
}

// Do runs a change of the records by the test.
func (h *Hub) Do(change func(c *wire.Cluster, hosts []wire.Host)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(&h.cluster, h.hosts)
}

// Answer has all calls answered with a status from now on; 0 ends that.
func (h *Hub) Answer(code int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answer = code
}

// End has the hub answer nothing any more, as one whose host is gone.
func (h *Hub) End() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
}

// After has the function called after each write that was taken.
func (h *Hub) After(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.after = f
}

// Effects are the changes of the records, in order.
func (h *Hub) Effects() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.effects)
}

// Status is the cluster's.
func (h *Hub) Status() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.cluster.Status
}

// Calls are how many there were.
func (h *Hub) Calls() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.calls
}

// Signed are the events of signing requests that came, as NAME HOST TYPE REQUEST.
func (h *Hub) Signed() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.signed)
}

// Logs is the archive that came last.
func (h *Hub) Logs() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.logs
}

func (h *Hub) serve(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	ended := h.ended
	h.mu.Unlock()
	if ended {
		panic(http.ErrAbortHandler) //nolint:forbidigo // net/http's own way to break a connection off
	}
	code, body, after := h.handle(r, raw)
	if after != nil {
		after()
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // who hangs up needs no answer
}

func (h *Hub) handle(r *http.Request, raw []byte) (int, any, func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls++
	if h.answer != 0 {
		return h.answer, wire.Error{Reason: "played"}, nil
	}
	path := strings.TrimPrefix(r.URL.Path, "/api/assisted-install/v2")
	own := "/clusters/" + ClusterID
	if r.Method == http.MethodGet {
		switch path {
		case own:
			return http.StatusOK, h.cluster, nil
		case own + "/hosts":
			return http.StatusOK, h.hosts, nil
		}
		return http.StatusNotFound, wire.Error{Reason: "no such thing"}, nil
	}
	code, answer := h.write(r.Method+" "+strings.TrimPrefix(path, own), raw)
	if code >= http.StatusMultipleChoices {
		return code, wire.Error{Reason: fmt.Sprint(answer)}, nil
	}
	h.settle()
	return code, answer, h.after
}

// write carries one out; an error's text is the answer.
func (h *Hub) write(call string, raw []byte) (int, any) {
	switch {
	case strings.HasSuffix(call, "/progress") && strings.Contains(call, "/hosts/"):
		return h.progress(call, raw)
	case call == "PUT /progress":
		var p wire.ClusterFinalizingProgress
		_ = json.Unmarshal(raw, &p)
		if h.cluster.Progress == nil || h.cluster.Progress.FinalizingStage != p.FinalizingStage {
			h.cluster.Progress = &wire.ClusterProgressInfo{FinalizingStage: p.FinalizingStage, FinalizingStageStartedAt: wire.At(time.Now())}
			h.effects = append(h.effects, "stage "+string(p.FinalizingStage))
		}
		return http.StatusOK, nil
	case call == "PUT /monitored-operators":
		var p wire.OperatorMonitorReport
		_ = json.Unmarshal(raw, &p)
		for i := range h.cluster.MonitoredOperators {
			if o := &h.cluster.MonitoredOperators[i]; o.Name == p.Name {
				if o.Status != p.Status {
					h.effects = append(h.effects, "operator "+o.Name+" "+string(p.Status))
				}
				o.Status, o.StatusInfo, o.Version = p.Status, p.StatusInfo, p.Version
				return http.StatusOK, nil
			}
		}
		return http.StatusNotFound, "no such operator"
	case call == "POST /uploads/ingress-cert":
		if h.cluster.Status != wire.ClusterStatusFinalizing {
			return http.StatusBadRequest, "not finalizing"
		}
		if !h.routed {
			h.routed = true
			h.effects = append(h.effects, "ingress CA")
		}
		return http.StatusCreated, nil
	case call == "POST /actions/complete-installation":
		var p wire.CompletionParams
		_ = json.Unmarshal(raw, &p)
		if !p.IsSuccess {
			h.effects = append(h.effects, "degraded: "+p.ErrorInfo)
		}
		if h.cluster.Status == wire.ClusterStatusFinalizing {
			h.cluster.Status = wire.ClusterStatusInstalled
			h.effects = append(h.effects, "installed")
		}
		return http.StatusAccepted, h.cluster
	case call == "POST /events":
		var e wire.Event
		var p wire.SigningProps
		_ = json.Unmarshal(raw, &e)
		_ = json.Unmarshal([]byte(e.Props), &p)
		h.signed = append(h.signed, strings.Join([]string{e.Name, wire.Value(e.HostID), p.Type, p.Request}, " "))
		return http.StatusCreated, nil
	case call == "PUT /logs-progress":
		return http.StatusNoContent, nil
	case call == "POST /logs":
		h.logs = raw
		return http.StatusNoContent, nil
	}
	return http.StatusNotFound, "no such call: " + call
}

func (h *Hub) progress(call string, raw []byte) (int, any) {
	var p wire.HostProgress
	_ = json.Unmarshal(raw, &p)
	order := []wire.HostStage{wire.HostStageRebooting, wire.HostStageWaitingForIgnition, wire.HostStageConfiguring, wire.HostStageJoined, wire.HostStageDone}
	for i := range h.hosts {
		o := &h.hosts[i]
		if !strings.Contains(call, o.ID) {
			continue
		}
		if slices.Index(order, p.CurrentStage) < slices.Index(order, o.Progress.CurrentStage) || o.Status == wire.HostStatusInstalled && p.CurrentStage != o.Progress.CurrentStage {
			return http.StatusConflict, "the host is further"
		}
		if p.CurrentStage != o.Progress.CurrentStage {
			h.effects = append(h.effects, "host "+o.RequestedHostname+" "+string(p.CurrentStage))
		}
		o.Progress = &wire.HostProgressInfo{CurrentStage: p.CurrentStage}
		if p.CurrentStage == wire.HostStageDone {
			o.Status = wire.HostStatusInstalled
		}
		return http.StatusOK, nil
	}
	return http.StatusNotFound, "no such host"
}

// settle is what follows: a cluster whose hosts are Done is finalizing.
func (h *Hub) settle() {
	if h.cluster.Status == wire.ClusterStatusInstalling && !slices.ContainsFunc(h.hosts, func(o wire.Host) bool { return o.Status != wire.HostStatusInstalled }) {
		h.cluster.Status = wire.ClusterStatusFinalizing
		h.effects = append(h.effects, "finalizing")
	}
}
