package migrate

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// notTaken is a variable of baremetal-operator that Ironflow does not read.
type notTaken struct {
	severity Severity
	text     string
}

// variables are those that are not taken; all others have the same name in
// Ironflow. docs/migrate.md has the same list.
var variables = map[string]notTaken{
	"IRONIC_NAME": {
		Warning, "Ironflow reads no Ironic resource: set IRONIC_ENDPOINT to the URL of its Service, and mount the Secrets of its credentials and certificate",
	},
	"IRONIC_NAMESPACE": {
		Warning, "Ironflow reads no Ironic resource: the namespace is part of the Service's name in IRONIC_ENDPOINT",
	},
	"IRONIC_CLIENT_CACHE_TTL": {
		Note, "not needed: Ironflow's node watch knows whether Ironic answers",
	},
}

// checkSettings looks for settings that have no effect on Ironflow: those of the
// baremetal-operator's Deployments, and of the environment that the check runs in.
func checkSettings(ctx context.Context, s *state) error {
	s.report.settings("", s.options.Environment)
	for i := range s.operators {
		d := &s.operators[i]
		where := d.Namespace + "/" + d.Name
		set := map[string]string{}
		for _, c := range d.Spec.Template.Spec.Containers {
			for _, from := range c.EnvFrom {
				if err := s.readConfigMap(ctx, d.Namespace, from.ConfigMapRef, set); err != nil {
					return err
				}
			}
			for _, e := range c.Env {
				set[e.Name] = e.Value
				if e.ValueFrom != nil {
					set[e.Name] = "from elsewhere"
				}
			}
		}
		s.report.settings(where, set)
	}
	return nil
}

// settings notes the variables of one place that are not taken.
func (r *Report) settings(where string, set map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if v := variables[name]; set[name] != "" {
			r.add(checkOfSettings, v.severity, where, fmt.Sprintf("%s is set: %s", name, v.text))
		}
	}
}

// readConfigMap adds the variables that a container takes from a ConfigMap.
func (s *state) readConfigMap(ctx context.Context, namespace string, ref *corev1.ConfigMapEnvSource, set map[string]string) error {
	if ref == nil {
		return nil
	}
	var config corev1.ConfigMap
	err := s.options.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, &config)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsForbidden(err):
		s.found(Note, namespace+"/"+ref.Name, "the ConfigMap of baremetal-operator may not be read: compare its variables with docs/migrate.md yourself")
		return nil
	case err != nil:
		return fmt.Errorf("read ConfigMap %s/%s: %w", namespace, ref.Name, err)
	}
	maps.Copy(set, config.Data)
	return nil
}
