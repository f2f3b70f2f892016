// Package serving runs a hub: the listeners of its REST API, what the hub does by itself meanwhile (timers, check-ins that are kept in batches, releases that
// are asked for), and an end that lets requests finish and closes what the hub worked on. The main type is [Service].
package serving

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/ironflow/ironflow/hub/releases"
	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/service"
)

// grace is how long requests may go on after the end was asked for.
const grace = 5 * time.Second

// Service is a hub that is served once.
type Service struct {
	Hub *service.Hub
	API *rest.Server
	// Releases are asked for while the hub serves.
	Releases *releases.File
	// Around is put around the API; nil for nothing.
	Around func(http.Handler) http.Handler
	// Close ends what the hub works on, such as its store, when nothing uses it any more.
	Close func() error
	Log   *slog.Logger
}

// Serve answers at the listeners until ctx ends.
func (s *Service) Serve(ctx context.Context, listeners []net.Listener) error {
	keeping, watching := make(chan error, 1), make(chan error, 1)
	go func() { keeping <- s.Hub.KeepCheckIns(ctx) }()
	go func() { watching <- s.Hub.Run(ctx) }()
	if err := s.Hub.Reseal(ctx); err != nil {
		s.Log.Error("not all that is kept of clusters and infra-envs could be sealed with the present key; keep cluster.key.old, if there is one", "error", err)
	}
	asking := make(chan struct{})
	go func() {
		defer close(asking)
		s.Releases.Run(ctx, func(err error) {
			s.Log.Warn("the update service did not tell all releases; the hub asks again", "error", err)
		})
	}()
	if err := s.answer(ctx, listeners); err != nil {
		return err
	}
	<-asking
	return errors.Join(<-keeping, <-watching, s.Close())
}

// answer serves the API until ctx ends, and then lets requests finish for a while.
func (s *Service) answer(ctx context.Context, listeners []net.Listener) (err error) {
	server := s.API.HTTPServer()
	if s.Around != nil {
		server.Handler = s.Around(server.Handler)
	}
	failed := make(chan error, len(listeners))
	for _, listener := range listeners {
		go func() { failed <- server.Serve(listener) }()
	}
	select {
	case err := <-failed:
		return fmt.Errorf("hub: %w", err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if server.Shutdown(stop) != nil {
		err = server.Close()
	}
	if failure := <-failed; !errors.Is(failure, http.ErrServerClosed) {
		return failure
	}
	return err
}
