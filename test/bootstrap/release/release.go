// Package release plays what OpenShift alone makes of hosts of a control plane, with a real etcd and a real
// kube-apiserver: the services of bootstrap.ign, which bring up a control plane out of memory and leave it to the others
// (testdata), and the installed systems that join it, each a booted systemd. Kubelets and operators are in package
// incluster. The main type is [Plane].
package release

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"embed"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/ironflow/ironflow/test/lab/pki"
)

//go:embed testdata
var testdata embed.FS

// ProgramDir is where the machines have programs that their images do not bring.
const ProgramDir = "/usr/local/bin"

// AdminConfig is an administrator's kubeconfig on an installed host.
const AdminConfig = "/etc/kubernetes/admin.kubeconfig"

// bootstrapConfig is that of the bootstrap host.
const bootstrapConfig = "/opt/openshift/auth/kubeconfig-loopback"

// Plane is a control plane of three, with one authority for all, as far as it matters here.
type Plane struct {
	// Addresses are those of the hosts; the first one is the bootstrap host's.
	Addresses []string
	// URL is where its API is reached from outside, once somebody has said so.
	URL string

	t         testing.TB
	authority *pki.Authority
	serving   pki.Pair
	accounts  []byte
}

// New makes the certificates; nothing runs yet.
func New(t testing.TB, addresses ...string) *Plane {
	t.Helper()
	p := &Plane{Addresses: addresses, t: t}
	var err error
	p.authority, err = pki.New("cluster")
	p.must(err)
	p.serving, err = p.authority.Server(append([]string{"127.0.0.1"}, addresses...)...)
	p.must(err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	p.must(err)
	raw, err := x509.MarshalECPrivateKey(key)
	p.must(err)
	p.accounts = pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw})
	return p
}

func (p *Plane) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *Plane) script(name string) string {
	p.t.Helper()
	raw, err := testdata.ReadFile("testdata/" + name)
	p.must(err)
	return string(raw)
}

// ConfigFor is the access of somebody, see [incluster.Plane].
func (p *Plane) ConfigFor(user string, groups ...string) (*rest.Config, error) {
	pair, err := p.authority.Client(user, groups...)
	return &rest.Config{Host: p.URL, TLSClientConfig: rest.TLSClientConfig{CAData: p.authority.PEM, CertData: pair.Cert, KeyData: pair.Key}}, err
}

// Kubeconfig is an administrator's, for a server's URL.
func (p *Plane) Kubeconfig(server string) string {
	p.t.Helper()
	type object = map[string]any
	admin, err := p.authority.Client("system:admin", "system:masters")
	p.must(err)
	raw, err := json.Marshal(object{ // which is YAML, too
		"apiVersion": "v1", "kind": "Config", "current-context": "admin",
		"clusters": []object{{"name": "cluster", "cluster": object{"server": server, "certificate-authority-data": p.authority.PEM}}},
		"users":    []object{{"name": "admin", "user": object{"client-certificate-data": admin.Cert, "client-key-data": admin.Key}}},
		"contexts": []object{{"name": "admin", "context": object{"cluster": "cluster", "user": "admin"}}},
	})
	p.must(err)
	return string(raw)
}

// files are what etcd and kube-apiserver of a host need, below the folder.
func (p *Plane) files(folder string) map[string]string {
	return map[string]string{
		folder + "/ca.crt": string(p.authority.PEM), folder + "/tls.crt": string(p.serving.Cert), folder + "/tls.key": string(p.serving.Key),
		folder + "/accounts.key": string(p.accounts),
	}
}

// units are etcd and kube-apiserver of a host as services; etcd's members beside it are in its environment.
func (p *Plane) units(name, address, folder, state string) map[string]string {
	peer, client := "http://"+address+":2380", "http://"+address+":2379"
	var stores []string
	for _, a := range p.Addresses {
		stores = append(stores, "http://"+a+":2379")
	}
	const service = "[Unit]\nDescription=%s\nStartLimitIntervalSec=0\n[Service]\nEnvironmentFile=-/etc/etcd/cluster.env\nRestart=on-failure\nRestartSec=1\nExecStart=%s\n"
	return map[string]string{
		"etcd.service": fmt.Sprintf(service, "The store of the cluster", strings.Join([]string{
			ProgramDir + "/etcd", "--name=" + name, "--data-dir=/var/lib/etcd", "--listen-client-urls=http://127.0.0.1:2379," + client, "--advertise-client-urls=" + client,
			"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster-state=" + state, "--unsafe-no-fsync", "--log-level=warn",
		}, " ")),
		"kube-apiserver.service": fmt.Sprintf(service, "The API of the cluster", strings.Join([]string{
			ProgramDir + "/kube-apiserver", "--etcd-servers=" + strings.Join(stores, ","), "--advertise-address=" + address, "--secure-port=6443",
			"--service-cluster-ip-range=10.96.0.0/16", "--tls-cert-file=" + folder + "/tls.crt", "--tls-private-key-file=" + folder + "/tls.key", "--client-ca-file=" + folder + "/ca.crt",
			"--authorization-mode=RBAC", "--allow-privileged=true", "--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + folder + "/accounts.key",
			"--service-account-signing-key-file=" + folder + "/accounts.key", "--disable-admission-plugins=ServiceAccount", "--endpoint-reconciler-type=none", "--cert-dir=/tmp/kubernetes",
		}, " ")),
	}
}

// Bootstrap are the files by their paths, and the units by their names, that the release has put into bootstrap.ign, as far
// as it is played here.
func (p *Plane) Bootstrap() (files, units map[string]string) {
	p.t.Helper()
	files = p.files("/opt/openshift/tls")
	files[bootstrapConfig] = p.Kubeconfig("https://127.0.0.1:6443")
	files["/etc/etcd/cluster.env"] = "ETCD_INITIAL_CLUSTER=bootstrap=http://" + p.Addresses[0] + ":2380\n"
	files["/opt/openshift/manifests/0000_10_config-managed.yaml"] = p.script("config-managed.yaml") // of the release; manifests of ours are for it
	units = map[string]string{}
	for name, kind := range map[string]string{"bootkube": "oneshot", "approve-csr": "simple", "progress": "simple"} {
		files[ProgramDir+"/"+name+".sh"] = strings.ReplaceAll(p.script(name+".sh"), "@stays@", p.Addresses[1])
		units[name+".service"] = "[Unit]\nDescription=" + name + "\nStartLimitIntervalSec=0\n[Service]\nType=" + kind + "\nRestart=on-failure\nRestartSec=2\nExecStart=/bin/sh " + ProgramDir + "/" + name + ".sh\n"
	}
	maps.Copy(units, p.units("bootstrap", p.Addresses[0], "/opt/openshift/tls", "new"))
	return files, units
}
