package rest

import (
	"cmp"

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

func importCluster(r *request) (any, error) {
	var p wire.ImportClusterParams
	if err := r.body(&p); err != nil {
		return nil, err
	}
	return r.made(r.hub.ImportCluster(r.Context(), p))
}

func createDisconnectedCluster(r *request) (any, error) {
	var p wire.DisconnectedClusterCreateParams
	if err := r.body(&p); err != nil {
		return nil, err
	}
	return r.made(r.hub.CreateDisconnectedCluster(r.Context(), p))
}
