package service_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	insider "github.com/ironflow/ironflow/hub/inside"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestAHostThatJoinsIsInstalledOnceItsIgnitionIsMade: what cannot be made is said, and
// made later, and nothing is ordered before.
func TestAHostThatJoinsIsInstalledOnceItsIgnitionIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &played{}
		w := shared(t, from(source), service.ClusterSpec{})
		w.installing(hostA)
		w.Expect(w.stage(hostA, wire.HostStageDone)).To(Succeed())
		_, err := w.AllowAddHosts(w.ctx, sharedCluster)
		w.Expect(err).NotTo(HaveOccurred())
		problem := errors.New("the endpoint does not answer")
		source.before = func(context.Context) error { return problem }
		w.register(hostB)
		w.inventory(hostB, nil)
		synctest.Wait()
		w.Expect(w.status(hostB)).To(Equal(wire.HostStatusKnown))
		w.Expect(w.info(hostB)).To(ContainSubstring("the endpoint does not answer"))
		w.Expect(w.poll(hostB)).NotTo(ContainElement(wire.StepTypeInstall))
		_, err = w.HostIgnition(w.ctx, key(hostB))
		w.Expect(service.Code(err)).To(Equal(409))
		_, err = w.InstallHost(w.ctx, key(hostB))
		w.Expect(err).To(MatchError(ContainSubstring("the endpoint does not answer")), "a person is told at once")
		tries := source.calls
		pass(50 * time.Second)
		w.Expect(source.calls).To(Equal(tries), "the hub waits a minute")
		problem = nil
		pass(12 * time.Second)
		synctest.Wait()
		w.Expect(w.status(hostB)).To(Equal(wire.HostStatusInstalling))
		file, err := w.HostIgnition(w.ctx, key(hostB))
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(file.Content).NotTo(BeEmpty())
	})
}

// roles is a source that notes for which roles it makes something, and is slow: what has to be done meanwhile is done.
type roles struct {
	played

	of        []wire.HostRole
	meanwhile func()
}

func (s *roles) Make(ctx context.Context, o *sources.Order) (*sources.Made, error) {
	for _, h := range o.Hosts {
		s.of = append(s.of, h.Role)
	}
	made, err := s.played.Make(ctx, o)
	if do := s.meanwhile; do != nil {
		s.meanwhile = nil
		do()
	}
	return made, err
}

// TestAHostThatChangesWhileItsIgnitionIsMade: a host that joins is installed as what it is, not as what it was when the
// source began: a worker with the Ignition of the control plane would have the cluster's keys.
func TestAHostThatChangesWhileItsIgnitionIsMade(t *testing.T) {
	for name, tc := range map[string]struct {
		change wire.HostUpdateParams
		person bool
	}{
		"its role":                        {change: wire.HostUpdateParams{HostRole: new(wire.HostUpdateParamsHostRoleWorker)}},
		"its name":                        {change: wire.HostUpdateParams{HostName: new("another")}},
		"its labels":                      {change: wire.HostUpdateParams{NodeLabels: []wire.NodeLabelParams{{Key: "site", Value: "north"}}}},
		"its role, and a person waits":    {change: wire.HostUpdateParams{HostRole: new(wire.HostUpdateParamsHostRoleWorker)}, person: true},
		"nothing":                         {},
		"nothing, and a person waits too": {person: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := &roles{}
				w := shared(t, from(source), service.ClusterSpec{})
				w.installing(hostA)
				w.Expect(w.stage(hostA, wire.HostStageDone)).To(Succeed())
				_, err := w.AllowAddHosts(w.ctx, sharedCluster)
				w.Expect(err).NotTo(HaveOccurred())
				_, err = w.EnsureInfraEnv(w.ctx, service.InfraEnvSpec{ID: envID, Name: "env", ClusterID: sharedCluster, AutoApprove: !tc.person})
				w.Expect(err).NotTo(HaveOccurred())
				w.register(hostB)
				_, err = w.UpdateHost(w.ctx, key(hostB), wire.HostUpdateParams{HostRole: new(wire.HostUpdateParamsHostRoleMaster)})
				w.Expect(err).NotTo(HaveOccurred())
				source.of = nil
				source.meanwhile = func() {
					_, err := w.UpdateHost(w.ctx, key(hostB), tc.change)
					w.Expect(err).NotTo(HaveOccurred())
				}
				w.inventory(hostB, nil)
				synctest.Wait()
				if tc.person {
					_, err = w.InstallHost(w.ctx, key(hostB))
				}
				pass(time.Minute)
				synctest.Wait()
				host, failure := w.Host(w.ctx, key(hostB))
				w.Expect(failure).NotTo(HaveOccurred())
				if err != nil { // who is told to try again does
					w.Expect(err).To(MatchError(ContainSubstring("try again")))
					w.Expect(host.Status).To(Equal(wire.HostStatusKnown))
					return
				}
				w.Expect(host.Status).To(Equal(wire.HostStatusInstalling), host.StatusInfo)
				w.Expect(source.of[len(source.of)-1]).To(Equal(host.Role))
				w.Expect(source.calls).To(Equal(len(source.of)+1), "and that of the first host")
				changed := tc.change.HostRole != nil || tc.change.HostName != nil || tc.change.NodeLabels != nil
				w.Expect(len(source.of) > 1).To(Equal(changed), "it is made again only if it is not the host's any more")
			})
		})
	}
}

// TestAHostThatJoinedComesBackInItsPool: installed anew, it is configured as what it was.
func TestAHostThatJoinedComesBackInItsPool(t *testing.T) {
	for name, tc := range map[string]struct {
		known wire.Host
		pool  string
	}{
		"of the control plane":         {wire.Host{Role: wire.HostRoleMaster}, "master"},
		"a worker":                     {wire.Host{Role: wire.HostRoleWorker}, "worker"},
		"in a pool that was asked for": {wire.Host{Role: wire.HostRoleWorker, MachineConfigPoolName: "infra"}, "infra"},
		"of no role":                   {wire.Host{}, "worker"},
	} {
		t.Run(name, func(t *testing.T) {
			w := shared(t, from(&played{}), service.ClusterSpec{})
			w.installing(hostA)
			w.Expect(w.stage(hostA, wire.HostStageDone)).To(Succeed())
			_, err := w.AllowAddHosts(w.ctx, sharedCluster)
			w.Expect(err).NotTo(HaveOccurred())
			tc.known.Status = wire.HostStatusError
			lost := service.LostHost{ClusterID: sharedCluster, Known: tc.known, Since: time.Now().Add(-time.Hour)}
			w.Expect(w.RecoverHost(w.ctx, key(hostB), lost)).To(BeTrue())
			host, err := w.Host(w.ctx, key(hostB))
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(host.MachineConfigPoolName).To(Equal(tc.pool))
		})
	}
}

// TestAResetForgetsWhatWasMade: the next installation has files of its own.
func TestAResetForgetsWhatWasMade(t *testing.T) {
	w := shared(t, from(reporting()), service.ClusterSpec{})
	w.installing(hostA)
	_, err := w.HostIgnition(w.ctx, key(hostA))
	w.Expect(err).NotTo(HaveOccurred())
	raw, err := w.CredentialsFile(w.ctx, sharedCluster, "kubeconfig-noingress")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(raw).To(BeEquivalentTo(kubeconfig))
	_, err = w.CancelInstallation(w.ctx, sharedCluster)
	w.Expect(err).NotTo(HaveOccurred())
	_, err = w.CredentialsFile(w.ctx, sharedCluster, "kubeconfig-noingress")
	w.Expect(err).NotTo(HaveOccurred(), "who looks for the reason needs it")
	_, err = w.ResetCluster(w.ctx, sharedCluster)
	w.Expect(err).NotTo(HaveOccurred())
	_, err = w.CredentialsFile(w.ctx, sharedCluster, "kubeconfig-noingress")
	w.Expect(service.Code(err)).To(Equal(409))
}

// TestHostsThatJoinLeaveWhatTheClusterHas: its credentials were made when it was installed.
func TestHostsThatJoinLeaveWhatTheClusterHas(t *testing.T) {
	for name, tc := range map[string]struct {
		source sources.Name
	}{
		"role files":        {sources.Files},
		"openshift-install": {sources.OpenShiftInstall},
		"kubernetes":        {sources.Kubernetes},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := shared(
					t,
					service.Options{Inside: insider.Program{Image: "registry.example/ironflow-cluster:v1", URL: "https://hub.example"}, Sources: sources.Set{Default: tc.source, All: map[sources.Name]sources.Source{
						tc.source: reporting(), sources.Pointer: &played{},
					}}},
					service.ClusterSpec{},
				)
				w.installing(hostA)
				w.reaches(hostA, wire.HostStageRebooting, wire.HostStageDone)
				_, err := w.CompleteInstallation(w.ctx, sharedCluster, wire.CompletionParams{IsSuccess: true})
				w.Expect(err).NotTo(HaveOccurred())
				w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusInstalled))
				_, err = w.AllowAddHosts(w.ctx, sharedCluster)
				w.Expect(err).NotTo(HaveOccurred())
				w.register(hostB)
				w.inventory(hostB, nil)
				synctest.Wait()
				w.is(hostB, wire.HostStatusInstalling, "")
				raw, err := w.CredentialsFile(w.ctx, sharedCluster, "kubeconfig-noingress")
				w.Expect(err).NotTo(HaveOccurred())
				w.Expect(raw).To(BeEquivalentTo(kubeconfig))
			})
		})
	}
}
