package link_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/link"
)

// detached is an installed host whose node has left Ironic.
func detached(h *metal3v1.BareMetalHost) {
	asked(h)
	h.Annotations[names.Detached] = link.Owner
	h.Status.OperationalStatus = metal3v1.OperationalStatusDetached
}

func paused(h *metal3v1.BareMetalHost) {
	h.Annotations[names.Paused] = link.Owner
	raw, _ := json.Marshal(h.Status)
	h.Annotations[names.Status] = string(raw)
}

// TestADetachedHostIsPaused with the status that it has then, and no longer than it is lent.
func TestADetachedHostIsPaused(t *testing.T) {
	is := And(HaveKeyWithValue(names.Paused, link.Owner), HaveKeyWithValue(names.Status, ContainSubstring(`"state":"provisioned"`)))
	isNot := Not(Or(HaveKey(names.Paused), HaveKey(names.Status)))
	for name, tc := range map[string]struct {
		host *metal3v1.BareMetalHost
		pool bool // without a pause
		want OmegaMatcher
	}{
		"once its node is gone": {host: host(metal3v1.StateProvisioned, detached), want: is},
		"not before, when its status would be that of an attached one": {
			host: host(metal3v1.StateProvisioned, asked, annotated(names.Detached, link.Owner)), want: isNot,
		},
		"not where that is not wanted":                   {host: host(metal3v1.StateProvisioned, detached), pool: true, want: isNot},
		"nor any longer":                                 {host: host(metal3v1.StateProvisioned, detached, paused), pool: true, want: isNot},
		"not what a person has detached":                 {host: host(metal3v1.StateProvisioned, detached, annotated(names.Detached, "by hand")), want: isNot},
		"not while the user manages it":                  {host: host(metal3v1.StateProvisioned, detached, paused, annotated(names.BMACManage, "")), want: isNot},
		"not when its label goes":                        {host: host(metal3v1.StateProvisioned, detached, paused, unlabelled), want: isNot},
		"not when it is deleted":                         {host: host(metal3v1.StateProvisioned, detached, paused, deleting), want: isNot},
		"not when it is given back":                      {host: host(metal3v1.StateProvisioned, detached, paused, annotated(names.GiveBack, "node-0")), want: isNot},
		"not when a person takes its deploy method away": {host: host(metal3v1.StateProvisioned, detached, paused, func(h *metal3v1.BareMetalHost) { h.Spec.CustomDeploy = nil }), want: isNot},
		"one that arrives in another cluster is not, until its status is taken over": {
			host: host("", detached, paused), want: And(Not(HaveKey(names.Paused)), HaveKey(names.Status)),
		},
		"one that arrives without its status stays as it is": {host: host("", detached, annotated(names.Paused, link.Owner)), want: HaveKeyWithValue(names.Paused, link.Owner)},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			plan := link.Decide(link.Input{Host: tc.host, Pause: !tc.pool, Now: time.Now()})
			after := tc.host
			if plan.Host != nil {
				after = plan.Host
			}
			g.Expect(after.Annotations).To(tc.want)
		})
	}
}

// TestTheCopyOfAStatusFits into an annotation, and says what it said when that is read again.
func TestTheCopyOfAStatusFits(t *testing.T) {
	g := NewWithT(t)
	large := host(metal3v1.StateProvisioned, detached, func(h *metal3v1.BareMetalHost) {
		h.Status.Provisioning.ID = "n"
		h.Status.HardwareDetails = &metal3v1.HardwareDetails{Hostname: strings.Repeat("x", 300<<10)}
	})
	plan := link.Decide(link.Input{Host: large, Pause: true})
	var status metal3v1.BareMetalHostStatus
	g.Expect(json.Unmarshal([]byte(plan.Host.Annotations[names.Status]), &status)).To(Succeed())
	g.Expect(status.HardwareDetails).To(BeNil(), "HardwareData has it")
	large.Status.HardwareDetails = nil
	g.Expect(status).To(Equal(large.Status))
}

// TestWhatIsElsewhereNowIsNoBusinessOfOurs: clusterctl deletes hosts and Agents here that it has moved.
func TestWhatIsElsewhereNowIsNoBusinessOfOurs(t *testing.T) {
	g := NewWithT(t)
	plan := link.Decide(link.Input{Host: host(metal3v1.StateProvisioned, detached, deleting, annotated(names.BMACRemove, ""), annotated(names.DeleteForMove, ""))})
	g.Expect(plan).To(Equal(link.Plan{Untouched: true}))
	plan = link.Decide(link.Input{Host: host(metal3v1.StateProvisioned, detached, annotated(names.DeleteForMove, ""))})
	g.Expect(plan).To(Equal(link.Plan{Untouched: true}), "its finalizers are gone already, and would come back")

	now := time.Now()
	moved := deletedAt(now, func(a *agentv1.Agent) { metav1.SetMetaDataAnnotation(&a.ObjectMeta, names.DeleteForMove, "") })
	w := newWorld(t, append(site("e"), installedInWorld(), moved)...)
	link.HostsOfAgent(w.r, t.Context(), moved)
	w.Expect(w.pass().Annotations).NotTo(HaveKey(names.GivingBack), "its machine would be wiped")
}

// TestAPausedHostIsWrittenOnce: its status and the copy of it do not chase each other.
func TestAPausedHostIsWrittenOnce(t *testing.T) {
	w := newWorld(t, host(metal3v1.StateProvisioned, withMAC, detached))
	w.r.Pause = true
	for range 3 {
		_, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
		w.Expect(err).NotTo(HaveOccurred())
	}
	h := w.host()
	var status metal3v1.BareMetalHostStatus
	w.Expect(json.Unmarshal([]byte(h.Annotations[names.Status]), &status)).To(Succeed())
	w.Expect(status.Conditions).To(HaveLen(1), "what this controller says is in it")
	version := h.ResourceVersion
	_, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(h)})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.host().ResourceVersion).To(Equal(version))
}
