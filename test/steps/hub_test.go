package steps_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ironflow/ironflow/hub/wire"
)

const (
	infraEnv = "11111111-1111-4111-8111-111111111111"
	cluster  = "22222222-2222-4222-8222-222222222222"
	prefix   = "/api/assisted-install/v2"
	image    = "registry.example/ironflow/agent:v1"
	diskPath = "/dev/sda"
)

// behaviour is what a hub does besides.
type behaviour int

const (
	// away answers nothing but that it is not there.
	away behaviour = iota + 1
	// endsInstallation orders the end of an installation that writes the disk.
	endsInstallation
)

// hub is a hub of one host: it registers it and, when asked to, orders the
// installation once. What it answers otherwise is empty.
type hub struct {
	url string

	mu       sync.Mutex
	install  bool
	behaves  behaviour
	host     string
	ordered  bool
	progress []wire.HostProgress
}

func newHub(t *testing.T, listener net.Listener) *hub {
	t.Helper()
	h := &hub{}
	server := httptest.NewUnstartedServer(h)
	server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	h.url = server.URL
	return h
}

// reset forgets the host; install says whether it will be installed.
func (h *hub) reset(install bool, behaves behaviour) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.install, h.behaves, h.host, h.ordered, h.progress = install, behaves, "", false, nil
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.behaves == away {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	path := strings.TrimPrefix(r.URL.Path, prefix)
	switch r.Method + " " + path[strings.LastIndex(path, "/"):] {
	case "POST /hosts":
		h.register(w, r)
	case "GET /instructions":
		h.instruct(w)
	case "PUT /progress":
		var p wire.HostProgress
		_ = json.NewDecoder(r.Body).Decode(&p)
		h.progress = append(h.progress, p)
	default: // replies, logs
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusNoContent)
	}
}

func (h *hub) register(w http.ResponseWriter, r *http.Request) {
	var params wire.HostCreateParams
	_ = json.NewDecoder(r.Body).Decode(&params)
	h.host = params.HostID
	args, _ := json.Marshal(map[string]string{"infra_env_id": infraEnv, "host_id": h.host, "agent_version": image})
	answer(w, http.StatusCreated, wire.HostRegistrationResponse{
		Host:                  wire.Host{ID: h.host, Status: wire.HostStatusDiscovering, Kind: "Host"},
		NextStepRunnerCommand: &wire.HostRegistrationResponseNextStepRunnerCommand{Args: []string{string(args)}},
	})
}

func (h *hub) instruct(w http.ResponseWriter) {
	action := wire.StepsPostStepActionContinue
	steps := wire.Steps{NextInstructionSeconds: 60, PostStepAction: &action}
	if h.install && !h.ordered {
		h.ordered = true
		raw, _ := json.Marshal(wire.InstallCmdRequest{
			ClusterID: cluster, InfraEnvID: infraEnv, HostID: h.host, Role: wire.HostRoleMaster,
			BootDevice: diskPath, ControllerImage: image, InstallerImage: image,
		})
		steps.Instructions = append(steps.Instructions, wire.Step{StepType: wire.StepTypeInstall, StepID: "install-1", Args: []string{string(raw)}})
	}
	if h.behaves == endsInstallation {
		steps.NextInstructionSeconds = 1
		if slices.ContainsFunc(h.progress, func(p wire.HostProgress) bool { return p.CurrentStage == writeStage }) {
			steps.Instructions = append(steps.Instructions, wire.Step{StepType: wire.StepTypeStopInstallation, StepID: "stop-1"})
		}
	}
	answer(w, http.StatusOK, steps)
}

func answer(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v)
}
