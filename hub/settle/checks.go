package settle

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/connectivity"
	"github.com/ironflow/ironflow/hub/judge"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// decoded is a host's reports, decoded once in a unit of work.
type decoded struct {
	texts [8]string
	facts *validations.HostFacts
}

func reportTexts(h *wire.Host) [8]string {
	return [...]string{
		h.Inventory, h.Connectivity, h.DomainNameResolutions, h.APIVIPConnectivity, h.TangConnectivity,
		h.NTPSources, h.ImagesStatus, h.DisksInfo,
	}
}

// Facts returns what the checks know of the host; its reports are decoded again
// only when they changed.
func (w *Work) Facts(h *store.Host) *validations.HostFacts {
	texts := reportTexts(&h.API)
	if d, ok := w.decoded[h.Key()]; ok && d.texts == texts && d.facts.Host == &h.API {
		return d.facts
	}
	d := decoded{texts, validations.Decode(&h.API)}
	w.decoded[h.Key()] = d
	return d.facts
}

// common is what the hosts of a cluster have in common, with what it was computed from.
type common struct {
	seen     []seen
	networks []connectivity.Network
	facts    *validations.ClusterFacts
}

// seen is all of a host that its cluster's facts depend on.
type seen struct {
	facts     *validations.HostFacts
	role      wire.HostRole
	name      string
	clock     int64
	checkedIn time.Time
}

func wanted(c *store.Cluster) validations.Wanted {
	return validations.Wanted{Masters: c.Masters, Arbiters: c.Arbiters, Workers: c.Workers}
}

// clusterCommon computes the facts of a cluster once for all of its hosts, and
// again only when one of them has changed.
func (w *Work) clusterCommon(c *store.Cluster) (*validations.ClusterFacts, error) {
	hosts, err := w.HostsOf(c.API.ID)
	if err != nil {
		return nil, err
	}
	now := common{networks: validations.Read(&c.API, wanted(c)).Networks()}
	for _, h := range hosts {
		now.seen = append(now.seen, seen{w.Facts(h), validations.EffectiveRole(&h.API), h.API.RequestedHostname, h.API.Timestamp, h.API.CheckedInAt.Time})
	}
	settings := validations.Read(&c.API, wanted(c))
	if old, ok := w.common[c.API.ID]; ok && slices.Equal(old.seen, now.seen) && slices.Equal(old.networks, now.networks) {
		facts := *old.facts
		facts.Settings = settings
		return &facts, nil
	}
	now.facts = summarise(settings, now)
	w.common[c.API.ID] = now
	return now.facts, nil
}

func summarise(settings validations.Settings, of common) *validations.ClusterFacts {
	var ids []string
	var members []validations.Member
	for _, s := range of.seen {
		ids = append(ids, s.facts.Host.ID)
		members = append(members, s.facts.Member())
	}
	graph := connectivity.New(of.networks, ids)
	for _, s := range of.seen {
		graph.Report(s.facts.Host.ID, s.facts.Connectivity)
	}
	return validations.Summarise(settings, members, graph.Groups(settings.Least()))
}

// judgeCluster runs the checks of a cluster.
func (w *Work) judgeCluster(c *store.Cluster, hosts []*store.Host) (*validations.ClusterFacts, validations.ClusterOutcome, error) {
	facts, err := w.clusterCommon(c)
	if err != nil {
		return nil, validations.ClusterOutcome{}, err
	}
	return facts, validations.Cluster(w.ClusterInput(c, hosts, facts)), nil
}

// noteCluster stores what the checks of a cluster found when that changed.
func (w *Work) noteCluster(c *store.Cluster, hosts []*store.Host) error {
	facts, outcome, err := w.judgeCluster(c, hosts)
	if err != nil {
		return err
	}
	text, err := outcome.JSON()
	if err != nil {
		return err
	}
	groups, collisions := facts.MajorityGroups(), facts.IPCollisions()
	if text == c.API.ValidationsInfo && groups == c.API.ConnectivityMajorityGroups && collisions == c.API.IPCollisions {
		return nil
	}
	was := c.API.ValidationsInfo
	c.API.ValidationsInfo, c.API.ConnectivityMajorityGroups, c.API.IPCollisions = text, groups, collisions
	w.TouchCluster(c)
	return w.validationEvents(was, outcome.Results, func(name, severity string, r validations.Result, p unit.Props) error {
		p["validation_msg"] = r.Message
		return w.ClusterEvent(c, "cluster_"+name, severity, verdictText(r), p)
	})
}

// noteValidations stores the results of a host's checks when they changed.
func (w *Work) noteValidations(h *store.Host, outcome validations.HostOutcome) error {
	text, err := outcome.JSON()
	if err != nil || text == h.API.ValidationsInfo {
		return err
	}
	was := h.API.ValidationsInfo
	h.API.ValidationsInfo = text
	w.Write(h)
	return w.validationEvents(was, outcome.Results, func(name, severity string, r validations.Result, p unit.Props) error {
		return w.HostEvent(h, "host_"+name, severity, verdictText(r), p)
	})
}

func verdictText(r validations.Result) string { return "validation " + r.ID + ": " + r.Message }

// validationEvents tells of checks that passed before and fail now, and the
// other way round.
func (w *Work) validationEvents(was string, now map[string][]validations.Result, tell func(name, severity string, r validations.Result, p unit.Props) error) error {
	var before map[string][]validations.Result
	_ = json.Unmarshal([]byte(was), &before) // what is missing or cannot be read was not judged before
	status := map[string]string{}
	for _, results := range before {
		for _, r := range results {
			status[r.ID] = r.Status
		}
	}
	for _, category := range slices.Sorted(maps.Keys(now)) {
		for _, r := range now[category] {
			var err error
			switch {
			case status[r.ID] == validations.Success && r.Status == validations.Failure:
				err = tell("validation_failed", wire.EventSeverityWarning, r, unit.Props{"validation_id": r.ID, "failure_message": r.Message})
			case status[r.ID] == validations.Failure && r.Status == validations.Success:
				err = tell("validation_fixed", wire.EventSeverityInfo, r, unit.Props{"validation_id": r.ID})
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// suggest fills in what the hub can tell by itself before an installation: the
// roles of hosts that nobody gave one, and the machine networks that follow from
// the virtual addresses.
func (w *Work) suggest(c *store.Cluster, hosts []*store.Host) error {
	if !slices.Contains(clustermachine.Open, c.API.Status) {
		return nil
	}
	found := w.assigned(c, hosts)
	for _, h := range hosts {
		if role := found[judge.RoleKey(h)]; role != "" && role != h.API.SuggestedRole {
			h.API.SuggestedRole = role
			w.Touch(h, store.ChangedHost)
		}
	}
	facts, err := w.clusterCommon(c)
	if err != nil {
		return err
	}
	if len(c.API.MachineNetworks) > 0 || !facts.Release() || facts.UserManaged() {
		return nil
	}
	for _, n := range facts.Calculated(facts.Members) {
		c.API.MachineNetworks = append(c.API.MachineNetworks, wire.MachineNetwork{CIDR: wire.Subnet(n.String()), ClusterID: c.API.ID})
		w.TouchCluster(c)
	}
	return nil
}

// assigned gives roles to the hosts that are known well enough, by [judge.RoleKey].
func (w *Work) assigned(c *store.Cluster, hosts []*store.Host) map[string]wire.HostRole {
	return w.Roles(c, hosts, w.Facts)
}
