package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/test/lab"
)

// fault is one thing that goes wrong, and how the demo shows it.
type fault struct {
	// says tells the person what will happen.
	says string
	// machine is what is wrong with the first machine.
	machine []scenario.Fault
	// timeout shortens Ironic's patience with ramdisks; zero keeps it.
	timeout time.Duration
	// run waits for the failure to show and mends it as a person would.
	run func(ctx context.Context, d *demo, f fault) error
	// reason is what has to be read on the host.
	reason *regexp.Regexp
}

// faults are the choices of FAULT=. Each ends in recovery.
var faults = map[string]fault{
	"noboot": {
		says:    "the first machine powers on but never boots its live image",
		machine: []scenario.Fault{{Kind: scenario.FaultNoBoot}},
		timeout: 30 * time.Second,
		run:     showAndRetry,
		reason:  regexp.MustCompile(`has not read the live image`),
	},
	"truncated-read": {
		says:    "the first machine's BMC loses the connection while it reads the live image",
		machine: []scenario.Fault{{Kind: scenario.FaultTruncatedRead}},
		timeout: 30 * time.Second,
		run:     showAndRetry,
		reason:  regexp.MustCompile(`has read \d+ % of the live image`),
	},
	"agent-dies": {
		says:    "the agent of the first machine crashes again and again while it installs",
		machine: []scenario.Fault{{Kind: scenario.FaultAgentDies, Stage: "Writing image to disk", Times: 3}},
		run:     showAndRetry,
		reason:  regexp.MustCompile(`(?i)restart|killed|signal|crash|died`),
	},
	"install": {
		says:    "the installation of the first machine fails for good while it writes the image",
		machine: []scenario.Fault{{Kind: scenario.FaultInstall, Stage: "Writing image to disk", Text: installText}},
		run:     showAndRetry,
		reason:  regexp.MustCompile(regexp.QuoteMeta(installText)),
	},
	"ironic-restart": {
		says:   "Ironic is restarted while it works on hosts; it fails those at its start",
		run:    restartIronic,
		reason: regexp.MustCompile(`(?i)restart|conductor`),
	},
}

// installText is the reason that the failing agent gives.
const installText = "disk sda: write error at sector 204800: Input/output error"

// settle is how long the demo leaves a failure on the screen before it goes on.
const settle = 3 * time.Second

// showAndRetry waits until the first host shows the reason, says what a person
// would do, and does that.
func showAndRetry(ctx context.Context, d *demo, f fault) error {
	name := d.machines[0].name
	broken, err := d.waitFor(ctx, func(v view.View) bool { return v.Name == name && f.reason.MatchString(v.Reason) })
	if err != nil {
		return fmt.Errorf("host %s never showed the reason %q: %w", name, f.reason, err)
	}
	d.failureShown(broken)
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(settle):
	}
	d.screen.Say("retrying as a person would: kubectl ironflow retry %s -n %s", name, namespace)
	return annotate(ctx, d.client, name, names.Retry, time.Now().UTC().Format(time.RFC3339Nano))
}

// failureShown prints what a person reads on the host.
func (d *demo) failureShown(v view.View) {
	d.screen.Say("host %s shows: %s", v.Name, v.Reason)
	if v.NextAction != "" {
		d.screen.Say("next action for a person: %s", v.NextAction)
	}
}

// waitFor returns the first host that the condition holds for.
func (d *demo) waitFor(ctx context.Context, condition func(view.View) bool) (view.View, error) {
	ctx, cancel := context.WithTimeout(ctx, d.options.patience())
	defer cancel()
	for {
		hosts, err := readHosts(ctx, d.client)
		if i := slices.IndexFunc(hosts, condition); err == nil && i >= 0 {
			return hosts[i], nil
		}
		select {
		case <-ctx.Done():
			return view.View{}, context.Cause(ctx)
		case <-time.After(look):
		}
	}
}

// interrupted are the states that the conductor fails at its start.
var interrupted = []string{"deploying", "cleaning", "inspecting", "verifying", "deleting"}

// restartIronic restarts Ironic while it holds a node in one of those states,
// and waits until a host shows it.
func restartIronic(ctx context.Context, d *demo, f fault) error {
	if _, err := d.waitFor(ctx, func(v view.View) bool { return v.State == string(metal3v1.StateProvisioning) }); err != nil {
		return err
	}
	if err := waitNode(ctx, d.lab.Ironic, interrupted); err != nil {
		return err
	}
	d.screen.Say("killing Ironic in the middle of its work and starting it again")
	d.lab.Ironic.Kill()
	if err := d.lab.Ironic.Start(ctx); err != nil {
		return fmt.Errorf("start Ironic again: %w", err)
	}
	shown, err := d.waitEvent(ctx, f.reason)
	if err != nil {
		return err
	}
	d.screen.Say("host shows: %s", shown)
	return nil
}

// waitNode waits until Ironic has a node in one of the states.
func waitNode(ctx context.Context, ironic *lab.Ironic, states []string) error {
	for {
		nodes, err := listNodes(ctx, ironic)
		if err == nil && slices.ContainsFunc(nodes, func(n node) bool { return slices.Contains(states, n.State) }) {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// node is what the demo asks Ironic about.
type node struct {
	UUID  string `json:"uuid"`
	Name  string `json:"name"`
	State string `json:"provision_state"`
}

func listNodes(ctx context.Context, ironic *lab.Ironic) ([]node, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, ironic.URL+"/v1/nodes?fields=uuid,name,provision_state", http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("X-OpenStack-Ironic-API-Version", "1.89")
	resp, err := ironic.HTTPClient().Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("list nodes: %s", resp.Status)
	}
	var list struct {
		Nodes []node `json:"nodes"`
	}
	return list.Nodes, json.NewDecoder(resp.Body).Decode(&list)
}
