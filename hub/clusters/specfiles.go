package clusters

import (
	"errors"
	"reflect"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/seal"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/files"
	"github.com/ironflow/ironflow/hub/store"
)

// checkFiles refuses files of a source that is not the cluster's, and those that it cannot
// make use of.
func (r *Registry) checkFiles(name sources.Name, given []sources.File) error {
	if from := r.units.Sources.Name(name); len(given) > 0 && from != sources.Files {
		return apierror.BadRequest("the files of %s are of the Ignition source %s, and the cluster's is %s", given[0].From, sources.Files, from)
	}
	from := map[string]string{}
	for _, f := range given {
		if other, twice := from[f.Name]; twice {
			return apierror.BadRequest("%s and %s both have a file %.80s: take one away", other, f.From, f.Name)
		}
		from[f.Name] = f.From
		if err := files.Check(f); err != nil {
			return apierror.BadRequest("%v", err)
		}
	}
	return nil
}

// filesVersion is the number of the version of the files that the cluster is to have: that
// of the record where they are the same. Those that no key opens any more are taken anew.
func (spec Spec) filesVersion(w *settle.Work, c *store.Cluster) (int, error) {
	if len(spec.Files) == 0 {
		return 0, nil
	}
	switch had, err := w.Given(c); {
	case errors.Is(err, seal.ErrKey): // the objects have them still
	case err != nil:
		return 0, err
	case reflect.DeepEqual(had, spec.Files):
		return c.Given, nil
	}
	return c.Given + 1, nil
}
