package claim

import (
	"fmt"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/api/names"
)

func policy(namespace string, want *metal3.HostClaimNamespaces) metal3.HostDeployPolicy {
	return metal3.HostDeployPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "p"}, Spec: metal3.HostDeployPolicySpec{HostClaimNamespaces: want},
	}
}

func TestAdmitted(t *testing.T) {
	team := Namespace{Name: "team-a", Labels: map[string]string{"site": "west", "tier": ""}}
	for name, c := range map[string]struct {
		want    *metal3.HostClaimNamespaces
		admits  bool
		warning string
	}{
		"nothing named":             {nil, false, "admits no namespace"},
		"any":                       {&metal3.HostClaimNamespaces{}, true, ""},
		"by name":                   {&metal3.HostClaimNamespaces{Names: []string{"x", "team-a"}}, true, ""},
		"by another name":           {&metal3.HostClaimNamespaces{Names: []string{"x"}}, false, ""},
		"by pattern":                {&metal3.HostClaimNamespaces{NameMatches: "^team-.$"}, true, ""},
		"by part of a pattern":      {&metal3.HostClaimNamespaces{NameMatches: "am"}, true, "^(am)$"},
		"by another pattern":        {&metal3.HostClaimNamespaces{NameMatches: "^team$"}, false, ""},
		"by nonsense":               {&metal3.HostClaimNamespaces{NameMatches: "("}, false, "cannot be read"},
		"by label":                  {&metal3.HostClaimNamespaces{HasLabels: []metal3.NameValuePair{{Name: "site", Value: "west"}, {Name: "tier"}}}, true, ""},
		"by another value":          {&metal3.HostClaimNamespaces{HasLabels: []metal3.NameValuePair{{Name: "site", Value: "east"}}}, false, ""},
		"by a label that is absent": {&metal3.HostClaimNamespaces{HasLabels: []metal3.NameValuePair{{Name: "none"}}}, false, ""},
		"all must hold":             {&metal3.HostClaimNamespaces{Names: []string{"team-a"}, HasLabels: []metal3.NameValuePair{{Name: "none"}}}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			p := policy("hosts", c.want)
			got := Admitted([]metal3.HostDeployPolicy{policy("others", nil), p, p}, team)
			if c.admits {
				g.Expect(got).To(Equal([]string{"hosts"}), "once, although two policies do")
			} else {
				g.Expect(got).To(BeEmpty())
			}
			if c.warning == "" {
				g.Expect(Warning(&p)).To(BeEmpty())
			}
			g.Expect(Warning(&p)).To(ContainSubstring(c.warning))
		})
	}
}

func freeHost(name string, changes ...func(*metal3.BareMetalHost)) *metal3.BareMetalHost {
	h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "hosts", Name: name, UID: types.UID("uid-" + name)}}
	h.Status.Provisioning.State = metal3.StateAvailable
	for _, change := range changes {
		change(h)
	}
	return h
}

func TestCandidates(t *testing.T) {
	label := func(k, v string) func(*metal3.BareMetalHost) {
		return func(h *metal3.BareMetalHost) { h.Labels = map[string]string{k: v} }
	}
	note := func(k string) func(*metal3.BareMetalHost) {
		return func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{k: ""} }
	}
	hosts := []*metal3.BareMetalHost{
		freeHost("plain"),
		freeHost("big", label("size", "big")), freeHost("ranked", label("rank", "5")),
		freeHost("near", label(names.FailureDomain, "rack-1")),
		freeHost("used", func(h *metal3.BareMetalHost) { h.Spec.ConsumerRef = consumerRef(&metal3.HostClaim{}) }),
		freeHost("paused", note(names.Paused)), freeHost("held", note(names.Hold)), freeHost("detached", note(names.Detached)),
		freeHost("failing", func(h *metal3.BareMetalHost) { h.Status.ErrorMessage = "no disk" }),
		freeHost("busy", func(h *metal3.BareMetalHost) { h.Status.Provisioning.State = metal3.StateProvisioning }),
		freeHost("wished for", func(h *metal3.BareMetalHost) { h.Spec.CustomDeploy = &metal3.CustomDeploy{Method: "m"} }),
		freeHost("going", func(h *metal3.BareMetalHost) { h.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }),
		freeHost("elsewhere", func(h *metal3.BareMetalHost) { h.Namespace = "other" }),
		freeHost("forbidden", func(h *metal3.BareMetalHost) { h.Namespace = "closed" }),
	}
	for name, c := range map[string]struct {
		spec  metal3.HostClaimSpec
		want  []string
		first string
		error string
	}{
		"any":            {want: []string{"plain", "big", "ranked", "near", "elsewhere"}},
		"by label":       {spec: metal3.HostClaimSpec{HostSelector: metal3.HostSelector{MatchLabels: map[string]string{"size": "big"}}}, want: []string{"big"}},
		"by namespace":   {spec: metal3.HostClaimSpec{HostSelector: metal3.HostSelector{InNamespace: "other"}}, want: []string{"elsewhere"}},
		"not admitted":   {spec: metal3.HostClaimSpec{HostSelector: metal3.HostSelector{InNamespace: "closed"}}},
		"near first":     {spec: metal3.HostClaimSpec{FailureDomain: "rack-1"}, want: []string{"plain", "big", "ranked", "near", "elsewhere"}, first: "near"},
		"nowhere near":   {spec: metal3.HostClaimSpec{FailureDomain: "rack-9"}, want: []string{"plain", "big", "ranked", "near", "elsewhere"}},
		"by expressions": {spec: expressions("size", selection.NotIn, "big"), want: []string{"plain", "ranked", "near", "elsewhere"}},
		"by existence":   {spec: expressions("size", selection.Exists), want: []string{"big"}},
		"in the API's spelling": {
			spec: expressions("size", "In", "big", "huge"), want: []string{"big"},
		},
		"by number":        {spec: expressions("rank", selection.GreaterThan, "3"), want: []string{"ranked"}},
		"by absence":       {spec: expressions("size", "DoesNotExist"), want: []string{"plain", "near", "ranked", "elsewhere"}},
		"unknown operator": {spec: expressions("size", "like", "1"), error: "like"},
		"bad value":        {spec: expressions("size", selection.In), error: "spec.hostSelector"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			claim := &metal3.HostClaim{ObjectMeta: metav1.ObjectMeta{UID: "uid-c"}, Spec: c.spec}
			list, err := Candidates(claim, hosts, []string{"hosts", "other"})
			if c.error != "" {
				g.Expect(err).To(MatchError(ContainSubstring(c.error)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			var got []string
			for _, h := range list {
				got = append(got, h.Name)
			}
			g.Expect(got).To(ConsistOf(c.want))
			if c.first != "" {
				g.Expect(got[0]).To(Equal(c.first))
			}
		})
	}
}

func expressions(key string, operator selection.Operator, values ...string) metal3.HostClaimSpec {
	return metal3.HostClaimSpec{HostSelector: metal3.HostSelector{
		MatchExpressions: []metal3.HostSelectorRequirement{{Key: key, Operator: operator, Values: values}},
	}}
}

// TestClaimsSpread draws lots: claims must not all reach for the same host, and
// one claim must always reach for the same.
func TestClaimsSpread(t *testing.T) {
	g := NewWithT(t)
	var hosts []*metal3.BareMetalHost
	for _, name := range []string{"a", "b", "c", "d"} {
		hosts = append(hosts, freeHost(name, func(h *metal3.BareMetalHost) { h.UID = types.UID("uid-" + name) }))
	}
	firsts := map[string]int{}
	for i := range 40 {
		claim := &metal3.HostClaim{ObjectMeta: metav1.ObjectMeta{UID: types.UID(fmt.Sprint("claim-", i))}}
		list, err := Candidates(claim, hosts, []string{"hosts"})
		g.Expect(err).NotTo(HaveOccurred())
		again, err := Candidates(claim, []*metal3.BareMetalHost{hosts[2], hosts[0], hosts[3], hosts[1]}, []string{"hosts"})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(again).To(Equal(list))
		firsts[list[0].Name]++
	}
	g.Expect(firsts).To(HaveLen(4), "40 claims, 4 hosts: %v", firsts)
}
