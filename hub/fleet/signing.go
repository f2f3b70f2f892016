package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	// keptSigned bounds how many approved requests of a host are remembered: a kubelet renews
	// its certificates for ever.
	keptSigned = 10
	// maxRequestName is the longest name that the Kubernetes API takes, in bytes.
	maxRequestName = 253
	// maxSigningError bounds what is kept of an API server's refusal, in bytes.
	maxSigningError = 512
)

// NoteSigning notes what the program inside a cluster tells of a signing request of the host's
// kubelet, by an event of its own. What is known already changes nothing, so it may be told again.
func (f *Fleet) NoteSigning(ctx context.Context, key store.HostKey, e wire.Event) error {
	p, err := signingProps(e.Props)
	if err != nil {
		return err
	}
	_, err = f.units.Host(ctx, key, func(w *settle.Work, host *store.Host) error {
		at := p.At.UTC()
		if at.IsZero() || at.After(w.Now) {
			at = w.Now // the other clock may be ahead
		}
		if e.Name == wire.EventSigningFailed {
			return notSigned(w, host, p, at)
		}
		if slices.ContainsFunc(host.Signing.Approved, func(s store.Signed) bool { return s.Name == p.Request }) {
			return nil
		}
		host.Signing.Add(store.Signed{Name: p.Request, Type: p.Type, At: at}, keptSigned)
		w.Touch(host, store.ChangedHost)
		return w.HostEvent(host, "host_signing_request_approved", wire.EventSeverityInfo,
			fmt.Sprintf("the signing request %s (%s) of its kubelet is approved", p.Request, p.Type), unit.Props{"request": p.Request, "type": p.Type})
	})
	return err
}

func notSigned(w *settle.Work, host *store.Host, p wire.SigningProps, at time.Time) error {
	if !at.After(host.Signing.Attempted) {
		return nil
	}
	host.Signing.Attempted = at
	w.Touch(host, store.ChangedHost)
	return w.HostEvent(host, "host_signing_request_failed", wire.EventSeverityWarning,
		fmt.Sprintf("the signing request %s (%s) of its kubelet cannot be approved: %s", p.Request, p.Type, p.Error),
		unit.Props{"request": p.Request, "type": p.Type, "error": p.Error})
}

// signingProps reads what a program says, which stays in the host's record.
func signingProps(text string) (p wire.SigningProps, err error) {
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return p, apierror.BadRequest("props of the event: want a JSON object with request and type")
	}
	switch {
	case p.Request == "", len(p.Request) > maxRequestName, strings.ContainsFunc(p.Request, func(r rune) bool { return !unicode.IsPrint(r) }):
		return p, apierror.BadRequest("props.request: want the name of a CertificateSigningRequest, of up to %d bytes", maxRequestName)
	case p.Type != wire.SigningTypeClient && p.Type != wire.SigningTypeServing:
		return p, apierror.BadRequest("props.type: want %s or %s", wire.SigningTypeClient, wire.SigningTypeServing)
	case len(p.Error) > maxSigningError:
		p.Error = strings.ToValidUTF8(p.Error[:maxSigningError], "") + " …"
	}
	return p, nil
}
