// Package crdpaths lists what users can write in the kinds that config/ ships, so that
// tests of controllers can hold their tables against it.
package crdpaths

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/ironflow/ironflow/config"
)

// Spec are the paths of a kind's spec that hold a value, sorted: [] stands for the items
// of a list, {} for the values of a map.
func Spec(t testing.TB, kind string) []string {
	t.Helper()
	return leaves("spec", schema(t, kind).Properties["spec"])
}

// Status are the paths of a kind's status that hold a value, sorted and written as those of [Spec].
func Status(t testing.TB, kind string) []string {
	t.Helper()
	return leaves("status", schema(t, kind).Properties["status"])
}

// Columns are the printer columns of a kind by their names.
func Columns(t testing.TB, kind string) map[string]apiextensionsv1.CustomResourceColumnDefinition {
	t.Helper()
	columns := map[string]apiextensionsv1.CustomResourceColumnDefinition{}
	for _, c := range definition(t, kind).Spec.Versions[0].AdditionalPrinterColumns {
		columns[c.Name] = c
	}
	return columns
}

func schema(t testing.TB, kind string) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	return definition(t, kind).Spec.Versions[0].Schema.OpenAPIV3Schema
}

func definition(t testing.TB, kind string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crds, err := config.CRDs()
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	for _, crd := range crds {
		if crd.Spec.Names.Kind == kind {
			return crd
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

// Covers tells that a path is a row's, which stands for all below it.
func Covers(row, path string) bool {
	rest, is := strings.CutPrefix(path, row)
	return is && (rest == "" || strings.ContainsAny(rest[:1], ".[{"))
}

// Leaves fails unless the rows are the paths of the kind's spec that hold a value, each once: what stands for more than
// one value could hide one that nothing becomes of.
func Leaves(t testing.TB, kind string, rows []string) {
	t.Helper()
	gomega.NewWithT(t).Expect(rows).To(gomega.ConsistOf(Spec(t, kind)), "spec of %s", kind)
}

// Rows fails unless each path of the kind's spec is of exactly one row, and each row has one.
func Rows(t testing.TB, kind string, rows []string) {
	t.Helper()
	g := gomega.NewWithT(t)
	all := Spec(t, kind)
	for _, path := range all {
		of := slices.DeleteFunc(slices.Clone(rows), func(row string) bool { return !Covers(row, path) })
		g.Expect(of).To(gomega.HaveLen(1), "rows of %s %s", kind, path)
	}
	for _, row := range rows {
		g.Expect(slices.ContainsFunc(all, func(path string) bool { return Covers(row, path) })).To(gomega.BeTrue(), "%s has no %s", kind, row)
	}
}
