package rest

import (
	"cmp"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

func listManifests(r *request) (any, error) {
	id, err := r.cluster()
	if err != nil {
		return nil, err
	}
	all, err := r.flag("include_system_generated")
	if err != nil {
		return nil, err
	}
	if all {
		return r.hub.AllManifests(r.Context(), id)
	}
	return r.hub.Manifests(r.Context(), id)
}

func createManifest(r *request) (any, error) {
	id, err := r.cluster()
	if err != nil {
		return nil, err
	}
	var p wire.CreateManifestParams
	if err := r.body(&p); err != nil {
		return nil, err
	}
	return r.hub.PutManifest(r.Context(), id, p)
}

func updateManifest(r *request) (any, error) {
	id, err := r.cluster()
	if err != nil {
		return nil, err
	}
	var p wire.UpdateManifestParams
	if err := r.body(&p); err != nil {
		return nil, err
	}
	return r.hub.UpdateManifest(r.Context(), id, p)
}

// manifest reads which one is meant.
func (r *request) manifest() (folder, name string) {
	q := r.URL.Query()
	return cmp.Or(q.Get("folder"), wire.ManifestFolderManifests), q.Get("file_name")
}

func deleteManifest(r *request) (any, error) {
	id, err := r.cluster()
	if err != nil {
		return nil, err
	}
	folder, name := r.manifest()
	return nil, r.hub.DeleteManifest(r.Context(), id, folder, name)
}

func downloadManifest(r *request) (any, error) {
	id, err := r.cluster()
	if err != nil {
		return nil, err
	}
	folder, name := r.manifest()
	content, err := r.hub.Manifest(r.Context(), id, folder, name)
	return &file{name: name, raw: []byte(content)}, err
}

func getInstallConfig(r *request) (any, error) {
	id, err := r.cluster()
	if err != nil {
		return nil, err
	}
	if err := r.changes("the install-config"); err != nil {
		return nil, err
	}
	return r.hub.InstallConfig(r.Context(), id)
}

// setInstallConfig takes the overrides as JSON in a JSON text.
func setInstallConfig(r *request) (any, error) {
	id, err := r.cluster()
	if err != nil {
		return nil, err
	}
	var overrides string
	if err := r.body(&overrides); err != nil {
		return nil, err
	}
	return nil, r.hub.SetInstallConfig(r.Context(), id, overrides)
}

func getUISettings(r *request) (any, error) {
	id, err := r.cluster()
	if err != nil {
		return nil, err
	}
	return r.hub.UISettings(r.Context(), id)
}

func setUISettings(r *request) (any, error) {
	id, err := r.cluster()
	if err != nil {
		return nil, err
	}
	var settings string
	if err := r.body(&settings); err != nil {
		return nil, err
	}
	return r.hub.SetUISettings(r.Context(), id, settings)
}

func getCredentials(r *request) (any, error) {
	id, err := r.cluster()
	if err != nil {
		return nil, err
	}
	return r.hub.Credentials(r.Context(), id)
}

func downloadCredentials(r *request) (any, error) {
	id, err := r.cluster()
	if err != nil {
		return nil, err
	}
	return r.credentialsFile(id, r.URL.Query().Get("file_name"))
}

func (r *request) credentialsFile(clusterID, name string) (any, error) {
	raw, err := r.hub.CredentialsFile(r.Context(), clusterID, name)
	return &file{name: name, raw: raw}, err
}

func preflightRequirements(r *request) (any, error) {
	id, err := r.cluster()
	if err != nil {
		return nil, err
	}
	return r.hub.PreflightRequirements(r.Context(), id)
}

func downloadLogs(r *request) (any, error) {
	id, err := r.cluster()
	if err != nil {
		return nil, err
	}
	host, err := r.optionalID("host_id")
	if err != nil {
		return nil, err
	}
	switch kind := wire.LogsType(r.URL.Query().Get("logs_type")); {
	case kind == wire.LogsTypeHost && host == "":
		return nil, bad("host_id is required for logs of a host")
	case host == "" && kind != wire.LogsTypeController:
		b, err := r.hub.AllLogs(r.Context(), id, !r.caller.readOnly && !r.URL.Query().Has(withoutManifests))
		return &logBundle{"cluster-" + id + "-logs.tar", b}, err
	case host == "":
		f, err := r.hub.ClusterLogs(r.Context(), id)
		return &file{name: "cluster-" + id + "-logs.tar.gz", archive: f}, err
	}
	hosts, err := r.hub.Hosts(r.Context(), store.HostFilter{ClusterID: id, Bare: true})
	if err != nil {
		return nil, err
	}
	for _, h := range hosts {
		if h.ID == host {
			f, err := r.hub.HostLogs(r.Context(), store.HostKey{InfraEnvID: h.InfraEnvID, HostID: h.ID})
			return &file{name: "host-" + host + "-logs.tar.gz", archive: f}, err
		}
	}
	return nil, notFound("cluster %s has no host %s", id, host)
}
