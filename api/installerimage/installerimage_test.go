package installerimage_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/installerimage"
)

func TestOwn(t *testing.T) {
	for name, tc := range map[string]struct {
		installer, agent string
		want             bool
	}{
		"none":                   {"", "quay.example/other:1", true},
		"ours":                   {"quay.example/site/ironflow-agent:1", "quay.example/other:1", true},
		"the agent's own":        {"registry.example:5000/agent@sha256:0123", "registry.example:5000/agent:2", true},
		"another hub's":          {"quay.example/assisted-installer:v2", "quay.example/agent:1", false},
		"a folder of that name":  {"quay.example/ironflow/installer:1", "quay.example/agent:1", false},
		"a registry with a port": {"registry.example:5000/installer", "registry.example:5000/agent", false},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(installerimage.Own(tc.installer, tc.agent)).To(Equal(tc.want))
		})
	}
}
