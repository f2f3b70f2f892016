package rest_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// TestIgnitionOfAnInstalledHostIsRefused: nobody would ever read it.
func TestIgnitionOfAnInstalledHostIsRefused(t *testing.T) {
	const ours = `{"ignition":{"version":"3.2.0"}}`
	for name, stages := range map[string][]wire.HostStage{
		"while it is installed": nil,
		"once it is":            {wire.HostStageRebooting, wire.HostStageDone},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			f := newFixture(t)
			for _, stage := range stages {
				f.Agent(f.token).Progress(t, f.host, stage, "")
			}
			path := "/infra-envs/" + f.env + "/hosts/" + f.host.HostID + "/ignition"
			code, raw := f.User().Do(t, http.MethodPatch, path, wire.HostIgnitionParams{Config: ours}, nil)
			g.Expect(code).To(Equal(http.StatusConflict), raw)
			g.Expect(raw).To(ContainSubstring("its Ignition is made already"))
		})
	}
}

// TestAnInfraEnvOutlivesItsCluster: it can still be changed, and its hosts are told what is gone.
func TestAnInfraEnvOutlivesItsCluster(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{})
	p := singleNode(t).play(t, hub)
	code, raw := p.user.Do(t, http.MethodDelete, "/clusters/"+p.cluster, nil, nil)
	g.Expect(code).To(Equal(http.StatusNoContent), raw)
	env := p.hosts[0].InfraEnvID
	code, raw = p.agentOf(t, hub, 0).Do(t, http.MethodPost, "/infra-envs/"+env+"/hosts", wire.HostCreateParams{HostID: uuid.NewString()}, nil)
	g.Expect(code).To(BeNumerically(">=", 400), raw)
	g.Expect(raw).To(ContainSubstring(p.cluster))
	code, raw = p.user.Do(
		t, http.MethodPatch, "/infra-envs/"+env,
		wire.InfraEnvUpdateParams{SSHAuthorizedKey: new("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f")}, nil,
	)
	g.Expect(code).To(Equal(http.StatusCreated), raw)
}
