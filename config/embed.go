// Package config holds the manifests of this folder, so that programs and tests
// apply exactly what `kubectl apply -k` does.
package config

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

//go:embed crd admission/*.yaml rbac/role.yaml
var files embed.FS

// CRDs returns every CustomResourceDefinition below crd/.
func CRDs() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var crds []*apiextensionsv1.CustomResourceDefinition
	err := fs.WalkDir(files, "crd", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Base(name) == "kustomization.yaml" || !strings.HasSuffix(name, ".yaml") {
			return err
		}
		raw, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(raw, crd); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		crds = append(crds, crd)
		return nil
	})
	return crds, err
}

// Admission returns the policies below admission/ and the bindings that put them
// in force, in the order of the files. The lab installs them.
func Admission() (policies []*admissionv1.ValidatingAdmissionPolicy, bindings []*admissionv1.ValidatingAdmissionPolicyBinding, err error) {
	entries, err := files.ReadDir("admission")
	if err != nil {
		return nil, nil, err
	}
	for _, entry := range entries {
		if entry.Name() == "kustomization.yaml" {
			continue
		}
		raw, err := files.ReadFile("admission/" + entry.Name())
		if err != nil {
			return nil, nil, err
		}
		first, second, found := bytes.Cut(raw, []byte("\n---\n"))
		policy, binding := &admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyBinding{}
		if !found {
			return nil, nil, fmt.Errorf("admission/%s does not hold a policy and its binding", entry.Name())
		}
		if err := errors.Join(yaml.UnmarshalStrict(first, policy), yaml.UnmarshalStrict(second, binding)); err != nil {
			return nil, nil, fmt.Errorf("admission/%s: %w", entry.Name(), err)
		}
		policies, bindings = append(policies, policy), append(bindings, binding)
	}
	return policies, bindings, nil
}

// Rules returns the rules of rbac/role.yaml, which is made of what the code says: the rights
// that Ironflow needs with all of its features, but for making Secrets.
func Rules() ([]rbacv1.PolicyRule, error) {
	raw, err := files.ReadFile("rbac/role.yaml")
	if err != nil {
		return nil, err
	}
	role := &rbacv1.ClusterRole{}
	if err := yaml.Unmarshal(raw, role); err != nil {
		return nil, fmt.Errorf("rbac/role.yaml: %w", err)
	}
	return role.Rules, nil
}
