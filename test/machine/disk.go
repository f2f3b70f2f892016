package machine

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"time"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/machine/ipa"
)

// disk is what an installation left on the machine's disks. It outlives every
// boot, and the lab.
type disk struct{ path string }

// read returns the record, nil when nothing is installed.
func (d disk) read() (*hostfile.Installed, error) {
	raw, err := os.ReadFile(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var installed hostfile.Installed
	if err := json.Unmarshal(raw, &installed); err != nil {
		return nil, fmt.Errorf("%s: %w; delete it for an empty disk", d.path, err)
	}
	return &installed, nil
}

func (d disk) write(installed hostfile.Installed) error {
	raw, err := json.Marshal(installed)
	if err != nil {
		return err
	}
	return os.WriteFile(d.path, raw, 0o600)
}

// erase empties the disk.
func (d disk) erase() error {
	if err := os.Remove(d.path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// keepDisk puts an installation of this boot on the disk: the agent says with
// its done marker that it wrote one.
func (m *Machine) keepDisk() {
	var installed hostfile.Installed
	err := m.root.Read(hostfile.InstalledFile, &installed)
	if errors.Is(err, hostfile.ErrNoState) || installed.BootID != m.Status().BootID {
		return
	}
	if err == nil {
		err = m.disk.write(installed)
	}
	if err != nil {
		m.log.Error("installation lost", "error", err)
		return
	}
	m.update(func(s *Status) { s.Disk = &installed })
}

// imageWriter plays the part of ironic-python-agent that writes images: the image is read whole and its checksum compared, and that it
// is on the disk is remembered.
func (m *Machine) imageWriter(roots *x509.CertPool) func(context.Context, ipa.Image) (string, error) {
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}}
	return func(ctx context.Context, image ipa.Image) (string, error) {
		if _, err := image.Fetch(ctx, client); err != nil {
			return "", err
		}
		if len(m.scenario.Hardware.Disks) == 0 {
			return "", errors.New("the machine has no disk")
		}
		device := "/dev/" + m.scenario.Hardware.Disks[0].Name
		installed := hostfile.Installed{BootID: m.Status().BootID, Disk: device, ImageDigest: image.HashValue, Time: time.Now()}
		if err := m.disk.write(installed); err != nil {
			return "", err
		}
		m.update(func(s *Status) { s.Disk = &installed })
		return device, nil
	}
}

// eraseDisk empties the disks, as cleaning does.
func (m *Machine) eraseDisk() error {
	if err := m.disk.erase(); err != nil {
		return fmt.Errorf("erase the disks: %w", err)
	}
	m.update(func(s *Status) { s.Disk = nil })
	return nil
}
