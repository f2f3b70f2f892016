package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/agentbased/hostconfig"
	"github.com/ironflow/ironflow/agent/agentbased/manifests"
	"github.com/ironflow/ironflow/agent/agentbased/pause"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/hub/wire"
)

// FailuresFile has a line "host: reason" for each host that is not configured; it is not
// there when all are.
const FailuresFile = "/var/run/agent-installer/host-config-failures"

// failure is why a host is not configured yet.
type failure struct{ host, reason string }

// configuring is one run of [Client.Configure].
type configuring struct {
	*Client

	set *manifests.Set
	// pinned are the disks that were asked for, by the record of the host. No hub tells whether somebody
	// has chosen a host's disk, or the hub itself, which chooses again with each inventory.
	pinned map[hostconfig.Record]string
	// applied are the hosts that have all that is said of them, kept those of which others know.
	applied, kept hostconfig.Applied
	// watches tells that all hosts were configured once. From then on, only those count that have
	// registered since: what somebody has changed of the others stays.
	watches bool
}

// watch is how often hosts that have registered later are looked for.
const watch = 5 * time.Second

// Configure gives the hosts what their folders say, again and again until each has it. With
// [Settings.Watch] it goes on with those that register later, such as one that was removed from the
// hub and has come again, until it is stopped.
func (c *Client) Configure(ctx context.Context) error {
	if err := isUUID(infraEnvIDEnv, c.Settings.InfraEnvID); err != nil {
		return err
	}
	if w := c.Settings.Workflow; w != WorkflowInstall && w != WorkflowAddNodes {
		return bad(workflowEnv, w, WorkflowInstall+" or "+WorkflowAddNodes)
	}
	set, err := c.read(manifests.Files{HostConfig: c.Settings.Files.HostConfig})
	if err != nil {
		return err
	}
	if set.Hosts, err = c.wanted(set.Hosts); err != nil {
		return err
	}
	r := &configuring{Client: c, set: set, pinned: map[hostconfig.Record]string{}, applied: hostconfig.Applied{}}
	if err := r.all(ctx); err != nil || !c.Settings.Watch {
		return err
	}
	if err := r.keep(); err != nil {
		return err
	}
	if c.Ready != nil {
		c.Ready()
	}
	return r.later(ctx)
}

// all repeats passes until each host has what is said of it.
func (c *configuring) all(ctx context.Context) error {
	for failures := 1; ; failures++ {
		left, err := c.apply(ctx)
		if err != nil && !passes(err) {
			return err
		}
		if err != nil {
			left = []failure{{"all hosts", "the hub cannot be asked: " + err.Error()}}
		}
		if err := c.tell(left); err != nil {
			return err
		}
		if len(left) == 0 {
			c.Log.Info("all hosts are configured", "hosts", len(c.set.Hosts))
			return nil
		}
		if err := pause.For(ctx, hubclient.Delay(err, patience.Delay(failures, half))); err != nil {
			return err
		}
	}
}

// later repeats passes over hosts that have registered since, until it is stopped. A hub that does
// not answer for a while installs nobody meanwhile.
func (c *configuring) later(ctx context.Context) error {
	c.watches = true
	for asked := true; ; {
		select {
		case <-ctx.Done(): // it is stopped, and all is done
			return nil
		case <-time.After(watch):
		}
		left, err := c.apply(ctx)
		if err := c.keep(); err != nil {
			return err
		}
		switch {
		case ctx.Err() != nil:
		case err != nil && !passes(err):
			return err
		case err != nil:
			if asked {
				c.Log.Info("the hub cannot be asked for hosts that have registered later", "error", err)
			}
			asked = false
		default:
			asked = true
			if err := c.tell(left); err != nil {
				return err
			}
		}
	}
}

// keep writes which hosts have all that is said of them, for who starts the installation.
func (c *configuring) keep() error {
	if c.kept != nil && maps.Equal(c.kept, c.applied) {
		return nil
	}
	if err := c.applied.Write(c.Dir); err != nil {
		return fmt.Errorf("host configuration: %w", err)
	}
	c.kept = maps.Clone(c.applied)
	return nil
}

// wanted are the folders that count: when nodes are added, that of this host alone.
func (c *Client) wanted(all []manifests.HostConfig) ([]manifests.HostConfig, error) {
	if c.Settings.Workflow != WorkflowAddNodes {
		return all, nil
	}
	own, err := c.ownMACs()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(h manifests.HostConfig) bool {
		return !slices.ContainsFunc(h.MACs, func(mac string) bool { return slices.Contains(own, mac) })
	}), nil
}

// tell writes the failures, or takes the file away.
func (c *Client) tell(left []failure) error {
	file := c.Dir.Path(FailuresFile)
	if len(left) == 0 {
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("host configuration: %w", err)
		}
		return nil
	}
	var text strings.Builder
	for _, f := range left {
		fmt.Fprintf(&text, "%s: %s\n", f.host, strings.Join(strings.Fields(f.reason), " "))
	}
	before, err := os.ReadFile(file)
	if err == nil && string(before) == text.String() {
		return nil
	}
	for _, f := range left {
		c.Log.Warn("a host is not configured", "host", f.host, "reason", f.reason)
	}
	if err := replace(file, text.String()); err != nil {
		return fmt.Errorf("host configuration: %w", err)
	}
	return nil
}

func (c *Client) hostsPath() string {
	return "/infra-envs/" + url.PathEscape(c.Settings.InfraEnvID) + "/hosts"
}

// apply makes one pass over all hosts and returns what is left to do.
func (c *configuring) apply(ctx context.Context) ([]failure, error) {
	var hosts []wire.Host
	set := c.set
	if err := c.Hub.Do(ctx, hubclient.Request{Method: http.MethodGet, Path: c.hostsPath(), Out: &hosts}); err != nil {
		return nil, err
	}
	var left []failure
	ended := c.watches && len(hosts) > 0 && !slices.ContainsFunc(hosts, func(h wire.Host) bool { return slices.Contains(settable, h.Status) })
	if ended { // they are being installed, or are: nobody is waited for
		return nil, nil
	}
	found, fenced := map[string]bool{}, map[*manifests.Fencing]bool{}
	for i := range hosts {
		host := &hosts[i]
		var inventory wire.Inventory
		if host.Inventory == "" || json.Unmarshal([]byte(host.Inventory), &inventory) != nil {
			continue // it is still missing
		}
		config := configOf(set.Hosts, &inventory)
		if config != nil {
			found[config.Name] = true
		}
		fencing := fencingOf(set.Fencing, host, &inventory)
		fenced[fencing] = true
		if c.watches && (c.applied[hostconfig.Of(host)] || !slices.Contains(settable, host.Status)) {
			continue
		}
		reason, err := c.applyTo(ctx, host, &inventory, config, fencing)
		if err != nil {
			return nil, err
		}
		if reason != "" {
			left = append(left, failure{cmp.Or(host.RequestedHostname, inventory.Hostname, host.ID), reason})
			delete(c.applied, hostconfig.Of(host))
		} else {
			c.applied[hostconfig.Of(host)] = true
		}
	}
	for _, h := range set.Hosts {
		if !found[h.Name] {
			left = append(left, failure{h.Name, "no host with MAC address " + strings.Join(h.MACs, " or ") + " has sent its inventory yet"})
		}
	}
	for i := range set.Fencing {
		f := &set.Fencing[i]
		if !fenced[f] && c.Settings.Workflow == WorkflowInstall {
			left = append(left, failure{cmp.Or(f.Hostname, f.MACAddress), "no host that the fencing credentials are of has sent its inventory yet"})
		}
	}
	return left, nil
}

// configOf is the folder of the host.
func configOf(all []manifests.HostConfig, inventory *wire.Inventory) *manifests.HostConfig {
	for i := range all {
		for _, card := range inventory.Interfaces {
			if slices.Contains(all[i].MACs, strings.ToLower(card.MACAddress)) {
				return &all[i]
			}
		}
	}
	return nil
}

// fencingOf are the credentials of the host, by its name or the address of a card.
func fencingOf(all []manifests.Fencing, host *wire.Host, inventory *wire.Inventory) *manifests.Fencing {
	for i, f := range all {
		byCard := f.MACAddress != "" && slices.ContainsFunc(inventory.Interfaces, func(card wire.Interface) bool {
			return strings.EqualFold(card.MACAddress, f.MACAddress)
		})
		if byCard || f.Hostname != "" && (f.Hostname == inventory.Hostname || f.Hostname == host.RequestedHostname) {
			return &all[i]
		}
	}
	return nil
}

// applyTo sends what the host has not, in one call. The reason says what keeps the host from
// being configured; the error is of a hub that cannot be asked.
func (c *configuring) applyTo(ctx context.Context, host *wire.Host, inventory *wire.Inventory, config *manifests.HostConfig, fencing *manifests.Fencing) (reason string, err error) {
	update, changes, disk := wire.HostUpdateParams{}, []string{}, ""
	// That the hub suggests the role says nothing: it suggests another one once more hosts have come.
	if config != nil && config.Role != "" && string(host.Role) != config.Role {
		update.HostRole = &config.Role
		changes = append(changes, "role "+config.Role)
	}
	if config != nil && config.Hints != nil {
		if disk = wantedDisk(host, inventory, config.Hints); disk == noSuchDisk {
			reason = "no disk fits the root device hints of " + path.Join(c.Settings.Files.HostConfig, config.Name) + "; its disks: " + listed(inventory.Disks)
		}
		if c.asksFor(host, disk) {
			update.DisksSelectedConfig = []wire.DiskConfigParams{{ID: disk, Role: wire.DiskRoleInstall}}
			changes = append(changes, "installation disk "+disk)
		}
	}
	if params := fencingParams(fencing); params != nil && !sameFencing(host.FencingCredentials, params) {
		update.FencingCredentials = params
		changes = append(changes, "fencing credentials")
	}
	if len(changes) == 0 {
		return reason, nil
	}
	err = c.Hub.Do(ctx, hubclient.Request{
		Method: http.MethodPatch, Path: c.hostsPath() + "/" + url.PathEscape(host.ID), In: update, Want: http.StatusCreated,
	})
	switch code := hubclient.Code(err); {
	case err == nil:
		c.pinned[hostconfig.Of(host)] = disk
		c.Log.Info("a host is configured", "host", host.ID, "changes", strings.Join(changes, ", "))
		return reason, nil
	case code == http.StatusUnauthorized || code == http.StatusForbidden || code == 0:
		return "", err
	}
	return strings.Join(changes, " and ") + " cannot be set: " + err.Error(), nil
}

// wantedDisk is a disk that fits the hints, the host's own one if it does; [noSuchDisk] where none fits.
func wantedDisk(host *wire.Host, inventory *wire.Inventory, hints *manifests.RootDeviceHints) string {
	good := fitting(inventory.Disks, hints)
	if len(good) == 0 {
		return noSuchDisk
	}
	for _, d := range good {
		if host.InstallationDiskID != "" && (d.ID == host.InstallationDiskID || d.Path == host.InstallationDiskID) {
			return host.InstallationDiskID
		}
	}
	return cmp.Or(good[0].ID, good[0].Path)
}

// settable are the statuses in which a hub takes the settings of a host.
var settable = []string{
	wire.HostStatusDiscovering, wire.HostStatusKnown, wire.HostStatusDisconnected, wire.HostStatusInsufficient, wire.HostStatusPendingForInput, wire.HostStatusBinding,
	wire.HostStatusDiscoveringUnbound, wire.HostStatusKnownUnbound, wire.HostStatusDisconnectedUnbound, wire.HostStatusInsufficientUnbound,
}

// asksFor tells whether the hub has to be asked for the disk. A disk that the hub itself has chosen is asked for as
// well: it would choose another one that appears later, which may not fit. An installation that has begun goes on to
// the disk that was asked for before it.
func (c *configuring) asksFor(host *wire.Host, disk string) bool {
	if host.InstallationDiskID != disk {
		return true
	}
	return disk != noSuchDisk && c.pinned[hostconfig.Of(host)] != disk && slices.Contains(settable, host.Status)
}

func fencingParams(f *manifests.Fencing) *wire.FencingCredentialsParams {
	if f == nil {
		return nil
	}
	return &wire.FencingCredentialsParams{
		Address: f.Address, Username: f.Username, Password: f.Password, MACAddress: given(f.MACAddress), CertificateVerification: given(f.CertificateVerification),
	}
}

// sameFencing compares with what the host has, as JSON.
func sameFencing(has string, want *wire.FencingCredentialsParams) bool {
	var there wire.FencingCredentialsParams
	return has != "" && json.Unmarshal([]byte(has), &there) == nil && there.Address == want.Address && there.Username == want.Username && there.Password == want.Password &&
		wire.Value(there.CertificateVerification) == wire.Value(want.CertificateVerification)
}
