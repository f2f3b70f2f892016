// Package fleet runs many simulated BMCs in one process, each at an address of its
// own on the loopback and with a certificate of its own, for benchmarks and for
// tests of scale. One [simulator.Server] with one system stands behind each.
package fleet

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// Options choose a fleet.
type Options struct {
	// BMCs is how many there are.
	BMCs int
	// Server are the options of each BMC, with the credentials of all.
	Server simulator.Options
	// System describes the machine behind a BMC; nil is a plain one.
	System func(i int) simulator.System
	// Delay is what every answer takes.
	Delay time.Duration
}

// Fleet are running BMCs.
type Fleet struct {
	bmcs   []*bmc
	by     map[string]*bmc // by the address that was called
	web    *http.Server
	issuer *issuer
	wait   sync.WaitGroup
}

// bmc is one of them.
type bmc struct {
	server   *simulator.Server
	system   string
	address  string
	listener net.Listener
	delays   simulator.Delays
}

// perNet is how many BMCs share the first three numbers of an address.
const perNet = 250

// loopback is the address of the i-th BMC: 127.1.0.1 and so on.
func loopback(i int) string {
	return "127." + strconv.Itoa(1+i/perNet/256) + "." + strconv.Itoa(i/perNet%256) + "." + strconv.Itoa(1+i%perNet)
}

// Start runs a fleet. Close ends it.
func Start(ctx context.Context, o Options) (*Fleet, error) {
	f := &Fleet{by: make(map[string]*bmc, o.BMCs)}
	var err error
	if f.issuer, err = newIssuer(); err != nil {
		return nil, err
	}
	f.web = &http.Server{
		ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0), // clients go away in mid handshake
		TLSConfig:    &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: f.certificate},
		Handler:      http.HandlerFunc(f.serve),
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
	}
	for i := range o.BMCs {
		if err := f.add(ctx, i, o); err != nil {
			f.Close()
			return nil, fmt.Errorf("start BMC %d of a fleet: %w", i, err)
		}
	}
	for _, b := range f.bmcs {
		f.wait.Go(func() {
			if err := f.web.ServeTLS(b.listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
				b.server.Close()
			}
		})
	}
	return f, nil
}

// add makes the i-th BMC, which does not answer yet.
func (f *Fleet) add(ctx context.Context, i int, o Options) error {
	d := simulator.System{}
	if o.System != nil {
		d = o.System(i)
	}
	if d.ID == "" {
		d.ID = "1"
	}
	if d.UUID == "" {
		d.UUID = fmt.Sprintf("00000000-0000-4000-8000-%012x", i)
	}
	if d.Name == "" {
		d.Name = fmt.Sprintf("bmc-%05d", i)
	}
	delays := o.Server.Delays
	if d.Delays != nil {
		delays = *d.Delays
	}
	delays.Answer = o.Delay
	d.Delays = &delays
	server := o.Server
	var err error
	if server.Certificate, err = f.issuer.issue(loopback(i)); err != nil {
		return err
	}
	b := &bmc{server: simulator.New(server), system: d.ID, delays: delays}
	f.bmcs = append(f.bmcs, b)
	if err := b.server.AddSystem(d); err != nil {
		return err
	}
	if b.listener, err = new(net.ListenConfig).Listen(ctx, "tcp4", net.JoinHostPort(loopback(i), "0")); err != nil {
		return err
	}
	b.address = b.listener.Addr().String()
	f.by[b.address] = b
	return nil
}

// serve lets the BMC answer whose address was called.
func (f *Fleet) serve(w http.ResponseWriter, r *http.Request) {
	called, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if called == nil || f.by[called.String()] == nil {
		http.NotFound(w, r)
		return
	}
	f.by[called.String()].server.ServeHTTP(w, r)
}

// certificate is that of the BMC whose address was called, or what replaced it.
func (f *Fleet) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	b := f.by[hello.Conn.LocalAddr().String()]
	if b == nil {
		return nil, errors.New("nobody is at that address")
	}
	return b.server.TLSConfig().GetCertificate(hello)
}

// CA is the certificate of who issued those of the BMCs, in PEM.
func (f *Fleet) CA() []byte { return f.issuer.pem() }

// Len is how many BMCs there are.
func (f *Fleet) Len() int { return len(f.bmcs) }

// URL is the address of the i-th BMC without a path.
func (f *Fleet) URL(i int) string { return "https://" + f.bmcs[i].address }

// SystemURL is the Redfish address of its machine.
func (f *Fleet) SystemURL(i int) string { return f.URL(i) + "/redfish/v1/Systems/" + f.bmcs[i].system }

// BMC is the i-th BMC, with what tests look at and switch.
func (f *Fleet) BMC(i int) *simulator.Server { return f.bmcs[i].server }

// SystemID is the Id of the machine behind the i-th BMC.
func (f *Fleet) SystemID(i int) string { return f.bmcs[i].system }

// SetDelay changes what every answer takes.
func (f *Fleet) SetDelay(d time.Duration) error {
	var all error
	for _, b := range f.bmcs {
		b.delays.Answer = d
		all = errors.Join(all, b.server.SetDelays(b.system, b.delays))
	}
	return all
}

// Requests is how many came in at all BMCs.
func (f *Fleet) Requests() int {
	n := 0
	for _, b := range f.bmcs {
		n += b.server.Total("")
	}
	return n
}

// Emit is an event of every machine, as [simulator.Server.Emit].
func (f *Fleet) Emit(event simulator.Event) error {
	var all error
	for _, b := range f.bmcs {
		all = errors.Join(all, b.server.Emit(b.system, event))
	}
	return all
}

// Close ends all BMCs.
func (f *Fleet) Close() {
	for _, b := range f.bmcs {
		b.server.Close()
	}
	_ = f.web.Close() // nothing of it is used any more
	for _, b := range f.bmcs {
		if b.listener != nil {
			_ = b.listener.Close() // closed already if it served
		}
	}
	f.wait.Wait()
}
