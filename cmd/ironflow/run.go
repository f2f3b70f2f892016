package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-logr/logr"
	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	ironflowv1 "github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/secretcache"
	"github.com/ironflow/ironflow/controllers/wire"
	"github.com/ironflow/ironflow/hub/configured"
	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/hub/reach"
	"github.com/ironflow/ironflow/ironic"
)

// program is what the parts of one running process share.
type program struct {
	settings configuration
	log      logr.Logger
	manager  ctrl.Manager
	cert     pki.Files
	lease    string // of the leader; empty for that of the controllers
	// oneOfMany is for tests that start the program several times in one process.
	oneOfMany bool

	// What parts have made, for those that are set up after them and for what runs later.
	images  *imageParts
	hub     *hubParts
	bmcs    bmcParts
	ironics *ironic.Endpoints
}

// publish settles under which addresses others reach us, and the certificate for them.
func (p *program) publish() error {
	s := &p.settings
	if s.Hub.PublishURL == "" {
		s.Hub.PublishURL = "https://" + loopback(s.Hub.Address)
	}
	if s.Images.PublishURL == "" {
		s.Images.PublishURL = "http://" + loopback(s.Images.Address)
	}
	hosts := []string{"127.0.0.1", "localhost", "ironflow." + names.HubNamespace + ".svc"}
	for _, u := range []string{s.Hub.PublishURL, s.Images.PublishURL, s.BMCEvents.PublishURL} {
		if host := hostOf(u); host != "" {
			hosts = append(hosts, host)
		}
	}
	var err error
	if p.cert, err = pki.Ensure(filepath.Join(s.Store.DataDir, "tls"), hosts, time.Now()); err != nil {
		return fmt.Errorf("certificates: %w", err)
	}
	return nil
}

func (p *program) makeManager() error {
	config, err := p.access()
	if err != nil {
		return err
	}
	options, err := p.managerOptions()
	if err != nil {
		return err
	}
	if p.manager, err = ctrl.NewManager(config, options); err != nil {
		return fmt.Errorf("prepare the controllers: %w", err)
	}
	if err := p.manager.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	return p.manager.AddReadyzCheck("ping", healthz.Ping)
}

// access is the way to the API server. That has its own fairness; a brake here only
// makes fleets wait.
func (p *program) access() (*rest.Config, error) {
	config, err := clusterConfig(p.settings.Kubernetes.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("no cluster to talk to: %w; set --kubeconfig or KUBECONFIG", err)
	}
	config.QPS = -1
	return config, nil
}

// managerOptions are what the controllers share: the cache, the listeners, and
// whether one replica leads.
func (p *program) managerOptions() (ctrl.Options, error) {
	scheme, err := newScheme()
	if err != nil {
		return ctrl.Options{}, err
	}
	serving, err := p.metricsOptions()
	if err != nil {
		return ctrl.Options{}, err
	}
	lease, renew, retry, err := electionSettings(p.settings.LeaderElection).times()
	if err != nil {
		return ctrl.Options{}, err
	}
	readYourWrites := true
	return ctrl.Options{
		Scheme:                        scheme,
		Logger:                        p.log,
		Cache:                         cacheOptions(p.settings.Kubernetes.Namespaces),
		NewCache:                      secretcache.New,
		Client:                        client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: &readYourWrites}},
		Controller:                    ctrlconfig.Controller{SkipNameValidation: &p.oneOfMany},
		Metrics:                       serving,
		HealthProbeBindAddress:        p.settings.Monitoring.HealthAddress,
		PprofBindAddress:              p.settings.Monitoring.ProfilerAddress,
		LeaderElection:                p.settings.LeaderElection.Enabled,
		LeaderElectionNamespace:       p.settings.LeaderElection.Namespace,
		LeaderElectionID:              cmp.Or(p.lease, names.ControllersLease),
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &lease,
		RenewDeadline:                 &renew,
		RetryPeriod:                   &retry,
	}, nil
}

// everywhere runs on every replica, leader or not.
type everywhere func(context.Context) error

// Start implements manager.Runnable.
func (e everywhere) Start(ctx context.Context) error { return e(ctx) }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (e everywhere) NeedLeaderElection() bool { return false }

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, metal3v1.AddToScheme, agentv1.AddToScheme, hivev1.AddToScheme, hiveextv1.AddToScheme, ironflowv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// clusterConfig is how the API server is reached. Nothing is compressed: the way
// to it is short, and a fleet's lists would cost both sides more than they save.
func clusterConfig(kubeconfig string) (config *rest.Config, err error) {
	if kubeconfig == "" {
		config, err = rest.InClusterConfig()
	} else {
		config, err = clientcmd.BuildConfigFromFlags("", kubeconfig)
	}
	if err != nil {
		return nil, err
	}
	config.DisableCompression = true
	config.Wrap(wire.Transport)
	return config, nil
}

func cacheOptions(namespaces []string) cache.Options {
	o := cache.Options{DefaultTransform: cache.TransformStripManagedFields()}
	for _, ns := range namespaces {
		if o.DefaultNamespaces == nil {
			o.DefaultNamespaces = map[string]cache.Config{}
		}
		o.DefaultNamespaces[ns] = cache.Config{}
	}
	return o
}

// checkPublished refuses addresses that BMCs and machines cannot reach: hosts would
// wait for minutes for what nobody can fetch.
func (s *configuration) checkPublished() error {
	published := []struct{ flag, address, whom string }{
		{"hub-publish-url", s.Hub.PublishURL, "machines reach the hub"},
		{"images-publish-url", s.Images.PublishURL, "BMCs reach live images"},
		{"bmc-events-publish-url", s.BMCEvents.PublishURL, "BMCs reach the receiver of their events"},
	}
	for _, address := range s.LiveSystem.IronicBaseURLs { // the endpoint's, where nothing else is set
		published = append(published, struct{ flag, address, whom string }{"ironic-base-url", address, "machines reach Ironic"})
	}
	cluster := reach.Around()
	for _, p := range published {
		if reach.Unset(p.address) {
			return fmt.Errorf("--%s %q was not filled in; set it to a URL by which %s (docs/install.md)", p.flag, p.address, p.whom)
		}
		if why := cluster.Unreachable(p.address); why != "" && !s.Kubernetes.MachinesInCluster {
			return fmt.Errorf("--%s %q: %q %s; set it to a URL by which %s, such as that of a load balancer, a node or an ingress, or set --machines-in-cluster if they do reach this one (docs/install.md)",
				p.flag, p.address, hostOf(p.address), why, p.whom)
		}
	}
	return nil
}

// loopback is the address with a host that works on this machine.
func loopback(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || host != "" {
		return addr
	}
	return net.JoinHostPort("127.0.0.1", port)
}

// hostOf returns the host of a URL without its port.
func hostOf(rawURL string) string {
	_, rest, _ := strings.Cut(rawURL, "://")
	host, _, err := net.SplitHostPort(strings.SplitN(rest, "/", 2)[0])
	if err != nil {
		return strings.SplitN(rest, "/", 2)[0]
	}
	return host
}

// serverTLS serves a certificate, and its renewal.
func serverTLS(files pki.Files, s v1alpha1.TLS) (*tls.Config, error) {
	harden, err := configured.TLS(s)
	if err != nil {
		return nil, err
	}
	reloader, err := pki.NewReloader(files)
	if err != nil {
		return nil, err
	}
	config := reloader.TLSConfig()
	harden(config)
	return config, nil
}
