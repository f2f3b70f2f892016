package flows

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
)

// installedUnit is the unit that says on the serial console what runs: the word
// that only this installation's Ignition has, the host's name and the root device.
// On a live system the condition keeps it from starting.
const installedUnit = `[Unit]
Description=Say what is installed here
After=multi-user.target
ConditionKernelCommandLine=!coreos.liveiso
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'echo "FLOW-INSTALLED %s host=$$(cat /proc/sys/kernel/hostname) root=$$(findmnt -no SOURCE /sysroot || findmnt -no SOURCE /)" >/dev/ttyS0'
[Install]
WantedBy=multi-user.target
`

// SayInstalled adds the unit to the Ignition that the hub makes for the host.
func SayInstalled(word string) func(*metal3v1.BareMetalHost) {
	return func(h *metal3v1.BareMetalHost) {
		if h.Annotations == nil {
			h.Annotations = map[string]string{}
		}
		h.Annotations[names.BMACIgnitionOverrides] = ignitionToSay(word)
	}
}

// ignitionToSay is an Ignition config with the unit alone.
func ignitionToSay(word string) string {
	return ignitionWith("say-installed.service", fmt.Sprintf(installedUnit, word))
}

// ignitionWith is an Ignition config with one unit.
func ignitionWith(name, contents string) string {
	return ignitionOf(map[string]string{name: contents})
}

// ignitionOf is an Ignition config with units by their names.
func ignitionOf(contents map[string]string) string {
	var units []any
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		units = append(units, map[string]any{"name": name, "enabled": true, "contents": contents[name]})
	}
	raw, err := json.Marshal(map[string]any{
		"ignition": map[string]any{"version": "3.2.0"}, "systemd": map[string]any{"units": units},
	})
	if err != nil {
		panic(fmt.Sprintf("encode strings: %v", err)) //nolint:forbidigo // strings are always encoded
	}
	return string(raw)
}
