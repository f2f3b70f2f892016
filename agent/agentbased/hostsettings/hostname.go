package hostsettings

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/hostname"
)

// SetHostname gives the host the name in the first file that is named after one of its
// cards, by set, and returns it; empty when no file is.
func SetHostname(ctx context.Context, dir hostfile.Dir, set func(ctx context.Context, name string) error) (string, error) {
	files, err := os.ReadDir(dir.Path(places.Hostnames))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	there, err := cards(dir)
	if err != nil {
		return "", err
	}
	for _, f := range files {
		mac, err := net.ParseMAC(f.Name())
		if err != nil || there[mac.String()] == "" {
			continue
		}
		name, err := readName(dir, places.Hostnames+"/"+f.Name())
		if err != nil {
			return "", err
		}
		if err := set(ctx, name); err != nil {
			return "", fmt.Errorf("set the name %q of %s: %w", name, f.Name(), err)
		}
		return name, nil
	}
	return "", nil
}

// maxName is more than the longest name of a host.
const maxName = 256

func readName(dir hostfile.Dir, file string) (string, error) {
	f, err := os.Open(dir.Path(file))
	if err != nil {
		return "", err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxName))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	return nameOf(file, raw)
}

func nameOf(file string, raw []byte) (string, error) {
	name := strings.TrimSpace(string(raw))
	if !hostname.IsNode(name) {
		return "", fmt.Errorf("%s: %q is no name that a node can have: want lower-case letters, digits, dashes and dots, and not localhost", file, name)
	}
	return name, nil
}
