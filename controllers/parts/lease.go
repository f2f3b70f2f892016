package parts

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/migrate"
)

// WithNext adds what to do to an error of a program's first question to the API server. Those of the way
// there come from the library as they are.
func WithNext(err error) error {
	if _, is := errors.AsType[*url.Error](err); is && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w; set --kubeconfig or KUBECONFIG to a cluster that is reached from here; in a pod, look at the service account's token and at network policies", err)
	}
	return err
}

// handOver waits until no other operator works on the hosts. While it waits,
// nothing else runs but the probes: alive, not ready.
func (p *Program) handOver(ctx context.Context) error {
	access, err := ClusterConfig(p.Settings.Kubernetes.Kubeconfig)
	if err != nil {
		return fmt.Errorf("no cluster to talk to: %w; set --kubeconfig or KUBECONFIG", err)
	}
	scheme, err := NewScheme()
	if err != nil {
		return err
	}
	reader, err := client.New(access, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("connect to the cluster: %w", err)
	}
	holder, err := migrate.LeaseHolder(ctx, reader, time.Now())
	if err != nil || holder == "" {
		return WithNext(err)
	}
	stop, err := serveWaiting(ctx, p.Settings.Monitoring.HealthAddress, "waiting for baremetal-operator to stop: "+holder+" holds its lease")
	if err != nil {
		return err
	}
	return errors.Join(migrate.WaitForLease(ctx, reader, p.Log), stop())
}

// serveWaiting answers the probes of a program that waits, until stop is called.
// The address is free again afterwards.
func serveWaiting(ctx context.Context, addr, why string) (stop func() error, err error) {
	if addr == "" || addr == "0" {
		return func() error { return nil }, nil
	}
	listener, err := Listen(ctx, addr)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, why, http.StatusServiceUnavailable) })
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	return func() error {
		err := server.Close()
		if served := <-done; !errors.Is(served, http.ErrServerClosed) {
			return served
		}
		return err
	}, nil
}
