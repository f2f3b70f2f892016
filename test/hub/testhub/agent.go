package testhub

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// Caller makes single calls over HTTP, as an agent or as a user.
type Caller struct {
	hub    *Hub
	header http.Header
	// query is added to that of each call.
	query url.Values
}

// Agent returns a caller with an agent's token.
func (h *Hub) Agent(token string) *Caller {
	return &Caller{hub: h, header: http.Header{wire.HeaderAgentToken: {token}, wire.HeaderAgentVersion: {"ironflow-agent:test"}}}
}

// User returns a caller with the user's token.
func (h *Hub) User() *Caller {
	return &Caller{hub: h, header: http.Header{"Authorization": {"Bearer " + h.UserToken}}}
}

// With returns the caller with one more header.
func (c *Caller) With(name, value string) *Caller {
	header := c.header.Clone()
	header.Set(name, value)
	return &Caller{hub: c.hub, header: header, query: c.query}
}

// WithQuery returns the caller with one more parameter in the query of each call.
func (c *Caller) WithQuery(name, value string) *Caller {
	query := url.Values{}
	maps.Copy(query, c.query)
	query.Set(name, value)
	return &Caller{hub: c.hub, header: c.header, query: query}
}

// Token is the agent's token that the caller has.
func (c *Caller) Token() string { return c.header.Get(wire.HeaderAgentToken) }

// Do calls an operation below /v2 and decodes a good answer into out. It
// returns the status code and the raw body.
func (c *Caller) Do(t testing.TB, method, path string, in, out any) (int, string) {
	t.Helper()
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		must(t, err)
		body = bytes.NewReader(raw)
	}
	return c.Send(t, method, path, "application/json", body, out)
}

// Send is Do with a body of any kind.
func (c *Caller) Send(t testing.TB, method, path, contentType string, body io.Reader, out any) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, c.hub.URL+rest.Base+"/v2"+path, body)
	must(t, err)
	r.Header = c.header.Clone()
	r.Header.Set("Content-Type", contentType)
	if c.query != nil {
		query := r.URL.Query()
		maps.Copy(query, c.query)
		r.URL.RawQuery = query.Encode()
	}
	answer, err := c.hub.Client().Do(r)
	must(t, err)
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	must(t, err)
	if out != nil && answer.StatusCode < 300 {
		if err := json.Unmarshal(raw, out); err != nil {
			t.Fatalf("%s %s: %v in %s", method, path, err, raw)
		}
	}
	return answer.StatusCode, string(raw)
}

// Register registers a host, which must succeed.
func (c *Caller) Register(t testing.TB, key store.HostKey) wire.HostRegistrationResponse {
	t.Helper()
	var out wire.HostRegistrationResponse
	code, raw := c.Do(t, http.MethodPost, "/infra-envs/"+key.InfraEnvID+"/hosts", wire.HostCreateParams{HostID: key.HostID, DiscoveryAgentVersion: "ironflow-agent:test"}, &out)
	expect(t, code, http.StatusCreated, raw)
	return out
}

// Exchange registers a host as an agent does that takes a token of the host's own, and
// returns the caller that has it.
func (c *Caller) Exchange(t testing.TB, key store.HostKey) *Caller {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.hub.URL+rest.Base+"/v2/infra-envs/"+key.InfraEnvID+"/hosts",
		strings.NewReader(`{"host_id":"`+key.HostID+`","discovery_agent_version":"ironflow-agent:test"}`))
	must(t, err)
	r.Header = c.header.Clone()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(wire.HeaderHostToken, wire.HostTokenWanted)
	answer, err := c.hub.Client().Do(r)
	must(t, err)
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	must(t, err)
	expect(t, answer.StatusCode, http.StatusCreated, string(raw))
	token := answer.Header.Get(wire.HeaderHostToken)
	if token == "" {
		t.Fatal("the hub gave no token of the host's own")
	}
	return c.With(wire.HeaderAgentToken, token)
}

// Poll asks for instructions.
func (c *Caller) Poll(t testing.TB, key store.HostKey) wire.Steps {
	t.Helper()
	var out wire.Steps
	code, raw := c.Do(t, http.MethodGet, hostPath(key)+"/instructions", nil, &out)
	expect(t, code, http.StatusOK, raw)
	return out
}

// Reply posts the result of a step.
func (c *Caller) Reply(t testing.TB, key store.HostKey, reply wire.StepReply) {
	t.Helper()
	code, raw := c.Do(t, http.MethodPost, hostPath(key)+"/instructions", reply, nil)
	expect(t, code, http.StatusNoContent, raw)
}

// Progress reports a stage.
func (c *Caller) Progress(t testing.TB, key store.HostKey, stage wire.HostStage, info string) {
	t.Helper()
	code, raw := c.Do(t, http.MethodPut, hostPath(key)+"/progress", wire.HostProgress{CurrentStage: stage, ProgressInfo: info}, nil)
	expect(t, code, http.StatusOK, raw)
}

// Inventory is a small machine that can be installed; seed makes its addresses
// and disk its own.
func Inventory(seed int) wire.Inventory {
	mac := fmt.Sprintf("02:00:00:00:%02x:%02x", seed>>8, seed&0xff)
	return wire.Inventory{
		Hostname: fmt.Sprintf("node-%d", seed),
		CPU:      &wire.CPU{Count: 8, Architecture: "x86_64", ModelName: "Test"},
		Memory:   &wire.Memory{PhysicalBytes: 32 << 30, UsableBytes: 32 << 30},
		Disks: []wire.Disk{{
			ID: fmt.Sprintf("/dev/disk/by-id/wwn-0x5000c500000%05x", seed), Path: "/dev/sda", Name: "sda", DriveType: wire.DriveTypeSsd, SizeBytes: 240_000_000_000,
			InstallationEligibility: wire.DiskInstallationEligibility{Eligible: true},
		}},
		Interfaces:   []wire.Interface{{Name: "eno1", MACAddress: mac, Type: "physical", Ipv4Addresses: []string{fmt.Sprintf("192.0.2.%d/24", seed%250+1)}}},
		Routes:       []wire.Route{{Destination: "0.0.0.0", Gateway: "192.0.2.254", Interface: "eno1", Family: 2}},
		SystemVendor: &wire.SystemVendor{Manufacturer: "Example", ProductName: "Model", SerialNumber: fmt.Sprintf("SN%05d", seed)},
	}
}

// Answer replies to the step as a healthy machine would. An install step is not
// answered: its reply comes when the installation has ended.
func (c *Caller) Answer(t testing.TB, key store.HostKey, step wire.Step, inventory wire.Inventory) {
	t.Helper()
	output := map[wire.StepType]any{
		wire.StepTypeInventory:                  inventory,
		wire.StepTypeNTPSynchronizer:            wire.NTPSynchronizationResponse{NTPSources: []wire.NTPSource{{SourceName: "192.0.2.1", SourceState: wire.SourceStateSynced}}},
		wire.StepTypeInstallationDiskSpeedCheck: wire.DiskSpeedCheckResponse{IoSyncDuration: 1, Path: diskOf(step)},
		wire.StepTypeConnectivityCheck:          wire.ConnectivityReport{},
		wire.StepTypeDomainResolution:           wire.DomainResolutionResponse{},
	}[step.StepType]
	if output == nil {
		return
	}
	raw, err := json.Marshal(output)
	must(t, err)
	c.Reply(t, key, wire.StepReply{StepType: step.StepType, StepID: step.StepID, Output: string(raw)})
}

// UntilInstall polls and answers as a healthy machine would until the hub orders the
// installation, and returns the order. The hub prepares it beside the calls, so the
// order takes a moment.
func (c *Caller) UntilInstall(t testing.TB, key store.HostKey, inventory wire.Inventory) wire.Step {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range 10_000 {
		for _, step := range c.Poll(t, key).Instructions {
			if step.StepType == wire.StepTypeInstall {
				return step
			}
			c.Answer(t, key, step, inventory)
		}
		select {
		case <-t.Context().Done():
		case <-tick.C:
		}
	}
	t.Fatal("the hub never ordered the installation:\n" + c.hub.Timeline(t))
	return wire.Step{}
}

func diskOf(step wire.Step) string {
	var request wire.DiskSpeedCheckRequest
	if len(step.Args) == 0 || json.Unmarshal([]byte(step.Args[0]), &request) != nil {
		return ""
	}
	return request.Path
}

func hostPath(key store.HostKey) string {
	return "/infra-envs/" + key.InfraEnvID + "/hosts/" + key.HostID
}

func expect(t testing.TB, got, want int, raw string) {
	t.Helper()
	if got != want {
		t.Fatalf("the hub answered %d, want %d: %s", got, want, raw)
	}
}
