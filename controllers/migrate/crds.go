package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/config"
)

const (
	hostGroup   = "metal3.io"
	hostVersion = "v1alpha1"
)

// checkCRDs compares the cluster's schemas with those that Ironflow is built for.
func checkCRDs(ctx context.Context, s *state) error {
	wanted, err := config.CRDs()
	if err != nil {
		return err
	}
	for _, want := range wanted {
		if want.Spec.Group != hostGroup {
			continue
		}
		have := &apiextensionsv1.CustomResourceDefinition{}
		err := s.options.Client.Get(ctx, client.ObjectKeyFromObject(want), have)
		switch {
		case apierrors.IsNotFound(err):
			s.found(missing(want), want.Name, "the kind is not there: kubectl apply -k config/crd")
			continue
		case err != nil:
			return fmt.Errorf("read CustomResourceDefinition %s: %w", want.Name, err)
		}
		s.compareCRD(have, want)
	}
	return nil
}

// missing is how bad it is to lack a kind: without hosts there is nothing to take over.
func missing(crd *apiextensionsv1.CustomResourceDefinition) Severity {
	if crd.Spec.Names.Kind == "BareMetalHost" {
		return Blocker
	}
	return Warning
}

// compareCRD looks for members that one side has and the other lacks.
func (s *state) compareCRD(have, want *apiextensionsv1.CustomResourceDefinition) {
	theirs, ours := schemaOf(have), schemaOf(want)
	if theirs == nil || ours == nil {
		s.found(Blocker, want.Name, "version %s is not served: Ironflow needs it; kubectl apply -k config/crd", hostVersion)
		return
	}
	lacking, unknown := lackingNames("", *ours, *theirs), lackingNames("", *theirs, *ours)
	if len(lacking) > 0 {
		severity := Warning
		if slices.Contains(lacking, "status.conditions") {
			severity = Blocker // the API server would drop them without a word
		}
		s.found(severity, want.Name, "the schema is older than Ironflow's, it lacks %s: kubectl apply -k config/crd", some(lacking))
	}
	if len(unknown) > 0 {
		s.found(Note, want.Name, "the schema is newer than Ironflow's; objects that use %s are named under fields", some(unknown))
	}
}

// schemaOf is the schema of the version that Ironflow uses, if it is served.
func schemaOf(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.JSONSchemaProps {
	for _, v := range crd.Spec.Versions {
		if v.Name == hostVersion && v.Served && v.Schema != nil {
			return v.Schema.OpenAPIV3Schema
		}
	}
	return nil
}

// lackingNames lists the paths of members that a has and b lacks, without those
// below a path that is lacking itself.
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
	if a.Items != nil && a.Items.Schema != nil && b.Items != nil && b.Items.Schema != nil {
		list = append(list, lackingNames(path+"[]", *a.Items.Schema, *b.Items.Schema)...)
	}
	slices.Sort(list)
	return list
}

// shown is how many names a text lists.
const shown = 5

// some lists the first few names.
func some(list []string) string {
	if len(list) <= shown {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:shown], ", "), len(list)-shown)
}
