package ironic

import (
	"fmt"
	"strconv"
	"strings"
)

// Oldest and newest microversion (minor part of 1.x) that this package speaks.
// A newer Ironic is talked to in the newest known one.
const (
	oldestMinor = 89
	newestMinor = 115
)

// Feature is an ability of Ironic that depends on its API version.
type Feature string

// Features above the oldest supported version.
const (
	// FeatureVirtualMediaStatus reads a node's virtual media devices.
	FeatureVirtualMediaStatus Feature = "virtual media status"
	// FeatureDisablePowerOff keeps a machine powered on.
	FeatureDisablePowerOff Feature = "disable power off"
	// FeatureHealth shows the BMC's own view of the machine's health.
	FeatureHealth Feature = "node health"
	// FeatureDeployAbort aborts a deployment that waits for the ramdisk.
	FeatureDeployAbort Feature = "abort of a deployment"
)

// featureMinors names the first API version of each feature.
var featureMinors = map[Feature]int{
	FeatureVirtualMediaStatus: 93,
	FeatureDisablePowerOff:    95,
	FeatureHealth:             109,
	FeatureDeployAbort:        110,
}

// Missing says in one sentence what a feature needs that this Ironic lacks.
func (f Feature) missing(have int) string {
	return fmt.Sprintf("%s needs Ironic API 1.%d; this Ironic is spoken to in 1.%d: upgrade Ironic", f, featureMinors[f], have)
}

// chooseMinor picks the microversion for a server that speaks serverMin to
// serverMax (both as "1.n").
func chooseMinor(serverMin, serverMax string) (int, error) {
	low, err := minor(serverMin)
	if err != nil {
		return 0, err
	}
	high, err := minor(serverMax)
	if err != nil {
		return 0, err
	}
	if high < oldestMinor {
		return 0, fmt.Errorf("this Ironic speaks API up to 1.%d, at least 1.%d is needed: upgrade Ironic", high, oldestMinor)
	}
	if low > newestMinor {
		return 0, fmt.Errorf("this Ironic speaks API from 1.%d on, at most 1.%d is known: upgrade Ironflow", low, newestMinor)
	}
	return min(high, newestMinor), nil
}

func minor(version string) (int, error) {
	text, found := strings.CutPrefix(version, "1.")
	n, err := strconv.Atoi(text)
	if !found || err != nil || n < 1 {
		return 0, fmt.Errorf("the server names its API version %q, not 1.n: is the URL that of an Ironic?", version)
	}
	return n, nil
}
