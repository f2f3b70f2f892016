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
	envs, err := s.environments(ctx)
	if err != nil {
		return err
	}
	for _, env := range envs {
		for i, a := range env.Spec.KernelArguments {
			if err := kernelargs.Refused(a.Operation, a.Value); err != nil {
				s.found(Warning, env.Namespace+"/"+env.Name, "InfraEnv: spec.kernelArguments[%d] is refused, so that no live image is made: %v", i, err)
			}
		}
	}
	return nil
}

// environments are the InfraEnvs, none where the cluster has none. They are read once; that some may not be read is said then.
func (s *state) environments(ctx context.Context) ([]agentv1.InfraEnv, error) {
	if s.envsRead {
		return s.envs, nil
	}
	namespaces := s.options.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	for _, namespace := range namespaces {
		var list agentv1.InfraEnvList
		err := s.options.Client.List(ctx, &list, client.InNamespace(namespace))
		switch {
		case apimeta.IsNoMatchError(err) || apierrors.IsNotFound(err): // a cluster without them
		case apierrors.IsForbidden(err):
			s.found(Note, namespace, "InfraEnvs may not be read: look for coreos.inst in their spec.kernelArguments")
		case err != nil:
			return nil, fmt.Errorf("list InfraEnvs: %w", err)
		}
		s.envs = append(s.envs, list.Items...)
	}
	s.envsRead = true
	return s.envs, nil
}
