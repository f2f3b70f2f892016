package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/test/edge"
)

const (
	// EdgeSystemd is the line that says what is real in a demo of hosts that install themselves, each of
	// which is a booted systemd.
	EdgeSystemd = "real: the image and its Ignition, a systemd for each host in namespaces of its own, which starts the image's units, " +
		"the network between them, and all programs of the units, the hub of node zero among them; simulated: hardware and disks (the agents run dry), DHCP (the demo gives addresses)"
	// EdgeFolders is that line where no systemd can be booted.
	EdgeFolders = "real: the image and its Ignition, the hub of node zero (one process), the client, start-cluster-installation and the agents, as processes; " +
		"simulated: machines and their disks (the agents run dry), systemd (the demo starts the units' programs), the network (all hosts share loopback; node zero is named)"
	// edgeWithout says why it is so, and what to do.
	edgeWithout = "hosts are folders, because %v; as root, on Linux with cgroup v2 and mmdebstrap, each is a systemd of its own"
)

// EdgeEnd says what differs from machines at the end.
const EdgeEnd = "on machines, the hub ends with node zero's live system when that reboots; here it stays to show the end"

// EdgeSummary is the last line of a demo of hosts that install themselves.
type EdgeSummary struct {
	Hosts     int     `json:"hosts"`
	Installed int     `json:"installed"`
	Seconds   float64 `json:"seconds"`
	HubMiB    int64   `json:"hub_mib"`
}

// edgeStage is how long a stage of a pretended installation takes: long enough to be seen.
const edgeStage = 2 * time.Second

// runEdge shows hosts that install themselves, and ends when all are installed.
func runEdge(ctx context.Context, o Options) (err error) {
	s := newScreen(o)
	begin := time.Now()
	summary := EdgeSummary{Hosts: o.Hosts}
	defer func() {
		summary.Seconds = float64(time.Since(begin).Round(100*time.Millisecond)) / float64(time.Second)
		if line, jsonErr := json.Marshal(summary); jsonErr == nil {
			fmt.Fprintln(o.Out, string(line))
		}
	}()
	dir := o.StateDir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "ironflow-edge-"); err != nil {
			return err
		}
	}
	root, err := o.edgeRoot(ctx, s)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.patience(), fmt.Errorf("not all hosts made it within %s; the logs are in %s", o.patience(), dir))
	defer cancel()
	site, err := edge.Begin(ctx, edge.Options{Hosts: o.Hosts, BinDir: o.BinDir, Dir: dir, Stage: edgeStage, Root: root, Say: s.Say})
	defer func() {
		if err = errors.Join(err, site.Close()); err == nil && o.StateDir == "" {
			err = os.RemoveAll(dir)
		}
	}()
	if err != nil {
		return err
	}
	err = site.Watch(ctx, func(hosts []edge.Host) {
		summary.Installed = 0
		var rows []view.View
		for _, h := range hosts {
			if h.Installed() {
				summary.Installed++
			}
			rows = append(rows, edgeRow(h, o.Terminal))
		}
		s.Show(rows)
	})
	s.Keep()
	if err != nil {
		return err
	}
	peak, err := site.HubPeak()
	if err != nil {
		return err
	}
	summary.HubMiB = (peak + 1<<20 - 1) >> 20
	s.Say("all %d hosts are installed; the hub has used %d MiB of memory at most", o.Hosts, summary.HubMiB)
	s.Say("%s", EdgeEnd)
	return nil
}

// edgeRoot says what is real, and returns the root file system of hosts that are systemds; empty where
// they are folders.
func (o Options) edgeRoot(ctx context.Context, s *screen) (string, error) {
	if o.Folders {
		s.Say("%s", EdgeFolders)
		return "", nil
	}
	root, err := edge.Systemd(ctx, s.Say)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		s.Say("%s", EdgeFolders)
		s.Say(edgeWithout, err)
		return "", nil
	}
	s.Say("%s", EdgeSystemd)
	return root, nil
}

// edgeRow is a host's line; where there is no table with a column for it, what it waits for
// counts as its step.
func edgeRow(h edge.Host, terminal bool) view.View {
	row := view.View{Name: h.Name, Phase: h.Status, Since: h.Since}
	row.Step, row.Percent, row.Text = h.Stage, h.Percent, h.Info
	switch {
	case h.Installed():
		row.Step, row.Percent = "", 100
	case h.Stage == "" && !terminal:
		row.Step = h.Info
	}
	if h.NodeZero {
		row.Name += " (hub)"
	}
	return row
}
