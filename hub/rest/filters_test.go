package rest_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// TestWhoseEventsAreAskedFor: a console ticks the cluster itself, single hosts, and hosts that are gone, and wants the events of
// all that is ticked.
func TestWhoseEventsAreAskedFor(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t)
	cleo := f.madeBy(t, f.person("cleo"), "edge")
	stays := cleo.host
	gone := stays
	gone.HostID = "11111111-2222-3333-4444-555555555555"
	f.Agent(cleo.token).Register(t, gone)
	code, raw := f.person("cleo").Do(t, "DELETE", "/infra-envs/"+gone.InfraEnvID+"/hosts/"+gone.HostID, nil, nil)
	g.Expect(code).To(Equal(204), raw)
	asked := func(filter string) (hosts map[string]bool) {
		var events wire.EventList
		code, raw := f.person("cleo").Do(t, "GET", "/events?cluster_id="+cleo.cluster+filter, nil, &events)
		g.Expect(code).To(Equal(200), raw)
		hosts = map[string]bool{}
		for _, e := range events {
			hosts[wire.Value(e.HostID)] = true
		}
		return hosts
	}
	here, away, cluster := HaveKey(stays.HostID), HaveKey(gone.HostID), HaveKey("")
	g.Expect(asked("")).To(And(here, away, cluster, HaveLen(3)))
	g.Expect(asked("&deleted_hosts=true")).To(And(away, HaveLen(1)))
	g.Expect(asked("&deleted_hosts=false")).To(HaveLen(3))
	g.Expect(asked("&cluster_level=true")).To(And(cluster, HaveLen(1)))
	g.Expect(asked("&cluster_level=true&deleted_hosts=true")).To(And(cluster, away, HaveLen(2)))
	g.Expect(asked("&cluster_level=true&host_ids=" + stays.HostID)).To(And(cluster, here, HaveLen(2)))
	g.Expect(asked("&cluster_level=true&deleted_hosts=true&host_ids=" + stays.HostID)).To(HaveLen(3))
}

// TestWhatOneUserHasMadeIsAskedFor: an admin looks for what somebody has.
func TestWhatOneUserHasMadeIsAskedFor(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t)
	cleo := f.madeBy(t, f.person("cleo"), "edge")
	f.madeBy(t, f.person("dora"), "core")
	var clusters wire.ClusterList
	code, raw := f.person("anna").Do(t, "GET", "/clusters?owner=cleo", nil, &clusters)
	g.Expect(code).To(Equal(200), raw)
	g.Expect(clusters).To(ConsistOf(HaveField("ID", cleo.cluster)))
	var envs wire.InfraEnvList
	code, raw = f.person("anna").Do(t, "GET", "/infra-envs?owner=cleo", nil, &envs)
	g.Expect(code).To(Equal(200), raw)
	g.Expect(envs).To(ConsistOf(HaveField("ID", cleo.env)))
	code, raw = f.person("cleo").Do(t, "GET", "/clusters?owner=dora", nil, &clusters)
	g.Expect(code).To(Equal(200), raw)
	g.Expect(clusters).To(BeEmpty())
}

// TestAQueryThatSelectsNothingThereIs is refused, in the form of what breaks a document: an empty list would be taken for an answer.
func TestAQueryThatSelectsNothingThereIs(t *testing.T) {
	user := newClient(t, testhub.Start(t, testhub.Options{}).User())
	for path, says := range map[string]string{
		"/events?order=levitate":           "the query parameter order \"levitate\": want one of ascending; descending",
		"/events?severities=info,levitate": "severities \"levitate\": want one of info; warning; error; critical",
		"/clusters/11111111-2222-4333-8444-555555555555/manifests/files?folder=levitate&file_name=a.yaml": "folder \"levitate\": want one of manifests; openshift",
		"/clusters/11111111-2222-4333-8444-555555555555/logs?logs_type=levitate":                          "logs_type \"levitate\": want one of host; controller; all",
		"/support-levels/features?openshift_version=4.20&cpu_architecture=x87":                            "cpu_architecture \"x87\"",
	} {
		t.Run(path, func(t *testing.T) {
			g := NewWithT(t)
			var answer map[string]any
			g.Expect(jsonInto(newClient(t, user.caller).do("GET", path, "", 400), &answer)).To(Succeed())
			g.Expect(answer).To(And(HaveKeyWithValue("code", BeEquivalentTo(400)), HaveKeyWithValue("message", ContainSubstring(says)), HaveLen(2)))
		})
	}
	user.do("GET", "/events?order=&severities=info,error", "", 200)
}
