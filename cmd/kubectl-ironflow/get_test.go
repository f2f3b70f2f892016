package main

import (
	"strings"
	"testing"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/controllers/host/view"
)

// shown makes a site with a host in each of some situations, and a cluster.
func shown(t *testing.T) *site {
	t.Helper()
	s := newSite(t).rack()
	s.change("a", func(h *metal3v1.BareMetalHost) {
		inState(metal3v1.StateProvisioning)(h)
		h.Status.PoweredOn = false
		h.Spec.CustomDeploy = &metal3v1.CustomDeploy{Method: "install_coreos"}
		n := view.Note{Step: "install_coreos", Percent: 40, Text: "Writing image\n\tto disk \x1b[2J", WaitingFor: ""}
		meta.SetStatusCondition(&h.Status.Conditions, metav1.Condition{Type: metal3v1.ProgressingCondition, Status: metav1.ConditionTrue, Reason: "Provisioning", Message: n.Message()})
	})
	s.change("b", failed("InvalidSpec"))
	for _, o := range situations()["insufficient"] {
		switch o := o.(type) {
		case *metal3v1.BareMetalHost, *agentv1.InfraEnv:
		case *agentv1.Agent:
			o.ResourceVersion = ""
			s.create(o)
		default:
			s.create(o)
		}
	}
	return s
}

// TestGet: what is printed in each form.
func TestGet(t *testing.T) {
	s := shown(t)
	for name, args := range map[string]string{
		"hosts":                "hosts",
		"hosts-all-namespaces": "hosts -A",
		"hosts-wide":           "hosts -o wide --no-headers",
		"hosts-name":           "hosts -o name",
		"hosts-jsonpath":       `hosts -o jsonpath={range.items[*]}{.metadata.name}{"\n"}{end}`,
		"hosts-template":       `hosts a -o go-template={{.metadata.name}}`,
		"hosts-columns":        "hosts -o custom-columns=NAME:.metadata.name,STATE:status.provisioning.state,RACK:{.metadata.labels.rack},MESSAGE:.status.errorMessage,ALL:.status.conditions[*].type",
		"clusters":             "clusters",
		"clusters-wide":        "clusters prod -o wide",
		"clusters-name":        "clusters cd/prod -o name",
		"agents":               "agents",
		"agents-wide":          "agents node-0 -o wide",
	} {
		t.Run(name, func(t *testing.T) {
			out, told, err := s.run("", append([]string{"get"}, strings.Fields(args)...)...)
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
			NewWithT(t).Expect(told).To(BeEmpty())
			golden(t, "get/"+name+".txt", out)
		})
	}
}

// TestGetObjects: yaml and json are the objects themselves, one where one is named, and a list of several.
func TestGetObjects(t *testing.T) {
	s := shown(t)
	out, _, err := s.run("", "get", "hosts", "a", "-o", "yaml")
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(out).To(And(HavePrefix("apiVersion: metal3.io/v1alpha1\nkind: BareMetalHost\n"), ContainSubstring("method: install_coreos")))
	out, _, err = s.run("", "get", "hosts", "-o", "json")
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(out).To(And(ContainSubstring(`"kind": "List"`), ContainSubstring(`"method": "install_coreos"`)))
	for args, want := range map[string]string{
		"-o table":                     `--output "table" is none of wide, yaml, json`,
		"-o custom-columns=NAME":       `"NAME" is not HEADER:PATH`,
		"-o custom-columns=A:.b[":      "column A",
		"-o jsonpath={.a":              "--output",
		"-w -f -":                      "leave --filename out",
		"-o custom-columns=A:{.b},:.c": `":.c" is not HEADER:PATH`,
	} {
		_, _, err := s.run("", append([]string{"get", "hosts"}, strings.Fields(args)...)...)
		s.Expect(err).To(MatchError(ContainSubstring(want)), args)
		s.Expect(codeOf(err)).To(Equal(exitUsage), args)
	}
}

// TestGetWatch goes on with what changes, of what was asked for alone.
func TestGetWatch(t *testing.T) {
	s := newSite(t).rack()
	table, names := s.start("get", "hosts", "-l", "rack=1", "-w"), s.start("get", "hosts", "a", "c", "-w", "-o", "name")
	s.Eventually(table.out.String, "10s").Should(MatchRegexp(`(?s)HOST .*\na .*\nb .*\n$`))
	s.Eventually(names.out.String, "10s").Should(Equal("baremetalhost.metal3.io/a\nbaremetalhost.metal3.io/c\n"))
	s.change("b", inState(metal3v1.StateProvisioned))
	s.Eventually(table.out.String, "10s").Should(MatchRegexp(`\nb +provisioned[^\n]*\n$`))
	s.change("c", inState(metal3v1.StateProvisioned))
	s.Eventually(names.out.String, "10s").Should(HaveSuffix("/c\nbaremetalhost.metal3.io/c\nbaremetalhost.metal3.io/c\n"), "the object and its status were written")
	s.Expect(strings.Count(table.out.String(), "HOST")).To(Equal(1))
	s.Expect(s.kube.Delete(t.Context(), s.host("a"))).To(Succeed())
	s.Eventually(table.err.String, "10s").Should(Equal("host a is not there any more\n"))
	table.stop()
	s.Eventually(table.ended, "10s").Should(Receive(BeNil()), "Ctrl-C is how it ends")
	s.Expect(table.out.String()).NotTo(MatchRegexp(`(?m)^c `))
}

// TestAWatchGoesOn after the API server has ended it, and was away: nothing that has changed meanwhile is missed.
func TestAWatchGoesOn(t *testing.T) {
	s := newSite(t).rack()
	p := s.start("get", "hosts", "-w", "-o", "name")
	s.Eventually(p.out.String, "10s").Should(HaveSuffix("/c\n"))
	s.cut()
	s.change("b", isReady)
	s.Eventually(p.out.String, "20s").Should(ContainSubstring("/c\nbaremetalhost.metal3.io/b\n"))
}
