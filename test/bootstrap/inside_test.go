//go:build e2e

package bootstrap_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/balance"
	"github.com/ironflow/ironflow/test/cluster/incluster"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

// connect makes the API of the control plane be reached from here, and makes in it what only OpenShift makes.
func (w *world) connect() {
	w.Helper()
	var servers []balance.Dial
	for _, m := range w.others {
		servers = append(servers, func(ctx context.Context) (net.Conn, error) { return m.Dial(ctx, "tcp", "127.0.0.1:6443") })
	}
	w.plane.URL = "https://" + balance.Start(w.T, "127.0.0.1", servers...)
	var err error
	w.inner, err = incluster.New(w.Context(), w.plane)
	w.Expect(err).NotTo(HaveOccurred())
	w.Cleanup(w.inner.Close)
	w.Expect(w.inner.OpenShift(w.Context(), version)).To(Succeed())
}

// kubelet plays that of an installed host: its node is there, and Ready, once somebody approves what it asks for.
func (w *world) kubelet(name, address string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	k := incluster.Kubelet{Cluster: w.inner, Name: name, Address: address, Labels: map[string]string{"node-role.kubernetes.io/master": ""}}
	for _, step := range []func(context.Context) error{k.Joins, k.GetsReady} {
		if err := step(ctx); err != nil {
			w.Fatalf("%s: %v\n%s", name, err, w.story())
		}
	}
}

// reboots ends the live system of the bootstrap host, and boots what is installed. The network is the former one's.
func (w *world) reboots() *systemdtest.Machine {
	w.Helper()
	w.first.Run(w.T, "systemctl", "stop", "kube-apiserver.service", "etcd.service")
	w.inNetworkOf(w.first.Machine, "ip link set eno1 down", "ip address flush dev eno1")
	return w.installed(0)
}

// startInside starts the shipped program of the cluster beside it, as its Deployment in the cluster says. Nobody here runs
// pods.
func (w *world) startInside() {
	w.Helper()
	env, err := w.inner.Environment(w.Context())
	w.Expect(err).NotTo(HaveOccurred())
	raw, err := w.inner.Kubeconfig()
	w.Expect(err).NotTo(HaveOccurred())
	config := filepath.Join(w.TempDir(), "inside.kubeconfig")
	w.Expect(os.WriteFile(config, raw, 0o600)).To(Succeed())
	cmd := exec.CommandContext(context.WithoutCancel(w.Context()), needs.Shipped(w.T, "ironflow-cluster"), "run", "--ca-file", w.hub.CA, "--kubeconfig", config, "--listen", "0")
	cmd.Env = os.Environ()
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	w.inside = w.start("ironflow-cluster", cmd)
}
