package lab

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/ironflow/ironflow/config"
)

// InstallAdmission applies the rules of config/admission, as `kubectl apply -k`
// would. Those that are there already are left as they are. The API server takes
// about a second to put them in force.
func InstallAdmission(ctx context.Context, access *rest.Config) error {
	policies, bindings, err := config.Admission()
	if err != nil {
		return err
	}
	clients, err := kubernetes.NewForConfig(access)
	if err != nil {
		return fmt.Errorf("make a client of the API: %w", err)
	}
	rules := clients.AdmissionregistrationV1()
	for _, policy := range policies {
		if _, err := rules.ValidatingAdmissionPolicies().Create(ctx, policy, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create policy %s: %w", policy.Name, err)
		}
	}
	for _, binding := range bindings {
		if _, err := rules.ValidatingAdmissionPolicyBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create binding %s: %w", binding.Name, err)
		}
	}
	return nil
}
