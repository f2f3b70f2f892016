package validations

import (
	"fmt"
	"slices"

	"github.com/ironflow/ironflow/hub/wire"
)

// CheckIgnored refuses ids that do not exist, and those that nothing can be
// installed without.
func CheckIgnored(hostIDs, clusterIDs []string) error {
	for _, id := range hostIDs {
		i := slices.IndexFunc(HostRows, func(r HostRow) bool { return r.ID == wire.HostValidationID(id) })
		if err := ignorable("host", id, i >= 0, i >= 0 && HostRows[i].Essential); err != nil {
			return err
		}
	}
	for _, id := range clusterIDs {
		i := slices.IndexFunc(ClusterRows, func(r ClusterRow) bool { return r.ID == wire.ClusterValidationID(id) })
		if err := ignorable("cluster", id, i >= 0, i >= 0 && ClusterRows[i].Essential); err != nil {
			return err
		}
	}
	return nil
}

func ignorable(of, id string, known, essential bool) error {
	switch {
	case id == All:
		return nil
	case !known:
		return fmt.Errorf("there is no %s validation %q", of, id)
	case essential:
		return fmt.Errorf("validation %s cannot be ignored", id)
	}
	return nil
}
