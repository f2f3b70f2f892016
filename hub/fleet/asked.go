package fleet

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/input"
	"github.com/ironflow/ironflow/hub/reports"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// Ask gives a host what its object asks for; token is what want.TokenFrom holds. What the
// object has asked for before and asks for no more is taken back, unless somebody else has
// changed it since; settings that it never had are left to others. Asking for what is
// there already changes nothing, in any status of the host.
func (f *Fleet) Ask(ctx context.Context, key store.HostKey, want store.HostSettings, token string) (changed bool, err error) {
	if len(want.Labels) == 0 {
		want.Labels = nil
	}
	if len(want.Headers) == 0 {
		want.Headers = nil
	}
	if err := input.CheckHost(asParams(want, token)); err != nil {
		return false, err
	}
	err = f.units.View(ctx, func(w *settle.Work) error {
		host, err := w.Host(key)
		if err != nil {
			return err
		}
		changed = !reflect.DeepEqual(host.Asked, want) || wanted(host, want, token).any()
		return nil
	})
	if err != nil || !changed {
		return false, err
	}
	_, err = f.units.Host(ctx, key, func(w *settle.Work, host *store.Host) error {
		c := wanted(host, want, token)
		host.Asked = want
		if !c.any() {
			w.Touch(host, store.ChangedHost)
			return nil
		}
		if !slices.Contains(changeable, host.API.Status) {
			return apierror.BadRequest("host %s cannot change while it is %s", evaluate.HostName(host), host.API.Status)
		}
		if err := takesRole(w, host, c.params.HostRole); err != nil {
			return err
		}
		if c.freeDisk {
			if err := reports.FreeDisk(w, host); err != nil {
				return err
			}
		}
		w.Touch(host, store.ChangedHost)
		return apply(host, &c.params)
	})
	return err == nil, err
}

// change is what of a host's settings becomes another.
type change struct {
	params wire.HostUpdateParams
	// freeDisk takes the choice of a disk back.
	freeDisk bool
}

func (c change) any() bool {
	return c.freeDisk || !reflect.DeepEqual(c.params, wire.HostUpdateParams{})
}

// wanted is how the host differs from what is asked for.
func wanted(host *store.Host, want store.HostSettings, token string) change {
	var c change
	last, p := host.Asked, &c.params
	p.HostName = pick(want.Name, last.Name, host.API.RequestedHostname)
	p.MachineConfigPoolName = pick(want.Pool, last.Pool, host.API.MachineConfigPoolName)
	if p.HostRole = pick(want.Role, last.Role, string(host.API.Role)); p.HostRole != nil && *p.HostRole == "" {
		p.HostRole = new(wire.HostUpdateParamsHostRoleAutoAssign)
	}
	// A disk that was taken as the best one becomes a chosen one, so that it stays.
	taken := !host.DiskChosen && slices.Contains(changeable, host.API.Status)
	switch {
	case want.Disk != "" && (taken || !isDisk(host, want.Disk)):
		p.DisksSelectedConfig = []wire.DiskConfigParams{{ID: want.Disk, Role: wire.DiskRoleInstall}}
	case want.Disk == "" && last.Disk != "" && host.DiskChosen:
		c.freeDisk = isDisk(host, last.Disk)
	}
	if !maps.Equal(want.Labels, labelsOf(host)) {
		p.NodeLabels = labelParams(want.Labels)
	}
	if (want.TokenFrom != "" || last.TokenFrom != "") && token != host.EndpointToken {
		p.IgnitionEndpointToken = &token
	}
	headers := headersOf(want.Headers)
	if (len(want.Headers) > 0 || len(last.Headers) > 0) && !slices.Equal(headers, host.EndpointHeaders) {
		p.IgnitionEndpointHTTPHeaders = headers
	}
	return c
}

// pick is the new value of a setting; nil where it stays.
func pick(want, last, have string) *string {
	if want != have && (want != "" || last == have) {
		return &want
	}
	return nil
}

// isDisk tells that a name, one of several that a disk has, is of the host's installation disk.
func isDisk(host *store.Host, name string) bool {
	if name == host.API.InstallationDiskID || name == host.API.InstallationDiskPath {
		return true
	}
	inventory := evaluate.Inventory(host)
	if inventory == nil {
		return false
	}
	disk := validations.FindDisk(inventory, name)
	return disk != nil && host.API.InstallationDiskID != "" && disk == validations.FindDisk(inventory, host.API.InstallationDiskID)
}

// labelsOf are the host's labels, which the protocol carries as JSON in text.
func labelsOf(host *store.Host) (labels map[string]string) {
	_ = json.Unmarshal([]byte(host.API.NodeLabels), &labels) // it is the hub's own text, or empty
	return labels
}

func labelParams(labels map[string]string) []wire.NodeLabelParams {
	list := []wire.NodeLabelParams{}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		list = append(list, wire.NodeLabelParams{Key: key, Value: labels[key]})
	}
	return list
}

// headersOf are headers in the protocol's form, sorted; an empty list removes those that are there.
func headersOf(headers map[string]string) []wire.IgnitionEndpointHTTPHeadersParams {
	list := []wire.IgnitionEndpointHTTPHeadersParams{}
	for _, key := range slices.Sorted(maps.Keys(headers)) {
		list = append(list, wire.IgnitionEndpointHTTPHeadersParams{Key: key, Value: headers[key]})
	}
	return list
}

// asParams are the settings as the REST API has them, to be held against its rules.
func asParams(s store.HostSettings, token string) *wire.HostUpdateParams {
	p := &wire.HostUpdateParams{
		HostName: pick(s.Name, "", ""), HostRole: pick(s.Role, "", ""), MachineConfigPoolName: &s.Pool,
		NodeLabels: labelParams(s.Labels), IgnitionEndpointToken: &token, IgnitionEndpointHTTPHeaders: headersOf(s.Headers),
	}
	if s.Disk != "" {
		p.DisksSelectedConfig = []wire.DiskConfigParams{{ID: s.Disk, Role: wire.DiskRoleInstall}}
	}
	return p
}
