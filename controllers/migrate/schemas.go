package migrate

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// schemaOf is the schema of the version that Ironflow uses, if it is served.
func schemaOf(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.JSONSchemaProps {
	for _, v := range crd.Spec.Versions {
		if v.Name == hostVersion && v.Served && v.Schema != nil {
			return v.Schema.OpenAPIV3Schema
		}
	}
	return nil
}

// lackingNames lists the paths of members, and of values of enumerations, that a has and b
// lacks, without those below a path that is lacking itself.
func lackingNames(path string, a, b apiextensionsv1.JSONSchemaProps) []string {
	var list []string
	for name, member := range a.Properties {
		here := strings.TrimPrefix(path+"."+name, ".")
		other, there := b.Properties[name]
		if !there {
			list = append(list, here)
			continue
		}
		list = append(list, lackingNames(here, member, other)...)
	}
	list = append(list, lackingValues(path, a, b)...)
	if inner, other := valuesOf(a), valuesOf(b); inner != nil && other != nil {
		list = append(list, lackingNames(path+".*", *inner, *other)...)
	}
	if a.Items != nil && a.Items.Schema != nil && b.Items != nil && b.Items.Schema != nil {
		list = append(list, lackingNames(path+"[]", *a.Items.Schema, *b.Items.Schema)...)
	}
	slices.Sort(list)
	return list
}

// lackingValues lists the values of an enumeration that a has and b refuses.
func lackingValues(path string, a, b apiextensionsv1.JSONSchemaProps) (list []string) {
	if len(b.Enum) == 0 {
		return nil // it takes any
	}
	for _, value := range a.Enum {
		if !slices.ContainsFunc(b.Enum, func(other apiextensionsv1.JSON) bool { return string(other.Raw) == string(value.Raw) }) {
			list = append(list, path+"="+string(value.Raw))
		}
	}
	return list
}

// valuesOf is the schema of the values of a map; nil for something else.
func valuesOf(s apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	if s.AdditionalProperties == nil {
		return nil
	}
	return s.AdditionalProperties.Schema
}
