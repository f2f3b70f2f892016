package image

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/ironflow/ironflow/agent/agentbased/manifests"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/api/imagename"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
)

// What the folder may have.
const (
	installConfig  = "install-config.yaml"
	agentConfig    = "agent-config.yaml"
	ztpFolder      = "cluster-manifests"
	extraFolder    = "openshift"
	hostFolder     = "hostconfig"
	registriesFile = "mirror/registries.conf"
	caBundleFile   = "mirror/ca-bundle.crt"
	hubEnvFile     = "hub.env"
	nodesConfig    = "nodes-config.yaml"
	addNodesFile   = "add-nodes.env"
	pullSecretFile = "pull-secret.json"
	clusterFolder  = "clusterconfig"
)

// maxFile bounds a file beside the manifests.
const maxFile = 1 << 20

// reading is an input that is being read.
type reading struct {
	o        Options
	plan     *Plan
	problems []manifests.Problem
	// warnings are those of a lenient reader beside the manifests.
	warnings []manifests.Problem
	// hosts are those of the plan, with where they are described.
	hosts []described
}

// Read reads and checks the folder. The error is a [*manifests.Error] with everything that
// is wrong; names of files are those below the folder. The warnings are a lenient reader's.
func Read(o Options) (*Plan, []manifests.Problem, error) {
	r := &reading{o: o, plan: &Plan{Workflow: o.Workflow, Format: o.Format}, problems: slices.Clone(o.Problems)}
	r.workflow()
	r.beside()
	if o.Workflow == units.Appliance {
		r.appliance()
		if len(r.problems) > 0 {
			return nil, r.warnings, &manifests.Error{Problems: r.problems}
		}
		return r.plan, r.warnings, nil
	}
	warnings, err := r.described()
	warnings = append(warnings, r.warnings...)
	for i := range warnings {
		warnings[i].File = strings.TrimPrefix(warnings[i].File, "/")
	}
	if told, ok := errors.AsType[*manifests.Error](err); ok {
		for i := range told.Problems {
			told.Problems[i].File = strings.TrimPrefix(told.Problems[i].File, "/")
		}
	}
	if err != nil {
		return nil, warnings, err
	}
	return r.plan, warnings, nil
}

func (r *reading) add(file, format string, args ...any) {
	r.problems = append(r.problems, manifests.Problem{File: file, Text: fmt.Sprintf(format, args...)})
}

func (r *reading) workflow() {
	if !slices.Contains(units.Workflows(), r.o.Workflow) {
		r.add("--workflow", "is %q: write %s, %s for a factory image without settings, or %s for hosts that join a running cluster", r.o.Workflow, units.Automated, units.Appliance, units.AddNodes)
	}
	if r.o.Format != "" && !slices.Contains(Formats(), r.o.Format) {
		r.add("--format", "is %q: write one of %s, %s, %s, %s", r.o.Format, ISO, MinimalISO, PXE, ConfigImage)
	}
	if err := imagename.Full(r.o.ReleaseImage); r.o.ReleaseImage != "" && err != nil {
		r.add("--release-image", "cannot be installed: %v", err)
	}
	if r.o.TokenLifetime != 0 && r.o.Workflow != units.AddNodes {
		r.add("--token-lifetime", "is given, and tokens of workflow %s do not end: leave it out", r.o.Workflow)
	}
}

// appliance is a factory image: it has a release, and nothing of a cluster.
func (r *reading) appliance() {
	switch {
	case r.o.ReleaseImage == "":
		r.add("--release-image", "is not given: an appliance has one release, which its config images are compared with")
	case r.o.Format == ConfigImage:
		r.add("--format", "is %s, which is made of settings: leave --workflow %s out", ConfigImage, units.Appliance)
	case r.o.RendezvousIP != "":
		r.add("--rendezvous-ip", "is given, and an appliance has no settings: give it when the config image is made")
	}
	r.plan.Release = r.o.ReleaseImage
	r.format("", "")
}

// described reads the form that the folder has.
func (r *reading) described() ([]manifests.Problem, error) {
	configs := r.exists(installConfig) || r.exists(agentConfig)
	ztp := r.exists(ztpFolder)
	more := manifests.Options{Lenient: r.o.Lenient, More: r.check}
	switch {
	case r.o.Workflow == units.AddNodes:
		return r.nodes()
	case configs && ztp:
		r.add(ztpFolder, "is there beside %s or %s: keep one form", installConfig, agentConfig)
		return nil, &manifests.Error{Problems: r.problems}
	case ztp:
		in := func(name string) string { return "/" + ztpFolder + "/" + name }
		set, warnings, err := manifests.Read(manifests.Files{
			Root:              r.o.Dir,
			ClusterDeployment: in("cluster-deployment.yaml"), AgentClusterInstall: in("agent-cluster-install.yaml"), ClusterImageSet: in("cluster-image-set.yaml"),
			InfraEnv: in("infraenv.yaml"), PullSecret: in("pull-secret.yaml"), NMStateConfig: in("nmstateconfig.yaml"), Operators: in("operators.yaml"),
			ExtraManifests: "/" + extraFolder, HostConfig: "/" + hostFolder,
		}, more)
		r.plan.Set = set
		return warnings, err
	case configs:
		read, warnings, err := manifests.ReadConfigs(manifests.Configs{
			Root: r.o.Dir, InstallConfig: "/" + installConfig, AgentConfig: "/" + agentConfig, ExtraManifests: "/" + extraFolder, ReleaseImage: r.o.ReleaseImage,
		}, more)
		if err == nil {
			r.plan.Set = read.Set
		}
		return warnings, err
	}
	if info, err := os.Stat(r.o.Dir); err != nil {
		r.add("--dir", "cannot be read: %v", err)
	} else if !info.IsDir() {
		r.add("--dir", "is %s, which is a file: name the folder that it is in", r.o.Dir)
	} else {
		r.add("--dir", "%s has neither %s and %s, nor the folder %s with manifests: write either", r.o.Dir, installConfig, agentConfig, ztpFolder)
	}
	return nil, &manifests.Error{Problems: r.problems}
}

func (r *reading) exists(name string) bool {
	_, err := os.Stat(filepath.Join(r.o.Dir, name))
	return err == nil
}

// unread tells of manifests in the folder that nobody reads: a misspelt name is one.
func (r *reading) unread(d *manifests.Draft) {
	names, err := filepath.Glob(filepath.Join(r.o.Dir, "*.y*ml"))
	if err != nil {
		return // the pattern is a good one
	}
	for _, path := range names {
		name := filepath.Base(path)
		switch joins := r.o.Workflow == units.AddNodes; {
		case joins && name != nodesConfig:
			d.Unused(manifests.Problem{File: name, Text: fmt.Sprintf("is not read: of hosts that join a running cluster, %s, %s, %s and the folder %s are", nodesConfig, addNodesFile, pullSecretFile, clusterFolder)})
		case !joins && name != installConfig && name != agentConfig:
			d.Unused(manifests.Problem{File: name, Text: fmt.Sprintf("is not read: there are %s, %s, and the folders %s, %s and %s", installConfig, agentConfig, ztpFolder, extraFolder, hostFolder)})
		}
	}
	if d.Install != nil || d.Agent != nil {
		if r.exists(hostFolder) {
			d.Add(manifests.Problem{File: hostFolder, Text: "is not read beside " + agentConfig + ": describe hosts there, under hosts"})
		}
	}
}

// beside reads what lies beside the manifests.
func (r *reading) beside() {
	r.plan.registries, r.plan.caBundle = r.text(registriesFile), r.text(caBundleFile)
	var conf map[string]any
	if err := toml.Unmarshal([]byte(r.plan.registries), &conf); err != nil {
		r.add(registriesFile, "is no TOML as of containers-registries.conf(5): %s", oneLine(err))
	}
	if _, err := ignition.Build(ignition.HostConfig{CABundle: r.plan.caBundle}); err != nil {
		r.add(caBundleFile, "cannot be used: %s", cause(err))
	}
	text := r.text(hubEnvFile)
	values, err := places.ParseEnv(text)
	if err != nil {
		r.add(hubEnvFile, "cannot be used: %v", err)
	}
	for _, name := range ownSettings {
		if _, is := values[name]; is {
			r.add(hubEnvFile, "sets %s, which is made with the image: take it away", name)
		}
	}
	r.plan.hub = values
	r.packed()
	r.takes()
}

// text reads a file that need not be there.
func (r *reading) text(name string) string {
	path := filepath.Join(r.o.Dir, name)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err == nil && (!info.Mode().IsRegular() || info.Size() > maxFile):
		r.add(name, "is no file of at most %d bytes", maxFile)
		return ""
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		if at, ok := errors.AsType[*fs.PathError](err); ok {
			err = at.Err
		}
		r.add(name, "cannot be read: %v", err)
	}
	return string(raw)
}

// oneLine is an error for the line of a problem.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// cause is what the builder of Ignition says, without what it says of the whole.
func cause(err error) string {
	return strings.TrimPrefix(oneLine(err), ignition.ErrInvalid.Error()+": ")
}
