package operators_test

import (
	"cmp"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/pages"
)

var update = flag.Bool("update", false, "write the generated parts of the pages")

func TestDocumentationIsCurrent(t *testing.T) {
	for name, text := range map[string]string{"operators": operatorsTable(), "bundles": bundlesTable()} {
		pages.Generated{Root: "../..", Page: "operators.md", Package: "./hub/operators", Update: *update}.Hold(t, name, text)
	}
}

func operatorsTable() string {
	var b strings.Builder
	b.WriteString(
		"| name | operator | package, catalog | namespace | comes with it | to be had | each host needs beyond the release | the cluster needs | minutes |\n|---|---|---|---|---|---|---|---|---|\n",
	)
	table := operators.Builtin()
	for _, name := range table.Names() {
		o := table.Find(name)
		needs := strings.Join(o.Needs, ", ")
		if len(o.SingleNodeNeeds) > 0 {
			needs += "; on a single node " + strings.Join(o.SingleNodeNeeds, ", ")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s, %s | %s | %s | %s | %s | %s | %d |\n", o.Name, o.Title, o.Package, cmp.Or(o.Catalog, "redhat-operators"), o.Namespace, needs,
			where(o), ofHosts(&o.Hosts), ofCluster(&o.Hosts), o.Minutes)
	}
	return b.String()
}

func where(o *operators.Operator) string {
	var out []string
	add := func(applies bool, text string) {
		if applies {
			out = append(out, text)
		}
	}
	add(o.Since != "", "from "+o.Since)
	add(o.Until != "", "until "+o.Until)
	add(len(o.Architectures) > 0, strings.Join(o.Architectures, ", "))
	add(len(o.Preview) > 0, "preview on "+strings.Join(o.Preview, ", "))
	for _, p := range o.NotOn {
		add(true, "not on "+string(p))
	}
	add(o.SeveralHosts, "no single node")
	add(len(o.Excludes) > 0, "not beside "+strings.Join(o.Excludes, ", "))
	return strings.Join(out, "; ")
}

func ofHosts(h *operators.Hosts) string {
	var out []string
	add := func(applies bool, format string, args ...any) {
		if applies {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	amount := func(name string, a operators.Amount) {
		add(a != operators.Amount{}, "%s %d CPUs, %d MiB", name, a.CPUs, a.MemoryMiB)
	}
	add(h.Workload, "only hosts that take workloads")
	for _, role := range []wire.HostRole{wire.HostRoleMaster, wire.HostRoleWorker, wire.HostRoleArbiter} {
		amount(string(role), h.Roles[string(role)])
	}
	amount("single node", h.Roles[operators.SingleNode])
	add(h.Disks != nil && h.Disks.Each, "a further disk")
	amount("each further disk", h.PerDisk)
	add(h.Virtualization, "vmx or svm")
	add(len(h.GPUs) > 0, "no secure boot with such a GPU")
	return strings.Join(out, "; ")
}

func ofCluster(h *operators.Hosts) string {
	var out []string
	if d := h.Disks; d != nil && d.Hosts > 0 {
		out = append(out, fmt.Sprintf("%d hosts with a further disk of %d GB; %d workers or none", d.Hosts, d.MinGB, d.Hosts))
	}
	if len(h.GPUs) > 0 {
		out = append(out, "a GPU of PCI vendor "+strings.Join(h.GPUs, ", "))
	}
	if h.Workers > 0 {
		out = append(out, fmt.Sprintf("%d workers", h.Workers))
	}
	return strings.Join(out, "; ")
}

func bundlesTable() string {
	var b strings.Builder
	b.WriteString("| bundle | operators | may be added |\n|---|---|---|\n")
	for _, one := range operators.Builtin().Bundles {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", one.ID, strings.Join(one.Operators, ", "), strings.Join(one.Optional, ", "))
	}
	return b.String()
}
