package kubernetes

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/authorities"
)

// renewBefore is how long before its end the administrator's access is made anew.
const renewBefore = 90 * 24 * time.Hour

var _ sources.Renewer = Source{}

// Renew implements [sources.Renewer]: the administrator's certificate is for a year, and the
// cluster's authority, by which the hub makes another one, for ten.
func (Source) Renew(cluster string, made *sources.Made, now time.Time) (map[string][]byte, error) {
	endpoint, have := made.Secrets[secretEndpoint], made.Credentials[Kubeconfig]
	if len(endpoint) == 0 || len(have) == 0 {
		return nil, nil
	}
	end, err := endOf(have)
	if err != nil || end.Sub(now) > renewBefore {
		return nil, err
	}
	set, err := authorities.Parse(made.Secrets)
	if err != nil {
		return nil, err
	}
	admin, err := set.Kubeconfig(cluster, "https://"+string(endpoint), now)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{Kubeconfig: admin}, nil
}

// endOf is when the certificate of a kubeconfig's user ends. The errors have nothing of it.
func endOf(kubeconfig []byte) (time.Time, error) {
	var content struct {
		Users []struct {
			User struct {
				Certificate []byte `json:"client-certificate-data"`
			} `json:"user"`
		} `json:"users"`
	}
	if yaml.Unmarshal(kubeconfig, &content) != nil || len(content.Users) == 0 {
		return time.Time{}, errors.New("the administrator's kubeconfig cannot be read")
	}
	block, _ := pem.Decode(bytes.TrimSpace(content.Users[0].User.Certificate))
	if block == nil {
		return time.Time{}, errors.New("the administrator's kubeconfig has no certificate in PEM")
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}, errors.New("the certificate of the administrator's kubeconfig cannot be read")
	}
	return leaf.NotAfter, nil
}
