package parts

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/hub/reach"
)

// Publish settles under which addresses others reach us, and the certificate for them.
func (p *Program) Publish() error {
	s := &p.Settings
	if s.Hub.PublishURL == "" {
		s.Hub.PublishURL = "https://" + loopback(s.Hub.Address)
	}
	if s.Images.PublishURL == "" {
		s.Images.PublishURL = "http://" + loopback(s.Images.Address)
	}
	hosts := []string{"127.0.0.1", "localhost", "ironflow." + names.HubNamespace + ".svc"}
	for _, u := range []string{s.Hub.PublishURL, s.Images.PublishURL, s.BMCEvents.PublishURL} {
		if host := hostOf(u); host != "" {
			hosts = append(hosts, host)
		}
	}
	var err error
	if p.Cert, err = pki.Ensure(filepath.Join(s.Store.DataDir, "tls"), hosts, time.Now()); err != nil {
		return fmt.Errorf("certificates: %w", err)
	}
	return nil
}

// Exclusively does what makes files in the data folder while no other process does: two
// that start together must not make two CAs.
func (p *Program) Exclusively(do func() error) (err error) {
	if err := os.MkdirAll(p.Settings.Store.DataDir, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(p.Settings.Store.DataDir, ".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("lock the data folder: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }() // which ends the lock
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock the data folder: %w", err)
	}
	return do()
}

// CheckPublished refuses addresses that BMCs and machines cannot reach: hosts would
// wait for minutes for what nobody can fetch.
func CheckPublished(s *v1alpha1.IronflowConfiguration) error {
	published := []struct{ flag, address, whom string }{
		{"hub-publish-url", s.Hub.PublishURL, "machines reach the hub"},
		{"images-publish-url", s.Images.PublishURL, "BMCs reach live images"},
		{"bmc-events-publish-url", s.BMCEvents.PublishURL, "BMCs reach the receiver of their events"},
	}
	for _, address := range s.LiveSystem.IronicBaseURLs { // the endpoint's, where nothing else is set
		published = append(published, struct{ flag, address, whom string }{"ironic-base-url", address, "machines reach Ironic"})
	}
	cluster := reach.Around()
	for _, p := range published {
		if reach.Unset(p.address) {
			return fmt.Errorf("--%s %q was not filled in; set it to a URL by which %s (docs/install.md)", p.flag, p.address, p.whom)
		}
		if why := cluster.Unreachable(p.address); why != "" && !s.Kubernetes.MachinesInCluster {
			return fmt.Errorf("--%s %q: %q %s; set it to a URL by which %s, such as that of a load balancer, a node or an ingress, or set --machines-in-cluster if they do reach this one (docs/install.md)",
				p.flag, p.address, hostOf(p.address), why, p.whom)
		}
	}
	return nil
}

// loopback is the address with a host that works on this machine.
func loopback(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || host != "" {
		return addr
	}
	return net.JoinHostPort("127.0.0.1", port)
}

// hostOf returns the host of a URL without its port.
func hostOf(rawURL string) string {
	_, rest, _ := strings.Cut(rawURL, "://")
	host, _, err := net.SplitHostPort(strings.SplitN(rest, "/", 2)[0])
	if err != nil {
		return strings.SplitN(rest, "/", 2)[0]
	}
	return host
}
