package link_test

import (
	"testing"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/link"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/catalog"
)

// TestTheConditionIsThatOfTheCatalogue decides about every situation in which the condition differs: what it says is
// listed, and all that is listed is said in one of them.
func TestTheConditionIsThatOfTheCatalogue(t *testing.T) {
	g := NewWithT(t)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	giving := annotated(names.GivingBack, now.Format(time.RFC3339)+" it was asked for")
	ready := image(metav1.ConditionTrue, agentv1.ReasonInfraEnvAvailable)
	said := map[catalog.Condition]bool{}
	for _, in := range []link.Input{
		{Host: host(metal3v1.StateProvisioned, asked), Agent: agent(linked)},
		{Host: host(metal3v1.StateAvailable)},
		{Host: host(metal3v1.StateAvailable), Image: ready},
		{Host: host(metal3v1.StateAvailable, func(h *metal3v1.BareMetalHost) { h.Spec.BootMACAddress = "" })},
		{Host: host(metal3v1.StateProvisioning, asked, annotated(names.BMACCluster, "no-slash")), Agent: agent(linked)},
		{Host: host(metal3v1.StateProvisioning, asked, annotated(names.BMACCluster, "site/other")), Agent: agent(inCluster, inHub(wire.HostStatusInstalling))},
		{Host: host(metal3v1.StateProvisioning, asked, annotated(names.BMACFencing, "bmc")), Agent: agent(linked)},
		{Host: host(metal3v1.StateAvailable, func(h *metal3v1.BareMetalHost) { h.Spec.Image = &metal3v1.Image{} })},
		{Host: host(metal3v1.StateAvailable), Claims: []agentv1.Agent{*agent(), *agent()}},
		{Host: installedHost(), Agent: agent(unbound)},
		{Host: host(metal3v1.StateAvailable, giving)},
		{Host: host(metal3v1.StateDeprovisioning, giving), Now: now.Add(2 * time.Hour)},
		{Host: installedHost(annotated(names.Detached, "by hand")), Agent: agent(unbound)},
		{Host: host(metal3v1.StateProvisioned, asked, deleting, annotated(names.BMACRemove, ""))},
		{Host: host(metal3v1.StateProvisioned, asked, deleting, annotated(names.BMACRemove, ""), annotated(names.Detached, delayed)), Agent: agent(inCluster), Nodes: true},
	} {
		word := link.Decide(in).Says
		status := "False"
		if word.True {
			status = "True"
		}
		g.Expect(catalog.Has("BareMetalHost", link.ConditionLinked, status, word.Reason)).To(BeTrue(), "%s %s", status, word.Reason)
		said[catalog.Condition{Type: link.ConditionLinked, Status: status, Reason: word.Reason}] = true
	}
	for c := range catalog.Of("BareMetalHost") {
		if c.Type == link.ConditionLinked {
			c.Kind, c.Means = "", ""
			g.Expect(said).To(HaveKey(c), "never said")
		}
	}
}
