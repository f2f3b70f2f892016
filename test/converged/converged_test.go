//go:build e2e

package converged_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/cluster/incluster"
	"github.com/ironflow/ironflow/test/lab/guard"
	"github.com/ironflow/ironflow/test/machine"
)

// TestThreeHostsBecomeACluster: BareMetalHosts of one InfraEnv and one cluster, from the addresses of their BMCs until
// the cluster says that it is complete.
func TestThreeHostsBecomeACluster(t *testing.T) {
	w := newWorld(t)
	w.create()
	w.provisioned()
	w.Expect(w.completed()()).To(BeFalse(), "hosts that run from their disks are no cluster yet")

	w.Expect(w.download(w.ca(), "/clusters")).To(ContainSubstring(`"openshift_version":"`+version+`"`), "read from the release's image, by a mirror and the pull secret")
	cd := &hivev1.ClusterDeployment{}
	w.Expect(w.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: cluster}, cd)).To(Succeed())
	inside := w.startInside(hubid.Cluster(cd))
	for _, s := range w.scenarios {
		address, err := netip.ParsePrefix(s.Hardware.NICs[0].IPv4[0])
		w.Expect(err).NotTo(HaveOccurred())
		kubelet := incluster.Kubelet{Cluster: w.inner, Name: s.Name, Address: address.Addr().String()}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		w.Expect(kubelet.Joins(ctx)).To(Succeed())
		w.Expect(kubelet.GetsReady(ctx)).To(Succeed())
		cancel()
	}
	w.done()
	w.Expect(w.completed()()).To(BeFalse(), "the cluster's operators are not available yet")
	w.Expect(w.inner.Up(t.Context(), version)).To(Succeed())
	w.Eventually(w.completed(), patience, look).Should(BeTrue(), w.story)
	w.Eventually(inside.said, patience, look).Should(ContainSubstring("the installation is over"), "the program inside stays for hosts that join later")
	w.Expect(inside.Done()).NotTo(BeClosed())

	w.once()
	w.opens(cd)
}

// provisioned waits until every machine runs from its disk, and its host says so.
func (w *world) provisioned() {
	w.Helper()
	w.Eventually(func() (out []string, err error) {
		var list metal3v1.BareMetalHostList
		if err := w.List(w.Context(), &list, client.InNamespace(namespace)); err != nil {
			return nil, err
		}
		for _, h := range list.Items {
			out = append(out, string(h.Status.Provisioning.State)+h.Status.ErrorMessage)
		}
		for _, s := range w.fleet.States() {
			out = append(out, string(s.State))
		}
		return out, nil
	}, patience, look).Should(ConsistOf(
		"provisioned", "provisioned", "provisioned", string(machine.Installed), string(machine.Installed), string(machine.Installed),
	), w.story)
}

// agents are those of the cluster, by their host names.
func (w *world) agents() (map[string]*agentv1.Agent, error) {
	var list agentv1.AgentList
	err := w.List(w.Context(), &list, client.InNamespace(namespace))
	out := map[string]*agentv1.Agent{}
	for i := range list.Items {
		out[list.Items[i].Spec.Hostname] = &list.Items[i]
	}
	return out, err
}

// done waits until all hosts are part of their cluster.
func (w *world) done() {
	w.Helper()
	w.Eventually(func() (out []wire.HostStage, err error) {
		all, err := w.agents()
		for _, a := range all {
			out = append(out, wire.HostStage(a.Status.Progress.CurrentStage))
		}
		return out, err
	}, patience, look).Should(And(HaveLen(len(w.scenarios)), HaveEach(wire.HostStageDone)), w.story)
}

// completed tells whether the cluster says that it is.
func (w *world) completed() func() (bool, error) {
	return func() (bool, error) {
		aci, err := w.install(w.Context())
		c := hiveextv1.FindCondition(aci.Status.Conditions, hiveextv1.ConditionCompleted)
		return c != nil && c.Status == corev1.ConditionTrue, err
	}
}

// inside is the program in the cluster.
type inside struct {
	*guard.Process
	log string
}

// said is its log.
func (i *inside) said() (string, error) {
	text, err := os.ReadFile(i.log)
	return string(text), err
}

// startInside starts the shipped program of the cluster beside it, as its workload says that the hub has put among the
// cluster's manifests.
func (w *world) startInside(id string) *inside {
	w.Helper()
	ca := w.ca()
	manifests, err := incluster.Manifests(w.download(ca, "/clusters/"+id+"/downloads/files?file_name=bootstrap.ign"))
	w.Expect(err).NotTo(HaveOccurred())
	env, err := incluster.Environment(manifests)
	w.Expect(err).NotTo(HaveOccurred())
	raw, err := w.inner.Kubeconfig()
	w.Expect(err).NotTo(HaveOccurred())
	config, i := filepath.Join(w.dir, "inside.kubeconfig"), &inside{log: filepath.Join(w.dir, "inside.log")}
	w.Expect(os.WriteFile(config, raw, 0o600)).To(Succeed())
	log, err := os.Create(i.log)
	w.Expect(err).NotTo(HaveOccurred())
	all := os.Environ()
	for name, value := range env {
		all = append(all, name+"="+value)
	}
	i.Process, err = guard.Start(guard.Command{
		Path: filepath.Join(w.bin, "ironflow-cluster"), Env: all, Output: log,
		Args: []string{"run", "--ca-file", ca, "--kubeconfig", config, "--listen", "0"},
	})
	w.Expect(err).NotTo(HaveOccurred())
	w.Cleanup(func() {
		i.Kill()
		w.Expect(log.Close()).To(Succeed())
		if w.Failed() {
			text, _ := i.said()
			w.Logf("inside the cluster:\n%s", text)
		}
	})
	return i
}

// ca is the file with the authority of the hub's certificate.
func (w *world) ca() string { return filepath.Join(w.lab.Dir, "ironflow", "tls", "ca.crt") }

// download reads from the hub's REST API, as a user.
func (w *world) download(ca, path string) []byte {
	w.Helper()
	raw, err := os.ReadFile(ca)
	w.Expect(err).NotTo(HaveOccurred())
	pool := x509.NewCertPool()
	w.Expect(pool.AppendCertsFromPEM(raw)).To(BeTrue())
	user := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	defer user.CloseIdleConnections()
	r, err := http.NewRequestWithContext(w.Context(), http.MethodGet, w.ironflow.HubURL+"/api/assisted-install/v2"+path, http.NoBody)
	w.Expect(err).NotTo(HaveOccurred())
	r.Header.Set("Authorization", "Bearer "+userToken)
	answer, err := user.Do(r)
	w.Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(answer.StatusCode).To(Equal(http.StatusOK), string(text))
	return text
}

// once expects that each disk was written once, and that no stage was told twice.
func (w *world) once() {
	w.Helper()
	all, err := w.agents()
	w.Expect(err).NotTo(HaveOccurred())
	bootstrap := 0
	for _, a := range all {
		var events wire.EventList
		w.Expect(json.Unmarshal(w.download(w.ca(), "/events?host_id="+a.Name), &events)).To(Succeed())
		told := map[string]int{}
		for _, e := range events {
			if _, stage, ok := strings.Cut(e.Message, "reached stage"); ok {
				told[stage]++
			}
		}
		w.Expect(told).To(And(
			HaveKey(ContainSubstring(string(wire.HostStageWritingImageToDisk))), HaveKey(ContainSubstring(string(wire.HostStageRebooting))),
			HaveKey(ContainSubstring(string(wire.HostStageJoined))), HaveKey(ContainSubstring(string(wire.HostStageDone))), HaveEach(1),
		), a.Spec.Hostname)
		if a.Status.Bootstrap {
			bootstrap++
		}
	}
	w.Expect(bootstrap).To(Equal(1), "hosts that bring up the cluster")
	w.Expect(w.installer.Runs()).To(ContainElement("create ignition-configs"))
}

// opens expects that what opens the cluster is where its user looks for it, and that its hosts stay as they are.
func (w *world) opens(cd *hivev1.ClusterDeployment) {
	w.Helper()
	w.Eventually(func() (string, error) {
		secret := &corev1.Secret{}
		err := w.Get(w.Context(), client.ObjectKey{Namespace: namespace, Name: cd.Name + "-admin-kubeconfig"}, secret)
		return string(secret.Data["kubeconfig"]), err
	}, patience, look).Should(ContainSubstring("https://api." + cluster + ".lab.example:6443"))
	aci, err := w.install(w.Context())
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(aci.Status.DebugInfo.State).To(BeElementOf(wire.ClusterStatusInstalled, wire.ClusterStatusAddingHosts))
	var list metal3v1.BareMetalHostList
	w.Expect(w.List(w.Context(), &list, client.InNamespace(namespace))).To(Succeed())
	for _, h := range list.Items {
		w.Expect(h.Status.Provisioning.State).To(Equal(metal3v1.StateProvisioned), h.Name)
		w.Expect(h.Status.ErrorMessage).To(BeEmpty(), h.Name)
	}
}

// story is how far all is, for a test that fails.
func (w *world) story() string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.Context()), time.Minute)
	defer cancel()
	var b strings.Builder
	if aci, err := w.install(ctx); err == nil {
		for _, c := range aci.Status.Conditions {
			fmt.Fprintln(&b, "cluster:", c.Type, c.Status, c.Reason, c.Message)
		}
	}
	var hosts metal3v1.BareMetalHostList
	if w.List(ctx, &hosts, client.InNamespace(namespace)) == nil {
		for _, h := range hosts.Items {
			fmt.Fprintln(&b, "host:", h.Name, h.Status.Provisioning.State, h.Status.ErrorMessage)
		}
	}
	if all, err := w.agents(); err == nil {
		for _, a := range all {
			fmt.Fprintln(&b, "agent:", a.Spec.Hostname, a.Status.DebugInfo.State, a.Status.DebugInfo.StateInfo, a.Status.Progress.CurrentStage)
		}
	}
	for _, s := range w.fleet.States() {
		fmt.Fprintln(&b, "machine:", s.Name, s.State, s.Reason)
	}
	return b.String()
}
