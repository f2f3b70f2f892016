package images

import (
	"crypto/subtle"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/imagecustomization/overlay"
)

// Network boot without a DHCP server that knows every host: all hosts get the
// address of one iPXE script, which asks for the script of the network card that
// boots. A host that should start its disk gets none, and its firmware goes on
// with the next boot device.

const (
	redirectName = "boot.ipxe"
	// scriptPrefix and scriptSuffix enclose the MAC address, as iPXE's ${…/mac:hexhyp}
	// writes it.
	scriptPrefix = "boot-"
	scriptSuffix = ".ipxe"
)

// RedirectURL is the address of the script that sends every host to its own
// ([Spec.MACs], format initrd). Who knows it can read the config of every host
// whose MAC address he knows, so it belongs to the DHCP server alone.
func (s *Store) RedirectURL() string { return s.options.BaseURL + s.redirectPath() + redirectName }

// redirectPath is the folder of the redirect script and of the scripts by MAC address.
func (s *Store) redirectPath() string { return pathPrefix + s.token("redirect") + "/" }

// addRedirect makes the redirect script available.
func (s *Store) addRedirect() error {
	builder := overlay.NewBuilder(nil)
	// netX is the card that was used last, so the one that fetched this script.
	builder.Bytes(0, []byte(strings.Join([]string{
		"#!ipxe",
		"chain --replace " + s.options.BaseURL + s.redirectPath() + scriptPrefix + "${netX/mac:hexhyp}" + scriptSuffix + " ||",
		"echo No live image for ${netX/mac}, going on with the next boot device",
		"exit", "",
	}, "\n")))
	image, err := builder.Build()
	if err != nil {
		return err
	}
	r := newRevision(s, redirectScript, "", s.redirectPath()+redirectName, redirectName, typeText, image, time.Unix(0, 0))
	s.byPath[pathKey(r.path)] = r
	return nil
}

// scriptAt returns the script of the host that an address names by its MAC
// address. Two hosts with one address get none, because one of the two would
// boot what is the other's.
func (s *Store) scriptAt(path string) *Revision {
	folder := s.redirectPath()
	if len(path) < len(folder) || subtle.ConstantTimeCompare([]byte(path[:len(folder)]), []byte(folder)) == 0 {
		return nil
	}
	mac, isScript := strings.CutPrefix(path[len(folder):], scriptPrefix)
	mac, isWhole := strings.CutSuffix(mac, scriptSuffix)
	if !isScript || !isWhole {
		return nil
	}
	mac = normalMAC(mac)
	s.mu.RLock()
	var key string
	var found *Revision
	for k, e := range s.byKey {
		if e.script != nil && slices.Contains(e.macs, mac) {
			if found != nil {
				s.mu.RUnlock()
				return nil
			}
			key, found = k, e.script
		}
	}
	s.mu.RUnlock()
	if found != nil && s.expired(found) {
		return nil
	}
	if found != nil && s.options.BootsDisk != nil && s.options.BootsDisk(key) {
		return nil
	}
	return found
}

// normalMAC is the one spelling in which addresses are compared.
func normalMAC(mac string) string {
	return strings.ToLower(strings.NewReplacer("-", "", ":", "").Replace(mac))
}
