// Package kubeadm writes the configuration files of kubeadm, version v1beta4, which the
// three supported minor versions of Kubernetes read. Its types have only the members
// that Ironflow sets; names and meaning are those of kubeadm.k8s.io/v1beta4. That the
// real kubeadm takes them is tested with the program itself.
package kubeadm

import (
	"bytes"
	"fmt"

	"sigs.k8s.io/yaml"
)

const (
	version        = "kubeadm.k8s.io/v1beta4"
	kubeletVersion = "kubelet.config.k8s.io/v1beta1"
)

// Init is an InitConfiguration: how the first host of the control plane starts it.
type Init struct {
	APIVersion       string       `json:"apiVersion"`
	Kind             string       `json:"kind"`
	BootstrapTokens  []Bootstrap  `json:"bootstrapTokens,omitempty"`
	LocalAPIEndpoint *APIEndpoint `json:"localAPIEndpoint,omitempty"`
	NodeRegistration Node         `json:"nodeRegistration"`
	Timeouts         *Timeouts    `json:"timeouts,omitempty"`
}

// Bootstrap is a bootstrap token with an end: TTL after the cluster was initialised. (There
// is a member for the time itself, which kubeadm refuses beside the default of the other.)
type Bootstrap struct {
	Token       string   `json:"token"`
	Description string   `json:"description,omitempty"`
	TTL         string   `json:"ttl"`
	Usages      []string `json:"usages,omitempty"`
	Groups      []string `json:"groups,omitempty"`
}

// APIEndpoint is where the API server of one host listens.
type APIEndpoint struct {
	AdvertiseAddress string `json:"advertiseAddress,omitempty"`
	BindPort         int    `json:"bindPort,omitempty"`
}

// Node is how a host registers.
type Node struct {
	Name             string   `json:"name,omitempty"`
	CRISocket        string   `json:"criSocket,omitempty"`
	Taints           *[]Taint `json:"taints,omitempty"`
	KubeletExtraArgs []Arg    `json:"kubeletExtraArgs,omitempty"`
	ImagePullPolicy  string   `json:"imagePullPolicy,omitempty"`
	IgnorePreflight  []string `json:"ignorePreflightErrors,omitempty"`
}

// Taint is one of a node.
type Taint struct {
	Key    string `json:"key"`
	Effect string `json:"effect"`
}

// Arg is an argument of a program, without leading dashes.
type Arg struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Timeouts are how long kubeadm waits, as Go durations.
type Timeouts struct {
	ControlPlaneComponentHealthCheck string `json:"controlPlaneComponentHealthCheck,omitempty"`
	KubeletHealthCheck               string `json:"kubeletHealthCheck,omitempty"`
	KubernetesAPICall                string `json:"kubernetesAPICall,omitempty"`
	TLSBootstrap                     string `json:"tlsBootstrap,omitempty"`
	Discovery                        string `json:"discovery,omitempty"`
}

// Cluster is a ClusterConfiguration: what holds for all hosts.
type Cluster struct {
	APIVersion           string     `json:"apiVersion"`
	Kind                 string     `json:"kind"`
	ClusterName          string     `json:"clusterName,omitempty"`
	KubernetesVersion    string     `json:"kubernetesVersion"`
	ControlPlaneEndpoint string     `json:"controlPlaneEndpoint"`
	ImageRepository      string     `json:"imageRepository,omitempty"`
	EncryptionAlgorithm  string     `json:"encryptionAlgorithm,omitempty"`
	Networking           Networking `json:"networking"`
	APIServer            APIServer  `json:"apiServer,omitzero"`
	ControllerManager    Component  `json:"controllerManager,omitzero"`
	Scheduler            Component  `json:"scheduler,omitzero"`
}

// Networking has the networks; two are joined by a comma.
type Networking struct {
	ServiceSubnet string `json:"serviceSubnet"`
	PodSubnet     string `json:"podSubnet"`
}

// APIServer is the API server's part.
type APIServer struct {
	CertSANs []string `json:"certSANs,omitempty"`
}

// Component is a program of the control plane.
type Component struct {
	ExtraArgs []Arg `json:"extraArgs,omitempty"`
}

// Kubelet is a KubeletConfiguration, which kubeadm keeps for all hosts.
type Kubelet struct {
	APIVersion         string `json:"apiVersion"`
	Kind               string `json:"kind"`
	ServerTLSBootstrap bool   `json:"serverTLSBootstrap"`
	VolumePluginDir    string `json:"volumePluginDir,omitempty"`
}

// Join is a JoinConfiguration: how a host joins.
type Join struct {
	APIVersion       string        `json:"apiVersion"`
	Kind             string        `json:"kind"`
	Discovery        Discovery     `json:"discovery"`
	ControlPlane     *ControlPlane `json:"controlPlane,omitempty"`
	NodeRegistration Node          `json:"nodeRegistration"`
	Timeouts         *Timeouts     `json:"timeouts,omitempty"`
}

// Discovery is how a host finds the cluster and knows that it is the right one.
type Discovery struct {
	BootstrapToken TokenDiscovery `json:"bootstrapToken"`
}

// TokenDiscovery trusts the cluster that knows the token and has the authority.
type TokenDiscovery struct {
	Token             string   `json:"token"`
	APIServerEndpoint string   `json:"apiServerEndpoint"`
	CACertHashes      []string `json:"caCertHashes"`
}

// ControlPlane makes the host one of the control plane.
type ControlPlane struct {
	LocalAPIEndpoint *APIEndpoint `json:"localAPIEndpoint,omitempty"`
}

// InitFile is the file for kubeadm init.
func InitFile(i Init, c Cluster, k Kubelet) ([]byte, error) {
	i.APIVersion, i.Kind = version, "InitConfiguration"
	c.APIVersion, c.Kind = version, "ClusterConfiguration"
	k.APIVersion, k.Kind = kubeletVersion, "KubeletConfiguration"
	return documents(i, c, k)
}

// JoinFile is the file for kubeadm join.
func JoinFile(j Join) ([]byte, error) {
	j.APIVersion, j.Kind = version, "JoinConfiguration"
	return documents(j)
}

// documents writes YAML documents one after the other.
func documents(all ...any) ([]byte, error) {
	var out bytes.Buffer
	for _, one := range all {
		raw, err := yaml.Marshal(one)
		if err != nil {
			return nil, fmt.Errorf("configuration of kubeadm: %w", err)
		}
		out.WriteString("---\n")
		out.Write(raw)
	}
	return out.Bytes(), nil
}
