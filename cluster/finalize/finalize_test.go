package finalize_test

import (
	"net/netip"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/cluster/facts"
	"github.com/ironflow/ironflow/cluster/finalize"
	"github.com/ironflow/ironflow/cluster/operators"
	"github.com/ironflow/ironflow/hub/wire"
)

func builtin(name string, s wire.OperatorStatus) facts.Monitored {
	return facts.Monitored{Name: name, Type: wire.OperatorTypeBuiltin, Status: s}
}

func olm(s wire.OperatorStatus) facts.Monitored {
	return facts.Monitored{Name: "lso", Type: wire.OperatorTypeOlm, Namespace: "openshift-local-storage", Subscription: "sub", Status: s, Timeout: time.Hour}
}

func installed() operators.State {
	return operators.State{
		Subscriptions: map[string]facts.Subscription{"openshift-local-storage/sub": {Namespace: "openshift-local-storage", Name: "sub", Installed: "csv"}},
		Services:      map[string]facts.Service{"openshift-local-storage/csv": {Phase: "Installing", Message: "soon"}},
	}
}

// up is a plain Kubernetes of one control-plane host that is up.
func up() operators.State {
	a := netip.MustParseAddr("192.0.2.1")
	return operators.State{
		Hosts: []facts.Host{{ID: "h", Name: "a", Role: wire.HostRoleMaster, Status: wire.HostStatusInstalled, Addresses: []netip.Addr{a}}},
		Nodes: map[string]facts.Node{"a": {Name: "a", Ready: true, Addresses: []netip.Addr{a}}}, Pods: map[string]facts.Pod{"dns": {Name: "dns", Ready: true}}, API: map[string]string{"a": ""},
	}
}

func says(step finalize.Step) (out []string) {
	for _, a := range step.Acts {
		switch {
		case a.Stage != "":
			out = append(out, string(a.Stage))
		case a.IngressCA != "":
			out = append(out, "CA")
		case a.Complete.IsSuccess:
			out = append(out, "complete")
		default:
			out = append(out, "complete: "+a.Complete.ErrorInfo)
		}
	}
	return out
}

func TestStages(t *testing.T) {
	const (
		csvInit, csv = wire.FinalizingStageWaitingForOlmOperatorsCsvInitialization, wire.FinalizingStageWaitingForOlmOperatorsCsv
		wait, ca     = wire.FinalizingStageWaitingForClusterOperators, wire.FinalizingStageAddingRouterCa
	)
	available, progressing, failed := wire.OperatorStatusAvailable, wire.OperatorStatusProgressing, wire.OperatorStatusFailed
	notUp := func(change func(*operators.State)) operators.State { s := up(); change(&s); return s }
	for name, tc := range map[string]struct {
		stage     wire.FinalizingStage
		operators []facts.Monitored
		state     operators.State
		ca        string
		acts      []string
		waits     string
	}{
		"OpenShift begins":         {operators: []facts.Monitored{builtin("cvo", "")}, acts: []string{string(wait)}},
		"operators come up":        {stage: wait, operators: []facts.Monitored{builtin("cvo", available), builtin("console", progressing)}, waits: "console"},
		"operators are up":         {stage: wait, operators: []facts.Monitored{builtin("cvo", available)}, acts: []string{string(ca)}},
		"no CA yet":                {stage: ca, operators: []facts.Monitored{builtin("cvo", available)}, waits: "default-ingress-cert"},
		"CA, no OLM":               {stage: ca, operators: []facts.Monitored{builtin("cvo", available)}, ca: "PEM", acts: []string{"CA", "Done", "complete"}},
		"CA, then OLM":             {stage: ca, operators: []facts.Monitored{builtin("cvo", available), olm("")}, ca: "PEM", acts: []string{"CA", string(csvInit)}},
		"nothing installed":        {stage: csvInit, operators: []facts.Monitored{builtin("cvo", available), olm("")}, waits: "lso"},
		"something installed":      {stage: csvInit, operators: []facts.Monitored{builtin("cvo", available), olm("")}, state: installed(), acts: []string{string(csv)}},
		"it failed before":         {stage: csvInit, operators: []facts.Monitored{builtin("cvo", available), olm(failed)}, acts: []string{string(csv)}},
		"being installed":          {stage: csv, operators: []facts.Monitored{builtin("cvo", available), olm(progressing)}, waits: "lso"},
		"up":                       {stage: csv, operators: []facts.Monitored{builtin("cvo", available), olm(available)}, acts: []string{"Done", "complete"}},
		"one failed":               {stage: csv, operators: []facts.Monitored{builtin("cvo", available), olm(failed)}, acts: []string{"Done", "complete: operators that failed: lso"}},
		"died before it was told":  {stage: wire.FinalizingStageDone, operators: []facts.Monitored{builtin("cvo", available), olm(failed)}, acts: []string{"complete"}},
		"plain begins":             {state: up(), acts: []string{string(wait)}},
		"plain is up":              {stage: wait, state: up(), acts: []string{"Done", "complete"}},
		"plain without a node":     {stage: wait, state: notUp(func(s *operators.State) { s.Nodes = nil }), waits: "1 nodes that are not Ready: a"},
		"plain without hosts":      {stage: wait, state: notUp(func(s *operators.State) { s.Hosts = nil }), waits: "no hosts"},
		"plain without pods":       {stage: wait, state: notUp(func(s *operators.State) { s.Pods = nil }), waits: "no pods"},
		"plain with a pod in need": {stage: wait, state: notUp(func(s *operators.State) { s.Pods["dns"] = facts.Pod{Name: "dns", Waiting: "ImagePullBackOff"} }), waits: "dns ImagePullBackOff"},
		"plain without its API":    {stage: wait, state: notUp(func(s *operators.State) { s.API["a"] = "its API does not answer" }), waits: "a its API does not answer"},
		"plain, not asked":         {stage: wait, state: notUp(func(s *operators.State) { s.API = nil }), waits: "API does not answer: a"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			step := finalize.Next(finalize.Observed{Cluster: facts.Cluster{Status: wire.ClusterStatusFinalizing, Stage: tc.stage, Operators: tc.operators}, State: tc.state, IngressCA: tc.ca})
			g.Expect(says(step)).To(Equal(tc.acts))
			g.Expect(step.Waits).To(ContainSubstring(tc.waits))
			g.Expect(step.End).To(BeEmpty())
		})
	}
}

func TestEnds(t *testing.T) {
	g := NewWithT(t)
	for status, want := range map[string]finalize.End{
		wire.ClusterStatusInstalled: finalize.Installed, wire.ClusterStatusAddingHosts: finalize.Installed, wire.ClusterStatusCancelled: finalize.Cancelled,
		wire.ClusterStatusError: finalize.Failed, wire.ClusterStatusInstalling: "", wire.ClusterStatusReady: "",
	} {
		step := finalize.Next(finalize.Observed{Cluster: facts.Cluster{Status: status}})
		g.Expect(step.End).To(Equal(want), status)
		g.Expect(step.Acts).To(BeEmpty(), status)
	}
}

func TestReportsOfOperators(t *testing.T) {
	now := time.Unix(1e9, 0)
	cvo := facts.Operator{Name: "cvo", Version: "4.20.1", Available: true, Message: "done"}
	for name, tc := range map[string]struct {
		monitored facts.Monitored
		state     operators.State
		age       time.Duration
		want      wire.OperatorStatus
	}{
		"available": {builtin("cvo", ""), operators.State{Operators: map[string]facts.Operator{"cvo": cvo}}, 0, "available"},
		"heard already": {
			facts.Monitored{Name: "cvo", Type: wire.OperatorTypeBuiltin, Status: "available", Info: "done", Version: "4.20.1"},
			operators.State{Operators: map[string]facts.Operator{"cvo": cvo}},
			0, "",
		},
		"degraded and progressing": {builtin("cvo", ""), operators.State{Operators: map[string]facts.Operator{"cvo": {Degraded: true, Progressing: true}}}, 0, "progressing"},
		"degraded":                 {builtin("cvo", ""), operators.State{Operators: map[string]facts.Operator{"cvo": {Available: true, Degraded: true}}}, 0, "failed"},
		"not there":                {builtin("console", ""), operators.State{Operators: map[string]facts.Operator{}}, 0, ""},
		"OLM, being installed":     {olm(""), installed(), 0, "progressing"},
		"OLM, too late":            {olm("progressing"), installed(), 2 * time.Hour, "failed"},
		"OLM, nothing there":       {olm(""), operators.State{}, 0, ""},
		"OLM, nothing came":        {olm(""), operators.State{}, 2 * time.Hour, "failed"},
		"plain, up":                {builtin(operators.Nodes, ""), up(), 0, "available"},
		"plain, no pods":           {builtin(operators.Pods, ""), operators.State{}, 0, "progressing"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := facts.Cluster{Stage: wire.FinalizingStageWaitingForOlmOperatorsCsv, Since: now.Add(-tc.age), Operators: []facts.Monitored{tc.monitored}}
			got := operators.Reports(tc.state, c, now)
			if tc.want == "" {
				g.Expect(got).To(BeEmpty())
				return
			}
			g.Expect(got).To(ConsistOf(HaveField("Status", tc.want)))
		})
	}
}
