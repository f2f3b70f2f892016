// Package controllers runs the two controllers of kube-controller-manager that
// give the Kubernetes API its deletion semantics: garbage collection by owner
// references and the emptying of deleted namespaces. kube-apiserver alone leaves
// dependents and namespaces for ever.
package controllers

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
)

const (
	// discoveryPeriod is how often the garbage collector looks for new kinds.
	// The stock 30 s would make a test wait after it has applied its CRDs.
	discoveryPeriod = 2 * time.Second
	// namespaceResync is how often all namespaces are looked at again.
	namespaceResync = 5 * time.Minute
	// workers serve each queue. Two cores need no more.
	workers = 4
)

// Main runs both controllers, without leader election or listeners, until SIGINT
// or SIGTERM. The arguments begin with the program's name; the result is its exit
// status.
func Main(args []string) int {
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "kubeconfig `file` of an administrator")
	if err := flags.Parse(args[1:]); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *kubeconfig); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", args[0], err)
		return 1
	}
	return 0
}

// run runs both controllers until the context ends.
func run(ctx context.Context, kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("read kubeconfig %q: %w", kubeconfig, err)
	}
	config.QPS, config.Burst = 200, 400
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	metadataClient, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}

	typed := informers.NewSharedInformerFactory(client, 0)
	namespaces := namespace.NewNamespaceController(ctx, client, metadataClient,
		client.Discovery().ServerPreferredNamespacedResources,
		typed.Core().V1().Namespaces(), namespaceResync, corev1.FinalizerKubernetes)

	started := make(chan struct{})
	collect, err := newCollector(ctx, config, client, metadataClient, typed, started)
	if err != nil {
		return err
	}

	typed.Start(ctx.Done())
	close(started)
	var running sync.WaitGroup
	running.Go(func() { namespaces.Run(ctx, workers) })
	running.Go(func() { collect.Run(ctx, workers, discoveryPeriod) })
	running.Go(func() { collect.Sync(ctx, client.Discovery(), discoveryPeriod) })
	running.Wait()
	return nil
}

// newCollector builds the garbage collector. Its graph starts to follow
// informers once started is closed.
func newCollector(
	ctx context.Context, config *rest.Config, client kubernetes.Interface, metadataClient metadata.Interface,
	typed informers.SharedInformerFactory, started <-chan struct{},
) (*garbagecollector.GarbageCollector, error) {
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	factory := informerfactory.NewInformerFactory(typed, metadatainformer.NewSharedInformerFactory(metadataClient, 0))
	collector, err := garbagecollector.NewGarbageCollector(ctx, client, metadataClient, mapper,
		garbagecollector.DefaultIgnoredResources(), factory, started)
	if err != nil {
		return nil, fmt.Errorf("start the garbage collector for %s: %w", config.Host, err)
	}
	return collector, nil
}
