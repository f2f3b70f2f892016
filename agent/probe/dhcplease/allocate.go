package dhcplease

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ironflow/ironflow/agent/probe"
)

// folder is where the leases lie, the one that keepalived's set-up reads.
const folder = "/etc/keepalived"

// allocateOne gets the lease of one address and returns it together with its
// text. The link is gone afterwards, whatever happened.
func allocateOne(ctx context.Context, env probe.Env, parent string, v vip) (lease Lease, text string, err error) {
	file := env.Dir.Path(filepath.Join(folder, "lease-"+v.name))
	given, before := Lease{}, ""
	if v.given != "" {
		if given, before, err = LastLease(v.given); err != nil {
			env.Log.Warn("the hub's lease cannot be read; asking for a new one", "link", v.name, "error", err)
			given, before = Lease{}, ""
		}
	}
	before = renamed(before, v.name)
	if err := write(file, before); err != nil { // a host that cannot keep leases must not take any
		return Lease{}, "", err
	}
	remove, err := addLink(env.Dir, parent, v.name, v.mac)
	if err != nil {
		return Lease{}, "", err
	}
	defer func() { err = errors.Join(err, remove()) }()
	lease, err = client{link: v.name, mac: v.mac, log: env.Log}.get(ctx, given)
	if err != nil {
		return Lease{}, "", err
	}
	if err := write(file, before+lease.Text()); err != nil {
		return Lease{}, "", err
	}
	return read(file)
}

func write(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("keep the lease: %w", err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return fmt.Errorf("keep the lease: %w", err)
	}
	return nil
}

// read returns the last lease of the file.
func read(file string) (Lease, string, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return Lease{}, "", err
	}
	lease, text, err := LastLease(string(raw))
	if err != nil {
		return Lease{}, "", fmt.Errorf("read the lease back: %w", err)
	}
	return lease, text, nil
}
