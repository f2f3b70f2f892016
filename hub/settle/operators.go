package settle

import (
	"slices"

	"github.com/ironflow/ironflow/hub/manifests"
	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// Offered are the operators that clusters of this hub can get: none where no source
// brings manifests into an installation of OpenShift.
func (u *Units) Offered() operators.Table {
	if _, ok := u.Sources.All[sources.OpenShiftInstall]; !ok {
		return operators.Table{}
	}
	return u.Rules.Operators
}

// OwnManifests are those that the hub itself puts into the cluster's installation: they
// subscribe to its operators. A file of the same name that a user has added takes the place of one.
func (w *Work) OwnManifests(c *store.Cluster) []operators.Manifest {
	chosen, _ := w.OperatorsOf(c)
	return slices.DeleteFunc(operators.Manifests(chosen), func(own operators.Manifest) bool {
		return slices.ContainsFunc(c.Manifests, func(m wire.Manifest) bool { return m.FileName == own.Name })
	})
}

// manifestsOf are all that go into the cluster's installation: those that users added, and the hub's own.
func (w *Work) manifestsOf(c *store.Cluster, from sources.Name, joins bool) ([]sources.Manifest, error) {
	var out []sources.Manifest
	for _, m := range c.Manifests {
		text, err := w.Reader.ClusterFile(c.API.ID, manifests.File(m.Folder, m.FileName))
		if err != nil {
			return nil, err
		}
		out = append(out, sources.Manifest{Folder: m.Folder, Name: m.FileName, Content: []byte(text)})
	}
	if from != sources.OpenShiftInstall || joins {
		return out, nil
	}
	for _, m := range w.OwnManifests(c) {
		out = append(out, sources.Manifest{Folder: m.Folder, Name: m.Name, Content: []byte(m.Content)})
	}
	return out, nil
}
