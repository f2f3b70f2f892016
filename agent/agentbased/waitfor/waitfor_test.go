package waitfor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/waitfor"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/hub/wire"
)

// moment is what a hub says from a time on.
type moment struct {
	after time.Duration
	// clusters of the hub; code refuses with that status, 1 is nobody at all.
	clusters []wire.Cluster
	code     int
	events   []wire.Event
}

// story is a hub over time.
type story struct {
	began   time.Time
	moments []moment
	queries []string
}

func (s *story) Do(_ context.Context, r hubclient.Request) error {
	var now moment
	for _, m := range s.moments {
		if time.Since(s.began) >= m.after {
			now = m
		}
	}
	var answer any = now.clusters
	switch {
	case now.code == 1:
		return errors.New("hub unreachable (GET /clusters): connection refused")
	case now.code != 0:
		return &hubclient.StatusError{Method: r.Method, Path: r.Path, Code: now.code}
	case r.Path == "/events":
		s.queries = append(s.queries, r.Query.Encode())
		answer = asked(now.events, r.Query)
	case r.Path != "/clusters":
		answer = now.clusters[0]
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, r.Out)
}

// asked are the events of the cluster and the severities that are asked for: of the latter a hub
// reads one parameter, a list with commas.
func asked(all []wire.Event, query url.Values) (some []wire.Event) {
	severities := strings.Split(query.Get("severities"), ",")
	for _, e := range all {
		if slices.Contains(severities, e.Severity) && (!query.Has("cluster_id") || e.ClusterID != nil) {
			some = append(some, e)
		}
	}
	return some
}

// installed is a cluster's own word over time.
type installed struct {
	began  time.Time
	states []struct {
		after time.Duration
		state waitfor.State
	}
	hosts int
}

func (i *installed) State(_ context.Context, hosts int) (waitfor.State, error) {
	var state *waitfor.State
	i.hosts = hosts
	for n := range i.states {
		if time.Since(i.began) >= i.states[n].after {
			state = &i.states[n].state
		}
	}
	if state == nil {
		return waitfor.State{}, errors.New("connection refused")
	}
	return *state, nil
}

func cluster(status, info string, hosts ...wire.Host) []wire.Cluster {
	return []wire.Cluster{{ID: "c", Name: "edge", Status: status, StatusInfo: info, Hosts: hosts}}
}

func host(name, status string, stage wire.HostStage, change func(*wire.Host)) wire.Host {
	h := wire.Host{ID: "id-" + name, RequestedHostname: name, Status: status, StatusInfo: "so it is"}
	if stage != "" {
		h.Progress = &wire.HostProgressInfo{CurrentStage: stage}
	}
	if change != nil {
		change(&h)
	}
	return h
}

func bootstrap(h *wire.Host) { h.Bootstrap = true }

const noNTP = `{"network":[{"id":"ntp-synced","status":"failure","message":"Host couldn't synchronize with any NTP server"},{"id":"connected","status":"success","message":"fine"}],"hardware":null}`

// run follows the story and returns the end and the lines for people, without their times.
func run(t *testing.T, goal waitfor.Goal, moments []moment, own *installed) (waitfor.Result, []string, time.Duration) {
	t.Helper()
	began := time.Now()
	var out bytes.Buffer
	w := waitfor.Wait{
		Hub: &story{began: began, moments: moments}, Goal: goal, Every: 5 * time.Second, Quiet: 5 * time.Minute,
		Patience: 30 * time.Minute, Deadline: time.Hour, Tell: waitfor.Text(&out),
	}
	if own != nil {
		own.began = began
		w.Cluster = own
	}
	result := w.Run(t.Context())
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i := range lines {
		lines[i] = lines[i][len("15:04:05  "):]
	}
	return result, lines, time.Since(began)
}

func TestAWholeInstallation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		result, lines, took := run(t, waitfor.InstallComplete, []moment{
			{0, nil, 1, nil},
			{20 * time.Second, nil, 0, nil},
			{30 * time.Second, cluster("insufficient", "Waiting for hosts", host("m0", "known", "", nil), host("m1", "insufficient", "", func(h *wire.Host) { h.ValidationsInfo = noNTP })), 0, nil},
			{
				60 * time.Second,
				cluster(
					"installing", "Installation in progress", host("m0", "installing-in-progress", "Waiting for control plane", bootstrap),
					host("m1", "installing-in-progress", "Writing image to disk", func(h *wire.Host) { h.Progress.ProgressInfo, h.Progress.InstallationPercentage = "45%", 50 }),
				),
				0, nil,
			},
			{90 * time.Second, cluster("installed", "Cluster is installed", host("m0", "installed", "Done", bootstrap), host("m1", "installed", "Done", nil)), 0, nil},
		}, nil)
		g.Expect(result).To(Equal(waitfor.Result{Outcome: waitfor.Complete, Reason: "cluster edge is installed"}))
		g.Expect(took).To(Equal(90 * time.Second))
		g.Expect(lines).To(Equal([]string{
			"the hub does not answer: hub unreachable (GET /clusters): connection refused",
			"the hub answers",
			"cluster edge  insufficient  0%  Waiting for hosts",
			"host m0  known  0%  so it is",
			"host m1  insufficient  0%  so it is",
			"host m1  ntp-synced: Host couldn't synchronize with any NTP server",
			"cluster edge  installing  0%  Installation in progress",
			"host m0  installing-in-progress  Waiting for control plane  0%  so it is",
			"host m1  installing-in-progress  Writing image to disk  50%  45%",
			"cluster edge  installed  0%  Cluster is installed",
			"host m0  installed  Done  0%  so it is",
			"host m1  installed  Done  0%  so it is",
			"complete  cluster edge is installed",
		}))
	})
}

// Every way in which a run ends, with its exit code.
func TestExitCodes(t *testing.T) {
	waiting := cluster("insufficient", "Waiting for hosts", host("m1", "insufficient", "", func(h *wire.Host) { h.ValidationsInfo = noNTP }))
	handing := cluster("installing", "Installation in progress", host("m0", "installing-in-progress", "Waiting for bootkube", bootstrap))
	for name, tc := range map[string]struct {
		goal    waitfor.Goal
		moments []moment
		own     *installed
		code    int
		reason  string
		took    time.Duration
	}{
		"installed": {waitfor.InstallComplete, []moment{{0, cluster("installed", ""), 0, nil}}, nil, 0, "cluster edge is installed", 0},
		"a host joins a running cluster": {
			waitfor.InstallComplete,
			[]moment{
				{0, cluster("adding-hosts", ""), 0, nil},
				{time.Minute, cluster("adding-hosts", "", host("w0", "known", "", nil)), 0, nil},
				{2 * time.Minute, cluster("adding-hosts", "", host("w0", "installing-in-progress", "Writing image to disk", nil)), 0, nil},
				{3 * time.Minute, cluster("adding-hosts", "", host("w0", "added-to-existing-cluster", "Rebooting", nil)), 0, nil},
			},
			nil, 0, "cluster edge is installed, and its hosts here are: 1 of 1", 3 * time.Minute,
		},
		"a host that does not join": {
			waitfor.InstallComplete,
			[]moment{{0, cluster("adding-hosts", "", host("w0", "known", "", nil)), 0, nil}},
			nil, 4, "not install-complete after 1h0m0s. The hub says: host w0 is known: so it is", time.Hour,
		},
		"a host that cannot join": {
			waitfor.BootstrapComplete,
			[]moment{{0, cluster("adding-hosts", "", host("w0", "error", "Failed", nil)), 0, nil}},
			nil, 3, "host w0 does not join cluster edge: it is error: so it is", 0,
		},
		"the cluster cannot tell who joins": {
			waitfor.InstallComplete,
			[]moment{{0, cluster("adding-hosts", "", host("w0", "known", "", nil)), 0, nil}, {time.Minute, nil, 1, nil}},
			story2(0, waitfor.State{Up: true, Complete: true, Text: "the cluster is there"}, time.Hour, waitfor.State{}),
			5, "look whether the host's node is in the cluster", 30*time.Minute + 55*time.Second,
		},
		"installed already": {waitfor.BootstrapComplete, []moment{{0, cluster("installed", ""), 0, nil}}, nil, 0, "cluster edge is installed", 0},
		"handed over": {waitfor.BootstrapComplete, []moment{
			{0, cluster("installing", "", host("m0", "installing-in-progress", "Writing image to disk", bootstrap), host("m1", "installing-in-progress", "Rebooting", nil)), 0, nil},
			{time.Minute, cluster("installing", "", host("m0", "installing-in-progress", "Rebooting", bootstrap), host("m1", "installing-in-progress", "Joined", nil)), 0, nil},
		}, nil, 0, "bootstrap host m0 has handed over: Rebooting", time.Minute},
		"finalizing": {waitfor.BootstrapComplete, []moment{{0, cluster("finalizing", ""), 0, nil}}, nil, 0, "the control plane of cluster edge runs without the bootstrap host", 0},
		"not that far": {
			waitfor.InstallComplete,
			[]moment{{0, cluster("finalizing", "Finalizing"), 0, nil}},
			nil, 4,
			"not install-complete after 1h0m0s. The hub says: cluster edge is finalizing: Finalizing", time.Hour,
		},
		"failed": {
			waitfor.InstallComplete,
			[]moment{{0, cluster("error", "cluster has hosts in error", host("m1", "error", "Failed", nil)), 0, nil}},
			nil, 3,
			"cluster edge failed: cluster has hosts in error. host m1 is error: so it is", 0,
		},
		"cancelled": {waitfor.BootstrapComplete, []moment{{0, cluster("cancelled", ""), 0, nil}}, nil, 3, "the installation of cluster edge was cancelled", 0},
		"several":   {waitfor.BootstrapComplete, []moment{{0, append(cluster("ready", ""), cluster("ready", "")...), 0, nil}}, nil, 3, "the hub has several clusters", 0},
		"too slow":  {waitfor.InstallComplete, []moment{{0, waiting, 0, nil}}, nil, 4, "not install-complete after 1h0m0s. The hub says: host m1: ntp-synced: Host couldn't synchronize", time.Hour},
		"nobody": {
			waitfor.BootstrapComplete,
			[]moment{{0, nil, 1, nil}},
			nil, 5,
			"nobody has answered for 30m0s: hub unreachable (GET /clusters): connection refused. Next: look at the console of the rendezvous host", 30 * time.Minute,
		},
		"gone": {
			waitfor.InstallComplete,
			[]moment{{0, handing, 0, nil}, {time.Minute, nil, 1, nil}},
			nil, 5,
			"The last that it said: cluster edge is installing (Installation in progress). Next: the hub ends with the bootstrap host; give the cluster's kubeconfig",
			30*time.Minute + 55*time.Second,
		},
		"a bad token":    {waitfor.BootstrapComplete, []moment{{0, nil, http.StatusUnauthorized, nil}}, nil, 6, "the hub refuses the token", 0},
		"a wrong scheme": {waitfor.BootstrapComplete, []moment{{0, nil, http.StatusForbidden, nil}}, nil, 6, "the hub refuses the token", 0},
		"gone, and the cluster is there": {
			waitfor.InstallComplete,
			[]moment{{0, handing, 0, nil}, {time.Minute, nil, 1, nil}},
			story2(20*time.Minute, waitfor.State{Up: true, Text: "1 of 2 nodes are Ready"}, 50*time.Minute, waitfor.State{Up: true, Complete: true, Text: "2 nodes are Ready"}),
			0, "the cluster says so: 2 nodes are Ready", 50 * time.Minute,
		},
		"killed and back, while the bootstrap host has the API": {
			waitfor.BootstrapComplete,
			[]moment{
				{0, handing, 0, nil},
				{time.Minute, nil, 1, nil},
				{time.Minute + 30*time.Second, handing, 0, nil},
				{5 * time.Minute, cluster("installing", "", host("m0", "installing-in-progress", "Rebooting", bootstrap)), 0, nil},
			},
			story2(0, waitfor.State{Up: true, Text: "1 of 2 nodes are Ready"}, time.Hour, waitfor.State{}),
			0, "bootstrap host m0 has handed over: Rebooting", 5 * time.Minute,
		},
		"gone, and the cluster's API has been there": {
			waitfor.BootstrapComplete,
			[]moment{{0, handing, 0, nil}, {time.Minute, nil, 1, nil}},
			story2(0, waitfor.State{Up: true, Text: "1 of 2 nodes are Ready"}, time.Hour, waitfor.State{}),
			0, "the cluster says so: 1 of 2 nodes are Ready", 3 * time.Minute,
		},
		"gone, and the cluster's API is there": {
			waitfor.BootstrapComplete,
			[]moment{{0, handing, 0, nil}, {time.Minute, nil, 1, nil}},
			story2(20*time.Minute, waitfor.State{Up: true, Text: "1 of 2 nodes are Ready"}, time.Hour, waitfor.State{}),
			0, "the cluster says so: 1 of 2 nodes are Ready", 20 * time.Minute,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				result, lines, took := run(t, tc.goal, tc.moments, tc.own)
				g.Expect(result.Outcome.Code()).To(Equal(tc.code), result.Reason)
				g.Expect(result.Reason).To(ContainSubstring(tc.reason))
				g.Expect(took).To(Equal(tc.took))
				g.Expect(lines[len(lines)-1]).To(HavePrefix(result.Outcome.Name()+"  "), "the end is the last line")
			})
		})
	}
}

func story2(one time.Duration, first waitfor.State, two time.Duration, second waitfor.State) *installed {
	i := &installed{}
	i.states = append(i.states, struct {
		after time.Duration
		state waitfor.State
	}{one, first}, struct {
		after time.Duration
		state waitfor.State
	}{two, second})
	return i
}

func TestTheCallerStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		w := waitfor.Wait{
			Hub: &story{began: time.Now(), moments: []moment{{0, cluster("ready", ""), 0, nil}}}, Goal: waitfor.InstallComplete,
			Every: 5 * time.Second, Quiet: time.Hour, Patience: time.Hour, Deadline: time.Hour, Tell: func(waitfor.Line) {},
		}
		g.Expect(w.Run(ctx)).To(Equal(waitfor.Result{Outcome: waitfor.Interrupted, Reason: "interrupted; the installation goes on"}))
	})
}

// What keeps an installation from moving is told once, and again after it has moved.
func TestTheReasonWhenNothingMoves(t *testing.T) {
	slow := host("m0", "installing-in-progress", "Writing image to disk", func(h *wire.Host) { h.Progress.StageTimedOut = true })
	lost := host("m2", "disconnected", "", nil)
	stuck := cluster("pending-for-input", "User input required", slow, host("m1", "insufficient", "", func(h *wire.Host) { h.ValidationsInfo = noNTP }), lost)
	stuck[0].ValidationsInfo = `{"network":[{"id":"api-vips-defined","status":"error","message":"no API address"}]}`
	stuck[0].MonitoredOperators = []wire.MonitoredOperator{{Name: "console", Status: "progressing", StatusInfo: "rolling out"}}
	stuck[0].LastInstallationPreparation = wire.LastInstallationPreparation{Status: "failed", Reason: "no release"}
	later := append([]wire.Cluster{}, stuck...)
	later[0].StatusInfo = "still"
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		_, lines, _ := run(t, waitfor.InstallComplete, []moment{{0, stuck, 0, nil}, {10 * time.Minute, later, 0, nil}, {20 * time.Minute, cluster("installed", ""), 0, nil}}, nil)
		var still []string
		for _, l := range lines {
			if strings.Contains(l, "nothing has moved") {
				still = append(still, l)
			}
		}
		g.Expect(still).To(HaveLen(2))
		g.Expect(still[0]).To(Equal(`cluster edge  nothing has moved for 5m0s. The hub says: host m0 takes longer than usual at "Writing image to disk"; ` +
			`host m1: ntp-synced: Host couldn't synchronize with any NTP server; host m2 has not been heard of for a while: look at its console; ` +
			`cluster: api-vips-defined: no API address; its preparation failed: no release; operator console is progressing: rolling out`))
	})
	synctest.Test(t, func(t *testing.T) {
		_, lines, _ := run(t, waitfor.InstallComplete, []moment{{0, nil, 0, nil}, {10 * time.Minute, cluster("installed", ""), 0, nil}}, nil)
		NewWithT(t).Expect(lines[0]).To(Equal("nothing has moved for 5m0s. The hub has no cluster yet: look at agent-register-cluster.service on the rendezvous host"))
	})
}

func TestEventsOfConsequenceAreToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		at := func(second int) wire.DateTime { return wire.At(time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC)) }
		note := wire.Event{EventTime: at(2), Severity: "info", Message: "m1 goes on"}
		old, fresh := wire.Event{EventTime: at(1), Severity: "warning", Message: "m1 is slow"}, wire.Event{EventTime: at(2), Severity: "error", Message: "m1 \x1b[31mfailed\nfor good"}
		_, lines, _ := run(t, waitfor.InstallComplete, []moment{
			{0, cluster("installing", ""), 0, []wire.Event{old}},
			{time.Minute, cluster("installing", ""), 0, []wire.Event{fresh, note, old}},
			{2 * time.Minute, cluster("installed", ""), 0, []wire.Event{fresh, old}},
		}, nil)
		g.Expect(lines).To(Equal([]string{
			"cluster edge  installing  0%", "cluster edge  warning  m1 is slow", "cluster edge  error  m1 [31mfailed for good", "cluster edge  installed  0%", "complete  cluster edge is installed",
		}))
	})
}

func TestLinesForPrograms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var out bytes.Buffer
		w := waitfor.Wait{
			Hub: &story{began: time.Now(), moments: []moment{{0, cluster("error", "no <disk>", host("m0", "error", "Failed", bootstrap)), 0, nil}}}, Goal: waitfor.InstallComplete,
			Every: time.Second, Quiet: time.Hour, Patience: time.Hour, Deadline: time.Hour, Tell: waitfor.JSON(&out),
		}
		w.Run(t.Context())
		g.Expect(strings.Split(strings.TrimSpace(out.String()), "\n")).To(HaveExactElements(
			MatchJSON(`{"time":"2000-01-01T00:00:00Z","kind":"cluster","cluster":"edge","status":"error","percent":0,"text":"no <disk>"}`),
			MatchJSON(`{"time":"2000-01-01T00:00:00Z","kind":"host","cluster":"edge","host":"m0","bootstrap":true,"status":"error","stage":"Failed","percent":0,"text":"so it is"}`),
			MatchJSON(`{"time":"2000-01-01T00:00:00Z","kind":"end","cluster":"edge","outcome":"failed","code":3,"text":"cluster edge failed: no <disk>. host m0 is error: so it is"}`),
		))
	})
}

// A cluster that the hub refuses has no state: its host says why, and nobody has to look at it.
func TestWhyThereIsNoCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		const why = "Host edge1: Installation cannot proceed: the cluster is not registered at the hub, which is tried again: no such version."
		events := []wire.Event{{Message: why, Severity: "error", EventTime: wire.At(time.Now().Add(time.Minute))}}
		result, lines, _ := run(t, waitfor.InstallComplete, []moment{{0, nil, 0, nil}, {time.Minute, nil, 0, events}}, nil)
		g.Expect(result).To(Equal(waitfor.Result{Outcome: waitfor.Deadline, Reason: "not install-complete after 1h0m0s. The hub has no cluster yet. The last that it was told: " + why}))
		g.Expect(lines).To(ContainElement("error  " + why))
		g.Expect(lines).To(ContainElement("nothing has moved for 5m0s. The hub has no cluster yet. The last that it was told: " + why))

		events[0].EventTime = wire.At(time.Now())
		result, _, _ = run(t, waitfor.InstallComplete, []moment{{0, cluster("insufficient", "Waiting for hosts"), 0, events}}, nil)
		g.Expect(result.Reason).To(Equal("not install-complete after 1h0m0s. The hub says: cluster edge is insufficient: Waiting for hosts. The last that it was told: " + why))
	})
}
