package store

import (
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
)

// report is one long text that a host reported or that the hub computed of it.
// Reports lie in rows of their own: a poll writes a few hundred bytes, not the
// host's whole inventory again.
type report struct {
	kind  string
	field func(*wire.Host) *string
}

var reports = []report{
	{"inventory", func(h *wire.Host) *string { return &h.Inventory }},
	{kindConnectivity, func(h *wire.Host) *string { return &h.Connectivity }},
	{"free-addresses", func(h *wire.Host) *string { return &h.FreeAddresses }},
	{"api-vip", func(h *wire.Host) *string { return &h.APIVIPConnectivity }},
	{"tang", func(h *wire.Host) *string { return &h.TangConnectivity }},
	{"domains", func(h *wire.Host) *string { return &h.DomainNameResolutions }},
	{"ntp", func(h *wire.Host) *string { return &h.NTPSources }},
	{"disks", func(h *wire.Host) *string { return &h.DisksInfo }},
	{"images", func(h *wire.Host) *string { return &h.ImagesStatus }},
	{"validations", func(h *wire.Host) *string { return &h.ValidationsInfo }},
	{"ignition", func(h *wire.Host) *string { return &h.IgnitionConfigOverrides }},
}

// kindConnectivity is the report that grows with the host's cluster.
const kindConnectivity = "connectivity"

// unread stands in the place of a report that was left unread: no report has a NUL, see [clean].
const unread = "\x00unread"

// Unlinked tells that the host's report on connectivity was left unread. It is not to be looked at until
// [Reader.ReadConnectivity] has read it; written in its place is only what replaces it.
func (h *Host) Unlinked() bool { return h.API.Connectivity == unread }

// ReadConnectivity reads the reports on connectivity of those hosts that are [Host.Unlinked].
func (r *Reader) ReadConnectivity(hosts []*Host) error {
	var keys []HostKey
	for _, h := range hosts {
		if h.Unlinked() {
			keys = append(keys, h.Key())
		}
	}
	found, err := r.reportsOf(kindConnectivity, keys)
	if err != nil {
		return err
	}
	for _, h := range hosts {
		if h.Unlinked() {
			text := found[h.Key()]
			h.API.Connectivity, h.loaded[kindConnectivity] = text, text
		}
	}
	return nil
}

// takeReports cuts the reports out of the host, for its own row.
func takeReports(h *wire.Host) map[string]string {
	taken := map[string]string{}
	for _, r := range reports {
		text := r.field(h)
		taken[r.kind], *text = *text, ""
	}
	return taken
}

func putReport(h *wire.Host, kind, text string) {
	for _, r := range reports {
		if r.kind == kind {
			*r.field(h) = text
		}
	}
}

// Inventories returns those of the hosts alone. Hosts that have told none, or are not
// there, are left out.
func (r *Reader) Inventories(keys []HostKey) (map[HostKey]string, error) {
	return r.reportsOf("inventory", keys)
}

// Validations returns those of the hosts alone, as the hub has judged them.
func (r *Reader) Validations(keys []HostKey) (map[HostKey]string, error) {
	return r.reportsOf("validations", keys)
}

// reportsOf are the reports of a kind alone.
func (r *Reader) reportsOf(kind string, keys []HostKey) (map[HostKey]string, error) {
	out := map[HostKey]string{}
	for page := range slices.Chunk(keys, reportsPage) {
		var where conditions
		var wanted []string
		place := where.mark(kind)
		for _, key := range page {
			wanted = append(wanted, "("+where.mark(key.InfraEnvID)+", "+where.mark(key.HostID)+")")
		}
		query := `SELECT infra_env_id, host_id, doc FROM host_reports WHERE kind = ` + place + ` AND (infra_env_id, host_id) IN (VALUES ` + strings.Join(wanted, ", ") + `)`
		err := r.scanAll("read "+kind, query, where.args, func(scan func(...any) error) error {
			var key HostKey
			var text string
			err := scan(&key.InfraEnvID, &key.HostID, &text)
			out[key] = text
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
