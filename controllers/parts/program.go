package parts

import (
	"cmp"
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/secretcache"
	"github.com/ironflow/ironflow/hub/pki"
)

// Program is what the parts of one running process share.
type Program struct {
	Settings v1alpha1.IronflowConfiguration
	Log      logr.Logger
	Manager  ctrl.Manager
	// Cert are the certificate of its listeners, and the CA that hosts trust.
	Cert pki.Files
	// Lease is that of the leader; empty for that of the controllers.
	Lease string
	// OneOfMany is for tests that start the program several times in one process.
	OneOfMany bool
}

func (p *Program) makeManager() error {
	config, err := p.access()
	if err != nil {
		return err
	}
	options, err := p.managerOptions()
	if err != nil {
		return err
	}
	if p.Manager, err = ctrl.NewManager(config, options); err != nil {
		return fmt.Errorf("prepare the controllers: %w", err)
	}
	if err := p.Manager.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	return p.Manager.AddReadyzCheck("ping", healthz.Ping)
}

// access is the way to the API server. That has its own fairness; a brake here only
// makes fleets wait.
func (p *Program) access() (*rest.Config, error) {
	config, err := ClusterConfig(p.Settings.Kubernetes.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("no cluster to talk to: %w; set --kubeconfig or KUBECONFIG", err)
	}
	config.QPS = -1
	return config, nil
}

// managerOptions are what the controllers share: the cache, the listeners, and
// whether one replica leads.
func (p *Program) managerOptions() (ctrl.Options, error) {
	scheme, err := NewScheme()
	if err != nil {
		return ctrl.Options{}, err
	}
	serving, err := p.metricsOptions()
	if err != nil {
		return ctrl.Options{}, err
	}
	lease, renew, retry, err := electionSettings(p.Settings.LeaderElection).times()
	if err != nil {
		return ctrl.Options{}, err
	}
	readYourWrites := true
	return ctrl.Options{
		Scheme:                        scheme,
		Logger:                        p.Log,
		Cache:                         cacheOptions(p.Settings.Kubernetes.Namespaces),
		NewCache:                      secretcache.New,
		Client:                        client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: &readYourWrites}},
		Controller:                    ctrlconfig.Controller{SkipNameValidation: &p.OneOfMany},
		Metrics:                       serving,
		HealthProbeBindAddress:        p.Settings.Monitoring.HealthAddress,
		PprofBindAddress:              p.Settings.Monitoring.ProfilerAddress,
		LeaderElection:                p.Settings.LeaderElection.Enabled,
		LeaderElectionNamespace:       p.Settings.LeaderElection.Namespace,
		LeaderElectionID:              cmp.Or(p.Lease, names.ControllersLease),
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &lease,
		RenewDeadline:                 &renew,
		RetryPeriod:                   &retry,
	}, nil
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
