package logs

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/ironflow/ironflow/agent/backoff"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/hub/wire"
)

// Hub is the part of the hub that takes logs.
type Hub interface {
	LogsProgress(ctx context.Context, h hubclient.Host, state wire.LogsState) error
	UploadLogs(ctx context.Context, h hubclient.Host, clusterID, name string, write func(io.Writer) error) error
}

// Order says what is to be collected and for whom.
type Order struct {
	ClusterID string
	Host      hubclient.Host
	// InstallerGather adds the kernel's messages, the whole journal and core dumps.
	InstallerGather bool
	// Bootstrap adds what a bootstrap host has; with InstallerGather also the logs
	// of the whole control plane.
	Bootstrap bool
	// Masters are the addresses of the control plane's hosts.
	Masters []string
	// Since is journalctl's: older entries are left out. Empty means all.
	Since string
	// Keep leaves a copy of the archives and what else was made on the host.
	Keep bool
}

const (
	// attempts is how often an upload is tried.
	attempts = 3
	// partialEvery is how often a partial bundle goes up while the control plane's
	// logs are gathered.
	partialEvery = time.Minute
)

// failed uploads are repeated with these delays.
var retry = backoff.Policy{First: 2 * time.Second, Factor: 2, Max: 10 * time.Second, Jitter: 0.3}

// Sender collects logs and sends them.
type Sender struct {
	Hub     Hub
	Sources Sources
	Log     *slog.Logger
	// limit is the size of the largest archive; zero is the protocol's. Tests set it.
	limit int64
}

// Send collects what the order asks for and uploads it. A hub that does not take
// the progress of it still gets the logs; the error is the upload's.
func (s Sender) Send(ctx context.Context, order Order) error {
	s.progress(ctx, order, wire.LogsStateRequested)
	run, err := s.newRun(order)
	if err != nil {
		return err
	}
	defer run.clean()
	if order.Bootstrap && order.InstallerGather && s.Sources.Commands != nil {
		s.gather(ctx, order, run)
	}
	if err := s.upload(ctx, order, run, false); err != nil {
		return err
	}
	s.progress(ctx, order, wire.LogsStateCompleted)
	return nil
}

// gather gathers the control plane's logs; meanwhile, at once and then each
// minute, what is there goes up, so that a host that dies, an agent that is told
// to end or a script that hangs leaves something.
func (s Sender) gather(ctx context.Context, order Order, run *run) {
	done := make(chan struct{})
	go func() { defer close(done); run.gather(ctx) }()
	ticks := time.NewTicker(partialEvery)
	defer ticks.Stop()
	over := time.NewTimer(gatherLimit + stopGrace)
	defer over.Stop()
	for {
		if err := s.upload(ctx, order, run, true); err != nil {
			s.Log.Warn("a partial bundle of logs was not taken", "error", err)
		}
		select {
		case <-done:
			return
		case <-over.C: // it does not even die
			return
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

// upload sends the logs in as many archives as it takes. Hubs may keep only the
// last archive of a host: after several the first is sent again, which holds
// what matters most.
func (s Sender) upload(ctx context.Context, order Order, run *run, partial bool) error {
	s.progress(ctx, order, wire.LogsStateCollecting)
	limit := s.limit
	if limit == 0 {
		limit = maxUpload
	}
	files := run.files(partial)
	b := newBundle(order.Host.HostID, run.pieces(partial), files, s.Sources.Secrets, limit)
	n, next := 0, 0
	for next < len(b.entries) || n == 0 {
		if n++; n > maxArchives {
			s.Log.Warn("more logs than are sent", "entries", len(b.entries)-next, "first", b.entries[next].name)
			break
		}
		var err error
		if next, err = s.archive(ctx, order, run, b, n, next); err != nil {
			return err
		}
	}
	if n > 1 {
		_, err := s.archive(ctx, order, run, b, 1, 0)
		return err
	}
	return nil
}

// archive uploads the nth archive; a failed upload is tried again.
func (s Sender) archive(ctx context.Context, order Order, run *run, b *bundle, n, from int) (next int, err error) {
	for attempt := 1; ; attempt++ {
		err = s.Hub.UploadLogs(ctx, order.Host, order.ClusterID, archiveName(n), func(w io.Writer) error {
			copied, closeCopy := run.copy(archiveName(n))
			defer closeCopy()
			if copied != nil {
				w = io.MultiWriter(w, copied)
			}
			var err error
			next, err = b.write(ctx, w, n, from)
			return err
		})
		if err == nil || attempt == attempts || !again(err) || ctx.Err() != nil {
			return next, err
		}
		s.Log.Warn("the logs were not taken", "archive", archiveName(n), "attempt", attempt, "error", err)
		select {
		case <-time.After(retry.Random(attempt)):
		case <-ctx.Done():
			return next, context.Cause(ctx)
		}
	}
}

// again tells whether another attempt may succeed.
func again(err error) bool {
	switch code := hubclient.Code(err); code {
	case 0, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	default:
		return code >= http.StatusInternalServerError
	}
}

// progress tells the hub how far the collection is; a failure costs nothing.
func (s Sender) progress(ctx context.Context, order Order, state wire.LogsState) {
	if err := s.Hub.LogsProgress(ctx, order.Host, state); err != nil {
		s.Log.Warn("the hub does not take the progress of the logs", "state", state, "error", err)
	}
}

// newRun makes a folder of its own for a collection that leaves something, so
// that two of them do not meet.
func (s Sender) newRun(order Order) (*run, error) {
	r := &run{sources: s.Sources, order: order, log: s.Log, id: runID(time.Now())}
	if !order.Keep && (!order.Bootstrap || !order.InstallerGather) {
		return r, nil
	}
	parent := s.Sources.Dir.Path("/var/log")
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, fmt.Errorf("folder for the logs: %w", err)
	}
	r.folder = filepath.Join(parent, "logs_host_"+order.Host.HostID+"-"+r.id)
	if err := os.Mkdir(r.folder, 0o700); err != nil {
		return nil, fmt.Errorf("folder for the logs: %w", err)
	}
	return r, nil
}
