package resources

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestConfigDrive(t *testing.T) {
	ref := func(name string) *corev1.SecretReference {
		return &corev1.SecretReference{Name: name, Namespace: "lab"}
	}
	secret := func(name string, data map[string]string) client.Object {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: name}, Data: map[string][]byte{}}
		for key, value := range data {
			s.Data[key] = []byte(value)
		}
		return s
	}
	for name, c := range map[string]struct {
		change func(*metal3.BareMetalHostSpec)
		want   map[string]any // members of the value besides meta_data
		meta   map[string]any // members of meta_data besides the host's own
		says   string
	}{
		"nothing but meta data":      {change: func(*metal3.BareMetalHostSpec) {}},
		"user data":                  {change: func(s *metal3.BareMetalHostSpec) { s.UserData = ref("user") }, want: map[string]any{"user_data": "#!"}},
		"user data under value":      {change: func(s *metal3.BareMetalHostSpec) { s.UserData = ref("value") }, want: map[string]any{"user_data": "v"}},
		"network data, YAML":         {change: func(s *metal3.BareMetalHostSpec) { s.NetworkData = ref("net") }, want: map[string]any{"network_data": map[string]any{"links": []any{}}}},
		"network data of the image":  {change: func(s *metal3.BareMetalHostSpec) { s.PreprovisioningNetworkDataName = "net" }, want: map[string]any{"network_data": map[string]any{"links": []any{}}}},
		"network data without a key": {change: func(s *metal3.BareMetalHostSpec) { s.NetworkData = ref("user") }},
		"meta data":                  {change: func(s *metal3.BareMetalHostSpec) { s.MetaData = ref("meta") }, meta: map[string]any{"rack": "7"}},
		"no such Secret":             {change: func(s *metal3.BareMetalHostSpec) { s.UserData = ref("ghost") }, says: "does not exist"},
		"user data without a key":    {change: func(s *metal3.BareMetalHostSpec) { s.UserData = ref("net") }, says: "neither the key userData nor value"},
		"meta data that is no YAML":  {change: func(s *metal3.BareMetalHostSpec) { s.MetaData = ref("value") }, says: "meta data cannot be used"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := labHost(metal3.StateProvisioning)
			c.change(&h.Spec)
			kube := fake.NewClientBuilder().WithObjects(secret("user", map[string]string{"userData": "#!"}), secret("value", map[string]string{"value": "v"}),
				secret("net", map[string]string{"networkData": "links: []"}), secret("meta", map[string]string{"metaData": `{"rack":"7"}`})).Build()
			drive, err := Store{Client: kube, Live: kube, Cache: kube}.ConfigDrive(t.Context(), h)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(drive.Problem).To(ContainSubstring(c.says))
			if c.says != "" {
				return
			}
			value := drive.Value()
			g.Expect(value["meta_data"]).To(And(HaveKeyWithValue("uuid", "uid-a"), HaveKeyWithValue("local-hostname", "a"), HaveKeyWithValue("metal3-namespace", "lab")))
			for key, want := range c.meta {
				g.Expect(value["meta_data"]).To(HaveKeyWithValue(key, want))
			}
			delete(value, "meta_data")
			if c.want == nil {
				c.want = map[string]any{}
			}
			g.Expect(value).To(Equal(c.want))
		})
	}
}
