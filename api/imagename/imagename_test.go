package imagename_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/imagename"
)

func TestFull(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("0a", 32)
	for image, full := range map[string]bool{
		"quay.example/ironflow/agent:v1":              true,
		"quay.example/agent":                          true,
		"quay.example/agent" + digest:                 true,
		"quay.example/agent:v1" + digest:              true,
		"registry:5000/agent:v1":                      true,
		"registry.example:5000/a/b_c/d--e:V1.0_rc":    true,
		"localhost/agent":                             true,
		"192.0.2.1:5000/agent":                        true,
		"[2001:db8::1]:5000/agent:1":                  true,
		"ironflow/ironflow-agent:latest":              false,
		"agent:latest":                                false,
		"agent":                                       false,
		"":                                            false,
		"quay.example/":                               false,
		"quay.example/Agent":                          false,
		"quay.example/agent:":                         false,
		"quay.example/agent@sha256:01":                false,
		"https://quay.example/agent":                  false,
		"--privileged":                                false,
		"quay.example/agent:v1 --privileged":          false,
		"quay.example/agent\n":                        false,
		"-v.example/agent":                            false,
		"user:password@quay.example/ironflow/agent:1": false,
	} {
		t.Run(image, func(t *testing.T) {
			g := NewWithT(t)
			if full {
				g.Expect(imagename.Full(image)).To(Succeed())
			} else {
				g.Expect(imagename.Full(image)).To(MatchError(ContainSubstring("REGISTRY/PATH:TAG")))
			}
		})
	}
}
