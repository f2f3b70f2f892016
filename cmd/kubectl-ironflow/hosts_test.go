package main

import (
	"strings"
	"testing"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/ironflow/ironflow/api/names"
)

// rack is a client of three hosts in two racks, and one of another namespace.
func rack(g *WithT) client.WithWatch {
	scheme := runtime.NewScheme()
	g.Expect(metal3v1.AddToScheme(scheme)).To(Succeed())
	host := func(namespace, name, rack string) *metal3v1.BareMetalHost {
		return &metal3v1.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"rack": rack}}}
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(host("site", "a", "1"), host("site", "b", "1"), host("site", "c", "2"), host("elsewhere", "a", "1")).Build()
}

// TestHostsByNameAndLabel lists what is asked for, in the form that is asked for.
func TestHostsByNameAndLabel(t *testing.T) {
	for name, c := range map[string]struct {
		namespace, want, failure string
		o                        getOptions
	}{
		"all":                     {"site", "a b c", "", getOptions{}},
		"of all namespaces":       {"", "a a b c", "", getOptions{}},
		"by name":                 {"site", "a c", "", getOptions{names: []string{"c", "a"}}},
		"by label":                {"site", "a b", "", getOptions{selector: "rack=1"}},
		"by both":                 {"site", "b", "", getOptions{selector: "rack=1", names: []string{"b"}}},
		"one that is not there":   {"site", "", "host site/d is not there", getOptions{names: []string{"a", "d"}}},
		"one with another label":  {"site", "", "host site/c is not there, or has other labels", getOptions{selector: "rack=1", names: []string{"c"}}},
		"labels that say nothing": {"site", "", "--selector", getOptions{selector: "rack in"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			hosts, err := listHosts(t.Context(), rack(g), c.namespace, c.o)
			if c.failure != "" {
				g.Expect(err).To(MatchError(ContainSubstring(c.failure)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			c.o.output = "name"
			var out strings.Builder
			g.Expect(printHosts(&out, hosts, c.o)).To(Succeed())
			g.Expect(strings.Fields(strings.ReplaceAll(out.String(), "baremetalhost.metal3.io/", ""))).To(ConsistOf(toAny(strings.Fields(c.want))...))
			out.Reset()
			c.o.output = "yaml"
			g.Expect(printHosts(&out, hosts, c.o)).To(Succeed())
			g.Expect(strings.Count(out.String(), "Namespace: ")).To(Equal(len(strings.Fields(c.want))))
		})
	}
}

func toAny(list []string) (all []any) {
	for _, one := range list {
		all = append(all, one)
	}
	return all
}

// TestHoldAndRelease by names and by labels: others stay as they are.
func TestHoldAndRelease(t *testing.T) {
	g := NewWithT(t)
	kube := rack(g)
	run := func(v hostVerb, selector string, hosts ...string) (string, error) {
		var out strings.Builder
		err := v.run(t.Context(), kube, "site", selector, hosts, &out)
		return out.String(), err
	}
	held := func() (list []string) {
		var hosts metal3v1.BareMetalHostList
		g.Expect(kube.List(t.Context(), &hosts)).To(Succeed())
		for _, h := range hosts.Items {
			if _, is := h.Annotations[names.Hold]; is {
				list = append(list, h.Namespace+"/"+h.Name)
			}
		}
		return list
	}
	out, err := run(hold, "rack=1")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out).To(Equal("host a: on hold\nhost b: on hold\n"))
	g.Expect(held()).To(ConsistOf("site/a", "site/b"))
	_, err = run(release, "", "b")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(held()).To(ConsistOf("site/a"))
	_, err = run(hold, "", "c", "nobody")
	g.Expect(err).To(MatchError(ContainSubstring("host site/nobody is not there")))
	g.Expect(held()).To(ConsistOf("site/a"), "nothing was done")
	_, err = run(hold, "rack=9")
	g.Expect(err).To(MatchError("no host in namespace site has the labels rack=9"))

	_, err = run(retry, "", "a")
	g.Expect(err).NotTo(HaveOccurred())
	host := &metal3v1.BareMetalHost{}
	g.Expect(kube.Get(t.Context(), client.ObjectKey{Namespace: "site", Name: "a"}, host)).To(Succeed())
	g.Expect(host.Annotations).To(HaveKey(names.Retry))
}

// TestVerbsNeedHosts: nothing is done to all hosts because a name was forgotten.
func TestVerbsNeedHosts(t *testing.T) {
	for _, verb := range []string{"retry", "hold", "release", "wait"} {
		c := newCommand()
		c.SetArgs([]string{verb})
		NewWithT(t).Expect(c.ExecuteContext(t.Context())).To(MatchError(ContainSubstring("name hosts, or choose them by labels")))
	}
}
