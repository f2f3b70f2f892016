// Package crdpaths lists what users can write in the kinds that config/ ships, so that
// tests of controllers can hold their tables against it.
package crdpaths

import (
	"maps"
	"slices"
	"testing"

	"github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/ironflow/ironflow/config"
)

// Spec are the paths of a kind's spec that hold a value, sorted: [] stands for the items
// of a list, {} for the values of a map.
func Spec(t testing.TB, kind string) []string {
	t.Helper()
	g := gomega.NewWithT(t)
	crds, err := config.CRDs()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, crd := range crds {
		if crd.Spec.Names.Kind == kind {
			return leaves("spec", crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"])
		}
	}
	t.Fatalf("there is no kind %s", kind)
	return nil
}

func leaves(path string, s apiextensionsv1.JSONSchemaProps) []string {
	switch {
	case s.Items != nil:
		return leaves(path+"[]", *s.Items.Schema)
	case s.AdditionalProperties != nil:
		return []string{path + "{}"}
	case len(s.Properties) == 0:
		return []string{path}
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		all = append(all, leaves(path+"."+name, s.Properties[name])...)
	}
	return all
}
