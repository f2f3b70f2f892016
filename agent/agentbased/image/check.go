package image

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/agent/agentbased/manifests"
	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/api/kernelargs"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
)

// check is what has to be right for an image beyond what the manifests' reader looks at.
func (r *reading) check(d *manifests.Draft) {
	r.unread(d)
	r.plan.Wanted = d.Wanted
	if d.Agent != nil {
		minimal := ""
		if d.Agent.MinimalISO {
			minimal = "minimal-iso"
		}
		if !r.format(minimal, d.Agent.BootArtifactsBaseURL) {
			d.AgentAt.Wrong("bootArtifactsBaseURL", noFolder)
		}
	} else if d.Set.InfraEnv != nil {
		r.format(d.Set.InfraEnv.Spec.ImageType, "")
	}
	r.release(d)
	r.live(d)
	r.mirrors(d)
	r.installs(d)
	r.describeHosts(d)
	r.addresses(d)
	r.counts(d)
	r.quorum(d)
	r.rendezvous(d)
	r.settled(d)
	r.refused(d)
	for _, p := range r.problems {
		d.Add(p)
	}
}

// noFolder is what is wrong with an address that no file can be below.
const noFolder = "is no URL of a folder: write one such as http://192.0.2.1:8080/boot"

// format decides what is made, and where its parts are served. It is false for a base in a
// file that is no URL of a folder.
func (r *reading) format(imageType, base string) bool {
	p := r.plan
	if p.Format == "" {
		p.Format = ISO
		if imageType == string(MinimalISO) {
			p.Format = MinimalISO
		}
	}
	folder, given := base, r.o.BootArtifactsURL
	if given != "" {
		folder = given
	}
	switch {
	case folder != "" && !isFolder(folder):
		if given != "" {
			r.add("--boot-artifacts-url", noFolder)
		}
		return given != ""
	case folder == "" && (p.Format == MinimalISO || p.Format == PXE):
		r.add("--boot-artifacts-url", "is not given, nor bootArtifactsBaseURL in %s: write the URL of the folder that the root file system will be served from", agentConfig)
	}
	p.BootArtifactsURL = strings.TrimSuffix(folder, "/")
	return true
}

// isFolder tells whether a text is a URL that names of files can be put behind, also on a
// kernel's command line.
func isFolder(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") && u.RawQuery == "" && u.Fragment == "" && !strings.ContainsAny(text, " \"'\\\n")
}

func (r *reading) release(d *manifests.Draft) {
	set := d.Set.ClusterImageSet
	switch {
	case d.Install != nil || d.Agent != nil:
		r.plan.Release = r.o.ReleaseImage
		if r.plan.Release == "" {
			r.add("--release-image", "is not given: neither %s nor %s names the release to install, such as registry.example/ocp-release:4.19.3-x86_64", installConfig, agentConfig)
		}
	case r.o.ReleaseImage != "" && set != nil && set.Spec.ReleaseImage != r.o.ReleaseImage:
		d.ImageSetAt.Wrong("spec.releaseImage", "is %s, and --release-image is %s: leave one of them away", set.Spec.ReleaseImage, r.o.ReleaseImage)
	case r.o.ReleaseImage != "" && set == nil:
		r.add("--release-image", "is given, and the cluster's release is that of %s/cluster-image-set.yaml: write it there", ztpFolder)
	case set != nil:
		r.plan.Release = set.Spec.ReleaseImage
	}
	if r.plan.Format == ConfigImage && r.plan.Release == "" && r.o.ReleaseImage == "" && set == nil && d.Install == nil && d.Agent == nil {
		r.add("--format", "is %s, and this cluster has no release: appliances are made with one; make an image of another format", ConfigImage)
	}
}

// try checks a setting of the live system by the builder that will be given it.
func (r *reading) try(at manifests.Document, path string, c ignition.HostConfig) {
	if _, err := ignition.Build(c); err != nil {
		at.Wrong(path, "cannot be used: %s", cause(err))
	}
}

// live checks the settings of the live system.
func (r *reading) live(d *manifests.Draft) {
	if in := d.Install; in != nil {
		r.try(d.InstallAt, "sshKey", ignition.HostConfig{SSHKeys: keys(in.SSHKey)})
		r.try(d.InstallAt, "additionalTrustBundle", ignition.HostConfig{CABundle: in.AdditionalTrustBundle})
		if in.ControlPlane != nil {
			r.arch(d.InstallAt, "controlPlane.architecture", in.ControlPlane.Architecture)
		}
		if in.FIPS != nil && *in.FIPS {
			r.plan.kargs.Append = append(r.plan.kargs.Append, fips)
		}
	}
	if in := d.Agent; in != nil {
		r.try(d.AgentAt, "additionalNTPSources", ignition.HostConfig{NTPServers: in.AdditionalNTPSources})
	}
	if in := d.Set.AgentClusterInstall; in != nil && d.Install == nil {
		var overrides struct {
			FIPS bool `json:"fips"`
		}
		if err := json.Unmarshal([]byte(in.Metadata.Annotations[names.InstallConfigOverrides]), &overrides); err == nil && overrides.FIPS {
			r.plan.kargs.Append = append(r.plan.kargs.Append, fips)
		}
	}
	if in := d.Set.InfraEnv; in != nil {
		at, s := d.InfraEnvAt, in.Spec
		r.try(at, "spec.sshAuthorizedKey", ignition.HostConfig{SSHKeys: keys(s.SSHAuthorizedKey)})
		r.try(at, "spec.additionalTrustBundle", ignition.HostConfig{CABundle: s.AdditionalTrustBundle})
		r.try(at, "spec.additionalNTPSources", ignition.HostConfig{NTPServers: s.AdditionalNTPSources})
		r.try(at, "spec.ntpSources", ignition.HostConfig{NTPServers: s.NTPSources})
		if json.Valid([]byte(s.IgnitionConfigOverride)) { // otherwise that has been told
			r.try(at, "spec.ignitionConfigOverride", ignition.HostConfig{Override: []byte(s.IgnitionConfigOverride)})
		}
		r.arch(at, "spec.cpuArchitecture", s.CPUArchitecture)
		if s.OSImageVersion != "" {
			at.Unused("spec.osImageVersion", "is not acted upon: the live system is that of --base-image, or of the appliance; take it away")
		}
		r.arguments(at, s.KernelArguments)
	}
}

// fips has the live system's kernel keep to the algorithms of FIPS 140, as the installed one.
const fips = "fips=1"

func (r *reading) arch(at manifests.Document, path, want string) {
	if want != "" && r.o.Arch != "" && media.NormalArch(want) != r.o.Arch {
		at.Wrong(path, "is %s, and the base image is for %s: give one for %s by --base-image, or choose it by --arch", want, r.o.Arch, media.NormalArch(want))
	}
}

func (r *reading) arguments(at manifests.Document, all []manifests.Argument) {
	for i, a := range all {
		path := fmt.Sprintf("spec.kernelArguments[%d]", i)
		if err := kernelargs.Refused(a.Operation, a.Value); err != nil {
			at.Wrong(path+".value", "is not for a live image: %v", err)
		}
		if r.plan.Format == PXE && a.Operation != overlay.KargAppend {
			at.Wrong(path+".operation", "is %s, and arguments of a network boot can only be appended: write append", a.Operation)
		}
		r.plan.kargs.Operations = append(r.plan.kargs.Operations, overlay.KargsOperation{Operation: a.Operation, Value: a.Value})
	}
}

// settled refuses what a config image cannot bring to an appliance.
func (r *reading) settled(d *manifests.Draft) {
	if r.plan.Format != ConfigImage {
		return
	}
	for file, text := range map[string]string{registriesFile: r.plan.registries, caBundleFile: r.plan.caBundle} {
		if text != "" {
			r.add(file, "is of the live system, which a config image does not change: make the appliance's image with it (--workflow %s), and take it away here", units.Appliance)
		}
	}
	if in := d.Set.InfraEnv; in != nil {
		for path, there := range map[string]bool{"spec.ignitionConfigOverride": in.Spec.IgnitionConfigOverride != "", "spec.kernelArguments": len(in.Spec.KernelArguments) > 0} {
			if there {
				d.InfraEnvAt.Wrong(path, "is of the live system, which a config image does not change: take it away")
			}
		}
	}
	if slices.Contains(r.plan.kargs.Append, fips) {
		at, path := d.InstallAt, "fips"
		if d.Install == nil {
			at, path = d.ClusterInstallAt, "metadata.annotations."+names.InstallConfigOverrides
		}
		at.Unused(path, "asks for FIPS, and the live system of an appliance gets no kernel argument by a config image: "+
			"make an image of another format; with --lenient, this is a warning, for an appliance that was made with %s", fips)
	}
	for i := range r.hosts {
		if h := &r.hosts[i]; h.settings.Nmstate != "" {
			h.at.Wrong(h.path, "needs nmstatectl, which appliances do not run for config images: %s", oneLine(h.settings.Left))
		}
	}
}

// keys are the lines of an authorized_keys file.
func keys(text string) (out []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return slices.Clip(out)
}
