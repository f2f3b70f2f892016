package claim

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/deployowner"
	"github.com/ironflow/ironflow/controllers/link"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/test/kubeapi"
)

type noHub struct{}

func (noHub) CompleteHost(context.Context, store.HostKey) error     { return nil }
func (noHub) FailHost(context.Context, store.HostKey, string) error { return nil }

// TestAClaimAndALabelDoNotFight: one host, given to a claim that asks for nothing to run, and labelled with an InfraEnv.
// It stays the claim's, and its condition says so.
func TestAClaimAndALabelDoNotFight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		scheme := runtime.NewScheme()
		g.Expect(metal3.AddToScheme(scheme)).To(Succeed())
		g.Expect(agentv1.AddToScheme(scheme)).To(Succeed())
		g.Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
		api, err := kubeapi.New(scheme, &metal3.BareMetalHost{}, &metal3.HostClaim{}, &metal3.HostDeployPolicy{}, &metal3.HardwareData{},
			&metal3.PreprovisioningImage{}, &corev1.Secret{}, &corev1.Namespace{}, &agentv1.Agent{}, &agentv1.InfraEnv{})
		g.Expect(err).NotTo(HaveOccurred())
		var writes, asks atomic.Int32
		many := make(chan struct{})
		api.Intercept(func(r *http.Request) *kubeapi.Fault {
			if r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/baremetalhosts/host-1") {
				body, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(bytes.NewReader(body))
				if bytes.Contains(body, []byte("start_assisted_install")) {
					asks.Add(1)
				}
				if writes.Add(1) == 1000 {
					close(many)
				}
				if writes.Load() > 1000 {
					return &kubeapi.Fault{Status: http.StatusForbidden} // or it would never end
				}
			}
			return nil
		})
		kube, err := api.Client(scheme)
		g.Expect(err).NotTo(HaveOccurred())
		mgr, err := api.Manager(scheme, nil)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(Setup(mgr)).To(Succeed())
		g.Expect(link.Setup(mgr, noHub{}, link.Options{})).To(Succeed())
		stop, _ := kubeapi.Start(t, mgr)
		defer stop()
		admission := policy("hosts", &metal3.HostClaimNamespaces{Names: []string{"team-a"}})
		host := freeHost("host-1")
		status := host.Status
		for _, o := range []client.Object{
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a"}}, &admission, host,
			&metal3.HostClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "mine"}, Spec: metal3.HostClaimSpec{PoweredOn: true}},
		} {
			g.Expect(kube.Create(t.Context(), o)).To(Succeed())
		}
		host.Status = status
		g.Expect(kube.Status().Update(t.Context(), host)).To(Succeed())
		<-time.After(time.Minute)
		g.Expect(kube.Get(t.Context(), hostKey, host)).To(Succeed())
		g.Expect(host.Spec.ConsumerRef).NotTo(BeNil())
		image := &metal3.PreprovisioningImage{ObjectMeta: metav1.ObjectMeta{Namespace: "hosts", Name: "host-1"}}
		g.Expect(kube.Create(t.Context(), image)).To(Succeed())
		image.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True", Reason: agentv1.ReasonInfraEnvAvailable, LastTransitionTime: metav1.Now()}}
		g.Expect(kube.Status().Update(t.Context(), image)).To(Succeed())
		host.Labels = map[string]string{names.InfraEnvLabel: "edge"}
		g.Expect(kube.Update(t.Context(), host)).To(Succeed())
		before := writes.Load()
		select {
		case <-many:
		case <-time.After(10 * time.Second):
		}
		g.Expect(writes.Load() - before).To(BeNumerically("<", 10))
		g.Expect(asks.Load()).To(BeZero())
		g.Expect(kube.Get(t.Context(), hostKey, host)).To(Succeed())
		g.Expect(host.Spec.CustomDeploy).To(BeNil())
		g.Expect(meta.FindStatusCondition(host.Status.Conditions, link.ConditionLinked)).To(HaveValue(And(
			HaveField("Reason", link.EventNotTakenOver), HaveField("Message", ContainSubstring("HostClaim team-a/mine")))))
	})
}

// TestAHostOfAnInfraEnvIsNoClaims: one that the linking controller has recorded as its own is not given away, though
// nothing is asked for yet; one that a claim comes to all the same is not written to, and let go as it is.
func TestAHostOfAnInfraEnvIsNoClaims(t *testing.T) {
	g := NewWithT(t)
	host := freeHost("host-1")
	g.Expect(free(host)).To(BeTrue())
	host.Labels = map[string]string{names.InfraEnvLabel: "edge"}
	host.Annotations = map[string]string{names.DeployOwner: deployowner.InfraEnvValue}
	g.Expect(free(host)).To(BeFalse())

	claim := &metal3.HostClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "mine"}, Spec: metal3.HostClaimSpec{PoweredOn: true}}
	host.Spec.ConsumerRef = consumerRef(claim)
	host.Spec.CustomDeploy = &metal3.CustomDeploy{Method: names.StartAssistedInstall}
	v := Decide(Input{Claim: claim, Host: host})
	g.Expect(v.Do).To(Equal(Nothing))
	g.Expect(v.Synchronized).To(And(HaveField("Reason", reasonOfInfraEnv), HaveField("Message", ContainSubstring("Next: "))))

	now := metav1.Now()
	claim.DeletionTimestamp = &now
	host.Status.Provisioning.State = metal3.StateProvisioned
	g.Expect(Decide(Input{Claim: claim, Host: host}).Do).To(Equal(Release), "its machine is not the claim's to clean")
}
