package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/config"
)

// Difference is how a CustomResourceDefinition of the cluster differs from Ironflow's.
type Difference struct {
	// Name is that of the definition, such as baremetalhosts.metal3.io.
	Name string
	// Missing means that the cluster has none of the name.
	Missing bool
	// Lacks are members, values and versions that Ironflow's has and the cluster's lacks; More
	// are those that the cluster's has and Ironflow's lacks, and that it would lose.
	Lacks, More []string

	have, want *apiextensionsv1.CustomResourceDefinition
}

// String says in one line how they differ.
func (d Difference) String() string {
	switch {
	case d.Missing:
		return d.Name + ": is not there"
	case len(d.Lacks)+len(d.More) == 0:
		return d.Name + ": the same"
	}
	var parts []string
	if len(d.Lacks) > 0 {
		parts = append(parts, "lacks "+strings.Join(d.Lacks, ", "))
	}
	if len(d.More) > 0 {
		parts = append(parts, "is newer, Ironflow's would drop "+strings.Join(d.More, ", "))
	}
	return d.Name + ": " + strings.Join(parts, "; ")
}

// CompareCRDs compares the definitions of the cluster with those that Ironflow comes with.
func CompareCRDs(ctx context.Context, c client.Reader) ([]Difference, error) {
	wanted, err := config.CRDs()
	if err != nil {
		return nil, err
	}
	return Compare(ctx, c, wanted)
}

// Compare compares some of Ironflow's definitions with those that the cluster has by their names.
func Compare(ctx context.Context, c client.Reader, wanted []*apiextensionsv1.CustomResourceDefinition) ([]Difference, error) {
	var list []Difference
	for _, want := range wanted {
		have := &apiextensionsv1.CustomResourceDefinition{}
		d := Difference{Name: want.Name, have: have, want: want}
		err := c.Get(ctx, client.ObjectKeyFromObject(want), have)
		switch {
		case apierrors.IsNotFound(err):
			d.Missing = true
		case err != nil:
			return nil, fmt.Errorf("read CustomResourceDefinition %s: %w", want.Name, err)
		default:
			d.Lacks, d.More = lackingVersions(want, have), lackingVersions(have, want)
		}
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b Difference) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// lackingVersions lists what the versions of a have and those of b lack.
func lackingVersions(a, b *apiextensionsv1.CustomResourceDefinition) (list []string) {
	for _, version := range a.Spec.Versions {
		at := slices.IndexFunc(b.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == version.Name })
		switch {
		case !version.Served:
		case at < 0 || !b.Spec.Versions[at].Served:
			list = append(list, "version "+version.Name)
		case version.Schema != nil && version.Schema.OpenAPIV3Schema != nil && b.Spec.Versions[at].Schema != nil && b.Spec.Versions[at].Schema.OpenAPIV3Schema != nil:
			list = append(list, lackingNames("", *version.Schema.OpenAPIV3Schema, *b.Spec.Versions[at].Schema.OpenAPIV3Schema)...)
		}
	}
	return list
}

// ErrNewer means that the cluster has definitions that are newer than Ironflow's.
var ErrNewer = errors.New("the cluster has CustomResourceDefinitions that are newer than Ironflow's")

// ErrKept means that definitions of other projects, such as Hive's, lack something and stay as they are.
var ErrKept = errors.New("the cluster has CustomResourceDefinitions of other projects, which lack what Ironflow's have and are left as they are")

// ApplyCRDs makes the definitions that are missing, and updates those that lack something and
// have nothing more. It refuses with [ErrNewer], before anything is written, where a definition
// would lose something that objects may use. One that other projects have too, such as Hive, is then left
// as it is, and the others are written; if it lacks something, that is [ErrKept].
func ApplyCRDs(ctx context.Context, c client.Client, list []Difference) error {
	for _, d := range list {
		if !d.othersKept() && len(d.More) > 0 {
			return fmt.Errorf("%w, nothing was written: %s. Next: keep them, Ironflow works with newer ones; to replace one all the same, use kubectl replace", ErrNewer, d)
		}
	}
	var kept []string
	for _, d := range list {
		switch {
		case d.Missing:
			if err := c.Create(ctx, d.want); err != nil {
				return fmt.Errorf("make CustomResourceDefinition %s: %w", d.Name, err)
			}
		case len(d.Lacks) == 0: // nothing to do
		case d.othersKept():
			kept = append(kept, d.String())
		default:
			d.have.Spec = d.want.Spec
			if err := c.Update(ctx, d.have); err != nil { // refused if somebody else was faster
				return fmt.Errorf("update CustomResourceDefinition %s: %w", d.Name, err)
			}
		}
	}
	if len(kept) > 0 {
		return fmt.Errorf("%w: %s. Next: update the project that they belong to, such as Hive or assisted-service; until then the API server drops these fields", ErrKept, strings.Join(kept, "; "))
	}
	return nil
}

// othersKept reports a definition that is there, that another project may have made, and that would lose
// something: one that has nothing more than Ironflow's loses nothing, whoever made it.
func (d Difference) othersKept() bool {
	return len(d.More) > 0 && !slices.Contains([]string{hostGroup, "ironflow.io"}, d.want.Spec.Group)
}
