package bmcrotation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials"
	"github.com/ironflow/ironflow/bmc/credentials/authority"
	"github.com/ironflow/ironflow/bmc/credentials/certificate"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
)

// CertificateOptions wire the controller of certificates. All but CA, Authority,
// Scheduled, IronicTrusts and Log are required.
type CertificateOptions struct {
	// BMCs, CA, Ironics and Gate are those of [Options].
	BMCs    *client.Pool
	CA      []byte
	Ironics Ironics
	Gate    *credentials.Gate
	// Authority reads who signs, anew each time. Nil: nobody does, and only what has begun
	// is carried on.
	Authority func() (*authority.Authority, error)
	// Life is how long a certificate is good.
	Life time.Duration
	// Scheduled says that certificates are replaced without being asked for.
	Scheduled bool
	// IronicTrusts says that Ironic's conductors trust what the authority signs.
	IronicTrusts bool
	// Random is crypto/rand's Reader.
	Random io.Reader
	// Now is the time.
	Now func() time.Time
	// Log hears one line for each step. Nil is silent.
	Log *slog.Logger
}

// SetupCertificates adds the controller of certificates to a manager, after [Setup].
func SetupCertificates(mgr ctrl.Manager, o CertificateOptions) error {
	r := &certifier{loop: newLoop(mgr, o.Gate), options: o}
	if err := r.watch(mgr, "bmccertificate", r, rotation.RecordName(""), certificate.RecordName("")).Complete(r); err != nil {
		return fmt.Errorf("set up the controller of BMCs' certificates: %w", err)
	}
	return nil
}

// certifier replaces the certificate of one host's BMC; its key is the host's.
type certifier struct {
	loop

	options CertificateOptions
}

// Reconcile implements reconcile.Reconciler.
func (r *certifier) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	return r.reconcile(ctx, req, r)
}

func (*certifier) condition() string { return v1alpha1.CertificateCurrent }

func (*certifier) owner(host string) string { return credentials.CertificateOwner(host) }

// gone implements [work]. The record goes with its host: none of it opens anything.
func (r *certifier) gone(_ context.Context, key types.NamespacedName) (ctrl.Result, error) {
	r.places.leave(r.owner(key.String()))
	return ctrl.Result{}, nil
}

// pass implements [work].
func (r *certifier) pass(ctx context.Context, h *metal3.BareMetalHost, b *v1alpha1.BMC) (reason.Wait, error) {
	o, server, err := r.observe(ctx, h, b)
	if err != nil {
		return reason.Wait{}, err
	}
	found, err := trustOf(ctx, r.client, o.Host, server.Host.Target)
	if err != nil {
		return reason.Wait{}, err
	}
	n, s := &node{host: h, ironics: r.options.Ironics, unreached: true}, r.store(h, server.Host.Target, found)
	if server.Host.Target.TLS, _, err = s.Trust(ctx); err != nil {
		return reason.Wait{}, err
	}
	server.Ours, server.Now = s.installed(), r.options.Now
	c := &credentials.Certifier{
		Records: s, Server: server, Issuer: issuer{r.options, o.Names}, Truster: s, Node: n, Gate: r.places.gate,
		Address: r.places.enter(r.owner(o.Host), baseOf(h)), Now: r.options.Now, Log: r.options.Log,
	}
	return n.whenAtRest(ctx, func(rests bool) (reason.Wait, error) {
		o.AtRest = rests
		return c.Pass(ctx, o)
	})
}

// issuer has the authority sign. It implements [credentials.Issuer].
type issuer struct {
	options CertificateOptions
	names   []string
}

// Sign implements [credentials.Issuer]. The names are ours, not the request's.
func (i issuer) Sign(_ context.Context, _ string, request []byte) (chain, ca []byte, err error) {
	if i.options.Authority == nil {
		return nil, nil, errors.New("no issuer is named any more: name it again until the replacement is over")
	}
	a, err := i.options.Authority()
	if err != nil {
		return nil, nil, err
	}
	chain, err = a.Sign(i.options.Random, request, i.names, i.options.Life, i.options.Now())
	return chain, a.CA(), err
}

var _ credentials.Issuer = issuer{}
