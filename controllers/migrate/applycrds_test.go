package migrate_test

import (
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/migrate"
)

// TestCRDsAreAppliedUnlessTheClustersAreNewer: what objects of the cluster may use is not
// dropped, and it is said what that would be.
func TestCRDsAreAppliedUnlessTheClustersAreNewer(t *testing.T) {
	spec := func(c *apiextensionsv1.CustomResourceDefinition) map[string]apiextensionsv1.JSONSchemaProps {
		return c.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties
	}
	newer := func(c *apiextensionsv1.CustomResourceDefinition) {
		spec(c)["networkInterfaces"] = apiextensionsv1.JSONSchemaProps{Type: "array"}
	}
	older := func(c *apiextensionsv1.CustomResourceDefinition) {
		mode := spec(c)["inspectionMode"]
		mode.Enum = mode.Enum[:2]
		spec(c)["inspectionMode"] = mode
	}
	without := func(field string) func(*apiextensionsv1.CustomResourceDefinition) {
		return func(c *apiextensionsv1.CustomResourceDefinition) { delete(spec(c), field) }
	}
	more := func(c *apiextensionsv1.CustomResourceDefinition) {
		spec(c)["more"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	}
	const (
		hosts    = "baremetalhosts.metal3.io"
		agents   = "agents.agent-install.openshift.io"
		clusters = "clusterdeployments.hive.openshift.io"
	)
	for name, c := range map[string]struct {
		given  func(*site)
		says   string
		refuse bool
		// kept means that the definition stays as it is, others are written, and the command fails.
		kept bool
	}{
		"the same": {given: func(*site) {}, says: hosts + ": the same"},
		"missing":  {given: func(s *site) { s.Expect(s.kube.Delete(s.t.Context(), crd(hosts))).To(Succeed()) }, says: hosts + ": is not there"},
		"older":    {given: func(s *site) { edit(s, crd(hosts), older) }, says: hosts + `: lacks spec.inspectionMode="fast"`},
		"newer":    {given: func(s *site) { edit(s, crd(hosts), newer) }, says: hosts + ": is newer, Ironflow's would drop spec.networkInterfaces", refuse: true},
		"both": {
			given:  func(s *site) { edit(s, crd(hosts), newer); edit(s, crd(hosts), older) },
			says:   hosts + `: lacks spec.inspectionMode="fast"; is newer, Ironflow's would drop spec.networkInterfaces`,
			refuse: true,
		},
		"another version is served": {
			given: func(s *site) {
				edit(s, crd("dataimages.metal3.io"), func(c *apiextensionsv1.CustomResourceDefinition) {
					next := *c.Spec.Versions[0].DeepCopy()
					next.Name, next.Storage = "v1beta1", false
					c.Spec.Versions = append(c.Spec.Versions, next)
				})
			},
			says: "dataimages.metal3.io: is newer, Ironflow's would drop version v1beta1", refuse: true,
		},
		"older, of agent-install": {given: func(s *site) { edit(s, crd(agents), without("role")) }, says: agents + ": lacks spec.role"},
		"older, of hive":          {given: func(s *site) { edit(s, crd(clusters), without("clusterInstallRef")) }, says: clusters + ": lacks spec.clusterInstallRef"},
		"newer, of another project": {
			given: func(s *site) { edit(s, crd(clusters), more) },
			says:  clusters + ": is newer, Ironflow's would drop spec.more",
		},
		"both, of another project": {
			given: func(s *site) {
				edit(s, crd(hosts), older)
				edit(s, crd(clusters), more)
				edit(s, crd(clusters), without("clusterInstallRef"))
			},
			says: clusters + ": lacks spec.clusterInstallRef; is newer, Ironflow's would drop spec.more", kept: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			c.given(s)
			versions := s.crdVersions()
			list, err := migrate.CompareCRDs(t.Context(), s.kube)
			s.Expect(err).NotTo(HaveOccurred())
			var lines []string
			for _, d := range list {
				lines = append(lines, d.String())
			}
			s.Expect(lines).To(ContainElement(c.says))
			err = migrate.ApplyCRDs(t.Context(), s.kube, list)
			if c.refuse {
				s.Expect(err).To(MatchError(migrate.ErrNewer))
				s.Expect(err).To(MatchError(ContainSubstring(c.says)))
				s.Expect(s.crdVersions()).To(Equal(versions), "nothing was written")
				return
			}
			if c.kept {
				s.Expect(err).To(MatchError(migrate.ErrKept))
				s.Expect(err).To(MatchError(And(ContainSubstring(c.says), ContainSubstring("Next: "))))
			} else {
				s.Expect(err).NotTo(HaveOccurred())
			}
			list, err = migrate.CompareCRDs(t.Context(), s.kube)
			s.Expect(err).NotTo(HaveOccurred())
			for _, d := range list {
				if c.kept && d.String() == c.says {
					s.Expect(s.crdVersions()[d.Name]).To(Equal(versions[d.Name]), "it stays as it is")
					continue
				}
				s.Expect(d.Missing || len(d.Lacks) > 0).To(BeFalse(), d.String())
			}
		})
	}
}

// crdVersions are the versions of all definitions as they are stored.
func (s *site) crdVersions() map[string]string {
	s.t.Helper()
	var list apiextensionsv1.CustomResourceDefinitionList
	s.Expect(s.kube.List(s.t.Context(), &list)).To(Succeed())
	versions := map[string]string{}
	for i := range list.Items {
		versions[client.ObjectKeyFromObject(&list.Items[i]).Name] = list.Items[i].ResourceVersion
	}
	return versions
}
