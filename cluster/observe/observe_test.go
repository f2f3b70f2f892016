package observe_test

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/cluster/facts"
	"github.com/ironflow/ironflow/cluster/nodes"
	"github.com/ironflow/ironflow/cluster/observe"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestPodsThatAreWaitedFor: what has ended or is going, and what its controller has replaced
// by another pod, never gets ready.
func TestPodsThatAreWaitedFor(t *testing.T) {
	const (
		ofSet  = `"ownerReferences":[{"kind":"ReplicaSet","controller":true}]`
		ofNode = `"ownerReferences":[{"kind":"Node","controller":true}]`
		ofJob  = `"ownerReferences":[{"kind":"Job","controller":true}]`
		going  = `"deletionTimestamp":"2026-11-28T12:00:00Z"`
		ready  = `"conditions":[{"type":"Ready","status":"True"}]`
	)
	for name, tc := range map[string]struct {
		metadata, status string
		waits            string
	}{
		"ready":                          {ofSet, `"phase":"Running",` + ready, ""},
		"not ready":                      {ofSet, `"phase":"Running"`, "Running"},
		"crashing":                       {ofSet, `"phase":"Running","containerStatuses":[{"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]`, "CrashLoopBackOff"},
		"of a Job, which tries again":    {ofJob, `"phase":"Failed"`, ""},
		"has done its work":              {`"labels":{}`, `"phase":"Succeeded"`, ""},
		"evicted, and replaced":          {ofSet, `"phase":"Failed","reason":"Evicted"`, ""},
		"going, and replaced":            {ofSet + "," + going, `"phase":"Running"`, ""},
		"failed, and nobody replaces it": {`"labels":{}`, `"phase":"Failed"`, "Failed"},
		"a static pod that failed":       {ofNode, `"phase":"Failed"`, "Failed"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := observe.New()
			c.Pods.Replace([]json.RawMessage{json.RawMessage(`{"metadata":{"name":"p",` + tc.metadata + `},"status":{` + tc.status + `}}`)})
			p := c.Pods.All()["p"]
			g.Expect(p.Ready).To(Equal(tc.waits == ""))
			g.Expect(p.Waiting).To(Equal(tc.waits))
		})
	}
}

// TestANodeOfAnEarlierInstallation: a host that is installed once more has its node still,
// which nobody has heard of for long. The host has joined when its kubelet speaks.
func TestANodeOfAnEarlierInstallation(t *testing.T) {
	host := facts.Host{ID: "h", Name: "a", Role: wire.HostRoleWorker, Status: wire.HostStatusInstallingInProgress, Stage: wire.HostStageRebooting}
	for status, stages := range map[string][]wire.HostStage{
		"Unknown": nil,
		"False":   {wire.HostStageJoined},
		"True":    {wire.HostStageJoined, wire.HostStageDone},
	} {
		t.Run(status, func(t *testing.T) {
			g := NewWithT(t)
			c := observe.New()
			c.Nodes.Replace([]json.RawMessage{json.RawMessage(`{"metadata":{"name":"a"},"status":{"conditions":[{"type":"Ready","status":"` + status + `"}]}}`)})
			_, reports := nodes.Plan([]facts.Host{host}, c.Nodes.All(), nodes.Options{})
			var got []wire.HostStage
			for _, r := range reports {
				got = append(got, r.Stage)
			}
			g.Expect(got).To(Equal(stages))
		})
	}
}
