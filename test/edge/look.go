package edge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/hub/wire"
)

// look is the time between two looks at the hub, as of a person.
const look = 500 * time.Millisecond

// Host is one as the hub sees it.
type Host struct {
	Name string
	// Status and Info are the hub's; Stage is that of the installation, empty before it.
	Status, Info, Stage string
	Percent             int
	// Since is when the status began.
	Since time.Time
	// NodeZero tells that it has the hub.
	NodeZero bool
}

// Installed tells that it is done.
func (h Host) Installed() bool { return h.Status == wire.HostStatusInstalled }

// Hosts are those that have registered, by name; it asks as somebody from outside, with the watcher's token.
func (s *Site) Hosts(ctx context.Context) ([]Host, error) {
	c, err := s.cluster(ctx)
	if err != nil || c == nil {
		return nil, err
	}
	var all []Host
	for i := range c.Hosts {
		all = append(all, hostOf(&c.Hosts[i]))
	}
	slices.SortFunc(all, func(a, b Host) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

func hostOf(h *wire.Host) Host {
	out := Host{Name: h.ID, Status: h.Status, Info: h.StatusInfo, NodeZero: h.Bootstrap, Since: h.StatusUpdatedAt.Time}
	var inventory wire.Inventory
	if json.Unmarshal([]byte(h.Inventory), &inventory) == nil {
		for _, card := range inventory.Interfaces {
			if card.MACAddress == macOf(0) {
				out.NodeZero = true
			}
		}
		if inventory.Hostname != "" {
			out.Name = inventory.Hostname
		}
	}
	if h.Progress != nil {
		out.Stage, out.Percent = string(h.Progress.CurrentStage), int(h.Progress.InstallationPercentage)
	}
	return out
}

// cluster is the only one; nil before there is one.
func (s *Site) cluster(ctx context.Context) (*wire.Cluster, error) {
	env, err := places.ReadEnv(s.hosts[0].dir, places.RendezvousHost)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"api/assisted-install/v2/clusters?with_hosts=true", http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Watcher-Authorization", env[places.WatcherToken])
	answer, err := s.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("list clusters: %s: %s", answer.Status, raw)
	}
	var all []wire.Cluster
	if err := json.Unmarshal(raw, &all); err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// hubEnded tells that the hub's process has ended. That of a booted systemd is started again.
func (s *Site) hubEnded() <-chan struct{} {
	if s.hub == nil {
		return nil
	}
	return s.hub.ended
}

// Watch shows the hosts until all are installed.
func (s *Site) Watch(ctx context.Context, show func([]Host)) error {
	for {
		hosts, err := s.Hosts(ctx)
		if err == nil {
			show(hosts)
			if len(hosts) == s.options.Hosts && !slices.ContainsFunc(hosts, func(h Host) bool { return !h.Installed() }) {
				return nil
			}
			if i := slices.IndexFunc(hosts, func(h Host) bool { return h.Status == wire.HostStatusError }); i >= 0 {
				return fmt.Errorf("host %s has failed: %s", hosts[i].Name, hosts[i].Info)
			}
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case err := <-s.failed:
			return err
		case <-s.hubEnded():
			return fmt.Errorf("the hub has ended: %s", s.hub.tail())
		case <-time.After(look):
		}
	}
}
