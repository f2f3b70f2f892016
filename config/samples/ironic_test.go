package samples_test

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"
)

// ironics is the kind of ironic-standalone-operator, as much of it as an API server needs. Its fields are those of [ironic].
const ironics = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ironics.ironic.metal3.io}
spec:
  group: ironic.metal3.io
  names: {kind: Ironic, listKind: IronicList, plural: ironics, singular: ironic}
  scope: Namespaced
  versions:
    - {name: v1alpha1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

// ironic are fields of that kind which older and newer releases of the operator have alike.
type ironic struct {
	APICredentialsName string `json:"apiCredentialsName"`
	Database           struct {
		CredentialsName    string `json:"credentialsName"`
		Host               string `json:"host"`
		Name               string `json:"name"`
		TLSCertificateName string `json:"tlsCertificateName"`
	} `json:"database"`
	DeployRamdisk struct {
		DisableDownloader bool   `json:"disableDownloader"`
		ExtraKernelParams string `json:"extraKernelParams"`
		SSHKey            string `json:"sshKey"`
	} `json:"deployRamdisk"`
	ExtraConfig []struct {
		Group string `json:"group"`
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"extraConfig"`
	Networking struct {
		APIPort            int32    `json:"apiPort"`
		BindInterface      bool     `json:"bindInterface"`
		ExternalIP         string   `json:"externalIP"`
		ImageServerPort    int32    `json:"imageServerPort"`
		ImageServerTLSPort int32    `json:"imageServerTLSPort"`
		Interface          string   `json:"interface"`
		IPAddress          string   `json:"ipAddress"`
		IPAddressManager   string   `json:"ipAddressManager"`
		MACAddresses       []string `json:"macAddresses"`
	} `json:"networking"`
	NodeSelector map[string]string `json:"nodeSelector"`
	TLS          struct {
		CertificateName        string `json:"certificateName"`
		DisableVirtualMediaTLS bool   `json:"disableVirtualMediaTLS"`
	} `json:"tls"`
	Version string `json:"version"`
}

// TestTheIronicHasFieldsOfItsKind, and its Secret is beside it.
func TestTheIronicHasFieldsOfItsKind(t *testing.T) {
	g := NewWithT(t)
	all := read(t, "ironic/ironic.yaml")
	g.Expect(all).To(HaveLen(2))
	secret, resource := all[0], all[1]
	g.Expect(resource.GetAPIVersion()).To(Equal("ironic.metal3.io/v1alpha1"))
	g.Expect(resource.GetKind()).To(Equal("Ironic"))
	raw, err := json.Marshal(resource.Object["spec"])
	g.Expect(err).NotTo(HaveOccurred())
	var spec ironic
	g.Expect(yaml.UnmarshalStrict(raw, &spec)).To(Succeed())
	g.Expect(spec.APICredentialsName).To(Equal(secret.GetName()))
	g.Expect(secret.GetNamespace()).To(Equal(resource.GetNamespace()))
	g.Expect(secret.Object["stringData"]).To(And(HaveKey("username"), HaveKey("password"), HaveLen(2)))
	g.Expect(spec.NodeSelector).NotTo(BeEmpty(), "the address is one of a node")
	g.Expect(spec.DeployRamdisk.DisableDownloader).To(BeTrue(), "Ironflow makes the live images")
}
