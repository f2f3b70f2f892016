package ignition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"

	v3 "github.com/coreos/ignition/v2/config/v3_6"
	"github.com/coreos/ignition/v2/config/v3_6/types"

	"github.com/ironflow/ironflow/hub/wire"
)

// Encryption is how the root file system of an installed system is encrypted, as the
// protocol says it. The zero value leaves it as it is.
type Encryption struct {
	// Mode is tpmv2 or tang.
	Mode string
	// TangServers is a JSON list of servers with url and thumbprint, for mode tang.
	TangServers string
}

// tangServer is one of the list.
type tangServer struct {
	URL        string `json:"url"`
	Thumbprint string `json:"thumbprint"`
}

// root is what CoreOS calls its root file system, the partition that it is on, and what it
// is mapped to.
const root = "root"

// Encrypt returns a configuration whose root file system is encrypted; the zero value
// changes nothing. The configuration is Ignition JSON of any version up to 3.6.
func Encrypt(raw []byte, e Encryption) ([]byte, error) {
	if e == (Encryption{}) {
		return raw, nil
	}
	config, err := parse(raw)
	if err != nil {
		return nil, err
	}
	if config, err = e.merge(config); err != nil {
		return nil, err
	}
	return encode(config)
}

// Check says what of it cannot be done.
func (e Encryption) Check() error {
	_, err := e.clevis()
	return err
}

// clevis is who opens the disk: the TPM, or any of the Tang servers.
func (e Encryption) clevis() (types.Clevis, error) {
	switch e.Mode {
	case wire.DiskEncryptionModeTpmv2:
		if e.TangServers != "" {
			return types.Clevis{}, errors.New("tang_servers are for mode tang; leave them out, or choose it")
		}
		return types.Clevis{Tpm2: new(true)}, nil
	case wire.DiskEncryptionModeTang:
		servers, err := tangServers(e.TangServers)
		if err != nil {
			return types.Clevis{}, fmt.Errorf(`tang_servers: %w; want [{"url":"http://tang.example","thumbprint":"THUMBPRINT"}]`, err)
		}
		return types.Clevis{Tang: servers}, nil
	}
	return types.Clevis{}, fmt.Errorf("mode %.40q: want %s or %s", e.Mode, wire.DiskEncryptionModeTpmv2, wire.DiskEncryptionModeTang)
}

// tangServers reads the list. Each server is named once, with the thumbprint that it is
// known by: without one, whoever answers the first time would be believed.
func tangServers(text string) ([]types.Tang, error) {
	var servers []tangServer
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&servers); err != nil {
		return nil, fmt.Errorf("not a JSON list of servers: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than a JSON list")
	}
	if len(servers) == 0 {
		return nil, errors.New("no servers")
	}
	var all []types.Tang
	for i, s := range servers {
		u, err := url.Parse(s.URL)
		switch {
		case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil:
			return nil, fmt.Errorf("server %d has no http(s) url", i+1) // not quoted: it may hold a password
		case s.Thumbprint == "":
			return nil, fmt.Errorf("server %d has no thumbprint", i+1)
		case slices.ContainsFunc(all, func(t types.Tang) bool { return t.URL == s.URL }):
			return nil, fmt.Errorf("server %d is there twice", i+1)
		}
		all = append(all, types.Tang{URL: s.URL, Thumbprint: &s.Thumbprint})
	}
	return all, nil
}

// merge has the root file system of a CoreOS made anew on an encrypted partition at the
// first start; the system keeps what was on it in memory meanwhile. A configuration that
// encrypts it by itself stays as it is; one that makes the root file system itself
// contradicts it.
func (e Encryption) merge(config types.Config) (types.Config, error) {
	if slices.ContainsFunc(config.Storage.Luks, func(l types.Luks) bool { return l.Name == root }) {
		return config, nil
	}
	clevis, err := e.clevis()
	if err != nil {
		return config, fmt.Errorf("disk encryption: %w", err)
	}
	const partition, mapped = "/dev/disk/by-partlabel/" + root, "/dev/mapper/" + root
	for _, f := range config.Storage.Filesystems {
		if f.Device == partition || f.Device != mapped && f.Label != nil && *f.Label == root {
			return config, fmt.Errorf("disk encryption: the configuration makes the root file system on %s; have it make %s, or encrypt the disk itself", f.Device, mapped)
		}
	}
	encrypted := types.Config{
		Ignition: types.Ignition{Version: types.MaxVersion.String()},
		Storage: types.Storage{
			Luks: []types.Luks{{
				Name: root, Label: new("luks-root"), Device: new(partition), WipeVolume: new(true), Clevis: clevis,
			}},
			Filesystems: []types.Filesystem{{
				Device: mapped, Format: new("xfs"), Label: new(root), WipeFilesystem: new(true),
			}},
		},
	}
	return v3.Merge(encrypted, config), nil
}
