//go:build e2e

package bootstrap_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"embed"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab/pki"
)

//go:embed testdata
var testdata embed.FS

func script(t *WithT, name string) string {
	raw, err := testdata.ReadFile("testdata/" + name)
	t.Expect(err).NotTo(HaveOccurred())
	return string(raw)
}

// certificates are those of the cluster: one authority for all, as far as it matters here.
type certificates struct {
	authority *pki.Authority
	serving   pki.Pair
	accounts  []byte
}

func newCertificates(g *WithT) certificates {
	authority, err := pki.New("cluster")
	g.Expect(err).NotTo(HaveOccurred())
	c := certificates{authority: authority}
	c.serving, err = authority.Server(addresses...)
	g.Expect(err).NotTo(HaveOccurred())
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(HaveOccurred())
	raw, err := x509.MarshalECPrivateKey(key)
	g.Expect(err).NotTo(HaveOccurred())
	c.accounts = pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw})
	return c
}

// kubeconfig is an administrator's.
func (c certificates) kubeconfig(g *WithT, server string) string {
	type object = map[string]any
	admin, err := c.authority.Client("system:admin", "system:masters")
	g.Expect(err).NotTo(HaveOccurred())
	raw, err := json.Marshal(object{ // which is YAML, too
		"apiVersion": "v1", "kind": "Config", "current-context": "admin",
		"clusters": []object{{"name": "cluster", "cluster": object{"server": server, "certificate-authority-data": c.authority.PEM}}},
		"users":    []object{{"name": "admin", "user": object{"client-certificate-data": admin.Cert, "client-key-data": admin.Key}}},
		"contexts": []object{{"name": "admin", "context": object{"cluster": "cluster", "user": "admin"}}},
	})
	g.Expect(err).NotTo(HaveOccurred())
	return string(raw)
}

// files are what etcd and kube-apiserver of a host need, below the folder.
func (c certificates) files(folder string) map[string]string {
	return map[string]string{
		folder + "/ca.crt": string(c.authority.PEM), folder + "/tls.crt": string(c.serving.Cert), folder + "/tls.key": string(c.serving.Key),
		folder + "/accounts.key": string(c.accounts),
	}
}

// units are etcd and kube-apiserver of a host as services; etcd's members beside it are in its environment.
func units(name, address, folder, state string) map[string]string {
	peer, client := "http://"+address+":2380", "http://"+address+":2379"
	var stores []string
	for _, a := range addresses {
		stores = append(stores, "http://"+a+":2379")
	}
	const service = "[Unit]\nDescription=%s\nStartLimitIntervalSec=0\n[Service]\nEnvironmentFile=-/etc/etcd/cluster.env\nRestart=on-failure\nRestartSec=1\nExecStart=%s\n"
	return map[string]string{
		"etcd.service": fmt.Sprintf(service, "The store of the cluster", strings.Join([]string{
			"/usr/local/bin/etcd", "--name=" + name, "--data-dir=/var/lib/etcd", "--listen-client-urls=http://127.0.0.1:2379," + client, "--advertise-client-urls=" + client,
			"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster-state=" + state, "--unsafe-no-fsync", "--log-level=warn",
		}, " ")),
		"kube-apiserver.service": fmt.Sprintf(service, "The API of the cluster", strings.Join([]string{
			"/usr/local/bin/kube-apiserver", "--etcd-servers=" + strings.Join(stores, ","), "--advertise-address=" + address, "--secure-port=6443",
			"--service-cluster-ip-range=10.96.0.0/16", "--tls-cert-file=" + folder + "/tls.crt", "--tls-private-key-file=" + folder + "/tls.key", "--client-ca-file=" + folder + "/ca.crt",
			"--authorization-mode=RBAC", "--allow-privileged=true", "--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + folder + "/accounts.key",
			"--service-account-signing-key-file=" + folder + "/accounts.key", "--disable-admission-plugins=ServiceAccount", "--endpoint-reconciler-type=none", "--cert-dir=/tmp/kubernetes",
		}, " ")),
	}
}

// bootstrapFiles and bootstrapUnits are what OpenShift's release has put into bootstrap.ign, as far as it is played here.
func (c certificates) bootstrapFiles(g *WithT) map[string]string {
	all := c.files("/opt/openshift/tls")
	all["/opt/openshift/auth/kubeconfig-loopback"] = c.kubeconfig(g, "https://127.0.0.1:6443")
	all["/etc/etcd/cluster.env"] = "ETCD_INITIAL_CLUSTER=bootstrap=http://" + addresses[0] + ":2380\n"
	all["/opt/openshift/manifests/0000_10_config-managed.yaml"] = script(g, "config-managed.yaml") // of the release; manifests of ours are for it
	for _, name := range []string{"bootkube", "approve-csr", "progress"} {
		all["/usr/local/bin/"+name+".sh"] = script(g, name+".sh")
	}
	return all
}

func bootstrapUnits() map[string]string {
	all := units("bootstrap", addresses[0], "/opt/openshift/tls", "new")
	for name, kind := range map[string]string{"bootkube": "oneshot", "approve-csr": "simple", "progress": "simple"} {
		all[name+".service"] = "[Unit]\nDescription=" + name + "\nStartLimitIntervalSec=0\n[Service]\nType=" + kind + "\nRestart=on-failure\nRestartSec=2\nExecStart=/bin/sh /usr/local/bin/" + name + ".sh\n"
	}
	return all
}
