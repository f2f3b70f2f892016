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
			s.found(missing(want), want.Name, "the kind is not there: ironflow crds --apply")
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
		s.found(Blocker, want.Name, "version %s is not served: Ironflow needs it: update the CRD", hostVersion)
		return
	}
	lacking, unknown := lackingNames("", *ours, *theirs), lackingNames("", *theirs, *ours)
	how := "ironflow crds --apply"
	if len(unknown) > 0 {
		how = "get CRDs of a version that has both; config/crd would drop what Ironflow's lacks"
	}
	if len(lacking) > 0 {
		severity := Warning
		if slices.Contains(lacking, "status.conditions") {
			severity = Blocker // the API server would drop them without a word
		}
		s.found(severity, want.Name, "the schema is older than Ironflow's, it lacks %s: %s", some(lacking), how)
	}
	if len(unknown) > 0 {
		s.found(Note, want.Name, "the schema is newer than Ironflow's: leave it as it is, config/crd would drop %s; objects that use that are named under fields", some(unknown))
	}
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
