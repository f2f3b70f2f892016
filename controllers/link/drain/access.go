package drain

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// patience bounds one call of a cluster.
const patience = 20 * time.Second

// Open is the way into a cluster by its kubeconfig. That comes from a Secret, which others than
// the hub's operator may write: what would run a program or read a file of the hub is refused.
// The cluster is asked at server, such as https://api.example:6443; empty for where the kubeconfig says.
func Open(kubeconfig []byte, server string) (client.Client, error) {
	config, err := clientcmd.Load(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("the kubeconfig cannot be read: %w", err)
	}
	for name, user := range config.AuthInfos {
		if err := plain(user); err != nil {
			return nil, fmt.Errorf("user %.40q of the kubeconfig: %w", name, err)
		}
	}
	for name, cluster := range config.Clusters {
		if cluster.CertificateAuthority != "" {
			return nil, fmt.Errorf("cluster %.40q of the kubeconfig: certificate-authority is a file: give certificate-authority-data", name)
		}
	}
	access, err := clientcmd.NewDefaultClientConfig(*config, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("the kubeconfig opens nothing: %w", err)
	}
	access.Timeout, access.Host = patience, cmp.Or(server, access.Host)
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), policyv1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	return client.New(access, client.Options{Scheme: scheme, Mapper: kinds()})
}

// plain refuses what a user of a kubeconfig can be beside a certificate, a token or a password.
func plain(user *api.AuthInfo) error {
	switch {
	case user.Exec != nil:
		return errors.New("exec would run a program of the hub: give a certificate or a token")
	case user.AuthProvider != nil:
		return errors.New("auth-provider is not supported: give a certificate or a token")
	case user.ClientCertificate != "" || user.ClientKey != "" || user.TokenFile != "":
		return errors.New("client-certificate, client-key and tokenFile are files: give client-certificate-data and client-key-data, or token")
	}
	return nil
}

// kinds are those that are asked for: a cluster need not be asked what it has.
func kinds() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Node"), meta.RESTScopeRoot)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	return mapper
}
