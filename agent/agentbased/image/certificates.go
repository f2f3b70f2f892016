package image

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ironflow/ironflow/api/names"
)

// clusterPort is the port of a cluster's API.
const clusterPort = "6443"

// api is what is known of the new cluster's API before there is one.
type api struct {
	// server is its host and port.
	server string
	// kubernetes tells that its certificates are those that kubeadm knows.
	kubernetes bool
}

// api returns nil where nobody knows yet, and for a factory image: the hub makes the
// certificates then. A running cluster has its own.
func (p *Plan) api() *api {
	if p.Set == nil || p.joins != nil {
		return nil
	}
	said := p.Set.AgentClusterInstall.Metadata.Annotations
	switch said[names.IgnitionSource] {
	case "kubernetes":
		if server := p.kubernetesAPI(said[names.KubernetesSettings]); server != "" {
			return &api{server, true}
		}
		return nil
	case "", "openshift-install":
		if p.Release != "" {
			return &api{net.JoinHostPort("api."+p.Cluster(), clusterPort), false}
		}
	}
	return nil
}

// kubernetesAPI is the endpoint that the settings name, the virtual address, or that of a
// control plane of one host; empty for none of them.
func (p *Plan) kubernetesAPI(settings string) string {
	var s struct {
		Endpoint string `json:"endpoint"`
	}
	if err := json.Unmarshal([]byte(settings), &s); err == nil && s.Endpoint != "" {
		if host, port, err := net.SplitHostPort(s.Endpoint); err == nil {
			return net.JoinHostPort(host, cmp.Or(port, clusterPort))
		}
		return net.JoinHostPort(strings.Trim(s.Endpoint, "[]"), clusterPort)
	}
	vips, _ := p.Set.AgentClusterInstall.VIPs()
	switch {
	case len(vips) > 0:
		return net.JoinHostPort(vips[0], clusterPort)
	case p.Wanted.ControlPlaneAgents == 1:
		return net.JoinHostPort(p.Rendezvous.String(), clusterPort)
	}
	return ""
}

// tlsFolder keeps the certificates in the output folder.
const tlsFolder = authFolder + "/tls"

// Authorities make and use the certificates of a cluster. Those of a plain Kubernetes are
// the hub's to know: who wires the program hands them in.
type Authorities struct {
	// New makes files by their names in the folder of certificates.
	New func(now time.Time) (map[string][]byte, error)
	// Kubeconfig is an administrator's access to the API at server, by those files.
	Kubeconfig func(files map[string][]byte, name, server string, now time.Time) ([]byte, error)
}

// certify gives the identity the cluster's certificates, those of an earlier image in the
// output folder or new ones, and a kubeconfig.
func (p *Plan) certify(id Identity, kubernetes Authorities, out string, now time.Time) (Identity, error) {
	a := p.api()
	if a == nil {
		return id, nil
	}
	makes := Authorities{newSigners, signersKubeconfig}
	if a.kubernetes {
		makes = kubernetes
	}
	folder := filepath.Join(out, tlsFolder)
	files, err := readFolder(folder)
	if err != nil {
		return id, err
	}
	if len(files) == 0 {
		if files, err = makes.New(now); err != nil {
			return id, err
		}
	}
	if !a.kubernetes && files[passwordHash] == nil {
		if id.password, files[passwordHash], err = newPassword(); err != nil {
			return id, err
		}
	}
	id.tls = files
	id.kubeconfig, err = makes.Kubeconfig(files, p.Set.ClusterDeployment.Spec.ClusterName, "https://"+a.server, now)
	if err != nil {
		return id, fmt.Errorf("%s: %w; take the folder away for new ones", folder, err)
	}
	return id, nil
}

// readFolder reads the files below a folder by their names there; none for a missing one.
func readFolder(dir string) (map[string][]byte, error) {
	all := map[string][]byte{}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // nothing is lost by it
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if info, err := e.Info(); err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
			return fmt.Errorf("%s is no file of certificates", filepath.Join(dir, name))
		}
		all[name], err = root.ReadFile(name)
		return err
	})
	return all, err
}
