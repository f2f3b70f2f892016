package csr

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/cluster/facts"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	nodePrefix = "system:node:"
	nodeGroup  = "system:nodes"
	// bootstrapGroup is that of bootstrap tokens.
	bootstrapGroup = "system:bootstrappers"
)

// bootstrapAccounts are service accounts whose token hosts bring with them.
var bootstrapAccounts = []string{"system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"}

// Reason is the word for a verdict, as events and metrics have it.
type Reason string

// The reasons.
const (
	Approved     Reason = "Approved"
	Unreadable   Reason = "UnreadableRequest"
	NoNode       Reason = "NotANode"
	WrongUsages  Reason = "WrongUsages"
	UnknownHost  Reason = "UnknownHost"
	TwoHosts     Reason = "AmbiguousHost"
	WrongAsker   Reason = "WrongRequester"
	NamesInIt    Reason = "NamesInClientRequest"
	WrongNames   Reason = "WrongNames"
	WrongAddress Reason = "WrongAddresses"
	NotInstalled Reason = "HostNotInstalled"
	NodeRuns     Reason = "NodeAlreadyRuns"
	NoSuchNode   Reason = "NodeMissing"
	NotTheAPI    Reason = "NameOfTheAPI"
	TwoAddresses Reason = "AmbiguousAddress"
)

// A rule looks at one part of a request. It returns Approve when that part is in order.
type rule struct {
	reason Reason
	// signer is the one that it holds for; empty for both.
	signer string
	// says is the rule in one sentence, for the documentation.
	says   string
	broken func(*input) (Decision, string)
}

// rules are asked in this order; the first that is broken decides.
var rules = []rule{
	{NoNode, "", "the subject is `system:node:NAME`, and its only organisation `system:nodes`", isNode},
	{WrongUsages, Client, "the usages are digital signature, client auth and at most key encipherment", usages("client auth")},
	{WrongUsages, Serving, "the usages are digital signature, server auth and at most key encipherment", usages("server auth")},
	{NamesInIt, Client, "a client's request has no names and addresses", noNames},
	{UnknownHost, "", "the hub has a host of that name in this cluster", knownHost},
	{TwoHosts, "", "the hub has only one such host", oneHost},
	{WrongAsker, Client, "it comes from the node itself, or from a bootstrap token or the machine config server's account", clientAsker},
	{WrongAsker, Serving, "it comes from the node itself", servingAsker},
	{NotInstalled, "", "according to the hub, the host has rebooted into its installed system (waits until it has)", installed},
	{NodeRuns, Client, "with a bootstrap token, the request is not for a node that is Ready (waits until it is not), nor for one whose host is installed or was added", notRunning},
	{NoSuchNode, Serving, "the node exists (waits until it does)", nodeExists},
	{WrongNames, Serving, "the only name in it is that of the node", servingNames},
	{WrongAddress, Serving, "it has addresses, and according to the hub, the host has each of them", servingAddresses},
	{NotTheAPI, Serving, "no name or address in it is the API's: not `localhost`, `kubernetes` with its namespace and domain, or an address of the service networks, and only for the control plane the API's name in DNS or a virtual address", notTheAPI},
	{TwoAddresses, Serving, "no address in it is that of another host whose node has it, or that has no node yet", oneAddress},
}

// Rule is a row of the documented table.
type Rule struct{ Reason, Signer, Says string }

// Rules are all rules in the order in which they are asked.
func Rules() []Rule {
	out := []Rule{{
		string(Unreadable), "",
		"it is one PKCS#10 request of at most 8 KiB, signed with its own key (RSA from 2048 bits, ECDSA from 256, Ed25519), with no extensions except names and addresses",
	}}
	for _, r := range rules {
		out = append(out, Rule{string(r.reason), r.signer, r.says})
	}
	return out
}

func isNode(in *input) (Decision, string) {
	s := in.x509.Subject
	if in.name == "" || in.name == s.CommonName || len(s.Names) != 2 || len(s.Organization) != 1 || s.Organization[0] != nodeGroup {
		return Leave, fmt.Sprintf("the subject %.200q is no node's", s.String())
	}
	return Approve, ""
}

func usages(own string) func(*input) (Decision, string) {
	return func(in *input) (Decision, string) {
		have := slices.Compact(slices.Sorted(slices.Values(in.Usages)))
		want := []string{"digital signature", own}
		if slices.Contains(have, "key encipherment") {
			want = append(want, "key encipherment")
		}
		slices.Sort(want)
		if len(have) != len(in.Usages) || !slices.Equal(have, want) {
			return Leave, fmt.Sprintf("it asks for the usages %.200q; want digital signature and %s", in.Usages, own)
		}
		return Approve, ""
	}
}

func noNames(in *input) (Decision, string) {
	if r := in.x509; len(r.Extensions)+len(r.DNSNames)+len(r.IPAddresses)+len(r.EmailAddresses)+len(r.URIs) > 0 {
		return Leave, "a node's client certificate has no further names or addresses"
	}
	return Approve, ""
}

func knownHost(in *input) (Decision, string) {
	i := slices.IndexFunc(in.world.Hosts, in.isOf)
	if i < 0 {
		return Leave, fmt.Sprintf("the hub has no host %.253q in this cluster", in.name)
	}
	in.host = &in.world.Hosts[i]
	return Approve, ""
}

func (in *input) isOf(h facts.Host) bool { return h.Name != "" && h.Name == in.name }

func oneHost(in *input) (Decision, string) {
	n := 0
	for _, h := range in.world.Hosts {
		if in.isOf(h) {
			n++
		}
	}
	if n > 1 {
		return Leave, fmt.Sprintf("the hub has %d hosts of the name %s; rename all but one", n, in.name)
	}
	return Approve, ""
}

func clientAsker(in *input) (Decision, string) {
	node := in.renews() && slices.Contains(in.Groups, nodeGroup)
	if !node && !slices.Contains(in.Groups, bootstrapGroup) && !slices.Contains(bootstrapAccounts, in.Username) {
		return Leave, fmt.Sprintf("%.200q asks for it, who is neither the node nor brings a bootstrap token", in.Username)
	}
	return Approve, ""
}

func servingAsker(in *input) (Decision, string) {
	if !in.renews() || !slices.Contains(in.Groups, nodeGroup) {
		return Leave, fmt.Sprintf("%.200q asks for it, who is not the node", in.Username)
	}
	return Approve, ""
}

// behindRestart are the stages in which the installed system runs.
var behindRestart = []wire.HostStage{
	wire.HostStageRebooting, wire.HostStageWaitingForIgnition, wire.HostStageConfiguring, wire.HostStageJoined, wire.HostStageDone,
}

// gone are the statuses of hosts that are no part of the cluster any more.
var gone = []string{
	wire.HostStatusCancelled, wire.HostStatusError, wire.HostStatusResettingPendingUserAction, wire.HostStatusUnbinding,
	wire.HostStatusUnbindingPendingUserAction, wire.HostStatusReclaiming, wire.HostStatusReclaimingRebooting, wire.HostStatusResetting,
}

// ended are the statuses of hosts that are nodes for the hub.
var ended = []string{wire.HostStatusInstalled, wire.HostStatusAddedToExistingCluster}

func installed(in *input) (Decision, string) {
	switch h := in.host; {
	case slices.Contains(gone, h.Status):
		return Leave, fmt.Sprintf("host %s is %s", h.Name, h.Status)
	case slices.Contains(ended, h.Status), h.Status == wire.HostStatusInstallingPendingUserAction, slices.Contains(behindRestart, h.Stage):
		return Approve, ""
	default:
		return Wait, fmt.Sprintf("host %s is %s at the stage %q", h.Name, h.Status, h.Stage)
	}
}

// notRunning keeps those who hold a bootstrap token from the name of a node that is there.
func notRunning(in *input) (Decision, string) {
	if in.renews() {
		return Approve, ""
	}
	node, there := in.node()
	switch {
	case there && node.Ready:
		return Wait, fmt.Sprintf("node %s is Ready: it renews its certificate by itself", in.name)
	case there && (in.host.Stage == wire.HostStageDone || slices.Contains(ended, in.host.Status)):
		return Leave, fmt.Sprintf("host %s is installed: delete its node if it is to join again", in.name)
	}
	return Approve, ""
}

func nodeExists(in *input) (Decision, string) {
	if _, there := in.node(); !there {
		return Wait, fmt.Sprintf("there is no node %s", in.name)
	}
	return Approve, ""
}

func servingNames(in *input) (Decision, string) {
	r := in.x509
	if len(r.EmailAddresses)+len(r.URIs) > 0 {
		return Leave, "it asks for e-mail addresses or URIs"
	}
	for _, name := range r.DNSNames {
		if name != in.name {
			return Leave, fmt.Sprintf("it asks for the name %.253q, and its node is %s", name, in.name)
		}
	}
	return Approve, ""
}

func servingAddresses(in *input) (Decision, string) {
	if len(in.x509.IPAddresses) == 0 {
		return Leave, "it asks for no address"
	}
	own := map[netip.Addr]bool{}
	for _, a := range in.host.Addresses {
		own[a] = true
	}
	var foreign []string
	for _, ip := range in.x509.IPAddresses {
		a, ok := netip.AddrFromSlice(ip)
		if a = a.Unmap(); !ok || !own[a] {
			foreign = append(foreign, ip.String())
		}
	}
	if len(foreign) > 0 {
		has := make([]string, 0, len(own))
		for a := range maps.Keys(own) {
			has = append(has, a.String())
		}
		slices.Sort(has)
		return Leave, fmt.Sprintf("it asks for %.300s, and host %s has %.300s", strings.Join(foreign, ", "), in.host.Name, strings.Join(has, ", "))
	}
	return Approve, ""
}
