package lab_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab"
)

// TestAnotherReleaseThatCannotBe is said before anything is built or installed.
func TestAnotherReleaseThatCannotBe(t *testing.T) {
	newPython := filepath.Join(t.TempDir(), "python3")
	NewWithT(t).Expect(os.WriteFile(newPython, []byte("#!/bin/sh\necho '{\"version\": \"3.13.0\", \"venv\": true, \"pip\": true}'\n"), 0o700)).To(Succeed())
	for name, c := range map[string]struct {
		environment map[string]string
		says        []string
	}{
		"a word for Kubernetes":    {map[string]string{lab.EnvKubernetes: "latest"}, []string{`IRONFLOW_LAB_KUBERNETES is "latest"`, "1.30.14"}},
		"an API server of yours":   {map[string]string{lab.EnvKubernetes: "1.30.14", "KUBEBUILDER_ASSETS": t.TempDir()}, []string{"KUBEBUILDER_ASSETS", "unset one of them"}},
		"an Ironic without list":   {map[string]string{lab.EnvIronic: "1.2.3"}, []string{`IRONFLOW_LAB_IRONIC is "1.2.3"`, "24.0.0", "requirements-1.2.3.txt"}},
		"a Python that is too new": {map[string]string{lab.EnvIronic: "24.0.0", "IRONFLOW_PYTHON": newPython}, []string{"Python 3.13.0", "Ironic 24.0.0", "3.11 and 3.12", "IRONFLOW_PYTHON"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for _, name := range []string{lab.EnvKubernetes, lab.EnvIronic, "KUBEBUILDER_ASSETS"} {
				t.Setenv(name, "")
			}
			for name, value := range c.environment {
				t.Setenv(name, value)
			}
			get := lab.Assets
			if c.environment[lab.EnvIronic] != "" {
				get = lab.IronicEnvironment
			}
			_, err := get(t.Context(), t.TempDir(), nil)
			for _, text := range c.says {
				g.Expect(err).To(MatchError(ContainSubstring(text)))
			}
		})
	}
}
