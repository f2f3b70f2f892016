package service_test

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/hub/wire"
)

const (
	infraEnv = "11111111-1111-4111-8111-111111111111"
	cluster  = "22222222-2222-4222-8222-222222222222"
	prefix   = "/api/assisted-install/v2"
	image    = "quay.example/ironflow/agent:v1"
)

// hub is a double of the hub: it keeps what it was told, and answers polls with
// what decide says.
type hub struct {
	*httptest.Server
	// decide returns the steps for a poll; it is called with the lock held.
	decide func(h *hub) wire.Steps

	mu            sync.Mutex
	registrations int
	polls         int
	host          string
	hosts         map[string]bool
	replies       []wire.StepReply
	progress      []wire.HostProgress
	logs          int
	logStates     []wire.LogsState
	refuse        int      // registrations to refuse with 503
	names         string   // the agent image that answers to registrations name; empty means our own
	versions      []string // the agents' versions, as polls tell them
}

func newHub(t *testing.T, decide func(h *hub) wire.Steps) *hub {
	t.Helper()
	h := &hub{decide: decide, hosts: map[string]bool{}}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, prefix)
	switch key := r.Method + " " + path[strings.LastIndex(path, "/"):]; key {
	case "POST /hosts":
		h.register(w, r)
	case "GET /instructions":
		h.polls++
		h.versions = append(h.versions, r.Header.Get("discovery_agent_version"))
		w.Header().Set(wire.HeaderPollGap, "1")
		write(w, http.StatusOK, h.decide(h))
	case "POST /instructions":
		var reply wire.StepReply
		read(r, &reply)
		h.replies = append(h.replies, reply)
		w.WriteHeader(http.StatusNoContent)
	case "PUT /progress":
		var progress wire.HostProgress
		read(r, &progress)
		h.progress = append(h.progress, progress)
		w.WriteHeader(http.StatusOK)
	case "PUT /logs-progress":
		var params wire.LogsProgressParams
		read(r, &params)
		h.logStates = append(h.logStates, params.LogsState)
		w.WriteHeader(http.StatusNoContent)
	case "POST /logs":
		n, _ := io.Copy(io.Discard, r.Body)
		if n > 0 {
			h.logs++
		}
		w.WriteHeader(http.StatusNoContent)
	default:
		http.Error(w, "<html><body>no such page</body></html>", http.StatusNotFound)
	}
}

func (h *hub) register(w http.ResponseWriter, r *http.Request) {
	if h.refuse > 0 {
		h.refuse--
		write(w, http.StatusServiceUnavailable, wire.Error{Kind: "Error", Code: "503", Reason: "come back later"})
		return
	}
	var params wire.HostCreateParams
	read(r, &params)
	h.registrations++
	h.host = params.HostID
	h.hosts[h.host] = true
	args, _ := json.Marshal(map[string]string{"infra_env_id": infraEnv, "host_id": h.host, "agent_version": cmp.Or(h.names, image)})
	write(w, http.StatusCreated, wire.HostRegistrationResponse{
		Host:                  wire.Host{ID: h.host, Status: wire.HostStatusDiscovering, Kind: "Host"},
		NextStepRunnerCommand: &wire.HostRegistrationResponseNextStepRunnerCommand{Args: []string{string(args)}},
	})
}

// replied tells whether a reply of the type has come.
func (h *hub) replied(kind wire.StepType) bool {
	return slices.ContainsFunc(h.replies, func(r wire.StepReply) bool { return r.StepType == kind })
}

func (h *hub) stages() []wire.HostStage {
	var out []wire.HostStage
	for _, p := range h.progress {
		out = append(out, p.CurrentStage)
	}
	return slices.Compact(out)
}

// order is an install step for the host's disk.
func (h *hub) order(disk string) wire.Step {
	raw, _ := json.Marshal(wire.InstallCmdRequest{
		ClusterID: cluster, InfraEnvID: infraEnv, HostID: h.host, Role: wire.HostRoleMaster,
		BootDevice: disk, ControllerImage: image, InstallerImage: image,
	})
	return step(wire.StepTypeInstall, string(raw))
}

func step(kind wire.StepType, args ...string) wire.Step {
	return wire.Step{StepType: kind, StepID: string(kind) + "-" + uuid.NewString()[:8], Args: args}
}

func instructions(seconds int64, steps ...wire.Step) wire.Steps {
	action := wire.StepsPostStepActionContinue
	return wire.Steps{NextInstructionSeconds: seconds, PostStepAction: &action, Instructions: steps}
}

func write(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v)
}

func read(r *http.Request, v any) { _ = json.NewDecoder(r.Body).Decode(v) }
