package nodespec

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
)

func TestPullSecrets(t *testing.T) {
	const image = "oci://quay.example:5000/os/image:latest"
	for name, c := range map[string]struct {
		kind   corev1.SecretType
		raw    string
		image  string
		value  string
		says   string
		reason string
	}{
		"user and password":  {kind: corev1.SecretTypeDockerConfigJson, raw: `{"auths":{"quay.example:5000":{"username":"u","password":"p"}}}`, value: "u:p"},
		"base64":             {kind: corev1.SecretTypeDockerConfigJson, raw: `{"auths":{"https://quay.example:5000/v2/":{"auth":"dTpwOnA="}}}`, value: "u:p:p"},
		"old format":         {kind: corev1.SecretTypeDockercfg, raw: `{"quay.example:5000":{"auth":"dTpw"}}`, value: "u:p"},
		"Docker Hub's alias": {kind: corev1.SecretTypeDockerConfigJson, raw: `{"auths":{"https://index.docker.io/v1/":{"auth":"dTpw"}}}`, image: "oci://docker.io/library/x", value: "u:p"},
		"the longest path": {
			kind: corev1.SecretTypeDockerConfigJson, value: "u:p",
			raw: `{"auths":{"quay.example:5000":{"auth":"YTph"},"quay.example:5000/os":{"auth":"dTpw"},"quay.example:5000/other":{"auth":"Yjpi"},"quay.example:5000/os/im":{"auth":"Yzpj"}}}`,
		},
		"another path":           {kind: corev1.SecretTypeDockerConfigJson, raw: `{"auths":{"quay.example:5000/other":{"auth":"dTpw"}}}`, says: "no entry"},
		"a path of its tag":      {kind: corev1.SecretTypeDockerConfigJson, raw: `{"auths":{"quay.example:5000/os/image":{"auth":"dTpw"}}}`, value: "u:p"},
		"another registry":       {kind: corev1.SecretTypeDockerConfigJson, raw: `{"auths":{"quay.example":{"auth":"dTpw"}}}`, says: "no entry"},
		"another type":           {kind: corev1.SecretTypeOpaque, raw: `{}`, says: "must be", reason: reasonAuthFormat},
		"no JSON":                {kind: corev1.SecretTypeDockerConfigJson, raw: `hush`, says: "no Docker configuration", reason: reasonAuthParse},
		"auth that is no base64": {kind: corev1.SecretTypeDockerConfigJson, raw: `{"auths":{"quay.example:5000":{"auth":"?"}}}`, says: "base64", reason: reasonAuthParse},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			if c.image == "" {
				c.image = image
			}
			got := ReadPullSecret(&corev1.Secret{Type: c.kind, Data: map[string][]byte{
				corev1.DockerConfigJsonKey: []byte(c.raw), corev1.DockerConfigKey: []byte(c.raw),
			}}, c.image)
			g.Expect(got.Value).To(Equal(c.value))
			g.Expect(got.Problem).To(ContainSubstring(c.says))
			g.Expect(got.Problem).NotTo(ContainSubstring("hush"))
			g.Expect(got.Reason).To(Equal(c.reason))
		})
	}
}
