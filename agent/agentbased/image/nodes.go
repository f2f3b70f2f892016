package image

import (
	"cmp"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/agent/agentbased/client"
	"github.com/ironflow/ironflow/agent/agentbased/manifests"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
)

// Names of what is known of a running cluster, as the client's environment has them.
const (
	clusterID   = places.ClusterID
	clusterName = "CLUSTER_NAME"
	clusterAPI  = "CLUSTER_API_VIP_DNS_NAME"
)

// running is the cluster that hosts join.
type running struct {
	// id, name and api are the values of the names above.
	id, name, api string
	// files are those of its folder by their names.
	files map[string]string
}

// settings are the files of a host that say which cluster it joins.
func (c *running) settings() map[string]string {
	out := map[string]string{places.AddNodes: places.FormatEnv(map[string]string{clusterID: c.id, clusterName: c.name, clusterAPI: c.api})}
	for name, text := range c.files {
		out[places.ClusterConfig+"/"+name] = text
	}
	return out
}

// nodes reads the form of hosts that join a running cluster.
func (r *reading) nodes() ([]manifests.Problem, error) {
	c := r.running()
	r.plan.joins, r.plan.TokenLifetime = c, cmp.Or(r.o.TokenLifetime, DefaultLifetime)
	read, warnings, err := manifests.ReadNodes(manifests.Nodes{
		Root: r.o.Dir, NodesConfig: "/" + nodesConfig, PullSecret: "/" + pullSecretFile, Cluster: c.name, ReleaseImage: r.o.ReleaseImage,
	}, manifests.Options{Lenient: r.o.Lenient, More: r.checkNodes})
	if err == nil {
		r.plan.Set = read.Set
	}
	return warnings, err
}

// Forms of names: that of a cluster, and that of its API.
var (
	nameForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,52}[a-z0-9])?$`)
	hostForm = regexp.MustCompile(`^[A-Za-z0-9]([-.A-Za-z0-9]{0,251}[A-Za-z0-9])?$`)
)

// running reads what is known of the cluster.
func (r *reading) running() *running {
	c := &running{files: map[string]string{}}
	if !r.exists(addNodesFile) {
		r.add(addNodesFile, "is missing: write %s, %s and %s of the running cluster, NAME=value, one a line", clusterID, clusterName, clusterAPI)
	} else if values, err := places.ParseEnv(r.text(addNodesFile)); err != nil {
		r.add(addNodesFile, "cannot be used: %v", err)
	} else {
		c.id, c.name, c.api = values[clusterID], values[clusterName], values[clusterAPI]
		r.identity(c)
		for name := range values {
			if name != clusterID && name != clusterName && name != clusterAPI {
				r.add(addNodesFile, "sets %.60s, which nobody reads: take it away; there are %s, %s and %s", name, clusterID, clusterName, clusterAPI)
			}
		}
	}
	update, err := client.ReadRunning(hostfile.Dir{Root: r.o.Dir}, "/"+clusterFolder)
	switch file := clusterFolder + "/" + client.ImportConfigFile; {
	case err != nil && !r.exists(file):
		r.add(file, `is missing: write {"networking": {"userManagedNetworking": true}}, or false where the cluster keeps its own virtual addresses`)
	case err != nil:
		r.add(clusterFolder, "cannot be used: %s", oneLine(err))
	case update.IgnitionEndpoint != nil:
		r.endpoint(update.IgnitionEndpoint)
	}
	for _, name := range []string{client.ImportConfigFile, client.WorkerIgnitionFile} {
		if text := r.text(clusterFolder + "/" + name); text != "" {
			c.files[name] = text
		}
	}
	r.strangers()
	return c
}

// identity checks who the cluster is.
func (r *reading) identity(c *running) {
	if uuid.Validate(c.id) != nil {
		r.add(addNodesFile, "%s is %.60q: write the UUID of the running cluster, such as clusterversion's spec.clusterID", clusterID, c.id)
	}
	if !nameForm.MatchString(c.name) {
		r.add(addNodesFile, "%s is %.80q: write the running cluster's name, at most 54 lower-case letters, digits and dashes", clusterName, c.name)
	}
	if _, err := netip.ParseAddr(c.api); err != nil && !hostForm.MatchString(c.api) {
		r.add(addNodesFile, "%s is %.80q: write the name or address of its API without a port, such as api.edge.lab.example", clusterAPI, c.api)
	}
}

// endpoint checks where workers get their Ignition.
func (r *reading) endpoint(e *wire.IgnitionEndpoint) {
	const file = clusterFolder + "/" + client.WorkerIgnitionFile
	text := wire.Value(e.URL)
	if u, err := url.Parse(text); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		r.add(file, "url is %.200q: write where workers get their Ignition, such as https://192.0.2.5:22623/config/worker", text)
	}
	if ca := wire.Value(e.CaCertificate); ca != "" {
		raw, err := base64.StdEncoding.DecodeString(ca)
		if block, _ := pem.Decode(raw); err != nil || block == nil {
			r.add(file, "ca_certificate is no certificate: write one in PEM, encoded in base64")
		}
	}
}

// strangers tells of files beside those of the cluster: a misspelt name is one.
func (r *reading) strangers() {
	entries, err := os.ReadDir(filepath.Join(r.o.Dir, clusterFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.add(clusterFolder, "cannot be read: %v", err)
	}
	for _, e := range entries {
		if e.Name() != client.ImportConfigFile && e.Name() != client.WorkerIgnitionFile {
			r.add(clusterFolder+"/"+e.Name(), "is not read: there are %s and %s", client.ImportConfigFile, client.WorkerIgnitionFile)
		}
	}
}

// checkNodes is what has to be right for an image of hosts that join.
func (r *reading) checkNodes(d *manifests.Draft) {
	r.unread(d)
	r.plan.Release = r.o.ReleaseImage
	if r.o.TokenLifetime < 0 {
		r.add("--token-lifetime", "is %s: write how long hosts can be added by the image, such as 48h", r.o.TokenLifetime)
	}
	if r.o.RendezvousIP != "" {
		r.add("--rendezvous-ip", "is given, and each host that joins runs the hub for itself: leave it out")
	}
	if r.o.Installer {
		r.add(installerFlag, "is given, and hosts that join get their Ignition from the running cluster: leave it out")
	}
	if r.o.Format == ConfigImage {
		r.add("--format", "is %s, which is for the appliances of a new cluster: leave it out", ConfigImage)
	}
	if n := d.Nodes; n != nil {
		if !r.format("", n.BootArtifactsBaseURL) {
			d.NodesAt.Wrong("bootArtifactsBaseURL", noFolder)
		}
		r.try(d.NodesAt, "sshKey", ignition.HostConfig{SSHKeys: keys(n.SSHKey)})
		r.try(d.NodesAt, "additionalNTPSources", ignition.HostConfig{NTPServers: n.AdditionalNTPSources})
		r.arch(d.NodesAt, "cpuArchitecture", n.CPUArchitecture)
		r.plan.Wanted = manifests.Requirements{WorkerAgents: len(n.Hosts)}
		r.describeHosts(d)
		r.addresses(d)
		r.refused(d)
	}
	for _, p := range r.problems {
		d.Add(p)
	}
}
