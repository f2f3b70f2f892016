package sources

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ironflow/ironflow/hub/wire"
)

// Set are the sources of a hub.
type Set struct {
	// Default is that of clusters that name none.
	Default Name
	// All are the sources that this hub has.
	All map[Name]Source
}

// Names are all names that a cluster may give, whether this hub has the source or not.
func Names() []Name { return []Name{Files, OpenShiftInstall, Kubernetes, Pointer} }

// Check refuses a name that is no source, and one that this hub does not have.
// The empty name is the default's.
func (s Set) Check(name Name) error {
	_, err := s.Of(name)
	return err
}

// Of returns the source of a cluster that gives the name; the empty one is the default's.
func (s Set) Of(name Name) (Source, error) {
	if name == "" {
		name = s.Default
	}
	source, ok := s.All[name]
	switch {
	case ok:
		return source, nil
	case !slices.Contains(Names(), name):
		return nil, Unknown(name)
	}
	return nil, fmt.Errorf("Ignition source %s: this hub is not set up for it; it has %v", name, slices.Sorted(maps.Keys(s.All))) //nolint:staticcheck // a name
}

// Name is the one that counts for a cluster which gives this name.
func (s Set) Name(given Name) Name {
	if given == "" {
		return s.Default
	}
	return given
}

// HasRelease tells that the cluster is to be one of a release, which is more than its
// installed hosts. One that was imported runs already.
func HasRelease(c *wire.Cluster) bool { return c.OpenshiftVersion != "" || c.OcpReleaseImage != "" }
