package clusters

import (
	"github.com/ironflow/ironflow/hub/refusal"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/wire"
)

// checkSource refuses a source that this hub does not have, and settings of another one.
func (r *Registry) checkSource(name sources.Name, settings *sources.KubernetesSettings) error {
	if err := r.units.Sources.Check(name); err != nil {
		return refusal.BadRequest("ignition_source: %v", err)
	}
	if settings != nil && r.units.Sources.Name(name) != sources.Kubernetes {
		return refusal.BadRequest("kubernetes: these are settings of the Ignition source %s, and the cluster's is %s", sources.Kubernetes, r.units.Sources.Name(name))
	}
	return nil
}

// kubernetesSettings reads the settings of a plain Kubernetes; nil for none.
func kubernetesSettings(given *wire.KubernetesSettings) *sources.KubernetesSettings {
	if given == nil {
		return nil
	}
	out := &sources.KubernetesSettings{
		Version: given.Version, Endpoint: given.Endpoint, ImageRepository: given.ImageRepository, VIPImage: given.VIPImage,
		CRISocket: given.CriSocket,
	}
	for _, p := range given.Programs {
		out.Programs = append(out.Programs, sources.Program{URL: p.URL, Checksum: p.Checksum, Kind: p.Kind, Name: p.Name})
	}
	for _, m := range given.Mirrors {
		out.Mirrors = append(out.Mirrors, sources.Mirror{Registry: m.Registry, URLs: m.URLs, CA: m.Ca})
	}
	return out
}
