package migrate_test

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/controllers/migrate"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/handover"
)

// Kernel arguments that another hub lets pass are named before anything is switched over.
func TestArgumentsThatAreRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		value string
		want  []any
	}{
		"one without effect": {"coreos.inst.persistent-kargs=console=ttyS1", []any{MatchRegexp(`^warning fleet/edge: InfraEnv: spec.kernelArguments\[1\] is refused, .*coreos.inst.persistent-kargs: `)}},
		"a console":          {"console=ttyS1", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, "provisioned")
			env := &agentv1.InfraEnv{ObjectMeta: metav1.ObjectMeta{Namespace: handover.Namespace, Name: "edge"}}
			env.Spec.KernelArguments = []agentv1.KernelArgument{{Operation: "append", Value: "quiet"}, {Operation: "append", Value: tc.value}}
			s.Expect(s.kube.Create(t.Context(), env)).To(Succeed())
			report, err := migrate.Check(t.Context(), migrate.Options{Client: s.kube, Ironic: ironic.Config{URL: "http://ironic.test", Transport: s.sim.Transport()}})
			s.Expect(err).NotTo(HaveOccurred())
			s.Expect(about(report, "kernel arguments")).To(ConsistOf(tc.want...))
		})
	}
}
