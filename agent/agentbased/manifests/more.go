package manifests

import (
	"slices"
	"strings"
)

// Draft is what has been read when the checks of this package are done, for those who check
// more: what they tell comes with the rest, at once. What could not be read is nil, or as
// far as it could be read, so nothing in it is to be relied on.
type Draft struct {
	// Set are manifests; for the two files that people write by hand it has the extra
	// manifests alone, the others are made of Install and Agent later.
	Set     *Set
	Install *InstallConfig
	Agent   *AgentConfig
	// Whole is what the client of the installation will read: the set, or the manifests that
	// the two files become; nil where neither can be told. It may hold what is wrong.
	Whole *Set
	// Nodes describes hosts that join a running cluster.
	Nodes *NodesConfig
	// Where the parts were read; Networks is in the order of the set's.
	InstallAt, AgentAt, NodesAt, DeploymentAt, ClusterInstallAt, ImageSetAt, InfraEnvAt Document
	NetworksAt                                                                          []Document
	// Wanted is how many hosts are asked for, VIPs are the virtual addresses of API and ingress.
	Wanted Requirements
	VIPs   []string

	report *report
}

// Add tells of something that is wrong.
func (d *Draft) Add(p Problem) { d.report.add(p) }

// Unused tells of something that nothing would be done with: a warning for a lenient reader.
func (d *Draft) Unused(p Problem) { d.report.unused(p) }

// Document is one that was read; the zero value is none.
type Document struct{ at *place }

// Wrong tells what is wrong at a path of the document, and what to write instead. Without a
// document nothing is told: that it is missing has been.
func (d Document) Wrong(path, format string, args ...any) {
	if d.at != nil {
		d.at.wrong(path, format, args...)
	}
}

// Unused tells of a field of the document that nothing would be done with.
func (d Document) Unused(path, format string, args ...any) {
	if d.at != nil {
		d.at.unused(path, format, args...)
	}
}

// Told tells that something is wrong at a path of the document, or around it.
func (d Document) Told(path string) bool {
	return d.at != nil && slices.ContainsFunc(d.at.report.problems, func(p Problem) bool {
		return p.File == d.at.file && p.Document == d.at.number && p.Path != "" && (within(p.Path, path) || within(path, p.Path))
	})
}

// within tells that the path leads to the other one, or to something in it.
func within(path, other string) bool {
	after, found := strings.CutPrefix(path, other)
	return found && (after == "" || after[0] == '.' || after[0] == '[')
}

// draft is what the reader has so far.
func (r *reader) draft() *Draft {
	out := &Draft{
		Set: r.set, DeploymentAt: Document{r.cluster}, ClusterInstallAt: Document{r.install}, ImageSetAt: Document{r.images}, InfraEnvAt: Document{r.env}, report: r.report,
	}
	if r.cluster != nil && r.install != nil {
		out.Whole = r.set
	}
	for _, at := range r.networks {
		out.NetworksAt = append(out.NetworksAt, Document{at})
	}
	if r.set.AgentClusterInstall != nil {
		out.Wanted = r.set.AgentClusterInstall.Spec.ProvisionRequirements
		api, ingress := r.set.AgentClusterInstall.VIPs()
		out.VIPs = slices.Concat(api, ingress)
	}
	return out
}

// draft is the same for the two files.
func (c *configReader) draft() *Draft {
	out := c.reader.draft()
	out.InstallAt, out.AgentAt, out.Wanted = Document{c.installAt}, Document{c.agentAt}, c.wanted()
	if c.installAt != nil {
		out.Install = &c.install
	}
	out.VIPs = slices.Concat(c.vips()...)
	if c.agentAt != nil {
		out.Agent = &c.agent
	}
	return out
}
