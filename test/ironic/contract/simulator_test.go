package contract_test

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/ironic/urlcheck"
	"github.com/ironflow/ironflow/test/ironic/contract"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// callTable are the rows of the project's table of Ironic calls.
var callTable = []string{
	"probe", "by id", "by name", "by MAC", "many", "health", "enrol", "identity", "ports", "manage", "configure", "firmware", "BIOS",
	"inspect", "inventory", "abort", "RAID", "clean", "provide", "instance", "validate", "deploy", "undeploy", "adopt",
	"service", "power", "maintenance", "delete", "media", "subscriptions",
}

// actionTable are the cells of the project's table of actions by state of the node
// that it spells out: for each wish besides those, it says what holds everywhere.
var actionTable = map[ironic.ProvisionState][]string{
	ironic.StateEnroll:        {"register", "adopt", "delete"},
	ironic.StateVerifying:     {"register", "adopt", "delete"},
	ironic.StateManageable:    {"inspect", "prepare", "provision", "deprovision", "adopt", "delete"},
	ironic.StateInspecting:    {"register", "inspect", "delete"},
	ironic.StateInspectWait:   {"inspect", "delete"},
	ironic.StateInspectFailed: {"inspect"},
	ironic.StateAvailable:     {"inspect", "prepare", "provision", "deprovision", "delete"},
	ironic.StateDeploying:     {"register", "deprovision", "delete"},
	ironic.StateDeployWait:    {"register", "provision", "deprovision", "delete"},
	ironic.StateActive:        {"provision", "deprovision", "adopt", "service"},
	ironic.StateDeployFailed:  {"provision", "deprovision"},
	ironic.StateDeleting:      {"deprovision", "delete"},
	ironic.StateCleaning:      {"register", "prepare", "deprovision", "delete"},
	ironic.StateCleanWait:     {"register", "prepare", "deprovision", "delete"},
	ironic.StateCleanFailed:   {"prepare", "deprovision", "provision"},
	ironic.StateError:         {"deprovision"},
	ironic.StateAdopting:      {"adopt"},
	ironic.StateAdoptFailed:   {"adopt"},
	ironic.StateServicing:     {"service", "delete"},
	ironic.StateServiceWait:   {"service", "delete"},
	ironic.StateServiceFailed: {"service"},
}

// wishTable are the wishes of that table.
var wishTable = []string{"register", "inspect", "prepare", "provision", "deprovision", "adopt", "service", "delete", "detach"}

func TestEveryCallAndActionHasACase(t *testing.T) {
	e := NewWithT(t)
	names := map[string]bool{}
	for _, c := range contract.Cases {
		e.Expect(names).NotTo(HaveKey(c.Name), "two cases of one name")
		names[c.Name] = true
	}
	for _, row := range callTable {
		e.Expect(names).To(HaveKey(row), "a call without a contract case")
	}
	spelled := map[ironic.ProvisionState][]string{}
	for _, a := range contract.Actions {
		e.Expect(spelled[a.State]).NotTo(ContainElement(a.Wish), "two rows of one cell: %s, %s", a.State, a.Wish)
		spelled[a.State] = append(spelled[a.State], a.Wish)
	}
	for state, wishes := range actionTable {
		e.Expect(spelled[state]).To(ContainElements(wishes), string(state))
		e.Expect(contract.Homes).To(HaveKey(state))
		for _, wish := range wishTable {
			cell := contract.Cell(state, wish)
			e.Expect(names).To(HaveKey(cell.Case), "the wish %q in state %q has no contract case", wish, state)
		}
	}
	e.Expect(spelled).To(HaveLen(len(actionTable)))
	e.Expect(contract.Wishes).To(Equal(wishTable))
}

// TestTablesAreDocumented keeps the tables of docs/ironic.md equal to the cases.
func TestTablesAreDocumented(t *testing.T) {
	e := NewWithT(t)
	page, err := os.ReadFile("../../../docs/ironic.md")
	e.Expect(err).NotTo(HaveOccurred())
	rows := strings.Split(string(page), "\n")
	var calls []string
	for _, row := range rows {
		cells := strings.Split(row, "|")
		if len(cells) == 4 && strings.Contains(cells[2], "/v1") {
			for name := range strings.SplitSeq(cells[1], ",") {
				calls = append(calls, strings.TrimSpace(name))
			}
		}
	}
	for _, row := range callTable {
		e.Expect(calls).To(ContainElement(row), "a call that docs/ironic.md does not name")
	}
	documented := func(format string, cells ...any) {
		row := regexp.MustCompile("^" + fmt.Sprintf(format, cells...) + "$")
		e.Expect(slices.ContainsFunc(rows, row.MatchString)).To(BeTrue(), "docs/ironic.md has no row %s", row)
	}
	for _, a := range contract.Actions {
		documented(`\| %s \| %s \| .+ \| %s \|`, a.State, a.Wish, a.Case)
	}
	for _, wish := range contract.Wishes {
		documented(`\| any other \| %s \| .+ \| .+ \|`, wish)
	}
	for state, home := range contract.Homes {
		documented(`\| %s \| %s \|`, state, home)
	}
}

func TestSimulator(t *testing.T) {
	const short = 30 * time.Millisecond
	s := simulator.New(simulator.Options{
		Delays:    simulator.Delays{Verify: short, Inspect: 10 * short, Clean: 5 * short, Deploy: 10 * short, Service: 5 * short, Power: short, Work: short},
		Heartbeat: short, Behave: behave,
	})
	t.Cleanup(s.Close)
	var machines atomic.Int64
	contract.Run(t, contract.Target{
		Connect: func(t testing.TB, wrap func(http.RoundTripper) http.RoundTripper) *ironic.Gateway {
			g, err := ironic.New(t.Context(), ironic.Config{URL: "http://ironic.test", Transport: s.Transport(), Wrap: wrap})
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
			return g
		},
		ImageURL: "http://images.test/live.iso", Patience: 10 * time.Second, Look: 5 * time.Millisecond, Events: true,
		Watch: ironic.WatchOptions{FeedBusy: 2 * time.Millisecond, FeedIdle: 20 * time.Millisecond, InFlight: time.Millisecond, Sweep: time.Second},
		NewMachine: func(testing.TB) contract.Machine {
			i := machines.Add(1)
			return contract.Machine{
				Driver: "redfish", MAC: fmt.Sprintf("52:54:00:00:%02x:%02x", i>>8, i&0xff),
				DriverInfo: map[string]any{
					"redfish_address": "https://bmc.test", "redfish_system_id": fmt.Sprint("/redfish/v1/Systems/", i),
					"redfish_username": "admin", "redfish_password": "bmc password", "deploy_iso": "http://images.test/live.iso",
				},
			}
		},
	})
}

// behave makes the contract's step what the real ramdisk has it be, and a
// BMC refuse wrong credentials.
func behave(o simulator.Operation) simulator.Outcome {
	if o.Name == "verify" || o.Name == "undeploy" {
		info, _ := o.Node.Fields["driver_info"].(map[string]any)
		if info["redfish_password"] == contract.WrongPassword {
			return simulator.Outcome{Error: "Failed to get power state: authentication failed"}
		}
	}
	if o.Name == "media" && strings.HasSuffix(o.Step, contract.MissingImage) {
		return simulator.Outcome{Error: "404 Not Found"}
	}
	if o.Node.Name == urlcheck.NodeName {
		return simulator.FetchMedia(o)
	}
	if !strings.HasSuffix(o.Step, "."+contract.StepName) {
		return simulator.Outcome{}
	}
	for _, field := range []string{"deploy_step", "clean_step", "service_step"} {
		step, _ := o.Node.Fields[field].(map[string]any)
		args, _ := step["args"].(map[string]any)
		if args["fail"] == true {
			return simulator.Outcome{Error: "Step " + o.Step + " failed on node " + o.Node.UUID + ". " + contract.FailureText}
		}
		if seconds, ok := args["seconds"].(float64); ok {
			return simulator.Outcome{Delay: time.Duration(seconds) * time.Second}
		}
	}
	return simulator.Outcome{}
}
