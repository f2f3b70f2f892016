package parts

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

func TestManagerOptions(t *testing.T) {
	leads := with(func(c *v1alpha1.IronflowConfiguration) { c.LeaderElection.Enabled = true })
	for name, c := range map[string]struct {
		program    Program
		leads      bool
		lease      string
		namespaces []string
	}{
		"by default": {lease: names.ControllersLease},
		"one leader": {program: Program{Settings: leads}, leads: true, lease: names.ControllersLease},
		"a part":     {program: Program{Settings: leads, Lease: names.HubLease}, leads: true, lease: names.HubLease},
		"one namespace": {
			program: Program{Settings: with(func(c *v1alpha1.IronflowConfiguration) { c.Kubernetes.Namespaces = []string{"lab"} })},
			lease:   names.ControllersLease, namespaces: []string{"lab"},
		},
		"several namespaces": {
			program: Program{Settings: with(func(c *v1alpha1.IronflowConfiguration) { c.Kubernetes.Namespaces = []string{"a", "b"} })},
			lease:   names.ControllersLease, namespaces: []string{"a", "b"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c.program.Settings.Monitoring.MetricsAddress = "0"
			o, err := c.program.managerOptions()
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(o.LeaderElection).To(Equal(c.leads))
			g.Expect(o.LeaderElectionID).To(Equal(c.lease))
			g.Expect(o.LeaderElectionReleaseOnCancel).To(BeTrue(), "the next one need not wait for the lease to run out")
			g.Expect(slices.Sorted(maps.Keys(o.Cache.DefaultNamespaces))).To(Equal(c.namespaces))
		})
	}
}

// TestOneReplicaLeads starts two programs on a real API server: one works, the other
// takes over when the first one stops.
func TestOneReplicaLeads(t *testing.T) {
	g := NewWithT(t)
	plane := labtest.ControlPlane(t, lab.ControlPlaneOptions{})
	kube, err := kubernetes.NewForConfig(plane.Config())
	g.Expect(err).NotTo(HaveOccurred())
	_, err = kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: names.HubNamespace}}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	access, err := plane.ConfigFor("ironflow-under-test", "system:masters")
	g.Expect(err).NotTo(HaveOccurred())
	kubeconfig := writeKubeconfig(g, t.TempDir(), access)
	var leading [2]atomic.Bool
	var stops [2]context.CancelFunc
	start := func(i int) {
		p := &Program{Log: logr.Discard(), Settings: with(func(c *v1alpha1.IronflowConfiguration) {
			c.Kubernetes.Kubeconfig, c.Monitoring = kubeconfig, v1alpha1.Monitoring{MetricsAddress: "0", HealthAddress: "0", ProfilerAddress: "0"}
			c.LeaderElection = v1alpha1.LeaderElection{Enabled: true, Namespace: names.HubNamespace}
		})}
		g.Expect(p.makeManager()).To(Succeed())
		g.Expect(p.Manager.Add(manager.RunnableFunc(func(ctx context.Context) error {
			leading[i].Store(true)
			<-ctx.Done()
			leading[i].Store(false)
			return nil
		}))).To(Succeed())
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- p.Manager.Start(ctx) }()
		stops[i] = func() {
			stop()
			if err := <-done; !errors.Is(err, context.Canceled) {
				g.Expect(err).NotTo(HaveOccurred())
			}
		}
	}
	start(0)
	g.Eventually(leading[0].Load, 30*time.Second, 50*time.Millisecond).Should(BeTrue())
	start(1)
	g.Consistently(leading[1].Load, 3*time.Second, 50*time.Millisecond).Should(BeFalse())
	stops[0]()
	g.Eventually(leading[1].Load, 30*time.Second, 50*time.Millisecond).Should(BeTrue(), "the lease was given up")
	stops[1]()
}

func TestHostsAtOnce(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("BMO_CONCURRENCY", "7")
	var s v1alpha1.IronflowConfiguration
	flags := pflag.NewFlagSet("controllers", pflag.ContinueOnError)
	settings.Bind(flags, topics.All(&s))
	g.Expect(flags.Parse(nil)).To(Succeed())
	g.Expect(s.Hosts.Concurrency).To(Equal(7))
	s.Kubernetes.Kubeconfig = writeKubeconfig(g, t.TempDir(), &rest.Config{Host: "https://192.0.2.1"})
	access, err := (&Program{Settings: s}).access()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(access.QPS).To(BeNumerically("<", 0), "requests wait for the API server alone")
}

// with is a configuration with just that set.
func with(set func(*v1alpha1.IronflowConfiguration)) (c v1alpha1.IronflowConfiguration) {
	set(&c)
	return c
}

// writeKubeconfig writes an access as a file.
func writeKubeconfig(g *WithT, dir string, access *rest.Config) string {
	file := clientcmdapi.NewConfig()
	file.Clusters["lab"] = &clientcmdapi.Cluster{Server: access.Host, CertificateAuthorityData: access.CAData}
	file.AuthInfos["user"] = &clientcmdapi.AuthInfo{ClientCertificateData: access.CertData, ClientKeyData: access.KeyData}
	file.Contexts["lab"] = &clientcmdapi.Context{Cluster: "lab", AuthInfo: "user"}
	file.CurrentContext = "lab"
	path := filepath.Join(dir, "kubeconfig")
	g.Expect(clientcmd.WriteToFile(*file, path)).To(Succeed())
	return path
}
