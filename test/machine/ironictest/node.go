// Package ironictest gives tests a real Ironic with machines behind it, and
// drives its nodes.
//
// A [Hall] is the lab's Ironic, its emulated BMCs and, behind each, a [Machine]
// that runs an agent of the real protocol. [Ironic] makes nodes with plain
// requests and nothing of Ironflow's own gateway in between: what it sees is what
// Ironic says. A [Node] is taken through its states; failures end the test with
// the node's own words.
package ironictest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// microversion is what the tests speak: the newest that Ironic has.
const microversion = "latest"

// Patience bounds each wait for a state.
const Patience = 3 * time.Minute

// poll is how often a node is looked at.
const poll = time.Second

// Ironic is a running Ironic's API.
type Ironic struct {
	// URL is the API's address without a version.
	URL string
	// HTTP trusts Ironic and authenticates itself.
	HTTP *http.Client
}

// Call makes one request; the answer's body goes into out unless that is nil.
func (i Ironic) Call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, i.URL+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-OpenStack-Ironic-API-Version", microversion)
	answer, err := i.HTTP.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s %s: %s: %s", method, path, answer.Status, raw)
	}
	if out == nil || len(raw) == 0 {
		return nil
	}
	return json.Unmarshal(raw, out)
}

// Spec is a node to be made.
type Spec struct {
	Name string
	// MAC is the port's address, by which IPA finds the node.
	MAC string
	// BMC, SystemID, User and Password reach the BMC.
	BMC, SystemID, User, Password string
	// CAFile is trusted for the BMC; a path on Ironic's machine.
	CAFile string
	// ISO is the live image.
	ISO string
	// Clean turns automated cleaning on.
	Clean bool
}

// Node is one node in a test.
type Node struct {
	t      testing.TB
	ironic Ironic
	UUID   string
}

// Enroll makes the node and its port.
func (i Ironic) Enroll(t testing.TB, s Spec) *Node {
	t.Helper()
	n := &Node{t: t, ironic: i}
	var made struct {
		UUID string `json:"uuid"`
	}
	n.do(http.MethodPost, "/v1/nodes", map[string]any{
		"name": s.Name, "driver": "redfish", "automated_clean": s.Clean,
		"driver_info": map[string]any{
			"redfish_address": s.BMC, "redfish_system_id": s.SystemID, "redfish_username": s.User, "redfish_password": s.Password,
			"redfish_verify_ca": s.CAFile, "deploy_iso": s.ISO,
		},
		"properties": map[string]any{"cpu_arch": "x86_64", "capabilities": "boot_mode:uefi"},
	}, &made)
	n.UUID = made.UUID
	n.do(http.MethodPost, "/v1/ports", map[string]any{"node_uuid": n.UUID, "address": strings.ToLower(s.MAC)}, nil)
	return n
}

// do makes a request about the node and repeats it while Ironic is busy with it.
func (n *Node) do(method, path string, in, out any) {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), Patience)
	defer cancel()
	for {
		err := n.ironic.Call(ctx, method, path, in, out)
		if err == nil {
			return
		}
		if !strings.Contains(err.Error(), "409") || !wait(ctx) {
			n.t.Fatal(err)
		}
	}
}

// wait lets some time pass and reports whether there is more.
func wait(ctx context.Context) bool {
	timer := time.NewTimer(poll)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (n *Node) path() string { return "/v1/nodes/" + n.UUID }

// View is what tests look at in a node.
type View struct {
	ProvisionState string         `json:"provision_state"`
	PowerState     string         `json:"power_state"`
	LastError      string         `json:"last_error"`
	Maintenance    bool           `json:"maintenance"`
	DeployStep     map[string]any `json:"deploy_step"`
	CleanStep      map[string]any `json:"clean_step"`
	Internal       map[string]any `json:"driver_internal_info"`
	Properties     map[string]any `json:"properties"`
}

// Get reads the node.
func (n *Node) Get() View {
	n.t.Helper()
	var v View
	n.do(http.MethodGet, n.path(), nil, &v)
	return v
}

// Provision asks for the target state; more are further members of the request.
func (n *Node) Provision(target string, more map[string]any) {
	n.t.Helper()
	body := map[string]any{"target": target}
	maps.Copy(body, more)
	n.do(http.MethodPut, n.path()+"/states/provision", body, nil)
}

// Power asks for a power state, e.g. "rebooting".
func (n *Node) Power(target string) {
	n.t.Helper()
	n.do(http.MethodPut, n.path()+"/states/power", map[string]string{"target": target}, nil)
}

// EndMaintenance takes the node out of maintenance, into which Ironic puts it
// when cleaning fails.
func (n *Node) EndMaintenance() {
	n.t.Helper()
	n.do(http.MethodDelete, n.path()+"/maintenance", nil, nil)
}

// failures are states that a node does not leave by itself.
var failures = []string{"deploy failed", "clean failed", "inspect failed", "error", "adopt failed", "service failed"}

// Until waits for the provision state and fails the test at another final failure.
func (n *Node) Until(state string) View {
	n.t.Helper()
	return n.UntilView("its state is "+state, func(v View) bool {
		if v.ProvisionState != state && slices.Contains(failures, v.ProvisionState) {
			n.t.Fatalf("node is %q instead of %q: last_error %q, history %q", v.ProvisionState, state, v.LastError, n.History())
		}
		return v.ProvisionState == state
	})
}

// UntilView waits until the node is as the condition says.
func (n *Node) UntilView(what string, condition func(View) bool) View {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), Patience)
	defer cancel()
	for {
		v := n.Get()
		if condition(v) {
			return v
		}
		if !wait(ctx) {
			n.t.Fatalf("waiting until %s: node is %q, step %v, last_error %q, history %q", what, v.ProvisionState, v.DeployStep, v.LastError, n.History())
		}
	}
}

type historyEntry struct {
	Event    string `json:"event"`
	Severity string `json:"severity"`
	Created  string `json:"created_at"`
}

// History returns the texts of the node's errors, the newest first.
func (n *Node) History() []string {
	n.t.Helper()
	var list struct {
		History []historyEntry `json:"history"`
	}
	n.do(http.MethodGet, n.path()+"/history?detail=true", nil, &list)
	slices.SortStableFunc(list.History, func(a, b historyEntry) int { return strings.Compare(b.Created, a.Created) })
	var out []string
	for _, h := range list.History {
		if h.Severity == "ERROR" {
			out = append(out, h.Event)
		}
	}
	return out
}

// Inventory is what inspection stored.
func (n *Node) Inventory() (inventory, plugin map[string]any) {
	n.t.Helper()
	var out struct {
		Inventory  map[string]any `json:"inventory"`
		PluginData map[string]any `json:"plugin_data"`
	}
	n.do(http.MethodGet, n.path()+"/inventory", nil, &out)
	return out.Inventory, out.PluginData
}

// Available takes a fresh node to available, without inspection.
func (n *Node) Available() {
	n.t.Helper()
	n.Manageable()
	n.Provision("provide", nil)
	n.Until("available")
}

// Manageable takes a fresh node to manageable.
func (n *Node) Manageable() {
	n.t.Helper()
	n.Provision("manage", nil)
	n.Until("manageable")
}

// Deploy asks for a deployment with the one custom step.
func (n *Node) Deploy(step string, args map[string]any) {
	n.t.Helper()
	if args == nil {
		args = map[string]any{}
	}
	n.Provision("active", map[string]any{"deploy_steps": []any{
		map[string]any{"interface": "deploy", "step": step, "args": args, "priority": 80},
	}})
}

// Clean asks for manual cleaning with the one step.
func (n *Node) Clean(step string, args map[string]any) {
	n.t.Helper()
	n.Provision("clean", map[string]any{"clean_steps": []any{map[string]any{"interface": "deploy", "step": step, "args": args}}})
}
