package lab

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/lab/emulator"
)

// RedfishOptions choose our own simulated BMCs, for what sushy-tools' emulator
// lacks: RAID, BIOS settings, firmware updates, events, sessions, quirks, scale.
type RedfishOptions struct {
	// Port is the port on 127.0.0.1 of all BMCs; 0 takes a free one.
	Port int
	// User and Password are those of all BMCs. Empty ones are "admin" and a
	// random password.
	User, Password string
	// Systems are the machines known at the start; AddSystem and Add bring more.
	Systems []simulator.System
	// Delays are how long the BMCs take; the zero value is at once.
	Delays simulator.Delays
	// Fetch makes the BMCs read images before they accept them; see simulator.Options.
	Fetch func(ctx context.Context, url string) error
	// NotifierURL and what follows are as for the emulator: who plays the machines
	// that bring none of their own (simulator.System.Machine). Empty: nobody does.
	NotifierURL                    string
	NotifierCA                     []byte
	NotifierUser, NotifierPassword string
}

// Redfish are running simulated BMCs, in this process.
type Redfish struct {
	// Simulator has what tests look at and switch: quirks, state, events, counts.
	Simulator *simulator.Server
	// URL is the address of all BMCs without a path.
	URL string
	// User and Password are those of all BMCs.
	User, Password string
	// HTTP trusts the BMCs' certificate; it sends no credentials.
	HTTP *http.Client
	// Log is the path of the log.
	Log string

	address     string
	certificate tls.Certificate
	machine     simulator.Machine
	log         *os.File

	mu     sync.Mutex
	server *http.Server // nil while stopped
}

// StartRedfish starts simulated BMCs with a certificate of the lab. They can run
// beside the emulator; a system is known to one of the two.
func (l *Lab) StartRedfish(ctx context.Context, options RedfishOptions) (*Redfish, error) {
	port, err := l.port(options.Port)
	if err != nil {
		return nil, err
	}
	r := &Redfish{
		URL: "https://" + loopback(port), User: options.User, Password: options.Password, HTTP: l.client("", ""),
		Log: l.logFile("redfish"), address: loopback(port),
	}
	if r.User == "" {
		r.User = "admin"
	}
	if r.Password == "" {
		r.Password = rand.Text()
	}
	pair, err := l.Authority.Server()
	if err != nil {
		return nil, err
	}
	if r.certificate, err = tls.X509KeyPair(pair.Cert, pair.Key); err != nil {
		return nil, fmt.Errorf("read the certificate of the simulated BMCs: %w", err)
	}
	if r.log, err = os.OpenFile(r.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, fmt.Errorf("open the log of the simulated BMCs: %w", err)
	}
	r.machine = l.notifier(options)
	r.Simulator = simulator.New(simulator.Options{
		Username: r.User, Password: r.Password, Delays: options.Delays, Fetch: options.Fetch,
		Events: l.client("", "").Transport, Certificate: &r.certificate, Log: slog.New(slog.NewTextHandler(r.log, nil)),
	})
	for _, system := range options.Systems {
		if err := r.AddSystem(system); err != nil {
			r.close()
			return nil, err
		}
	}
	if err := r.Start(ctx); err != nil {
		r.close()
		return nil, err
	}
	l.mu.Lock()
	l.Redfish = r
	l.mu.Unlock()
	return r, nil
}

// notifier is the machine behind systems that bring none; nil if nobody is told.
func (l *Lab) notifier(options RedfishOptions) simulator.Machine {
	if options.NotifierURL == "" {
		return nil
	}
	client := l.client("", "")
	if len(options.NotifierCA) > 0 {
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(options.NotifierCA)
		client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return &emulator.Notifier{URL: options.NotifierURL, User: options.NotifierUser, Password: options.NotifierPassword, HTTP: client}
}

// SystemURL is the Redfish address of a system.
func (r *Redfish) SystemURL(id string) string { return r.URL + "/redfish/v1/Systems/" + id }

// Address is a system's address as a BareMetalHost's spec.bmc.address has it,
// for boot by virtual media.
func (r *Redfish) Address(id string) string { return "redfish-virtualmedia+" + r.SystemURL(id) }

// AddSystem makes a system known. Without a machine of its own, the notifier is told.
func (r *Redfish) AddSystem(system simulator.System) error {
	if system.Machine == nil {
		system.Machine = r.machine
	}
	return r.Simulator.AddSystem(system)
}

// Add makes a system known as the emulator would; it has what a simulated system
// has by default.
func (r *Redfish) Add(_ context.Context, system emulator.System) error {
	system, err := system.Normalized()
	if err != nil {
		return err
	}
	s := simulator.System{ID: system.UUID, Name: system.Name, Power: simulator.PowerState(system.PowerState)}
	for _, nic := range system.NICs {
		s.NICs = append(s.NICs, simulator.NIC{MAC: nic.MAC})
	}
	return r.AddSystem(s)
}

// SetPower shows the system on or off, after the machine did that by itself.
func (r *Redfish) SetPower(_ context.Context, id string, power emulator.Power) error {
	return r.Simulator.SetPower(id, simulator.PowerState(power))
}

// Remove forgets a system.
func (r *Redfish) Remove(_ context.Context, id string) error {
	r.Simulator.RemoveSystem(id)
	return nil
}

// Start listens, at the address that the BMCs had if they were stopped, with the
// state that they had.
func (r *Redfish) Start(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.server != nil {
		return errors.New("start the simulated BMCs: they are already running")
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", r.address)
	if err != nil {
		return fmt.Errorf("start the simulated BMCs: %w", err)
	}
	logger := slog.New(slog.NewTextHandler(r.log, nil))
	server := &http.Server{
		Handler: r.Simulator, ReadHeaderTimeout: 20 * time.Second, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
		TLSConfig: r.Simulator.TLSConfig(), // the lab's certificate, until somebody replaces it
	}
	go func() {
		if err := server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
			logger.Error("the simulated BMCs ended", "error", err)
		}
	}()
	r.server = server
	return nil
}

// Kill cuts all connections and does not listen any more, as BMCs without power.
func (r *Redfish) Kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.server != nil {
		_ = r.server.Close() // nothing of it is used any more
		r.server = nil
	}
}

// close ends everything.
func (r *Redfish) close() {
	r.Kill()
	r.Simulator.Close()
	_ = r.log.Close() // its lines are written already
}
