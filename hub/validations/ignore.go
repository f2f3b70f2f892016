package validations

import (
	"fmt"
	"slices"
)

// CheckIgnored refuses ids that do not exist, and those that nothing can be
// installed without. [All] stands for every other one.
func CheckIgnored(hostIDs, clusterIDs []string) error {
	named := func(id string) bool { return id == All }
	hostIDs, clusterIDs = slices.DeleteFunc(slices.Clone(hostIDs), named), slices.DeleteFunc(slices.Clone(clusterIDs), named)
	if err := CheckIDs(hostIDs, clusterIDs); err != nil {
		return err
	}
	for _, row := range HostRows {
		if row.Essential && slices.Contains(hostIDs, string(row.ID)) {
			return fmt.Errorf("validation %s of a host cannot be ignored", row.ID)
		}
	}
	for _, row := range ClusterRows {
		if row.Essential && slices.Contains(clusterIDs, string(row.ID)) {
			return fmt.Errorf("validation %s of a cluster cannot be ignored", row.ID)
		}
	}
	return nil
}

// CheckIDs refuses ids of validations that do not exist.
func CheckIDs(hostIDs, clusterIDs []string) error {
	for _, id := range hostIDs {
		if !slices.ContainsFunc(HostRows, func(r HostRow) bool { return string(r.ID) == id }) {
			return fmt.Errorf("there is no host validation %q", id)
		}
	}
	for _, id := range clusterIDs {
		if !slices.ContainsFunc(ClusterRows, func(r ClusterRow) bool { return string(r.ID) == id }) {
			return fmt.Errorf("there is no cluster validation %q", id)
		}
	}
	return nil
}
