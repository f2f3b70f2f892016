package main

import (
	"strings"
	"testing"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
)

// TestHostsByNameAndLabel lists what is asked for.
func TestHostsByNameAndLabel(t *testing.T) {
	s := newSite(t).rack()
	for name, c := range map[string]struct{ args, want, failure string }{
		"all":                     {"", "a b c", ""},
		"of all namespaces":       {"-A", "a a b c", ""},
		"of another namespace":    {"-n elsewhere", "a", ""},
		"of another context":      {"--context other", "a", ""},
		"by name":                 {"c a", "a c", ""},
		"by kind and name":        {"host/c baremetalhost.metal3.io/a", "a c", ""},
		"by label":                {"-l rack=1", "a b", ""},
		"by label everywhere":     {"-A -l rack=1", "a a b", ""},
		"by both":                 {"-l rack=1 b", "b", ""},
		"one that is not there":   {"a d", "", "host site/d is not there"},
		"two that are not there":  {"e d", "", "host site/e is not there\nhost site/d is not there"},
		"one with another label":  {"-l rack=1 c", "", "host site/c has not the labels rack=1"},
		"labels that say nothing": {"-l rack=(1", "", "--selector"},
		"another kind":            {"secret/a-bmc", "", `"secret/a-bmc" is no host: want NAME or host/NAME`},
		"names everywhere":        {"-A a", "", "leave --all-namespaces out"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			out, _, err := s.run("", append([]string{"get", "hosts", "-o", "name"}, strings.Fields(c.args)...)...)
			if c.failure != "" {
				g.Expect(err).To(MatchError(ContainSubstring(c.failure)))
				g.Expect(out).To(BeEmpty())
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(strings.Fields(strings.ReplaceAll(out, "baremetalhost.metal3.io/", ""))).To(ConsistOf(toAny(strings.Fields(c.want))...))
		})
	}
	out, told, err := s.run("", "get", "hosts", "-l", "rack=9")
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(out).To(BeEmpty())
	s.Expect(told).To(Equal("No hosts found in namespace site with the labels rack=9.\n"))
}

func toAny(list []string) (all []any) {
	for _, one := range list {
		all = append(all, one)
	}
	return all
}

// TestHostsByFiles: those that files name are read from the cluster; what else is in the files is not asked for.
func TestHostsByFiles(t *testing.T) {
	s := newSite(t).rack()
	s.change("b", func(h *metal3v1.BareMetalHost) { h.Status.Provisioning.State = metal3v1.StateProvisioned })
	dir := t.TempDir()
	write(
		t,
		dir+"/hosts.yaml",
		"apiVersion: metal3.io/v1alpha1\nkind: BareMetalHost\nmetadata: {name: b}\nspec: {online: true}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: b-bmc}\nstringData: {password: n0t-Shown}\n",
	)
	write(t, dir+"/elsewhere.yaml", "apiVersion: metal3.io/v1alpha1\nkind: BareMetalHost\nmetadata: {name: a, namespace: elsewhere}\n")
	out, _, err := s.run("", "get", "hosts", "-f", dir)
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(out).To(And(MatchRegexp(`(?m)^b +provisioned`), MatchRegexp(`(?m)^a +available`), Not(ContainSubstring("n0t"))))
	s.Expect(s.api.Counts()).NotTo(HaveKey("get secrets"))
	_, _, err = s.run("", "hold", "-f", dir+"/hosts.yaml")
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(s.host("b").Annotations).To(HaveKey(names.Hold))

	write(t, dir+"/none.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: b-bmc}\n")
	for args, want := range map[string]string{
		"-f " + dir + "/none.yaml":    "there is no host in",
		"-f " + dir + "/missing.yaml": "does not exist",
		"-f " + dir + " a":            "--filename says which hosts are meant",
	} {
		_, _, err := s.run("", append([]string{"get", "hosts"}, strings.Fields(args)...)...)
		s.Expect(err).To(MatchError(ContainSubstring(want)), args)
	}
}

// TestHoldAndRelease by names and by labels: others stay as they are.
func TestHoldAndRelease(t *testing.T) {
	s := newSite(t).rack()
	held := func() (list []string) {
		var hosts metal3v1.BareMetalHostList
		s.Expect(s.kube.List(t.Context(), &hosts)).To(Succeed())
		for _, h := range hosts.Items {
			if _, is := h.Annotations[names.Hold]; is {
				list = append(list, h.Namespace+"/"+h.Name)
			}
		}
		return list
	}
	out, _, err := s.run("", "hold", "-l", "rack=1")
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(out).To(Equal("host a: on hold\nhost b: on hold\n"))
	s.Expect(held()).To(ConsistOf("site/a", "site/b"))
	_, _, err = s.run("", "release", "host/b")
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(held()).To(ConsistOf("site/a"))
	_, _, err = s.run("", "hold", "c", "nobody")
	s.Expect(err).To(MatchError(ContainSubstring("host site/nobody is not there")))
	s.Expect(held()).To(ConsistOf("site/a"), "nothing was done")
	_, _, err = s.run("", "hold", "-l", "rack=9")
	s.Expect(err).To(MatchError("No hosts found in namespace site with the labels rack=9."))

	_, _, err = s.run("", "retry", "a")
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(s.host("a").Annotations).To(HaveKey(names.Retry))
}

// TestVerbsNeedHosts: nothing is done to all hosts because a name was forgotten.
func TestVerbsNeedHosts(t *testing.T) {
	for _, verb := range []string{"retry", "hold", "release", "wait", "reboot"} {
		_, _, err := command(t, "", verb)
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring("name hosts, or choose them by labels")))
		NewWithT(t).Expect(codeOf(err)).To(Equal(exitUsage))
	}
}
