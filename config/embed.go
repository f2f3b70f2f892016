// Package config holds the manifests of this folder, so that programs and tests
// apply exactly what `kubectl apply -k` does.
package config

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

//go:embed crd
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
