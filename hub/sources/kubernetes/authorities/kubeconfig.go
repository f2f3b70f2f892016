package authorities

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/hub/pki"
)

// Administrators is the group that kubeadm binds to cluster-admin when it initialises
// the cluster. Unlike system:masters it can be taken its rights away again.
const Administrators = "kubeadm:cluster-admins"

// adminLife is how long the administrator's certificate is valid: that of kubeadm's own.
const adminLife = 365 * 24 * time.Hour

type kubeconfig struct {
	APIVersion     string  `json:"apiVersion"`
	Kind           string  `json:"kind"`
	Clusters       []named `json:"clusters"`
	Users          []named `json:"users"`
	Contexts       []named `json:"contexts"`
	CurrentContext string  `json:"current-context"`
}

type named struct {
	Name    string   `json:"name"`
	Cluster *cluster `json:"cluster,omitempty"`
	User    *user    `json:"user,omitempty"`
	Context *scope   `json:"context,omitempty"`
}

type cluster struct {
	Server string `json:"server"`
	CA     []byte `json:"certificate-authority-data"`
}

type user struct {
	Certificate []byte `json:"client-certificate-data"`
	Key         []byte `json:"client-key-data"`
}

type scope struct {
	Cluster string `json:"cluster"`
	User    string `json:"user"`
}

// Administrator is a certificate, with its key, of somebody who may do everything in the
// cluster from now on for a while.
func (s *Set) Administrator(name string, now time.Time, life time.Duration) (pki.Pair, error) {
	return s.ca.Issue(pki.Request{
		Subject: pkix.Name{CommonName: name, Organization: []string{Administrators}},
		Usage:   x509.ExtKeyUsageClientAuth, Now: now, Life: life,
	})
}

// Kubeconfig is an administrator's access to the cluster's API at server (a URL), valid
// for one year from now.
func (s *Set) Kubeconfig(name, server string, now time.Time) ([]byte, error) {
	const admin = "kubernetes-admin"
	pair, err := s.Administrator(admin, now, adminLife)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig of the cluster: %w", err)
	}
	context := admin + "@" + name
	raw, err := yaml.Marshal(kubeconfig{
		APIVersion: "v1", Kind: "Config", CurrentContext: context,
		Clusters: []named{{Name: name, Cluster: &cluster{Server: server, CA: s.Certificate()}}},
		Users:    []named{{Name: admin, User: &user{Certificate: pair.Cert, Key: pair.Key}}},
		Contexts: []named{{Name: context, Context: &scope{Cluster: name, User: admin}}},
	})
	if err != nil {
		return nil, fmt.Errorf("kubeconfig of the cluster: %w", err)
	}
	return raw, nil
}
