package bootstrap

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

const (
	// answerLimit bounds one exchange with the API server, maxAnswer its size.
	answerLimit = 20 * time.Second
	maxAnswer   = 8 << 20
)

// node is what counts of a node.
type node struct {
	name                string
	controlPlane, ready bool
}

// nodes lists the nodes of the temporary control plane.
func (r *Role) nodes(ctx context.Context) ([]node, error) {
	var list struct {
		Items []struct {
			Metadata struct {
				Name   string            `json:"name"`
				Labels map[string]string `json:"labels"`
			} `json:"metadata"`
			Status struct {
				Conditions []struct{ Type, Status string } `json:"conditions"`
			} `json:"status"`
		} `json:"items"`
	}
	if err := r.get(ctx, "/api/v1/nodes", &list); err != nil {
		return nil, err
	}
	var out []node
	for _, item := range list.Items {
		n := node{name: item.Metadata.Name}
		for _, label := range []string{"node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane"} {
			_, has := item.Metadata.Labels[label]
			n.controlPlane = n.controlPlane || has
		}
		for _, c := range item.Status.Conditions {
			n.ready = n.ready || c.Type == "Ready" && c.Status == "True"
		}
		out = append(out, n)
	}
	return out, nil
}

// readyReason is the event by which the in-cluster controller says that it is there.
const readyReason = "AssistedControllerIsReady"

// controllerReady looks for the controller's event.
func (r *Role) controllerReady(ctx context.Context) (bool, error) {
	var list struct {
		Items []struct {
			Reason string `json:"reason"`
		} `json:"items"`
	}
	err := r.get(ctx, "/api/v1/namespaces/"+controllerNamespace+"/events", &list)
	return slices.ContainsFunc(list.Items, func(e struct {
		Reason string `json:"reason"`
	},
	) bool {
		return e.Reason == readyReason
	}), err
}

// get reads from the API server of the kubeconfig that bootstrap.ign has brought.
func (r *Role) get(ctx context.Context, path string, into any) error {
	raw, err := os.ReadFile(r.Dir.Path(kubeconfig))
	if err != nil {
		return err
	}
	access, err := readKubeconfig(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", kubeconfig, err)
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, access.server+path, nil)
	if err != nil {
		return err
	}
	transport := &http.Transport{TLSClientConfig: access.tls} // loopback: no proxy
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the API server answered %s", resp.Status)
	}
	return json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(into)
}

// access is how to reach an API server.
type access struct {
	server string
	tls    *tls.Config
}

// readKubeconfig reads the first cluster and user of a kubeconfig with embedded
// certificates, as installers write it.
func readKubeconfig(raw []byte) (access, error) {
	var c struct {
		Clusters []struct {
			Cluster struct {
				Server string `json:"server"`
				CA     string `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User struct {
				Certificate string `json:"client-certificate-data"`
				Key         string `json:"client-key-data"`
			} `json:"user"`
		} `json:"users"`
	}
	if err := yaml.Unmarshal(raw, &c); err != nil || len(c.Clusters) == 0 || len(c.Users) == 0 {
		return access{}, errors.New("it is not a kubeconfig with a cluster and a user") // not quoted: it holds a key
	}
	server := strings.TrimSuffix(c.Clusters[0].Cluster.Server, "/")
	if u, err := url.Parse(server); err != nil || u.Scheme != "https" || u.Host == "" {
		return access{}, errors.New("its server is no https URL")
	}
	ca, err1 := base64.StdEncoding.DecodeString(c.Clusters[0].Cluster.CA)
	certificate, err2 := base64.StdEncoding.DecodeString(c.Users[0].User.Certificate)
	key, err3 := base64.StdEncoding.DecodeString(c.Users[0].User.Key)
	pair, err4 := tls.X509KeyPair(certificate, key)
	pool := x509.NewCertPool()
	if errors.Join(err1, err2, err3, err4) != nil || !pool.AppendCertsFromPEM(ca) {
		return access{}, errors.New("its certificates cannot be read")
	}
	return access{server: server, tls: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool, Certificates: []tls.Certificate{pair}}}, nil
}
