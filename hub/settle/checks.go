package settle

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/evaluate"
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
// only when they changed, and that on connectivity only when it is not known.
func (w *Work) Facts(h *store.Host) *validations.HostFacts {
	texts := reportTexts(&h.API)
	if d, ok := w.decoded[h.Key()]; ok && d.texts == texts && d.facts.Host == &h.API {
		return d.facts
	}
	return w.decodedAs(h, validations.Decode(&h.API, validations.Known{Inventory: h.Inventory(), Links: w.knownLinks(h)}))
}

// allFacts returns the same with the connectivity report itself.
func (w *Work) allFacts(h *store.Host) *validations.HostFacts {
	if facts := w.Facts(h); facts.Connectivity != nil || facts.Links == nil {
		return facts
	}
	return w.decodedAs(h, validations.Decode(&h.API, validations.Known{Inventory: h.Inventory()}))
}

func (w *Work) decodedAs(h *store.Host, facts *validations.HostFacts) *validations.HostFacts {
	w.decoded[h.Key()] = decoded{reportTexts(&h.API), facts}
	return facts
}

// HostsOf returns all hosts of a cluster, by id. Reports on connectivity are most of what is
// stored of a large cluster: one whose links are kept stays unread.
func (w *Work) HostsOf(clusterID string) ([]*store.Host, error) {
	hosts, err := w.Work.HostsOf(clusterID)
	if err != nil {
		return nil, err
	}
	var unknown []*store.Host
	for _, h := range hosts {
		if !h.Unlinked() || w.links[h.Key()] != nil {
			continue
		}
		if links := w.keptLinks(h); links != nil {
			w.links[h.Key()] = links
		} else {
			unknown = append(unknown, h)
		}
	}
	return hosts, w.Reader.ReadConnectivity(unknown)
}

// knownLinks returns the links of a host whose connectivity report is known already; nil where
// it is to be decoded.
func (w *Work) knownLinks(h *store.Host) *validations.Links {
	if h.Unlinked() {
		return w.links[h.Key()]
	}
	return w.keptLinks(h)
}

// keptLinks returns the links of a host whose connectivity report is the one that
// is kept; nil where it is not known.
func (w *Work) keptLinks(h *store.Host) *validations.Links {
	e := w.units.kept.get(h.ClusterID())
	if e == nil || h.Version == 0 || h.API.Connectivity != h.WasConnectivity() {
		return nil
	}
	if m := e.group.Find(h.Key()); m != nil && m.Version == h.Version {
		return m.Links
	}
	return nil
}

// noteCluster stores what the checks of a cluster found when that changed.
func (w *Work) noteCluster(c *store.Cluster, g *evaluate.Group) error {
	outcome := validations.Cluster(w.ClusterInput(c, g))
	text, err := outcome.JSON()
	if err != nil {
		return err
	}
	groups, collisions := g.Facts.MajorityGroups(), g.Facts.IPCollisions()
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
	var before map[string][]struct{ ID, Status string } // it is read with each change: the messages are left out

	_ = json.Unmarshal([]byte(was), &before) // what is missing or cannot be read was not evaluated before
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
func (w *Work) suggest(c *store.Cluster) error {
	if !slices.Contains(clustermachine.Open, c.API.Status) {
		return nil
	}
	g, err := w.group(c)
	if err != nil {
		return err
	}
	if err := w.suggestRoles(c, g); err != nil {
		return err
	}
	if len(c.API.MachineNetworks) > 0 || !g.Facts.Release() || g.Facts.UserManaged() {
		return nil
	}
	for _, n := range g.Facts.Calculated(g.Facts.Members) {
		c.API.MachineNetworks = append(c.API.MachineNetworks, wire.MachineNetwork{CIDR: wire.Subnet(n.String()), ClusterID: c.API.ID})
		w.TouchCluster(c)
	}
	return nil
}

func (w *Work) suggestRoles(c *store.Cluster, g *evaluate.Group) error {
	if settled := w.clusters[c.API.ID].settled; settled != nil && evaluate.SameRoles(settled, g) {
		return nil
	}
	found := w.Roles(c, g.Members)
	for _, m := range g.Members {
		role := found[m.Key]
		if role == "" || role == m.Suggested {
			continue
		}
		h, err := w.Host(m.Key)
		if err != nil {
			return err
		}
		h.API.SuggestedRole = role
		w.Touch(h, store.ChangedHost)
	}
	return nil
}
