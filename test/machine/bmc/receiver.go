// Package bmc receives what the emulated BMCs are asked for and hands it to the
// machines behind them: the other end of the emulator's notifier.
//
// It answers at once; a machine takes a [emulator.SystemChange] and works
// afterwards, as hardware does. A machine that cannot take it answers with an
// error, which the Redfish client gets to see as a BMC in trouble.
package bmc

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/ironflow/ironflow/test/lab/emulator"
)

// maxChange bounds one notification.
const maxChange = 1 << 20

// user is the name in the receiver's credentials.
const user = "emulator"

// Taker is a machine: it takes changes in their order, without waiting for
// their effect.
type Taker interface {
	Take(change emulator.SystemChange) error
}

// Slow is a [Taker] that tells some changes of its power itself, when they have
// come true.
type Slow interface {
	Taker
	// Later says whether this change's power state is one of them.
	Later(change emulator.SystemChange) bool
}

// Receiver is the notifier's HTTP server. Close ends it.
type Receiver struct {
	find     func(uuid string) (Taker, bool)
	log      *slog.Logger
	password string
	url      string
	server   *http.Server
}

// Listen serves notifications on a free loopback port. With a certificate it
// speaks HTTPS. Machines are found by the UUID of their system.
func Listen(certificate *tls.Certificate, find func(uuid string) (Taker, bool), logger *slog.Logger) (*Receiver, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("receiver of the BMCs' notifications: %w", err)
	}
	r := &Receiver{find: find, log: logger, password: rand.Text(), url: "http://" + listener.Addr().String() + "/change"}
	if certificate != nil {
		r.url = "https://" + listener.Addr().String() + "/change"
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12})
	}
	r.server = &http.Server{
		Handler: r, ReadHeaderTimeout: 20 * time.Second, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	go func() {
		if err := r.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			r.log.Error("receiver of the BMCs' notifications ended", "error", err)
		}
	}()
	return r, nil
}

// URL is the notifier's address for the emulator.
func (r *Receiver) URL() string { return r.url }

// Credentials are what the emulator must send. The password is secret.
func (r *Receiver) Credentials() (name, password string) { return user, r.password }

// Close ends the server.
func (r *Receiver) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if r.server.Shutdown(ctx) == nil {
		return nil
	}
	return r.server.Close()
}

// ServeHTTP takes one notification.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if !r.allowed(req) {
		http.Error(w, "wrong credentials for the machines", http.StatusUnauthorized)
		return
	}
	if req.Method != http.MethodPut {
		http.Error(w, "notifications come as PUT", http.StatusMethodNotAllowed)
		return
	}
	var change emulator.SystemChange
	if err := json.NewDecoder(http.MaxBytesReader(w, req.Body, maxChange)).Decode(&change); err != nil {
		http.Error(w, "not a system change: "+err.Error(), http.StatusBadRequest)
		return
	}
	machine, ok := r.find(change.UUID)
	if !ok {
		http.Error(w, "no machine has the UUID "+change.UUID, http.StatusNotFound)
		return
	}
	if err := machine.Take(change); err != nil {
		r.log.Warn("machine refuses its BMC", "machine", change.Name, "change", change.Change, "error", err)
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	if slow, ok := machine.(Slow); ok && slow.Later(change) {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (r *Receiver) allowed(req *http.Request) bool {
	name, password, ok := req.BasicAuth()
	right := subtle.ConstantTimeCompare([]byte(password), []byte(r.password))
	return ok && name == user && right == 1
}
