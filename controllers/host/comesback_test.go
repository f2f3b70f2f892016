package host

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// TestAnImageThatGoesAndComesBackIsDeployedOnce: it goes while it is deployed, Ironic cannot take the request to end that, and
// it is wanted again when the deployment has ended. Another one is deployed in its place, and so is the same one
// whose deployment is made of something else.
func TestAnImageThatGoesAndComesBackIsDeployedOnce(t *testing.T) {
	const first, second = "http://images.test/first.img", "http://images.test/second.img"
	for name, c := range map[string]struct {
		back        string                      // what is wanted then
		with        func(*metal3.BareMetalHost) // and with what
		deployments int
	}{
		"the same":                        {first, nil, 1},
		"another":                         {second, nil, 2},
		"the same, with another checksum": {first, func(h *metal3.BareMetalHost) { h.Spec.Image.Checksum = "beef" }, 2},
		"the same, on another disk": {first, func(h *metal3.BareMetalHost) {
			h.Spec.RootDeviceHints = &metal3.RootDeviceHints{DeviceName: "/dev/sdb"}
		}, 2},
		"the same, with user data":      {first, func(h *metal3.BareMetalHost) { h.Spec.UserData = &corev1.SecretReference{Name: "user"} }, 2},
		"the same, of another InfraEnv": {first, func(h *metal3.BareMetalHost) { h.Labels = map[string]string{names.InfraEnvLabel: "env-2"} }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := assisted(nil)
				o.Delays = delays
				o.Delays.Deploy = time.Minute
				w := newWorld(t, o, policy.Settings{}, askFor(first))
				defer func() { w.stop() }()
				w.g.Expect(w.kube.Create(t.Context(), &corev1.Secret{
					ObjectMeta: metav1.ObjectMeta{Namespace: lab.Namespace, Name: "user"}, Data: map[string][]byte{"userData": []byte("#!/bin/sh")},
				})).To(Succeed())
				w.until("deploying", 10*time.Minute, func(h *metal3.BareMetalHost) bool {
					n, _ := w.sim.Node(nodespec.NodeName(h))
					return n.ProvisionState == "wait call-back"
				})
				w.sim.Intercept(func(r *http.Request) *simulator.Fault {
					if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/states/provision") {
						return &simulator.Fault{Status: http.StatusConflict, Text: "Node is locked by host conductor-1"}
					}
					return nil
				})
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.Image = nil })
				w.untilState(metal3.StateDeprovisioning, time.Minute)
				w.edit(func(h *metal3.BareMetalHost) {
					askFor(c.back)(h)
					if c.with != nil {
						c.with(h)
					}
				})
				let(5 * time.Minute)
				w.sim.Intercept(nil)
				w.until("deployed", 10*time.Minute, func(h *metal3.BareMetalHost) bool {
					return h.Status.Provisioning.State == metal3.StateProvisioned && h.Status.Provisioning.Image.URL == c.back
				})
				let(time.Hour)
				deployments := 0
				for _, e := range w.events.list() {
					if e == "ProvisioningStarted" {
						deployments++
					}
				}
				w.g.Expect(deployments).To(Equal(c.deployments), "%s", w.events.list())
				w.g.Expect(w.host().Status.ErrorType).To(BeEmpty())

				w.edit(func(h *metal3.BareMetalHost) { h.Spec.Image = nil })
				w.untilState(metal3.StateAvailable, 10*time.Minute)
			})
		})
	}
}

// TestADeploymentThatABackupAsksForIsNotOneOfBefore: a backup of when the machine was being deployed is restored while that is
// given back, and deployed; then one of when it was given back. The second deployment stays.
func TestADeploymentThatABackupAsksForIsNotOneOfBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const image = "http://images.test/first.img"
		w := newWorld(t, assisted(nil), policy.Settings{}, func(h *metal3.BareMetalHost) {
			h.Spec.Online = true
			askFor(image)(h)
		})
		defer func() { w.stop() }()
		deploying := w.backup(metal3.StateProvisioning)
		givenBack := w.backup(metal3.StateDeprovisioning)
		w.untilState(metal3.StateAvailable, 10*time.Minute)

		w.halt()
		w.putBack(deploying)
		w.start(policy.Settings{})
		w.untilState(metal3.StateProvisioned, 10*time.Minute)
		let(time.Minute)
		w.g.Expect(w.host().Status.OperationHistory.Provision.Start.After(deploying.Status.OperationHistory.Provision.Start.Time)).To(BeTrue())

		w.halt()
		w.putBack(givenBack)
		w.sim.ResetCounts()
		w.start(policy.Settings{})
		let(time.Hour)
		w.runs()
		w.g.Expect(condition(w.host(), "Stalled").Reason).To(Equal("OtherInstance"), w.host().Status.ErrorMessage)
	})
}

// TestWhatABackupSaysOfCredentialsIsNotBelieved: Ironic was sent others since the backup was made, and the Secret has again
// what it had then.
func TestWhatABackupSaysOfCredentialsIsNotBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, askFor("http://images.test/first.img"))
		defer func() { w.stop() }()
		w.untilState(metal3.StateProvisioned, 10*time.Minute)
		let(time.Minute)
		backup := w.host().DeepCopy()
		w.password("another one")
		w.until("told", time.Minute, func(*metal3.BareMetalHost) bool { return w.driverInfo()["redfish_password"] == "another one" })
		let(time.Minute)
		w.halt()
		w.password("hunter2hunter2")
		w.putBack(backup)
		w.sim.ResetCounts()
		w.start(policy.Settings{})
		w.until("told", time.Minute, func(*metal3.BareMetalHost) bool { return w.driverInfo()["redfish_password"] == "hunter2hunter2" })
		let(time.Hour)
		w.runs()
		w.g.Expect(w.sim.Counts()["PATCH /v1/nodes/{node}"]).To(Equal(1), "once")
		n, _ := w.sim.Node("lab~host-1")
		w.g.Expect(n.Fields["extra"]).To(HaveKeyWithValue("ironflow_credentials", Not(ContainSubstring("hunter"))))
	})
}

// TestADetachedHostWhoseImageGoesIsGivenBack: it is attached, and its machine, which runs, is given back and free.
func TestADetachedHostWhoseImageGoesIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, askFor("http://images.test/first.img"))
		defer func() { w.stop() }()
		w.untilState(metal3.StateProvisioned, 10*time.Minute)
		w.annotate(names.Detached, "")
		w.until("detached", time.Minute, func(h *metal3.BareMetalHost) bool {
			return h.Status.OperationalStatus == metal3.OperationalStatusDetached
		})
		w.halt()
		w.edit(func(h *metal3.BareMetalHost) {
			h.Spec.Image = nil
			delete(h.Annotations, names.Detached)
		})
		w.start(policy.Settings{})
		w.enrolledAgain("power on")
		w.untilState(metal3.StateAvailable, 10*time.Minute)
		let(time.Minute)
		w.g.Expect(w.host().Status.ErrorType).To(BeEmpty())
		n, _ := w.sim.Node("lab~host-1")
		w.g.Expect(n.Fields["extra"]).NotTo(HaveKey("ironflow_baseline"))
	})
}
