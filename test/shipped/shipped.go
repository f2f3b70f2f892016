// Package shipped runs Ironflow as an operator does: the compiled program as a
// process of its own, with its settings in files and the environment, on a
// Kubernetes API with the CRDs and admission rules of config/, in front of the
// lab's Ironic. Demo and tests of whole flows use it.
//
// [Start] prepares the Kubernetes API and starts the program; [Process] kills,
// restarts and stops it.
package shipped

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/ironflow/ironflow/test/lab"
)

// Options choose how Ironflow runs.
type Options struct {
	// Lab has the running control plane and Ironic; logs and state go into its folder.
	Lab *lab.Lab
	// Program is the path of ironflow, Command what it is to do: run, if empty, or
	// controllers, which needs no HostPrograms and no BaseISO.
	Program, Command string
	// HostPrograms is the folder of the agent and the step that ride in live images.
	HostPrograms string
	// BaseISO is the medium that live images are made of.
	BaseISO string
	// Address is where hub and image server listen and are published; the zero
	// value is loopback.
	Address netip.Addr
	// Settings are further variables of the environment; they win over those
	// that follow from the other options.
	Settings map[string]string
}

// Start installs CRDs and admission rules, starts Ironflow and waits until it is
// ready. Stop has to be called on the result.
func Start(ctx context.Context, o Options) (*Process, error) {
	if err := lab.InstallCRDs(ctx, o.Lab.ControlPlane.Config()); err != nil {
		return nil, fmt.Errorf("install the CRDs: %w", err)
	}
	if err := lab.InstallAdmission(ctx, o.Lab.ControlPlane.Config()); err != nil {
		return nil, fmt.Errorf("install the admission rules: %w", err)
	}
	settings, err := o.settings(ctx)
	if err != nil {
		return nil, err
	}
	p, err := launch(ctx, o, settings)
	if err != nil {
		return nil, fmt.Errorf("start ironflow: %w", err)
	}
	return p, nil
}

// settings are the whole environment of the program's own variables. Metrics and
// health are for programs on this computer.
func (o Options) settings(ctx context.Context) (map[string]string, error) {
	auth := filepath.Join(o.Lab.Dir, "auth")
	if err := writeCredentials(filepath.Join(auth, "ironic"), o.Lab.Ironic); err != nil {
		return nil, err
	}
	address := o.Address
	if !address.IsValid() {
		address = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	listeners := []string{address.String(), address.String(), address.String(), "127.0.0.1", "127.0.0.1"}
	for i, host := range listeners {
		var err error
		if listeners[i], err = freeAddress(ctx, host); err != nil {
			return nil, err
		}
	}
	settings := map[string]string{
		"KUBECONFIG":                  o.Lab.ControlPlane.Kubeconfig,
		"IRONFLOW_DATA_DIR":           filepath.Join(o.Lab.Dir, "ironflow"),
		"IRONFLOW_HUB_ADDR":           listeners[0],
		"IRONFLOW_HUB_PUBLISH_URL":    "https://" + listeners[0],
		"IRONFLOW_IMAGES_ADDR":        listeners[1],
		"IRONFLOW_IMAGES_PUBLISH_URL": "http://" + listeners[1],
		"IRONFLOW_IMAGES_TLS_ADDR":    listeners[2],
		"IRONFLOW_METRICS_ADDR":       listeners[3],
		"IRONFLOW_HEALTH_ADDR":        listeners[4],
		"DEPLOY_ISO":                  o.BaseISO,
		"IRONFLOW_HOST_PROGRAMS":      o.HostPrograms,
		"IRONIC_ENDPOINT":             o.Lab.Ironic.URL,
		"IRONIC_CACERT_FILE":          o.Lab.CAFile,
		"METAL3_AUTH_ROOT_DIR":        auth,
	}
	maps.Copy(settings, o.Settings)
	return settings, nil
}

// writeCredentials writes Ironic's credentials as a Secret mounted into a folder.
func writeCredentials(dir string, ironic *lab.Ironic) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for name, text := range map[string]string{"username": ironic.User, "password": ironic.Password} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// freeAddress returns an address on the host that nobody listens on.
func freeAddress(ctx context.Context, host string) (string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
