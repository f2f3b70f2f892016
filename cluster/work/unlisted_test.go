package work_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/cluster/csr"
	"github.com/ironflow/ironflow/cluster/hubapi"
	"github.com/ironflow/ironflow/cluster/kube"
	"github.com/ironflow/ironflow/cluster/logs"
	"github.com/ironflow/ironflow/cluster/metrics"
	"github.com/ironflow/ironflow/cluster/observe"
	"github.com/ironflow/ironflow/cluster/work"
	"github.com/ironflow/ironflow/test/cluster/played"
)

// TestSigningWaitsForNoOtherKind: what serves another kind may itself wait for a node that wants to join, and that is
// let in by nobody else. It needs the requests and the nodes, and nothing more.
func TestSigningWaitsForNoOtherKind(t *testing.T) {
	g := NewWithT(t)
	hosts := threeHosts()
	hub := played.Start(t, hosts)
	var mu sync.Mutex
	var approved []string
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		list := func(items ...any) {
			if r.URL.Query().Has("watch") {
				<-r.Context().Done()
				return
			}
			_ = json.NewEncoder(w).Encode(object{"metadata": object{"resourceVersion": "1"}, "items": append([]any{}, items...)}) // who hangs up needs no answer
		}
		switch {
		case r.Method == http.MethodPut:
			_, _ = io.Copy(io.Discard, r.Body)
			mu.Lock()
			defer mu.Unlock()
			approved = append(approved, r.URL.Path)
			_, _ = io.WriteString(w, "{}")
		case r.URL.Path == observe.Requests:
			list(signingRequest(g, "client-worker-0", "worker-0"))
		case r.URL.Path == observe.Nodes:
			list()
		default:
			http.Error(w, "conversion webhook: no endpoints available", http.StatusInternalServerError)
		}
	}))
	defer api.Close()
	client, err := hubapi.New(hubapi.Options{URL: hub.URL, ClusterID: played.ClusterID, Token: "secret"})
	g.Expect(err).NotTo(HaveOccurred())
	kubernetes, err := kube.New(kube.Access{URL: api.URL})
	g.Expect(err).NotTo(HaveOccurred())
	r := &work.Runner{
		Hub: client, Kube: kubernetes, Caches: observe.New(), Metrics: metrics.New(), Log: slog.New(slog.DiscardHandler), Ring: &logs.Ring{}, Now: time.Now,
		StartWithin: time.Minute, Busy: 20 * time.Millisecond, Rest: 20 * time.Millisecond, Gap: 10 * time.Millisecond,
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() { r.Caches.Follow(ctx, kubernetes, r.Log, func() time.Duration { return time.Hour }) })
	running.Go(func() { _, _ = r.Run(ctx) })
	g.Eventually(func() []string {
		mu.Lock()
		defer mu.Unlock()
		return approved
	}, long, "20ms").Should(ContainElement(observe.Requests + "/client-worker-0/approval"))
	g.Expect(hub.Effects()).To(BeEmpty(), "nothing else is told before all is known")
}

// signingRequest is a kubelet's first one, as the API server shows it.
func signingRequest(g *WithT, name, node string) object {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(HaveOccurred())
	return requestOf(g, key, name, node, object{
		"signerName": csr.Client, "username": "system:bootstrap:abcdef", "groups": []string{"system:bootstrappers"}, "usages": []string{"digital signature", "client auth"},
	})
}

// servingRequest is a running node's for its addresses.
func servingRequest(g *WithT, name, node string, addresses ...string) object {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(HaveOccurred())
	return requestOf(g, key, name, node, object{
		"signerName": csr.Serving, "username": "system:node:" + node, "groups": []string{"system:nodes"}, "usages": []string{"digital signature", "server auth"},
	}, addresses...)
}

func requestOf(g *WithT, key *ecdsa.PrivateKey, name, node string, spec object, addresses ...string) object {
	template := x509.CertificateRequest{Subject: pkix.Name{CommonName: "system:node:" + node, Organization: []string{"system:nodes"}}}
	for _, a := range addresses {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(a))
	}
	raw, err := x509.CreateCertificateRequest(rand.Reader, &template, key)
	g.Expect(err).NotTo(HaveOccurred())
	spec["request"] = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: raw})
	return object{"metadata": object{"name": name, "uid": name, "resourceVersion": "1"}, "spec": spec}
}
