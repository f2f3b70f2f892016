package instructions

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/imagename"
)

// Images are the images that an installation needs. None has a default: what nobody has
// named, no host pulls or runs.
type Images struct {
	// Installer is that of agents that do not install by themselves; empty for our own
	// agent, which needs none.
	Installer string
	// Controller is the program that the bootstrap host puts into the cluster; empty for
	// a cluster that gets none in this way.
	Controller string
	// Release, MachineConfig and MustGather are empty for clusters without a release.
	// MustGather may be a JSON map of several.
	Release, MachineConfig, MustGather string
	// CoreOS is what is installed on hosts whose live system runs from a disk; empty
	// leaves that to the installer.
	CoreOS string
}

// ToCheck are the images that a host has to be able to pull before it is
// installed. Without a release there are none: the agent in the live image
// installs by itself.
func (i Images) ToCheck() []string {
	if i.Release == "" {
		return nil
	}
	all := []string{i.Release, i.MachineConfig, i.mustGather(), i.Installer}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// ofRelease is the key of the release's own image among several that gather; the others are of operators.
const ofRelease = "ocp"

// mustGather is the image that gathers what is known of the release; empty for none.
func (i Images) mustGather() string {
	var several map[string]string
	if json.Unmarshal([]byte(i.MustGather), &several) != nil {
		return i.MustGather // it is one image
	}
	return several[ofRelease]
}

// Check refuses names without a registry; the error lists all of them.
func (i Images) Check() error {
	var errs []error
	check := func(name, image string) {
		if image == "" {
			return
		}
		if err := imagename.Full(image); err != nil {
			errs = append(errs, fmt.Errorf("%s image: %w", name, err))
		}
	}
	check("installer", i.Installer)
	check("controller", i.Controller)
	check("release", i.Release)
	check("machine config", i.MachineConfig)
	check("CoreOS", i.CoreOS)
	var several map[string]string
	if !strings.HasPrefix(i.MustGather, "{") {
		check("must-gather", i.MustGather)
	} else if err := json.Unmarshal([]byte(i.MustGather), &several); err != nil {
		errs = append(errs, fmt.Errorf("must-gather images: neither an image nor a JSON map of images: %w", err))
	}
	for _, key := range slices.Sorted(maps.Keys(several)) {
		check("must-gather "+key, several[key])
	}
	return errors.Join(errs...)
}
