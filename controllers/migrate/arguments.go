package migrate

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/kernelargs"
)

// checkArguments names the InfraEnvs whose live images would be refused for a kernel
// argument that another hub lets pass.
func checkArguments(ctx context.Context, s *state) error {
	namespaces := s.options.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	for _, namespace := range namespaces {
		var list agentv1.InfraEnvList
		err := s.options.Client.List(ctx, &list, client.InNamespace(namespace))
		switch {
		case apimeta.IsNoMatchError(err) || apierrors.IsNotFound(err):
			return nil // a cluster without them
		case apierrors.IsForbidden(err):
			s.found(Note, namespace, "InfraEnvs may not be read: look for coreos.inst in their spec.kernelArguments")
			continue
		case err != nil:
			return fmt.Errorf("list InfraEnvs: %w", err)
		}
		for _, env := range list.Items {
			for i, a := range env.Spec.KernelArguments {
				if err := kernelargs.Refused(a.Operation, a.Value); err != nil {
					s.found(Warning, env.Namespace+"/"+env.Name, "InfraEnv: spec.kernelArguments[%d] is refused, so that no live image is made: %v", i, err)
				}
			}
		}
	}
	return nil
}
