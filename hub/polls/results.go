package polls

import (
	"hash/maphash"
	"slices"

	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// seed of digests, so that no host can make two texts alike.
var seed = maphash.MakeSeed()

// reported are where the hub keeps what the replies to recurring checks say.
var reported = map[wire.StepType]func(*wire.Host) string{
	wire.StepTypeInventory:               func(h *wire.Host) string { return h.Inventory },
	wire.StepTypeConnectivityCheck:       func(h *wire.Host) string { return h.Connectivity },
	wire.StepTypeFreeNetworkAddresses:    func(h *wire.Host) string { return h.FreeAddresses },
	wire.StepTypeTangConnectivityCheck:   func(h *wire.Host) string { return h.TangConnectivity },
	wire.StepTypeNTPSynchronizer:         func(h *wire.Host) string { return h.NTPSources },
	wire.StepTypeDomainResolution:        func(h *wire.Host) string { return h.DomainNameResolutions },
	wire.StepTypeAPIVIPConnectivityCheck: func(h *wire.Host) string { return h.APIVIPConnectivity },
}

// Result is a digest of what the hub has made of the host's replies to a recurring check, and of all else that such a
// reply is handled by: as long as it is the same, the same reply changes nothing. It reports false where the check has
// no result, or where any reply may change something. c is the host's cluster, or nil; needs are what the host has to meet.
func Result(step wire.StepType, host *store.Host, c *store.Cluster, needs validations.Requirements) (digest uint64, has bool) {
	if !evaluate.MediaConnected(host) {
		return 0, false // any reply tells that it can read its boot medium again
	}
	var hash maphash.Hash
	hash.SetSeed(seed)
	switch step {
	case wire.StepTypeVerifyVIPs:
		has = writeVIPs(&hash, c)
	case wire.StepTypeInventory:
		if !hostmachine.TakesInventory(host.API.Status) {
			return 0, false
		}
		_, _ = hash.WriteString(unit.Text(needs)) // its disks are judged by them
		fallthrough
	default:
		text := reported[step]
		if text == nil {
			return 0, false
		}
		has = text(&host.API) != ""
		_, _ = hash.WriteString(text(&host.API))
	}
	return hash.Sum64(), has
}

// writeVIPs hashes what is known of the cluster's virtual addresses, and reports whether all of them were verified and
// may be again.
func writeVIPs(hash *maphash.Hash, c *store.Cluster) bool {
	if c == nil || !slices.Contains(clustermachine.Open, c.API.Status) {
		return false
	}
	verified := len(c.API.APIVIPs)+len(c.API.IngressVIPs) > 0
	add := func(ip wire.IP, v *wire.VIPVerification) {
		verified = verified && v != nil
		_, _ = hash.WriteString(string(ip) + " " + unit.Text(v) + "\n")
	}
	for _, v := range c.API.APIVIPs {
		add(v.IP, v.Verification)
	}
	for _, v := range c.API.IngressVIPs {
		add(v.IP, v.Verification)
	}
	return verified
}

// results are those of all recurring checks of a host.
func results(host *store.Host, c *store.Cluster, needs validations.Requirements) map[wire.StepType]uint64 {
	out := map[wire.StepType]uint64{}
	for _, step := range instructions.Recurring {
		if digest, has := Result(step, host, c, needs); has {
			out[step] = digest
		}
	}
	return out
}
