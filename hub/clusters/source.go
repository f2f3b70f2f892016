package clusters

import (
	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/wire"
)

// checkSource refuses a source that this hub does not have, and settings of another one.
func (r *Registry) checkSource(name sources.Name, settings *sources.KubernetesSettings) error {
	if err := r.units.Sources.Check(name); err != nil {
		return apierror.BadRequest("ignition_source: %v", err)
	}
	if settings != nil && r.units.Sources.Name(name) != sources.Kubernetes {
		return apierror.BadRequest("kubernetes: these are settings of the Ignition source %s, and the cluster's is %s", sources.Kubernetes, r.units.Sources.Name(name))
	}
	return nil
}

// checkNoRelease refuses a release beside a source that installs none: the cluster would wait for
// the operators of one.
func (r *Registry) checkNoRelease(name sources.Name, version, image string) error {
	if r.units.Sources.Name(name) != sources.Kubernetes || version == "" && image == "" {
		return nil
	}
	return apierror.BadRequest("openshift_version, ocp_release_image: a cluster of the Ignition source %s has no release; leave them empty, and give its version as kubernetes.version", sources.Kubernetes)
}

// kubernetesSettings reads the settings of a plain Kubernetes; nil for none.
func kubernetesSettings(given *wire.KubernetesSettings) *sources.KubernetesSettings {
	if given == nil {
		return nil
	}
	out := &sources.KubernetesSettings{
		Version: given.Version, Endpoint: given.Endpoint, ImageRepository: given.ImageRepository, VIPImage: given.VIPImage,
		CRISocket: given.CriSocket, IgnorePreflight: given.IgnorePreflight,
	}
	for _, p := range given.Programs {
		out.Programs = append(out.Programs, sources.Program{URL: p.URL, Checksum: p.Checksum, Kind: p.Kind, Name: p.Name})
	}
	for _, m := range given.Mirrors {
		out.Mirrors = append(out.Mirrors, sources.Mirror{Registry: m.Registry, URLs: m.URLs, CA: m.Ca})
	}
	return out
}
