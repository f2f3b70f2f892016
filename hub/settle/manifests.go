package settle

import (
	"slices"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/vault"
	"github.com/ironflow/ironflow/hub/wire"
)

// OwnManifests are those that the hub itself puts into the cluster's installation: they have
// disks encrypted, let workloads run on masters, and subscribe to its operators. A file of the same name that a user has
// added takes the place of one.
func (w *Work) OwnManifests(c *store.Cluster) ([]operators.Manifest, error) {
	all, err := w.encryptionManifests(c)
	if err != nil {
		return nil, err
	}
	all = append(all, w.schedulerManifest(c)...)
	chosen, _ := w.OperatorsOf(c)
	return slices.DeleteFunc(append(all, operators.Manifests(chosen)...), func(own operators.Manifest) bool {
		return slices.ContainsFunc(c.Manifests, func(m wire.Manifest) bool { return m.FileName == own.Name })
	}), nil
}

// scheduler lets workloads run on control-plane hosts. It takes the place of the installer's own, which
// lets them where the cluster has no workers.
const scheduler = `apiVersion: config.openshift.io/v1
kind: Scheduler
metadata:
  name: cluster
spec:
  mastersSchedulable: true
  policy:
    name: ""
status: {}
`

// schedulerManifest is the scheduler's for a cluster that is asked to run workloads on all of its hosts.
func (w *Work) schedulerManifest(c *store.Cluster) []operators.Manifest {
	asked := c.API.SchedulableMasters != nil && *c.API.SchedulableMasters
	if c.API.OpenshiftVersion == "" || !asked || w.units.Sources.Name(c.Source) != sources.OpenShiftInstall {
		return nil
	}
	return []operators.Manifest{{Folder: wire.ManifestFolderManifests, Name: "cluster-scheduler-02-config.yml", Content: scheduler}}
}

// encryptionManifests have the disks of hosts encrypted that join the cluster by themselves
// later on, too: one for each role that is asked for. They are for installations of
// OpenShift; what the hub installs a host with says it once more ([encryptionOf]), so that no
// disk is plain until the cluster has told its hosts.
func (w *Work) encryptionManifests(c *store.Cluster) (all []operators.Manifest, _ error) {
	if c.API.OpenshiftVersion == "" || w.units.Sources.Name(c.Source) != sources.OpenShiftInstall {
		return nil, nil
	}
	for _, role := range []wire.HostRole{wire.HostRoleMaster, wire.HostRoleArbiter, wire.HostRoleWorker} {
		everywhere := wire.Value(enabledOn(c)) == wire.DiskEncryptionEnableOnAll
		if !validations.Encrypts(c.API.DiskEncryption, role) || role == wire.HostRoleArbiter && everywhere && c.Arbiters == 0 {
			continue
		}
		text, err := encryptionFor(c, role).MachineConfig(role)
		if err != nil {
			return nil, apierror.BadRequest("disk_encryption of cluster %s: %v", c.API.Name, err)
		}
		all = append(all, operators.Manifest{Folder: wire.ManifestFolderOpenshift, Name: "99-openshift-" + string(role) + "-disk-encryption.yaml", Content: text})
	}
	return all, nil
}

func enabledOn(c *store.Cluster) *string {
	if c.API.DiskEncryption == nil {
		return nil
	}
	return c.API.DiskEncryption.EnableOn
}

// manifestsOf are all that go into the cluster's installation: those that users added, and the hub's own.
func (w *Work) manifestsOf(c *store.Cluster, from sources.Name, joins bool) ([]sources.Manifest, error) {
	var out []sources.Manifest
	for _, m := range c.Manifests {
		text, err := w.Manifest(c, m.Folder, m.FileName)
		if err != nil {
			return nil, err
		}
		out = append(out, sources.Manifest{Folder: m.Folder, Name: m.FileName, Content: []byte(text)})
	}
	if from != sources.OpenShiftInstall || joins {
		return out, nil
	}
	own, err := w.OwnManifests(c)
	if err != nil {
		return nil, err
	}
	for _, m := range own {
		out = append(out, sources.Manifest{Folder: m.Folder, Name: m.Name, Content: []byte(m.Content)})
	}
	return out, nil
}

// Manifest is the content of a manifest that a user added.
func (w *Work) Manifest(c *store.Cluster, folder, name string) (string, error) {
	return w.units.Made().Manifest(w.Reader, c.API.ID, vault.ManifestFile(folder, name))
}

// PutManifest keeps a manifest, sealed. The cluster has to be touched as well.
func (w *Work) PutManifest(c *store.Cluster, folder, name, content string) error {
	sealed, err := w.units.Made().PutManifest(c.API.ID, vault.ManifestFile(folder, name), content)
	if err != nil {
		return err
	}
	w.PutFile(sealed)
	return nil
}
