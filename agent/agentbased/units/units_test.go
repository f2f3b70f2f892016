package units_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/test/needs"
)

// row is what the protocol's description says of a unit.
type row struct {
	// workflows: a automated, p appliance, n add nodes.
	workflows string
	// after and before are units that must be there; conditions are all there are.
	after, before, conditions string
	// start is what its command ends with.
	start string
}

const nodeZero = "/etc/assisted/node0"

// described is written by hand from the protocol's table of services.
var described = map[string]row{
	"selinux.service":                    {"apn", "", "agent.service", "/sys/fs/selinux/policy", "semodule --install /usr/local/share/assisted-service/assisted.cil"},
	"pre-network-manager-config.service": {"apn", "", "NetworkManager.service", "/etc/assisted/network", "pre-network-manager-config"},
	"agent-interactive-console.service": {
		"an", "NetworkManager.service pre-network-manager-config.service ironflow-nmstate.service", "getty@tty1.service agent.service node-zero.service",
		"/dev/fb0 !" + nodeZero, "agent-interactive-console",
	},
	"set-hostname.service":               {"apn", "pre-network-manager-config.service", "agent.service", "/etc/assisted/hostnames", "set-hostname"},
	"agent-network-status.service":       {"apn", "pre-network-manager-config.service ironflow-nmstate.service", "node-zero.service", "", "network-status"}, // not the protocol's
	"node-zero.service":                  {"apn", "agent-interactive-console.service pre-network-manager-config.service ironflow-nmstate.service", "agent.service", "", "node-zero"},
	"assisted-service-pod.service":       {"apn", "node-zero.service", "", nodeZero, "/usr/bin/true"},
	"assisted-service-db.service":        {"apn", "assisted-service-pod.service", "", nodeZero, "/usr/bin/true"},
	"assisted-service.service":           {"apn", "assisted-service-pod.service assisted-service-db.service", "", nodeZero, "ironflow hub agent-based"},
	"agent-register-cluster.service":     {"ap", "assisted-service.service", "", nodeZero, "agent-installer-client registerCluster"},
	"agent-register-infraenv.service":    {"apn", "agent-register-cluster.service agent-import-cluster.service", "", nodeZero, "agent-installer-client registerInfraEnv"},
	"apply-host-config.service":          {"apn", "agent-register-infraenv.service", "", nodeZero, "agent-installer-client configure"},
	"install-status.service":             {"apn", "node-zero.service", "", nodeZero, "install-status"},
	"start-cluster-installation.service": {"ap", "apply-host-config.service", "", nodeZero, "start-cluster-installation"},
	"agent.service":                      {"apn", "node-zero.service set-hostname.service", "", "", "start-agent"},
	"agent-console-messages.service":     {"apn", "", "", "", "report-messages"}, // not the protocol's: the texts of the console reach the API
	"load-config-iso@.service":           {"p", "", "", "!/etc/assisted/no-config-image", "load-config-iso %I"},
	"agent-check-config-image.service":   {"p", "", "", "!/etc/assisted/rendezvous-host.env !/etc/assisted/no-config-image", "check-config-image"},
	"agent-import-cluster.service":       {"n", "assisted-service.service agent-auth-token-status.service", "", nodeZero + " /etc/assisted/add-nodes.env", "agent-installer-client importCluster"},
	"agent-add-node.service":             {"n", "apply-host-config.service agent-auth-token-status.service", "", nodeZero + " /etc/assisted/add-nodes.env", "add-node"},
	"agent-auth-token-status.service":    {"n", "", "", "/etc/assisted/add-nodes.env", "auth-token-status"},
}

// lines are further lines of the description.
var lines = map[string][]string{
	"agent-register-cluster.service": {
		"Type=oneshot", "RemainAfterExit=yes", "Restart=on-failure", "RestartSec=30", "Conflicts=agent-import-cluster.service",
		"EnvironmentFile=/etc/assisted/rendezvous-host.env",
	},
	// It runs on where another host is the rendezvous host: it is ready when it has decided.
	"node-zero.service": {"Type=notify", "RemainAfterExit=yes", "Restart=on-failure", "ExecStartPost=/usr/bin/systemctl start --no-block multi-user.target"},
	// It goes on with hosts that register later: it is ready when those that are there have what is said of them.
	"apply-host-config.service":    {"Type=notify", "RemainAfterExit=yes", "Restart=on-failure", "RestartSec=30", "Environment=HOST_CONFIG_WATCH=true"},
	"agent-import-cluster.service": {"Conflicts=agent-register-cluster.service"},
	"assisted-service.service": {
		"BindsTo=assisted-service-pod.service", "EnvironmentFile=/usr/local/share/assisted-service/assisted-service.env",
		"EnvironmentFile=-/usr/local/share/assisted-service/images.env", "EnvironmentFile=/etc/assisted/node0",
	},
	"assisted-service-db.service":        {"BindsTo=assisted-service-pod.service"},
	"load-config-iso@.service":           {"Restart=on-failure", "RestartSec=10"},
	"agent-interactive-console.service":  {"StandardInput=tty", "EnvironmentFile=-/etc/ironflow/agent.env"}, // its proxies
	"start-cluster-installation.service": {"Restart=on-failure", "ExecStartPre=/usr/bin/systemctl is-active --quiet apply-host-config.service"},
	"agent-add-node.service":             {"Restart=on-failure", "ExecStartPre=/usr/bin/systemctl is-active --quiet apply-host-config.service"},
}

func TestUnitsOrderAndConditionsAreThoseOfTheProtocol(t *testing.T) {
	letters := map[units.Workflow]string{units.Automated: "a", units.Appliance: "p", units.AddNodes: "n"}
	g := NewWithT(t)
	found := map[string]string{}
	for _, workflow := range units.Workflows() {
		rendered, err := units.Render(units.Options{Workflow: workflow})
		g.Expect(err).NotTo(HaveOccurred())
		for _, r := range rendered {
			if r.Name == "" {
				continue
			}
			found[r.Name] += letters[workflow]
			want, known := described[r.Name]
			g.Expect(known).To(BeTrue(), "%s is not described", r.Name)
			g.Expect(r.Path).To(Equal("/etc/systemd/system/" + r.Name))
			g.Expect(values(r.Content, "After")).To(ContainElements(strings.Fields(want.after)), r.Name)
			g.Expect(values(r.Content, "Before")).To(ContainElements(strings.Fields(want.before)), r.Name)
			g.Expect(values(r.Content, "ConditionPathExists")).To(ConsistOf(strings.Fields(want.conditions)), r.Name)
			g.Expect(r.Content).To(MatchRegexp(`(?m)^ExecStart=(/.*)?` + regexp.QuoteMeta(want.start) + `$`))
			for _, line := range lines[r.Name] {
				g.Expect(strings.Split(r.Content, "\n")).To(ContainElement(line), r.Name)
			}
			g.Expect(values(r.Content, "Requires")).To(BeEmpty(), "%s would be given up when the other unit fails once", r.Name)
			off := r.Name == "load-config-iso@.service" || (workflow == units.Appliance && r.Name == "start-cluster-installation.service")
			g.Expect(r.Enabled).To(Equal(!off), r.Name)
		}
	}
	for name, want := range described {
		g.Expect(found[name]).To(Equal(want.workflows), name)
	}
}

// values are the words of all lines of a key.
func values(unit, key string) (all []string) {
	for line := range strings.Lines(unit) {
		if value, ok := strings.CutPrefix(line, key+"="); ok {
			all = append(all, strings.Fields(value)...)
		}
	}
	return all
}

// node-zero starts multi-user.target a second time: what has done its work is not done again.
// A person who has gone on without the registry would have to say so once more.
func TestWhatIsDoneOnceIsNotDoneAgain(t *testing.T) {
	for _, workflow := range units.Workflows() {
		rendered, err := units.Render(units.Options{Workflow: workflow})
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		for _, r := range rendered {
			if r.Enabled && (strings.Contains(r.Content, "\nType=oneshot\n") || r.Name == "node-zero.service") {
				NewWithT(t).Expect(r.Content).To(ContainSubstring("\nRemainAfterExit=yes\n"), "%s: %s", workflow, r.Name)
			}
		}
	}
}

// A cycle in the order is broken by systemd at random: there is none.
func TestTheOrderHasNoCycle(t *testing.T) {
	for _, workflow := range units.Workflows() {
		g := NewWithT(t)
		rendered, err := units.Render(units.Options{Workflow: workflow})
		g.Expect(err).NotTo(HaveOccurred())
		waits := map[string][]string{}
		for _, r := range rendered {
			waits[r.Name] = append(waits[r.Name], values(r.Content, "After")...)
			for _, later := range values(r.Content, "Before") {
				waits[later] = append(waits[later], r.Name)
			}
		}
		var visit func(name string, path []string)
		visit = func(name string, path []string) {
			g.Expect(path).NotTo(ContainElement(name), "%s: %v", workflow, path)
			for _, next := range waits[name] {
				visit(next, append(slices.Clone(path), name))
			}
		}
		for name := range waits {
			visit(name, nil)
		}
	}
}

func TestFilesBesideTheUnits(t *testing.T) {
	g := NewWithT(t)
	rendered, err := units.Render(units.Options{Workflow: units.Appliance, ConfigImageFiles: []string{"/etc/assisted/manifests/a.yaml", "/etc/assisted/extra-manifests/"}})
	g.Expect(err).NotTo(HaveOccurred())
	files := map[string]string{}
	for _, r := range rendered {
		files[r.Path] = r.Content
	}
	g.Expect(files["/etc/udev/rules.d/80-agent-config-image.rules"]).To(And(
		ContainSubstring(`ENV{ID_FS_LABEL}=="agent_configimage"`), ContainSubstring(`ENV{SYSTEMD_WANTS}+="load-config-iso@$devnode.service"`)))
	g.Expect(files["/usr/local/share/assisted-service/assisted.cil"]).To(ContainSubstring("chronyd_t"))
	g.Expect(files["/etc/systemd/system/load-config-iso@.service"]).To(ContainSubstring("Environment=CONFIG_IMAGE_FILES=/etc/assisted/manifests/a.yaml,/etc/assisted/extra-manifests/\n"))
}

func TestImpossibleOptions(t *testing.T) {
	for want, o := range map[string]units.Options{
		`workflow "interactive"`:             {Workflow: "interactive"},
		"only the workflow appliance":        {Workflow: units.Automated, ConfigImageFiles: []string{"/etc/x"}},
		`"/etc/a b" cannot be a word`:        {Workflow: units.Appliance, ConfigImageFiles: []string{"/etc/a b"}},
		`"a\nExecStart=/x" cannot be a word`: {Workflow: units.Automated, HubArguments: []string{"a\nExecStart=/x"}},
	} {
		_, err := units.Render(o)
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(want)))
	}
}

func TestSystemdKnowsEveryLine(t *testing.T) {
	analyze := needs.Program(t, "systemd-analyze", "systemd")
	for _, workflow := range units.Workflows() {
		t.Run(string(workflow), func(t *testing.T) {
			g := NewWithT(t)
			rendered, err := units.Render(units.Options{Workflow: workflow})
			g.Expect(err).NotTo(HaveOccurred())
			dir := t.TempDir()
			var files []string
			for _, r := range rendered {
				if r.Name == "" {
					continue
				}
				// A template is verified by an instance of it.
				file := filepath.Join(dir, strings.Replace(r.Name, "@.", "@-dev-sr1.", 1))
				g.Expect(os.WriteFile(file, []byte(r.Content), 0o600)).To(Succeed())
				files = append(files, file)
			}
			// It also complains that the programs are not here.
			out, _ := exec.CommandContext(t.Context(), analyze, append([]string{"verify", "--man=no"}, files...)...).CombinedOutput()
			for line := range strings.Lines(string(out)) {
				g.Expect(line).NotTo(And(ContainSubstring(dir), Not(ContainSubstring("is not executable"))))
				g.Expect(line).NotTo(ContainSubstring("ordering cycle"))
			}
		})
	}
}
