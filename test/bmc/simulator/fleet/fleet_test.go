package fleet_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/bmc/simulator/fleet"
)

func trusting(f *fleet.Fleet) *http.Client {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(f.CA())
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
}

// TestFleet: each BMC is another one, at an address that its certificate names, and
// takes its time for an answer.
func TestFleet(t *testing.T) {
	const bmcs, delay = 300, 20 * time.Millisecond
	g := NewWithT(t)
	f, err := fleet.Start(t.Context(), fleet.Options{BMCs: bmcs, Delay: delay, Server: simulator.Options{Username: "admin", Password: "secret"}})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(f.Close)
	client := trusting(f)
	t.Cleanup(client.CloseIdleConnections)

	uuids, took, failed := make([]string, bmcs), make([]time.Duration, bmcs), make([]error, bmcs)
	var wait sync.WaitGroup
	for i := range bmcs {
		wait.Go(func() {
			begin := time.Now()
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.SystemURL(i), http.NoBody)
			if err != nil {
				failed[i] = err
				return
			}
			request.SetBasicAuth("admin", "secret")
			answer, err := client.Do(request)
			if err != nil {
				failed[i] = err
				return
			}
			defer answer.Body.Close()
			var system struct{ UUID string }
			failed[i] = json.NewDecoder(answer.Body).Decode(&system)
			uuids[i], took[i] = system.UUID, time.Since(begin)
		})
	}
	wait.Wait()
	g.Expect(failed).To(HaveEach(BeNil()))
	g.Expect(took).To(HaveEach(BeNumerically(">=", delay)))
	different := map[string]bool{}
	for _, id := range uuids {
		different[id] = true
	}
	g.Expect(different).To(HaveLen(bmcs))
	g.Expect(f.Requests()).To(Equal(bmcs))

	g.Expect(f.BMC(7).SetQuirk(f.SystemID(7), simulator.Unavailable, 1)).To(Succeed())
	g.Expect(f.SetDelay(0)).To(Succeed())
	for i, want := range map[int]int{7: http.StatusServiceUnavailable, 8: http.StatusOK} {
		answer, err := client.Get(f.URL(i) + "/redfish/v1")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(answer.Body.Close()).To(Succeed())
		g.Expect(answer.StatusCode).To(Equal(want), "the quirks of one are not those of another")
	}
	g.Expect(f.Emit(simulator.Event{Type: "Alert"})).To(Succeed())
}

// BenchmarkFleet shows what a BMC costs that nobody has asked yet.
func BenchmarkFleet(b *testing.B) {
	const bmcs = 1000
	for b.Loop() {
		before := heap()
		f, err := fleet.Start(b.Context(), fleet.Options{BMCs: bmcs})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(heap()-before)/bmcs, "B/bmc")
		f.Close()
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
