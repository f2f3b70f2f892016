package service_test

import (
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/inside"
	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestWhatAProgramInsideTheClusterSays is waited for, where there is one: of hosts of the
// installation that a person had to help, and of those that join later.
func TestWhatAProgramInsideTheClusterSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := shared(t, from(reporting()), service.ClusterSpec{})
		w.installing(hostA)
		w.reaches(hostA, wire.HostStageRebooting)
		w.register(hostA) // it boots the live image again
		w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusInstallingPendingUserAction))
		w.reaches(hostA, wire.HostStageDone)
		w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusFinalizing), "its hosts are there, and it has not said that it runs")
		_, err := w.CompleteInstallation(w.ctx, sharedCluster, wire.CompletionParams{IsSuccess: true})
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusInstalled))

		_, err = w.AllowAddHosts(w.ctx, sharedCluster)
		w.Expect(err).NotTo(HaveOccurred())
		w.register(hostB)
		w.inventory(hostB, nil)
		synctest.Wait() // its Ignition is made
		w.reaches(hostB, wire.HostStageInstalling, wire.HostStageRebooting)
		w.is(hostB, wire.HostStatusInstallingInProgress, "")
		w.reaches(hostB, wire.HostStageDone)
		w.is(hostB, wire.HostStatusAddedToExistingCluster, "The host was added to the cluster")
	})
}

// TestWhoTellsOfAHostThatJoinsARelease: the hub's program, which stays in the cluster; that of a bootstrap host ends
// with the installation, and then the reboot is the last that is known.
func TestWhoTellsOfAHostThatJoinsARelease(t *testing.T) {
	const nobody = "nobody tells the hub whether it joins"
	for name, tc := range map[string]struct {
		controller string
		status     string // of the host that has rebooted
		info       string
	}{
		"the hub's program":          {"", wire.HostStatusInstallingInProgress, ""},
		"that of the bootstrap host": {"quay.example/controller:1", wire.HostStatusAddedToExistingCluster, nobody},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := shared(t, service.Options{
					Sources: sources.Set{Default: sources.OpenShiftInstall, All: map[sources.Name]sources.Source{sources.OpenShiftInstall: reporting(), sources.Pointer: &played{}}},
					Inside:  inside.Program{Image: "registry.example/ironflow-cluster:1", URL: "https://hub.example"},
					Checks:  service.Checks{DisabledHost: []string{"ntp-synced"}},
					Images:  instructions.Images{Controller: tc.controller},
				}, service.ClusterSpec{Version: "4.20", BaseDomain: "example", PullSecret: `{"auths":{}}`, ReleaseImage: "registry.example/release:1"})
				w.register(hostA)
				w.inventory(hostA, nil)
				w.Expect(w.reply(hostA, wire.StepTypeDomainResolution, wire.DomainResolutionResponse{})).To(Succeed())
				w.checkDisk(hostA)
				images := wire.ContainerImageAvailabilityResponse{Images: []wire.ContainerImageAvailability{{Name: "registry.example/release:1", Result: wire.ContainerImageAvailabilityResultSuccess}}}
				if tc.controller != "" {
					images.Images = append(images.Images, wire.ContainerImageAvailability{Name: tc.controller, Result: wire.ContainerImageAvailabilityResultSuccess})
				}
				w.Expect(w.reply(hostA, wire.StepTypeContainerImageAvailability, images)).To(Succeed())
				w.comesTo(hostA, wire.HostStatusInstalling)
				w.reaches(hostA, wire.HostStageInstalling, wire.HostStageRebooting, wire.HostStageDone)
				w.Expect(w.SetIngressCertificate(w.ctx, sharedCluster, certificate)).To(Succeed())
				for _, name := range []string{"console", "cvo"} {
					w.Expect(w.ReportOperator(w.ctx, sharedCluster, wire.OperatorMonitorReport{Name: name, Status: wire.OperatorStatusAvailable})).To(Succeed())
				}
				w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusInstalled))

				_, err := w.AllowAddHosts(w.ctx, sharedCluster)
				w.Expect(err).NotTo(HaveOccurred())
				w.register(hostB)
				w.inventory(hostB, nil)
				w.Expect(w.reply(hostB, wire.StepTypeAPIVIPConnectivityCheck, wire.APIVIPConnectivityResponse{IsSuccess: true})).To(Succeed())
				w.comesTo(hostB, wire.HostStatusInstalling)
				w.reaches(hostB, wire.HostStageInstalling, wire.HostStageRebooting)
				w.is(hostB, tc.status, tc.info)
				if tc.controller == "" {
					w.reaches(hostB, wire.HostStageDone)
					w.is(hostB, wire.HostStatusAddedToExistingCluster, "The host was added to the cluster")
				}
			})
		})
	}
}

const certificate = "-----BEGIN CERTIFICATE-----\nTUlJQg==\n-----END CERTIFICATE-----\n"
