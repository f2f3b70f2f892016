package bmcrotation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials"
	"github.com/ironflow/ironflow/bmc/credentials/authority"
	"github.com/ironflow/ironflow/bmc/credentials/certificate"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
	"github.com/ironflow/ironflow/controllers/reconcile"
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

// certifier replaces the certificate of one host's BMC; its key is the host's.
type certifier struct {
	client  kclient.Client
	live    kclient.Reader
	options CertificateOptions
	places  *places
}

// +kubebuilder:rbac:groups=ironflow.io,resources=bmcs,verbs=get;list;watch
// +kubebuilder:rbac:groups=ironflow.io,resources=bmcs/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=metal3.io,resources=baremetalhosts,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;update;patch

// Reconcile runs one pass for the host named by req.
func (r *certifier) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	h, b := &metal3.BareMetalHost{}, &v1alpha1.BMC{}
	if err := r.client.Get(ctx, req.NamespacedName, h); err != nil {
		if apierrors.IsNotFound(err) {
			r.places.leave(placeOf(req.String()))
		}
		return ctrl.Result{}, kclient.IgnoreNotFound(err)
	}
	if err := r.client.Get(ctx, req.NamespacedName, b); err != nil {
		return ctrl.Result{}, kclient.IgnoreNotFound(err) // the controller of BMCs makes it, which wakes the host
	}
	if concerned, err := r.concerned(ctx, h); err != nil || !concerned {
		r.places.leave(placeOf(req.String()))
		return ctrl.Result{}, err
	}
	wait, err := r.pass(ctx, h, b)
	if err != nil {
		if reconcile.IsConflict(err) {
			return reconcile.RetryConflict(), nil
		}
		return ctrl.Result{}, err
	}
	saver := reconcile.NewSaver(r.client, b)
	reconcile.SetCondition(b, v1alpha1.CertificateCurrent, wait.Condition.Status, string(wait.Condition.Reason), wait.Condition.Message)
	if _, err := saver.Status(ctx, b); err != nil {
		if reconcile.IsConflict(err) {
			return reconcile.RetryConflict(), nil
		}
		return ctrl.Result{}, kclient.IgnoreNotFound(err)
	}
	return ctrl.Result{RequeueAfter: wait.For}, nil
}

// placeOf is the owner of a host's place at the gate, as [credentials.Certifier] has it.
func placeOf(host string) string { return credentials.CertificateOwner(host) }

// pass carries a replacement as far as it goes now. As with passwords, Ironic is asked
// whether the node is at rest when everything else is well.
func (r *certifier) pass(ctx context.Context, h *metal3.BareMetalHost, b *v1alpha1.BMC) (certificate.Wait, error) {
	o, server, err := r.observe(ctx, h, b)
	if err != nil {
		return certificate.Wait{}, err
	}
	n := &node{host: h, ironics: r.options.Ironics}
	s := &certificateStore{client: r.client, live: r.live, host: h, target: server.Host.Target, issuer: o.CA}
	if server.Host.Target.TLS, _, err = s.Trust(ctx); err != nil {
		return certificate.Wait{}, err
	}
	if len(o.CA) == 0 && s.held != nil {
		o.CA = s.held.Data[issuerKey] // what has begun is carried on without the flags
	}
	c := &credentials.Certifier{
		Records: s, Server: server, Issuer: issuer{r.options, o.Names}, Truster: s, Node: n, Gate: r.places.gate,
		Address: r.places.enter(placeOf(o.Host), baseOf(h)), Now: r.options.Now, Log: r.options.Log,
	}
	wait, err := c.Pass(ctx, o)
	if err != nil || wait.Condition.Reason != reason.NotAtRest || !restful(h) {
		return wait, err
	}
	if why := n.busy(ctx); why != "" {
		wait.For, wait.Condition.Message = askAgain, fmt.Sprintf("%s: %s", wait.Condition.Message, why)
		return wait, nil
	}
	o.AtRest = true
	return c.Pass(ctx, o)
}

// issuer has the authority sign. It implements [credentials.Issuer].
type issuer struct {
	options CertificateOptions
	names   []string
}

// Sign implements [credentials.Issuer]. The names are ours, not the request's.
func (i issuer) Sign(_ context.Context, _ string, request []byte) ([]byte, error) {
	if i.options.Authority == nil {
		return nil, errors.New("no issuer is named any more: name it again until the replacement is over")
	}
	a, err := i.options.Authority()
	if err != nil {
		return nil, err
	}
	return a.Sign(i.options.Random, request, i.names, i.options.Life, i.options.Now())
}

var _ credentials.Issuer = issuer{}
