package main

import (
	"fmt"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	ironflowv1 "github.com/ironflow/ironflow/api/ironflow/v1alpha1"
)

// connection is how the user said to reach the cluster, with kubectl's flags.
type connection struct {
	kubeconfig, context, namespace string
}

func (c *connection) bind(flags *pflag.FlagSet) {
	flags.StringVar(&c.kubeconfig, "kubeconfig", "", "kubeconfig file ($KUBECONFIG)")
	flags.StringVar(&c.context, "context", "", "context of the kubeconfig; default: its current one")
	flags.StringVarP(&c.namespace, "namespace", "n", "", "namespace; default: the context's")
}

// open returns a client that can watch, and the namespace to work in.
func (c *connection) open() (client.WithWatch, string, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: c.context})
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, "", fmt.Errorf("no cluster to talk to: %w; set KUBECONFIG or --kubeconfig", err)
	}
	namespace := c.namespace
	if namespace == "" {
		if namespace, _, err = loader.Namespace(); err != nil {
			return nil, "", err
		}
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, metal3v1.AddToScheme, agentv1.AddToScheme, hivev1.AddToScheme, hiveextv1.AddToScheme, ironflowv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, "", err
		}
	}
	cl, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	return cl, namespace, err
}
