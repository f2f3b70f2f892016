// Package keep has the state of a hub follow to the disk of the host that it runs on, and puts
// it back where the host was started anew: [Keeper] is between a hub of package service, which
// says what is to become of the copy, and package diskcopy, which knows how it lies on the disk.
package keep

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/backup"
	"github.com/ironflow/ironflow/hub/diskcopy"
	"github.com/ironflow/ironflow/hub/seal"
	"github.com/ironflow/ironflow/hub/service"
)

// Options say whose state is kept, and where it is.
type Options struct {
	// InfraEnvID is of the installation, Secret is what all of its images have; without one,
	// no copy is kept.
	InfraEnvID, Secret string
	// Settings name what the image says of the cluster and its hosts; empty where that is not known.
	Settings string
	Host     hostfile.Dir
	Backup   backup.Options
	Log      *slog.Logger
	// Tell is told when the copy is not up to date, and why, and with nil when it is, or is not
	// wanted; nil for nobody.
	Tell func(ctx context.Context, trouble error)
}

// Hub is what is asked of the hub.
type Hub interface {
	// Copy tells what is to become of the copy, and the installation disk of the hub's host.
	Copy(ctx context.Context) (wish service.CopyWish, disk string, err error)
	// Watch calls f whenever something was stored.
	Watch(f func()) (stop func())
}

// Keeper keeps the copy.
type Keeper struct {
	place  diskcopy.Place
	host   hostfile.Dir
	backup backup.Options
	hub    Hub
	log    *slog.Logger
	// disk has the copy; nil before there is one.
	disk *diskcopy.Disk
	// dropped tells that there is no copy on the disk, kept that there is one of this process.
	dropped bool
	kept    atomic.Bool
	// flush are those who wait until all that is stored by now is in the copy; ended is closed
	// when nobody keeps it any more.
	flush chan chan struct{}
	ended chan struct{}
	// told is the trouble that was told last, and tell is whom beside the log.
	told string
	tell func(ctx context.Context, trouble error)
}

// New makes it for an installation. Who boots the same image has the secret, so that opens the
// copy.
func New(o Options) (*Keeper, error) {
	c := &Keeper{host: o.Host, backup: o.Backup, log: o.Log, flush: make(chan chan struct{}), ended: make(chan struct{}), tell: o.Tell}
	if c.tell == nil {
		c.tell = func(context.Context, error) {}
	}
	if o.Secret == "" {
		o.Log.Warn("no copy of the hub's state is kept on the disk of this host, since there is no token to seal it with: after a loss of power, the installation begins anew")
		return c, nil
	}
	keys, err := seal.New([]byte("copy of " + o.InfraEnvID + " " + o.Secret))
	c.place = diskcopy.Place{Name: o.InfraEnvID, Keys: keys}
	if o.Settings != "" { // with the secret: nobody tries settings who has only the disk
		c.place.Settings = sha256.Sum256([]byte("settings " + o.Settings + " of " + o.InfraEnvID + " " + o.Secret))
	}
	return c, err
}

// Start is what a hub begins with. The zero value is a data folder as it is.
type Start struct {
	// From is the disk whose copy of the state was put back; empty for none.
	From string
	// PassedOver are the disks with a copy of the state of a hub with other settings, where there
	// is no other: the installation begins anew.
	PassedOver []string
}

// Restore puts the copy back into an empty data folder.
func (c *Keeper) Restore(ctx context.Context) (Start, error) {
	if c.place.Keys.IsZero() {
		return Start{}, nil
	}
	if _, err := os.Stat(c.backup.Place.SQLite); !errors.Is(err, fs.ErrNotExist) {
		return Start{}, err // the data folder has outlived whatever happened
	}
	found, err := diskcopy.Find(c.host, c.place)
	if err != nil {
		return Start{}, err
	}
	disk := found.Disk
	if disk == nil {
		if len(found.PassedOver) > 0 {
			c.log.Warn("the copy of the hub's state on the disk of this host is of an image with other settings and is passed over: "+
				"the installation begins anew; boot all hosts from this image, also those that were installed before", "disks", found.PassedOver)
		}
		return Start{PassedOver: found.PassedOver}, nil
	}
	if _, err := backup.Restore(ctx, c.backup, bytes.NewReader(found.State)); err != nil {
		return Start{}, fmt.Errorf("the copy of the hub's state on %s: %w; next: if the installation is to begin anew on all hosts, wipe that disk", disk.Path, err)
	}
	c.disk = disk
	c.log.Warn("this host was started anew; the installation goes on from the copy of the hub's state on its disk", "disk", disk.Path)
	return Start{From: disk.Path}, nil
}

// Run keeps the copy of the hub's state as that changes, until ctx ends.
func (c *Keeper) Run(ctx context.Context, hub Hub) {
	defer close(c.ended)
	c.hub = hub
	changed := make(chan struct{}, 1)
	defer c.hub.Watch(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})()
	for {
		var waiting chan struct{}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case waiting = <-c.flush:
		}
		switch err := c.keep(ctx); {
		case ctx.Err() != nil:
		case err == nil:
			c.told = ""
			c.tell(ctx, nil)
		case c.told != err.Error():
			c.told = err.Error()
			c.log.Error("the copy of the hub's state on the disk of this host is not up to date: after a loss of power, the installation may have to begin anew", "error", err)
			c.tell(ctx, err)
		}
		if waiting != nil {
			close(waiting)
		}
	}
}

// keep does what is to become of the copy now.
func (c *Keeper) keep(ctx context.Context) error {
	wish, path, err := c.hub.Copy(ctx)
	switch {
	case err != nil || c.place.Keys.IsZero():
		return err
	case wish == service.DropCopy:
		return c.drop(path)
	case wish != service.KeepCopy:
		return nil
	case c.disk == nil && path == "":
		return errors.New("the installation disk of this host is not known")
	}
	if err := c.on(path); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	c.dropped = false
	var state bytes.Buffer
	if _, err := backup.Write(ctx, c.backup, time.Now(), &state); err != nil {
		return err
	}
	if err := c.disk.Write(state.Bytes()); err != nil {
		return fmt.Errorf("%s: %w", c.disk.Path, err)
	}
	c.kept.Store(true)
	return nil
}

// on chooses the disk, unless one has a copy already, with what an earlier process has left there.
func (c *Keeper) on(path string) error {
	if c.disk != nil {
		return nil
	}
	disk := diskcopy.On(c.host, path, c.place)
	if err := disk.Look(); err != nil {
		return err
	}
	c.disk = disk
	return nil
}

// drop takes the copy away, once. A disk that cannot be read has none.
func (c *Keeper) drop(path string) error {
	if c.dropped || c.disk == nil && path == "" {
		return nil
	}
	if c.on(path) == nil && c.disk.Generation > 0 {
		if err := c.disk.Erase(); err != nil {
			return fmt.Errorf("%s: %w", c.disk.Path, err)
		}
	}
	c.disk, c.dropped = nil, true
	c.kept.Store(false)
	return nil
}

// current waits until the copy has all that is stored by now.
func (c *Keeper) current(ctx context.Context) {
	done := make(chan struct{})
	select {
	case c.flush <- done:
	case <-ctx.Done():
		return
	case <-c.ended:
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
	case <-c.ended:
	}
}

// Ended is closed when nobody keeps the copy any more.
func (c *Keeper) Ended() <-chan struct{} { return c.ended }

// Before has an agent that tells how far its host is get its answer once the copy has it: it
// tells that once, and then its host leaves. What may be the order to install comes once there
// is a copy: a hub that begins anew would wait for a host that follows it and leaves.
func (c *Keeper) Before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		progress := r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/progress")
		orders := r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/instructions")
		if progress || orders && !c.kept.Load() {
			w = &heldAnswer{ResponseWriter: w, wait: func() { c.current(r.Context()) }}
		}
		next.ServeHTTP(w, r)
	})
}

// heldAnswer waits before an answer begins.
type heldAnswer struct {
	http.ResponseWriter
	wait func()
}

// WriteHeader implements http.ResponseWriter.
func (h *heldAnswer) WriteHeader(code int) {
	h.hold()
	h.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (h *heldAnswer) Write(text []byte) (int, error) {
	h.hold()
	return h.ResponseWriter.Write(text)
}

// Unwrap is for http.ResponseController.
func (h *heldAnswer) Unwrap() http.ResponseWriter { return h.ResponseWriter }

func (h *heldAnswer) hold() {
	if h.wait != nil {
		h.wait()
		h.wait = nil
	}
}
