package rest_test

import (
	"maps"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/releases/lookup"
	"github.com/ironflow/ironflow/hub/releases/registry"
	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/test/hub/realregistry"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// TestAClusterOfAReleaseImage: which release it is, is read from its registry, by a mirror and with the cluster's own
// pull secret. What the registry refuses is the answer.
func TestAClusterOfAReleaseImage(t *testing.T) {
	debian := realregistry.Start(t)
	_, digest, _ := strings.Cut(debian.Push(t, "mirror/release", realregistry.Release(t)), "@")
	mirrors, err := registry.ParseMirrors(debian.Mirrors("quay.example.invalid/ocp", "mirror"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	finder := &lookup.Finder{Reader: &registry.Reader{Mirrors: mirrors, CA: debian.CA}, Mode: lookup.Always}
	c := newClient(t, testhub.Start(t, testhub.Options{API: func(o *rest.Options) { o.Lookup = finder }}).User())
	create := func(password string, more map[string]any) map[string]any {
		out := map[string]any{"name": "edge", "pull_secret": debian.PullSecret(password), "ocp_release_image": "quay.example.invalid/ocp/release@" + digest}
		maps.Copy(out, more)
		return out
	}
	c.Expect(c.read("POST", "/clusters", jsonText(t, create(realregistry.Password, nil)), 201)).To(HaveKeyWithValue("openshift_version", "4.20.1"))
	c.Expect(c.read("POST", "/clusters", jsonText(t, create(realregistry.Password, map[string]any{"openshift_version": "4.20", "cpu_architecture": "x86_64"})), 201)).To(
		HaveKeyWithValue("openshift_version", "4.20.1"))
	for name, tc := range map[string]struct {
		password string
		more     map[string]any
		says     []string
	}{
		"no login":             {"wrong-password", nil, []string{debian.Host + "/mirror/release", "401 Unauthorized", "with the login of the pull secret"}},
		"another version":      {realregistry.Password, map[string]any{"openshift_version": "4.19.2"}, []string{`is version \"4.20.1\", not \"4.19.2\"`}},
		"another architecture": {realregistry.Password, map[string]any{"cpu_architecture": "arm64"}, []string{"is for x86_64", "cpu_architecture is arm64"}},
		"no image of it":       {realregistry.Password, map[string]any{"ocp_release_image": debian.Host + "/mirror/none:1"}, []string{"404 Not Found"}},
		"no full reference":    {realregistry.Password, map[string]any{"ocp_release_image": "release:1"}, []string{"want a full reference"}},
	} {
		t.Run(name, func(t *testing.T) {
			answer := c.do("POST", "/clusters", jsonText(t, create(tc.password, tc.more)), 400)
			for _, says := range tc.says {
				NewWithT(t).Expect(answer).To(ContainSubstring(says))
			}
			NewWithT(t).Expect(answer).NotTo(ContainSubstring("wrong-password"))
		})
	}
}
