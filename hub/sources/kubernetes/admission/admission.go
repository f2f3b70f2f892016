// Package admission has a Kubernetes cluster that runs let in hosts which join it: it puts
// their bootstrap token into the cluster, over the cluster's API, and takes away the tokens
// of earlier hosts that have ended. Nothing else in the cluster is read or written.
//
// Its type is [Door]. It speaks to the API by the small client of the program inside.
package admission

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/ironflow/ironflow/cluster/kube"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/authorities"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/token"
)

// collection has the Secrets of the namespace that bootstrap tokens are looked for in.
const collection = "/api/v1/namespaces/kube-system/secrets"

// limit is how long all of it may take: a person may wait for it.
const limit = 30 * time.Second

// byHand is what a person can do where the hub may not.
const byHand = "or add the host by hand, with kubeadm token create and kubeadm join"

// Door is the API of a cluster, and an administrator's access to it.
type Door struct {
	// Endpoint is where the API is, HOST:PORT.
	Endpoint string
	// CA is the authority of the API's certificate; Certificate and Key are an
	// administrator's. All of them are PEM.
	CA, Certificate, Key []byte
	// Limit is how long the API may take to answer; 0 for 30 seconds.
	Limit time.Duration
}

// Admit has the cluster take the token. It may be called again with the same one. Its
// errors are for people: they name the endpoint and what to do, and have no secrets.
func (d Door) Admit(ctx context.Context, t token.Token, now time.Time) error {
	secret, err := t.Secret()
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(d.Certificate, d.Key)
	if err != nil {
		return fmt.Errorf("the hub's access to the cluster's API at %s: %w", d.Endpoint, err)
	}
	client, err := kube.New(kube.Access{URL: "https://" + d.Endpoint, CA: d.CA, Certificate: &pair, UserAgent: "ironflow"})
	if err != nil {
		return fmt.Errorf("the hub's access to the cluster's API at %s: %w", d.Endpoint, err)
	}
	defer client.Close()
	patience := cmp.Or(d.Limit, limit)
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it was silent for %s", patience))
	defer cancel()
	err = client.Post(ctx, collection, secret)
	if kube.Code(err) == http.StatusConflict { // it is there, perhaps with another end
		err = client.Put(ctx, collection+"/"+url.PathEscape(secret.Metadata.Name), secret)
	}
	if err != nil {
		return d.problem(ctx, err)
	}
	// The cluster takes no token after its end, so that a failure here is nobody's concern:
	// the next host does it again.
	_ = sweep(ctx, client, now)
	return nil
}

// problem says whom the hub has asked in vain, why, and what to do.
func (d Door) problem(ctx context.Context, err error) error {
	switch code := kube.Code(err); {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return fmt.Errorf("the cluster's API at %s does not let the hub make a token for the host: %w; give the group %s the role cluster-admin again, %s",
			d.Endpoint, err, authorities.Administrators, byHand)
	case code != 0:
		return fmt.Errorf("the cluster's API at %s did not take a token for the host: %w; look into the log of its kube-apiserver, %s", d.Endpoint, err, byHand)
	}
	if foreign, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fmt.Errorf("who answers at %s is not the API of this cluster: %w; see where that name or address leads from the hub", d.Endpoint, foreign.Err)
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	} else if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	return fmt.Errorf("the cluster's API at %s does not answer: %w; see that its control plane runs, and that the hub reaches that address", d.Endpoint, err)
}

// sweep takes away the tokens that the hub has made and that have ended.
func sweep(ctx context.Context, client *kube.Client, now time.Time) error {
	query := url.Values{"labelSelector": {token.Label + "=" + token.Maker}}
	var list struct{ Items []token.Stored }
	if err := client.Get(ctx, collection+"?"+query.Encode(), &list); err != nil {
		return err
	}
	var failed []error
	for _, one := range list.Items {
		if !one.Ended(now) {
			continue
		}
		if err := client.Delete(ctx, collection+"/"+url.PathEscape(one.Metadata.Name)); err != nil && kube.Code(err) != http.StatusNotFound {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}
