package admission

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// prefix begins the names of the policies and of their bindings.
const prefix = "ironflow-"

// Policy is the kind's rules as the API server takes them. It fails closed.
func (k Kind) Policy() *admissionv1.ValidatingAdmissionPolicy {
	fail, equivalent := admissionv1.Fail, admissionv1.Equivalent
	reason := metav1.StatusReasonInvalid
	policy := &admissionv1.ValidatingAdmissionPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicy"},
		ObjectMeta: metav1.ObjectMeta{Name: prefix + k.Resource},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: &fail,
			MatchConstraints: &admissionv1.MatchResources{
				MatchPolicy: &equivalent,
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
					Rule: admissionv1.Rule{
						APIGroups:   []string{cmp.Or(k.Group, metal3.GroupVersion.Group)},
						APIVersions: []string{cmp.Or(k.Version, metal3.GroupVersion.Version)}, Resources: []string{k.Resource},
					},
				}}},
			},
			MatchConditions: []admissionv1.MatchCondition{{Name: "stays", Expression: "!has(object.metadata.deletionTimestamp)"}},
		},
	}
	for _, r := range k.Rules {
		policy.Spec.Validations = append(policy.Spec.Validations, admissionv1.Validation{
			Expression: r.expression(), Message: r.Message, MessageExpression: r.message(), Reason: &reason,
		})
	}
	return policy
}

// Binding puts the policy in force everywhere.
func (k Kind) Binding() *admissionv1.ValidatingAdmissionPolicyBinding {
	return &admissionv1.ValidatingAdmissionPolicyBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicyBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: prefix + k.Resource},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: prefix + k.Resource, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	}
}

// header tells who wrote a manifest.
const header = "# Written from the table of rules in tools/admission: go test ./tools/admission -update\n"

// Manifest is the kind's policy and binding as a file for kubectl.
func (k Kind) Manifest() ([]byte, error) {
	var file bytes.Buffer
	file.WriteString(header)
	for i, object := range []any{k.Policy(), k.Binding()} {
		raw, err := json.Marshal(object)
		if err != nil {
			return nil, fmt.Errorf("encode the rules of %s: %w", k.Resource, err)
		}
		var plain map[string]any
		if err := json.Unmarshal(raw, &plain); err != nil {
			return nil, err
		}
		delete(plain, "status")
		text, err := yaml.Marshal(plain)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			file.WriteString("---\n")
		}
		file.Write(text)
	}
	return file.Bytes(), nil
}
