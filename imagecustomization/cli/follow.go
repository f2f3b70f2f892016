package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/media"
)

const (
	// lookAtHosts is how often the folder of hosts is looked at, which may lie on
	// another machine that reports no changes.
	lookAtHosts = time.Second
	// lookAtMedia is how often the base images are; each look is followed by one at
	// every host, whose image may be another then.
	lookAtMedia = time.Minute
)

// follower keeps the images of a folder of hosts.
type follower struct {
	serveOptions
	store    *images.Store
	registry *media.Registry
	out      io.Writer
	known    map[string]followed
	trouble  string // with the folder itself, as it was told last
}

// followed is one host, as it was put last.
type followed struct {
	state    string // of its files
	address  string // "" for none
	trouble  string // as it was told last
	notAfter time.Time
}

// begin puts every host. One bad host does not keep the others from booting, but a
// folder without any good one is an error.
func (f *follower) begin(ctx context.Context) error {
	if err := f.pass(ctx, true); err != nil {
		return err
	}
	if !slices.ContainsFunc(keys(f.known), func(name string) bool { return f.known[name].address != "" }) {
		return fmt.Errorf("no image to serve: put at least one usable NAME.ign, NAME.yaml, NAME.json or NAME/*.nmconnection into %s", f.hosts)
	}
	return nil
}

// follow looks again and again, until ctx ends.
func (f *follower) follow(ctx context.Context) {
	hosts, all := time.NewTicker(lookAtHosts), time.NewTicker(lookAtMedia)
	defer hosts.Stop()
	defer all.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-hosts.C:
			err = f.pass(ctx, false)
		case <-all.C:
			if err = f.registry.Rescan(ctx); err == nil {
				err = f.pass(ctx, true)
			}
		}
		f.trouble = f.tell(f.trouble, "", err)
	}
}

// pass puts the hosts that are new or have changed, or all, and removes those that
// are gone. A folder that cannot be read takes nobody's image away.
func (f *follower) pass(ctx context.Context, all bool) error {
	if _, err := os.ReadDir(f.hosts); err != nil {
		return err
	}
	names, err := hostNames(f.hosts)
	if err != nil {
		return err
	}
	for _, name := range keys(f.known) {
		if slices.Contains(names, name) {
			continue
		}
		delete(f.known, name)
		if err := f.store.Remove(hostKey(name)); err != nil {
			return err
		}
		fmt.Fprintln(f.out, name+" removed")
	}
	for _, name := range names {
		was := f.known[name]
		state := stateOf(f.hosts, name)
		if state == "" {
			continue // its files went while this looked: the next look tells whether alone, or with their folder
		}
		over := !was.notAfter.IsZero() && time.Now().After(was.notAfter)
		if all || over || state != was.state {
			f.known[name] = f.put(ctx, name, state, was)
		}
	}
	return nil
}

// put builds a host's image and prints its address if it is another one. A host
// that cannot be built any more keeps the image that it had.
func (f *follower) put(ctx context.Context, name, state string, was followed) followed {
	now := followed{state: state, address: was.address, notAfter: was.notAfter}
	if f.validFor > 0 && !now.notAfter.After(time.Now()) {
		now.notAfter = time.Now().Add(f.validFor)
	}
	spec, err := f.spec(name)
	if err == nil {
		spec.NotAfter = now.notAfter
		var b images.Built
		if b, err = f.store.Put(ctx, spec); err == nil {
			now.address = cmp.Or(b.ScriptURL, b.URL)
		}
	}
	if err != nil && stateOf(f.hosts, name) != state {
		return was // its files have changed while they were read: the next look reads them again
	}
	if now.trouble = f.tell(was.trouble, name+": ", err); now.address != was.address {
		fmt.Fprintln(f.out, name+" "+now.address)
	}
	return now
}

// tell prints an error unless it was told before, and returns what is told now.
func (f *follower) tell(before, prefix string, err error) string {
	if err == nil {
		return ""
	}
	if err.Error() != before {
		fmt.Fprintf(f.out, "%s%v\n", prefix, err)
	}
	return err.Error()
}

// stateOf tells one state of a host's files from another.
func stateOf(dir, name string) string {
	files := []string{name + ".ign", name + ".yaml", name + ".json"}
	if more, err := fs.Glob(os.DirFS(filepath.Join(dir, name)), "*.nmconnection"); err == nil {
		for _, file := range more {
			files = append(files, filepath.Join(name, file))
		}
	}
	var state strings.Builder
	for _, file := range files {
		if info, err := os.Stat(filepath.Join(dir, file)); err == nil {
			fmt.Fprintf(&state, "%s %d %d\n", file, info.Size(), info.ModTime().UnixNano())
		}
	}
	return state.String()
}
