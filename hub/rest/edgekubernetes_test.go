package rest_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/cluster/kept"
	"github.com/ironflow/ironflow/hub/inside"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/kubernetes"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// TestTheProgramInsideKnowsItsHostsWithoutTheHub: a hub on one of the hosts tells the program
// that it puts into the cluster that it ends, with all that has to be known then.
func TestTheProgramInsideKnowsItsHostsWithoutTheHub(t *testing.T) {
	g := NewWithT(t)
	s := plainKubernetes(t, wire.KubernetesSettings{})
	hub := testhub.Start(t, testhub.Options{
		Timers: service.Timers{Monitor: 10 * time.Millisecond}, Sources: map[sources.Name]sources.Source{sources.Kubernetes: kubernetes.Source{}},
		Inside:   inside.Program{Image: "registry.example/ironflow-cluster:v1", URL: "http://192.0.2.10:8090"},
		NodeZero: service.NodeZero{MAC: s.hosts[0].inventory.Interfaces[0].MACAddress},
	})
	p := s.play(t, hub)
	p.start(t, hub)
	manifest := program(p.written(t, hub, 0))
	g.Expect(manifest).To(ContainSubstring("name: IRONFLOW_CLUSTER_HUB_LEAVES"))
	var data map[string]string
	for document := range strings.SplitSeq(manifest, "\n---\n") {
		var o struct {
			Kind string
			Data map[string]string
		}
		g.Expect(yaml.Unmarshal([]byte(document), &o)).To(Succeed())
		if o.Kind == "ConfigMap" {
			data = o.Data
		}
	}
	known, err := kept.Parse(data)
	g.Expect(err).NotTo(HaveOccurred(), manifest)
	g.Expect(known.SchedulableMasters).To(BeTrue(), "it is alone")
	g.Expect(known.Hosts).To(HaveLen(1))
	g.Expect(known.Hosts[0]).To(And(HaveField("ID", p.hosts[0].HostID), HaveField("Role", wire.HostRoleMaster), HaveField("Name", Not(BeEmpty())), HaveField("Addresses", Not(BeEmpty()))))

	outside := withKubernetes(t)
	p = plainKubernetes(t, wire.KubernetesSettings{}).play(t, outside)
	p.start(t, outside)
	g.Expect(program(p.written(t, outside, 0))).To(And(Not(BeEmpty()), Not(ContainSubstring("HUB_LEAVES")), Not(ContainSubstring("ConfigMap"))), "a hub that stays is asked")
}

// TestAPlainKubernetesHasNoRelease: with one it would wait for the operators of a release, and
// the host of the hub would not be the last one.
func TestAPlainKubernetesHasNoRelease(t *testing.T) {
	user := newClient(t, withKubernetes(t).User())
	for member, value := range map[string]string{"openshift_version": "1.37.1", "ocp_release_image": "registry.example/release:1.37.1"} {
		body := `{"name":"edge","pull_secret":"{\"auths\":{}}","ignition_source":"kubernetes","kubernetes":{"version":"v1.37.1"},"` + member + `":"` + value + `"}`
		NewWithT(t).Expect(user.do("POST", "/clusters", body, 400)).To(ContainSubstring("has no release; leave them empty, and give its version as kubernetes.version"), member)
	}
}
