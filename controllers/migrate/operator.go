package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// operatorImage marks the Deployment of baremetal-operator.
const operatorImage = "baremetal-operator"

// checkOperator looks whether baremetal-operator still works, and what of it
// is in the way once it does not.
func checkOperator(ctx context.Context, s *state) error {
	holder, err := LeaseHolder(ctx, s.options.Client, time.Now())
	if err != nil {
		return err
	}
	s.report.Operator = holder
	if holder != "" {
		s.found(Note, "lease "+holder, "baremetal-operator works: what is said here holds for this moment; Ironflow waits until the lease is given up")
	}
	var deployments appsv1.DeploymentList
	if err := s.mayList(ctx, &deployments, "make sure yourself that no baremetal-operator runs, also one without leader election"); err != nil {
		return err
	}
	for _, d := range deployments.Items {
		if !runsOperator(&d) {
			continue
		}
		s.operators = append(s.operators, d)
		if d.Spec.Replicas == nil || *d.Spec.Replicas > 0 {
			s.found(Note, d.Namespace+"/"+d.Name, "runs baremetal-operator: before Ironflow is started, kubectl -n %s scale deployment %s --replicas=0", d.Namespace, d.Name)
		}
	}
	var webhooks admissionv1.ValidatingWebhookConfigurationList
	if err := s.mayList(ctx, &webhooks, "make sure yourself that no webhook for metal3.io is left when baremetal-operator is stopped"); err != nil {
		return err
	}
	for _, w := range webhooks.Items {
		if slices.ContainsFunc(w.Webhooks, aboutHosts) {
			s.found(Note, w.Name, "webhooks of baremetal-operator, which nobody answers once it is stopped: then kubectl delete validatingwebhookconfiguration %s", w.Name)
		}
	}
	return nil
}

// mayList lists objects that the user may not be allowed to see; then a note says
// what to do instead.
func (s *state) mayList(ctx context.Context, list client.ObjectList, otherwise string) error {
	err := s.options.Client.List(ctx, list)
	if apierrors.IsForbidden(err) {
		s.found(Note, "", "%T may not be read: %s", list, otherwise)
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %T: %w", list, err)
	}
	return nil
}

// runsOperator reports whether a container of the Deployment is the operator.
func runsOperator(d *appsv1.Deployment) bool {
	for _, c := range d.Spec.Template.Spec.Containers {
		if strings.Contains(c.Image, operatorImage) {
			return true
		}
	}
	return false
}

// aboutHosts reports whether a webhook judges metal3.io's kinds.
func aboutHosts(w admissionv1.ValidatingWebhook) bool {
	return slices.ContainsFunc(w.Rules, func(r admissionv1.RuleWithOperations) bool { return slices.Contains(r.APIGroups, hostGroup) })
}
