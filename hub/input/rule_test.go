package input

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/apierror"
)

// TestEveryRuleHasACaseThatPassesAndOneThatFails reads both of the table itself.
func TestEveryRuleHasACaseThatPassesAndOneThatFails(t *testing.T) {
	cases(t, `{"name":"edge"}`, clusterRules)
	cases(t, `{"name":"edge"}`, infraEnvRules)
	cases(t, `{}`, hostRules)
	cases(t, `{}`, argumentRules)
	cases(t, `{}`, ignitionRules)
}

var index = regexp.MustCompile(`\[[0-9]+\]`)

func cases[T any](t *testing.T, base string, rules []Rule[T]) {
	t.Helper()
	read := func(g Gomega, body string) *T {
		value := new(T)
		g.Expect(json.Unmarshal([]byte(base), value)).To(Succeed())
		g.Expect(json.Unmarshal([]byte(body), value)).To(Succeed(), body)
		return value
	}
	for _, r := range rules {
		t.Run(r.Want, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(first(rules, nil, read(g, r.Good))).To(Succeed())
			wrong := read(g, r.Bad)
			err := r.check(wrong)
			e, is := errors.AsType[*apierror.Error](err)
			g.Expect(is).To(BeTrue(), "%v", err)
			g.Expect(e.Code).To(Equal(400))
			g.Expect(e.Reason).To(HavePrefix(e.Field))
			g.Expect(e.Reason).To(MatchRegexp(`want|write|name it|is no `), "it says what to write")
			g.Expect(slices.ContainsFunc(r.Fields, func(f Field) bool { return within(index.ReplaceAllString(e.Field, ""), f.Member) })).To(BeTrue(), "%s is none of %v", e.Field, r.Fields)
			g.Expect(first(rules, wrong, wrong)).To(Succeed(), "what was there already is no reason to refuse other changes")
			g.Expect(first(rules, read(g, r.Good), wrong)).NotTo(Succeed())
		})
	}
}

func TestObject(t *testing.T) {
	for member, want := range map[string]string{
		"name":                            "ClusterDeployment spec.clusterName",
		"api_vips[1].ip":                  "AgentClusterInstall spec.apiVIPs[1]",
		"ingress_vips":                    "AgentClusterInstall spec.ingressVIPs",
		"cluster_networks[0].host_prefix": "AgentClusterInstall spec.networking.clusterNetwork[0].hostPrefix",
		"service_networks[0].cidr":        "AgentClusterInstall spec.networking.serviceNetwork[0]",
		"no_proxy":                        "AgentClusterInstall spec.proxy.noProxy",
		"cpu_architecture":                "cpu_architecture", // no object has it
	} {
		NewWithT(t).Expect(Object("cluster", member)).To(Equal(want), member)
	}
	NewWithT(t).Expect(Object("infra-env", "kernel_arguments[1].value")).To(Equal("InfraEnv spec.kernelArguments[1].value"))
	NewWithT(t).Expect(Object("host", "args[0]")).To(Equal("Agent spec.installerArgs[0]"))
}
