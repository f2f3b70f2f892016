package migrate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/firmware"
	"github.com/ironflow/ironflow/controllers/host"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/ironic"
)

// checkRehearsal runs one pass of the host controller for each host, with every
// write held back, and tells what the controller wanted to write besides status.
// The pass ends at the first write to Ironic: what would follow depends on it.
func checkRehearsal(ctx context.Context, s *state) error {
	if s.down {
		return nil
	}
	c := s.held.client(s.options.Client)
	rehearsal, err := host.NewRehearsal(c, host.Options{
		Gateway: s.gateway, Settings: s.options.Settings,
		Watch:    ironic.NewWatch(s.gateway, ironic.WatchOptions{}), // not run: it knows no node
		Firmware: firmware.NewKeeper(c, s.gateway, reconcile.Recorder{}),
	})
	if err != nil {
		return err
	}
	for i := range s.hosts {
		h, row := &s.hosts[i], &s.report.Hosts[i]
		s.held.begin(row.key())
		if err := rehearsal.Pass(ctx, client.ObjectKeyFromObject(h)); err != nil {
			return fmt.Errorf("rehearse host %s: %w", row.key(), err)
		}
		row.Writes = s.held.writes[row.key()]
		switch after := s.held.status; {
		case wipes(h, after, row.Writes):
			s.found(Blocker, row.key(), "Ironflow would give its machine back, and so wipe it: the spec asks for %s, the status says that %s is on it: "+
				"correct the spec, or let baremetal-operator give it back first", nodespec.Wanted(h), nodespec.Deployed(h))
		case len(row.Writes) > 0:
			s.found(Warning, row.key(), "Ironflow would begin with: %s", strings.Join(row.Writes, "; "))
		}
		switch after := s.held.status; {
		case after == nil:
		case after.ErrorType != "" && after.ErrorMessage != h.Status.ErrorMessage:
			s.found(Warning, row.key(), "the host would show a new %s: %s", after.ErrorType, after.ErrorMessage)
		case len(row.Writes) == 0 && after.Provisioning.State != h.Status.Provisioning.State:
			s.found(Note, row.key(), "the host would go on to state %q", after.Provisioning.State)
		}
	}
	return nil
}

// wipes reports a host in use whose machine would not be kept as it is.
func wipes(h *metal3.BareMetalHost, after *metal3.BareMetalHostStatus, writes []string) bool {
	if !nodespec.InUse(h) || !h.DeletionTimestamp.IsZero() {
		return false
	}
	return after != nil && !nodespec.InUse(&metal3.BareMetalHost{Status: *after}) || slices.ContainsFunc(writes, wiping) || toBeGivenBack(h)
}

// toBeGivenBack reports a host whose spec asks for something else than its status tells. The rehearsal does not come to
// that where its node is told of something else first, which ends the pass.
func toBeGivenBack(h *metal3.BareMetalHost) bool {
	_, detached := h.Annotations[names.Detached]
	switch {
	case detached: // one that is paused or held is not left out: that ends some day
		return false
	case h.Status.Provisioning.State == metal3.StateExternallyProvisioned:
		return !h.Spec.ExternallyProvisioned && !nodespec.WantsInstance(h)
	default:
		return nodespec.OtherWanted(h)
	}
}

// wiping reports a request, as it is noted, that has Ironic tear an instance down, clean
// or deploy.
func wiping(write string) bool {
	return slices.ContainsFunc([]ironic.Target{ironic.TargetDeleted, ironic.TargetClean, ironic.TargetProvide, ironic.TargetActive}, func(t ironic.Target) bool {
		return strings.HasSuffix(write, "/states/provision ("+string(t)+")")
	})
}

// heldBack keeps writes from being made and notes them, for one host at a time.
type heldBack struct {
	mu     sync.Mutex
	host   string
	writes map[string][]string         // by host
	status *metal3.BareMetalHostStatus // that the host would get; nil for no change
}

// begin says for which host the next writes are.
func (b *heldBack) begin(host string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.host, b.status = host, nil
}

// wouldBe notes the status that a host would get.
func (b *heldBack) wouldBe(obj client.Object) {
	if h, ok := obj.(*metal3.BareMetalHost); ok {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.status = h.Status.DeepCopy()
	}
}

func (b *heldBack) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writes[b.host] = append(b.writes[b.host], fmt.Sprintf(format, args...))
}

// tokens is the end of the path by which Keystone gives a token: asking for one
// writes nothing that is Ironic's.
const tokens = "/auth/tokens" //nolint:gosec // a path, not a token

// readOnly lets requests that read pass to Ironic, and answers all others itself,
// as a proxy without the right to write would.
func (b *heldBack) readOnly(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet || r.Method == http.MethodHead || strings.HasSuffix(r.URL.Path, tokens) {
			return next.RoundTrip(r)
		}
		b.note("%s %s%s", r.Method, r.URL.Path, asked(r))
		const refusal = `{"error_message":{"faultstring":"held back by ironflow migrate","faultcode":"Client"}}`
		return &http.Response{
			StatusCode: http.StatusForbidden, Status: "403 Forbidden", Proto: r.Proto, ProtoMajor: 1, ProtoMinor: 1, Request: r,
			Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(refusal)), Body: io.NopCloser(strings.NewReader(refusal)),
		}, nil
	})
}

// roundTripper is a function as a transport.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// asked is what a request asks for, as far as it can be told without its values,
// which may be secret.
func asked(r *http.Request) string {
	if r.Body == nil {
		return ""
	}
	defer r.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return ""
	}
	return summary(bytes.TrimSpace(raw))
}

// holdsImage reports a write that only puts the host's finalizer on its live image, which
// baremetal-operator does not.
func holdsImage(obj client.Object, patch client.Patch) bool {
	if _, ok := obj.(*metal3.PreprovisioningImage); !ok {
		return false
	}
	_, finalizers := onlyMetadata(obj, patch)["finalizers"]
	return finalizers
}

// tellsWhatRuns reports a write that only has a host's metadata tell what is deployed on its machine, which baremetal-operator's do not.
func tellsWhatRuns(obj client.Object, patch client.Patch) bool {
	if _, ok := obj.(*metal3.BareMetalHost); !ok {
		return false
	}
	annotations, _ := onlyMetadata(obj, patch)["annotations"].(map[string]any)
	_, tells := annotations[names.Deployed]
	return tells && len(annotations) == 1
}

// onlyMetadata is what a write changes, where that is one member of the metadata; nil otherwise.
func onlyMetadata(obj client.Object, patch client.Patch) map[string]any {
	raw, err := patch.Data(obj)
	if err != nil {
		return nil
	}
	var change map[string]map[string]any
	if json.Unmarshal(raw, &change) != nil {
		return nil
	}
	delete(change["metadata"], "resourceVersion") // that it is made to
	if len(change) != 1 || len(change["metadata"]) != 1 {
		return nil
	}
	return change["metadata"]
}

// client reads from the API server and notes writes instead of making them. Writes
// of status, of events, of the finalizer on live images, of what is deployed and of what settings a machine's
// firmware has are what a take-over is: they are not noted.
func (b *heldBack) client(c client.WithWatch) client.Client {
	said := func(verb string, obj client.Object) {
		b.note("%s %T %s/%s", verb, obj, obj.GetNamespace(), obj.GetName())
	}
	return interceptor.NewClient(c, interceptor.Funcs{
		List: (&indexes{}).List,
		Create: func(_ context.Context, _ client.WithWatch, obj client.Object, _ ...client.CreateOption) error {
			if _, schema := obj.(*metal3.FirmwareSchema); !schema {
				said("create", obj)
			}
			return nil
		},
		Update: func(_ context.Context, _ client.WithWatch, obj client.Object, _ ...client.UpdateOption) error {
			said("update", obj)
			return nil
		},
		Patch: func(_ context.Context, _ client.WithWatch, obj client.Object, patch client.Patch, _ ...client.PatchOption) error {
			if !holdsImage(obj, patch) && !tellsWhatRuns(obj, patch) {
				said("patch", obj)
			}
			return nil
		},
		Delete: func(_ context.Context, _ client.WithWatch, obj client.Object, _ ...client.DeleteOption) error {
			said("delete", obj)
			return nil
		},
		DeleteAllOf: func(_ context.Context, _ client.WithWatch, obj client.Object, _ ...client.DeleteAllOfOption) error {
			said("delete all", obj)
			return nil
		},
		SubResourceCreate: func(context.Context, client.Client, string, client.Object, client.Object, ...client.SubResourceCreateOption) error {
			return nil
		},
		SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
			return nil
		},
		SubResourcePatch: func(_ context.Context, _ client.Client, _ string, obj client.Object, _ client.Patch, _ ...client.SubResourcePatchOption) error {
			b.wouldBe(obj)
			return nil
		},
	})
}
