package logs

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ironflow/ironflow/agent/command"
)

const (
	// gatherScript gathers the logs of a control plane; it comes with bootstrap.ign.
	gatherScript = "installer-gather.sh"
	// gatherLimit bounds it: hosts that it cannot reach take minutes each.
	gatherLimit = 30 * time.Minute
)

// runID tells one run from others, also from those of the same second. The
// script's files are named after it.
func runID(now time.Time) string {
	var random [3]byte
	_, _ = rand.Read(random[:]) // never fails
	return now.UTC().Format("20060102150405") + "-" + hex.EncodeToString(random[:])
}

// run is one collection with what is its own.
type run struct {
	sources Sources
	order   Order
	log     *slog.Logger
	id      string
	// folder is for what the run leaves; empty when that is nothing.
	folder string

	mu     sync.Mutex
	said   bytes.Buffer // what the script wrote
	failed error        // how it ended
}

// artifacts is where the script collects.
func (r *run) artifacts() string { return r.sources.Dir.Path("/tmp/artifacts-" + r.id) }

// outcome is what it makes of it.
func (r *run) outcome() string { return r.sources.Dir.Path("/root/log-bundle-" + r.id + ".tar.gz") }

// gather runs the script until it ends.
func (r *run) gather(ctx context.Context) {
	ctx, cancel := context.WithTimeoutCause(ctx, gatherLimit, fmt.Errorf("took longer than %s", gatherLimit))
	defer cancel()
	err := r.sources.Commands.Run(ctx, command.Command{
		Name: gatherScript, Args: append([]string{"--id", r.id}, r.order.Masters...), Env: []string{"HOME=/root"},
		Stdout: words{r}, Stderr: words{r},
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = err
}

// words keeps the first MiB of what the script says.
type words struct{ run *run }

func (w words) Write(p []byte) (int, error) {
	w.run.mu.Lock()
	defer w.run.mu.Unlock()
	if room := 1<<20 - w.run.said.Len(); room > 0 {
		w.run.said.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// pieces are the files of text, with those of this run.
func (r *run) pieces(partial bool) []Piece {
	pieces := r.allPieces(partial)
	if r.sources.partLimit > 0 {
		for _, piece := range pieces {
			for i := range piece.Parts {
				piece.Parts[i].Limit = r.sources.partLimit
			}
		}
	}
	return pieces
}

func (r *run) allPieces(partial bool) []Piece {
	pieces := r.sources.pieces(r.order)
	if r.order.InstallerGather {
		pieces = append(pieces, single("coredumps.logs", func(_ context.Context, w io.Writer) error {
			files, leftOut := r.sources.coreDumps()
			for _, file := range files {
				fmt.Fprintf(w, "%s %d bytes\n", file.Name, file.Size)
			}
			return leftOut
		}))
	}
	if !r.gathers() {
		return pieces
	}
	return append(pieces, single("installer-gather.logs", func(_ context.Context, w io.Writer) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if _, err := w.Write(r.said.Bytes()); err != nil || partial {
			return err
		}
		return r.failed
	}))
}

func (r *run) gathers() bool {
	return r.order.Bootstrap && r.order.InstallerGather && r.sources.Commands != nil
}

// files are the files of known size: the bundle of the control plane's logs, or
// what there is of it, and core dumps.
func (r *run) files(partial bool) []File {
	if !r.order.InstallerGather {
		return nil
	}
	var files []File
	if r.gathers() {
		if file, err := r.bundle(partial); err != nil {
			r.log.Warn("the control plane's logs cannot be sent", "error", err)
			r.mu.Lock()
			fmt.Fprintf(&r.said, "\n%v\n", err)
			r.mu.Unlock()
		} else if file != nil {
			files = append(files, *file)
		}
	}
	if !partial { // core dumps do not change, and are large
		cores, _ := r.sources.coreDumps() // what is left out is said in coredumps.logs
		files = append(files, cores...)
	}
	return files
}

// bundle makes the bundle of the control plane's logs without its secrets: of
// what the script has made or, before its end and after a bad one, of what it
// has collected so far. It is nil when there is neither.
func (r *run) bundle(partial bool) (*File, error) {
	name := "log-bundle-" + r.id + ".tar.gz"
	if partial {
		name = "log-bundle-" + r.id + "-partial.tar.gz"
	}
	at := filepath.Join(r.folder, name)
	out, err := os.OpenFile(at, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	w := newRewriter(out, r.sources.Secrets)
	found := w.bundle(r.outcome())
	if partial || !found {
		found = w.tree(r.artifacts(), "log-bundle-"+r.id)
	}
	if err := w.close(); err != nil {
		return nil, err
	}
	info, err := out.Stat()
	if err != nil || !found {
		return nil, err
	}
	if !partial && !r.order.Keep { // it has moved into ours
		_ = os.Remove(r.outcome())
		_ = os.RemoveAll(r.artifacts())
	}
	file := diskFile(name, at, info.Size())
	return &file, nil
}

// copy is a copy of the archive on the host, if the order wants one.
func (r *run) copy(name string) (w io.Writer, done func()) {
	if !r.order.Keep {
		return nil, func() {}
	}
	f, err := os.OpenFile(filepath.Join(r.folder, name), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		r.log.Warn("no copy of the logs is kept", "error", err)
		return nil, func() {}
	}
	return lenient{f}, func() { _ = f.Close() } // a copy that is cut short costs nothing else
}

// lenient is a writer whose failures do not count: a full disk must not stop the upload.
type lenient struct{ io.Writer }

func (l lenient) Write(p []byte) (int, error) { _, _ = l.Writer.Write(p); return len(p), nil }

// clean removes what the run has made.
func (r *run) clean() {
	if r.folder == "" || r.order.Keep {
		return
	}
	_ = os.RemoveAll(r.folder)
	_ = os.RemoveAll(r.artifacts())
	_ = os.Remove(r.outcome())
}
