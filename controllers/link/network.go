package link

import (
	"encoding/json"
	"slices"
	"strings"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/wire"
)

// copyNetwork has the installed system keep the network of the live one.
const copyNetwork = "--copy-network"

// keepNetwork has a host with network data of its own keep that: the hub knows of the
// networks of the InfraEnv only, and would have the installed system ask a DHCP server
// that the site may not have. An installation that has begun keeps what it was begun with.
func keepNetwork(agent, want *agentv1.Agent, host *metal3v1.BareMetalHost) {
	args := withCopyNetwork(want.Spec.InstallerArgs)
	if host.Spec.PreprovisioningNetworkDataName != "" && (mayChange(agent.Status.DebugInfo.State) || agent.Spec.InstallerArgs == args) {
		want.Spec.InstallerArgs = args
	}
}

// mayChange tells that the hub takes other arguments in that status.
func mayChange(status string) bool {
	return status == "" || status == wire.HostStatusBinding || slices.Contains(hostmachine.PreInstall, status) || slices.Contains(hostmachine.Pool, status)
}

// withCopyNetwork adds the argument to a list in JSON, unless the list says by itself how
// the installed system gets its addresses. What is no list is left to be refused.
func withCopyNetwork(list string) string {
	var args []string
	if list != "" && json.Unmarshal([]byte(list), &args) != nil {
		return list
	}
	own := func(arg string) bool { return arg == copyNetwork || arg == "-n" || strings.HasPrefix(arg, "ip=") }
	if slices.ContainsFunc(args, own) {
		return list
	}
	raw, err := json.Marshal(append(args, copyNetwork))
	if err != nil {
		return list
	}
	return string(raw)
}
