package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	ironflowv1 "github.com/ironflow/ironflow/api/ironflow/v1alpha1"
)

const connectionHelp = "The cluster is chosen as by kubectl. kubectl's other flags for that work too: --cluster, --user, --server, --token,\n" +
	"--as, --as-group, --request-timeout, --cache-dir, --insecure-skip-tls-verify and so on."

// connection is how the user said to reach the cluster, with kubectl's flags.
type connection struct {
	flags *genericclioptions.ConfigFlags
}

func newConnection() *connection {
	flags := genericclioptions.NewConfigFlags(true).WithDiscoveryBurst(300).WithDiscoveryQPS(50)
	flags.WrapConfigFn = func(config *rest.Config) *rest.Config {
		config.QPS = -1 // the API server itself knows how much it can do
		return config
	}
	return &connection{flags: flags}
}

// helpful are the flags that each help shows.
var helpful = []string{"kubeconfig", "context", "namespace"}

func (c *connection) bind(root *cobra.Command) {
	flags := root.PersistentFlags()
	c.flags.AddFlags(flags)
	flags.VisitAll(func(f *pflag.Flag) { f.Hidden = !slices.Contains(helpful, f.Name) })
	flags.Lookup("kubeconfig").Usage = "kubeconfig file ($KUBECONFIG)"
	flags.Lookup("context").Usage = "context of the kubeconfig; default: its current context"
	flags.Lookup("namespace").Usage = "namespace of the objects; default: the namespace of the context"
}

// scheme knows every kind that is read.
func scheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, metal3v1.AddToScheme, agentv1.AddToScheme, hivev1.AddToScheme, hiveextv1.AddToScheme, ironflowv1.AddToScheme} {
		if err := add(s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// config is the access to the cluster. kubectl takes localhost where nobody says which; that only leads to a riddle.
func (c *connection) config() (*rest.Config, error) {
	raw, err := c.flags.ToRawKubeConfigLoader().RawConfig()
	if err == nil && len(raw.Clusters) == 0 && *c.flags.APIServer == "" && os.Getenv("KUBERNETES_SERVICE_HOST") == "" {
		err = errors.New("no kubeconfig names one")
	}
	var config *rest.Config
	if err == nil {
		config, err = c.flags.ToRESTConfig()
	}
	if err != nil {
		return nil, fmt.Errorf("no cluster to talk to: %w; set KUBECONFIG or --kubeconfig", err)
	}
	return config, nil
}

// space is the namespace to work in, and whether the user has said it.
func (c *connection) space() (namespace string, said bool, err error) {
	namespace, said, err = c.flags.ToRawKubeConfigLoader().Namespace()
	return namespace, said, err
}

// open returns a client that can watch, and the namespace to work in.
func (c *connection) open() (client.WithWatch, string, error) {
	config, err := c.config()
	if err != nil {
		return nil, "", err
	}
	namespace, _, err := c.space()
	if err != nil {
		return nil, "", err
	}
	mapper, err := c.flags.ToRESTMapper()
	if err != nil {
		return nil, "", err
	}
	s, err := scheme()
	if err != nil {
		return nil, "", err
	}
	cl, err := client.NewWithWatch(config, client.Options{Scheme: s, Mapper: mapper})
	return cl, namespace, err
}
