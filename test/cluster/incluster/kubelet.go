package incluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ironflow/ironflow/cluster/csr"
)

// lookAgain is the time between two looks at a request.
const lookAgain = 200 * time.Millisecond

// Kubelet plays that of an installed host: it asks for certificates, and its node is there,
// and Ready, once somebody has approved that.
type Kubelet struct {
	Cluster *Cluster
	// Name and Address are the node's.
	Name, Address string
	// Labels are those that the node registers with.
	Labels map[string]string
	// Round tells the requests of a cluster that is installed anew from those before.
	Round int
}

// Request names a signing request of it; kind is client or serving.
func (k Kubelet) Request(kind string) string { return fmt.Sprintf("%s-%s-%d", kind, k.Name, k.Round) }

// Joins makes a node that is not Ready, once the kubelet's certificate is approved.
func (k Kubelet) Joins(ctx context.Context) error {
	if err := k.ask(ctx, "client", csr.Client, "system:bootstrap:abcdef", "system:bootstrappers"); err != nil {
		return err
	}
	return k.Cluster.Node(ctx, k.Name, k.Address, false, k.Labels)
}

// GetsReady makes the node Ready, once its serving certificate is approved.
func (k Kubelet) GetsReady(ctx context.Context) error {
	if err := k.ask(ctx, "serving", csr.Serving, "system:node:"+k.Name, "system:nodes"); err != nil {
		return err
	}
	return k.Cluster.Node(ctx, k.Name, k.Address, true, k.Labels)
}

// ask makes a request and waits until it is approved.
func (k Kubelet) ask(ctx context.Context, kind, signer, user, group string) error {
	as, err := k.Cluster.As(user, group)
	if err != nil {
		return err
	}
	defer as.Close()
	var names, addresses []string
	if signer == csr.Serving {
		names, addresses = []string{k.Name}, []string{k.Address}
	}
	if err := Ask(ctx, as, k.Request(kind), k.Name, signer, names, addresses...); err != nil {
		return err
	}
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	for {
		approved, err := k.Cluster.Approvals(ctx, k.Request(kind))
		if err == nil && approved > 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("request %s is not approved: %w", k.Request(kind), errors.Join(context.Cause(ctx), err))
		case <-again.C:
		}
	}
}
