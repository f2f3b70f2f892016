package rest_test

import (
	"net"
	"net/http"
	"regexp"
	"testing"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/admission"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/cluster/tokens"
	"github.com/ironflow/ironflow/test/cluster/tokens/contract"
)

// freeAddress is one of loopback that nobody listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	defer free.Close()
	return free.Addr().String()
}

var bootstrapToken = regexp.MustCompile(`[a-z0-9]{6}\.[a-z0-9]{16}`)

// TestAHostJoinsAPlainClusterThatRuns: nothing is installed before the cluster's API has taken the host's token, and
// it knows the host by that. The API trusts nobody but the authority that the hub has made.
func TestAHostJoinsAPlainClusterThatRuns(t *testing.T) {
	g := NewWithT(t)
	hub, endpoint := withKubernetes(t), freeAddress(t)
	p := plainKubernetes(t, wire.KubernetesSettings{Endpoint: endpoint}).play(t, hub)
	p.start(t, hub)
	first := p.written(t, hub, 0)
	p.reports(t, hub, 0, wire.HostStageInstalling, wire.HostStageRebooting, wire.HostStageJoined, wire.HostStageDone) // played: the program inside
	code, raw := p.agent(t, hub, 0).Do(t, "POST", "/clusters/"+p.cluster+"/actions/complete-installation", wire.CompletionParams{IsSuccess: true}, nil)
	g.Expect(code).To(Equal(202), raw)
	p.comesTo(t, hub, wire.ClusterStatusInstalled)
	code, raw = p.user.Do(t, "POST", "/clusters/"+p.cluster+"/actions/allow-add-hosts", nil, nil)
	g.Expect(code).To(Equal(202), raw)

	another := newMachine(t, 1)
	another.key.InfraEnvID, another.key.HostID = p.hosts[0].InfraEnvID, uuid.NewString()
	another.apiVIP = &wire.APIVIPConnectivityResponse{IsSuccess: true}
	p.agent(t, hub, 0).Register(t, another.key)
	another.tell(t, p.agent(t, hub, 0))
	p.hosts = append(p.hosts, another.key)
	h, checks := p.host(t, 1)
	g.Expect(h.Status).To(Equal(wire.HostStatusKnown), "%s %v", h.StatusInfo, checks)
	install := "/infra-envs/" + another.key.InfraEnvID + "/hosts/" + another.key.HostID + "/actions/install"
	code, raw = p.user.Do(t, "POST", install, nil, nil)
	g.Expect(code).To(Equal(http.StatusConflict), raw)
	g.Expect(raw).To(And(ContainSubstring("the cluster's API at "+endpoint+" does not answer"), ContainSubstring("connection refused")))
	code, _ = p.ignition(t, hub, 1)
	g.Expect(code).To(Equal(http.StatusConflict), "it has nothing to join with")
	for _, step := range p.agentOf(t, hub, 1).Poll(t, another.key).Instructions {
		g.Expect(step.StepType).NotTo(Equal(wire.StepTypeInstall))
	}

	authority := pki.Pair{Cert: []byte(first[ofKubernetes+"pki/ca.crt"]), Key: []byte(first[ofKubernetes+"pki/ca.key"])}
	tokens.Start(t, authority, endpoint, nil) // the control plane comes up
	code, raw = p.user.Do(t, "POST", install, nil, nil)
	g.Expect(code).To(Equal(http.StatusAccepted), raw)
	second := p.written(t, hub, 1)
	g.Expect(second).NotTo(HaveKey(ofKubernetes+"pki/ca.key"), "a worker signs nothing")
	token := bootstrapToken.FindString(second[ofKubernetes+"kubeadm.yaml"])
	g.Expect(token).NotTo(BeEmpty())
	g.Expect(first[ofKubernetes+"kubeadm.yaml"]).NotTo(ContainSubstring(token), "it has one of its own")
	g.Expect(contract.WhoIs(t.Context(), admission.Door{Endpoint: endpoint, CA: authority.Cert}, token)).To(Equal("system:bootstrap:" + token[:6]))
	g.Expect(hub.Timeline(t)).NotTo(ContainSubstring(token[7:]))
}
