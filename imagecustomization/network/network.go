// Package network turns a description of a host's network into what its live
// system is told: NetworkManager keyfiles for nmstate documents and OpenStack's
// network data, or the document itself for a live system with nmstatectl.
//
// The order is: translate, else leave it to nmstatectl, else refuse with the path
// of the field; nothing that the user wrote is dropped silently. The same document
// gives the same files. The main type is [Settings], the main functions are
// [Live.Translate] and [Live.FromSecret].
package network

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const suffix = ".nmconnection"

// Settings are what a live system is told about its network.
type Settings struct {
	// Keyfiles are NetworkManager keyfiles by file name.
	Keyfiles map[string][]byte
	// Hostname is the host's name, empty when the description has none.
	Hostname string
	// Nmstate is a document that the live system's nmstatectl applies, empty for
	// none; Left says which fields of it could not be translated.
	Nmstate string
	Left    error
	// Cards are the names in the keyfiles of cards that are found by their
	// addresses, with these. Unnamed tells that a keyfile has such a name where
	// NetworkManager wants the kernel's, which only the live system can fill in.
	Cards   map[string]string
	Unnamed bool
}

// Translate translates an nmstate document (YAML or JSON). Names of cards are the
// kernel's, or else those of cards, which holds their addresses by name; nil for
// none. Errors wrap [ErrUnsupported] and name every field at fault.
func Translate(nmstate []byte, cards map[string]string) (Settings, error) {
	r := &reader{}
	d := parse(r, nmstate)
	if cards != nil && !r.wrong {
		d.meet(r, cards)
	}
	if err := r.err(); err != nil {
		return Settings{}, err
	}
	return d.settings(r)
}

// Keyfiles translates an nmstate document for somebody who can hand over nothing
// but keyfiles: what needs more is refused. An empty document gives none.
func Keyfiles(nmstate []byte) (map[string][]byte, error) {
	s, err := Translate(nmstate, nil)
	if err != nil {
		return nil, err
	}
	return s.OnlyKeyfiles()
}

// OnlyKeyfiles returns the keyfiles, and an error when the settings have more.
func (s Settings) OnlyKeyfiles() (map[string][]byte, error) {
	r := &reader{}
	switch {
	case s.Nmstate != "":
		return nil, s.Left
	case s.Hostname != "":
		r.refuse("hostname.config", "not supported here: keyfiles have no place for it")
	case s.Unnamed:
		r.refuse("interfaces", "a card that is found by its address is named where NetworkManager wants the kernel's name, which is not supported here; use the kernel's name")
	}
	return s.Keyfiles, r.err()
}

// settings checks the document as a whole and renders it.
func (d *document) settings(r *reader) (Settings, error) {
	d.join(r)
	d.copyAddresses(r)
	d.prioritize()
	p := d.plan(r)
	if err := r.err(); err != nil {
		return Settings{}, err
	}
	s := Settings{Keyfiles: map[string][]byte{}, Hostname: d.hostname, Cards: map[string]string{}, Unnamed: d.unnamed}
	for _, i := range d.interfaces {
		if i.matchMAC != "" {
			s.Cards[i.name] = i.matchMAC
		}
		if i.up || i.down {
			s.Keyfiles[i.name+suffix] = d.keyfile(i, p)
		}
	}
	return s, nil
}

// needsName notes that a keyfile names an interface where NetworkManager wants the
// kernel's name.
func (d *document) needsName(name string) {
	if i := d.find(name); i != nil && i.matchMAC != "" {
		d.unnamed = true
	}
}

// FromSecret reads the network data Secret of a host: key "nmstate" holds an
// nmstate document, or else "networkData" (also "network_data.json") OpenStack's
// network data; keys that end in ".nmconnection" hold ready keyfiles, which win
// over a translated one of the same name. Other keys are refused.
func (l Live) FromSecret(data map[string][]byte) (s Settings, err error) {
	known := false
	if raw, ok := data["nmstate"]; ok {
		known = true
		if s, err = l.Translate(raw, nil); err != nil {
			return Settings{}, fmt.Errorf("nmstate: %w", err)
		}
	}
	for _, key := range networkDataKeys {
		raw, ok := data[key]
		if !ok {
			continue
		}
		if known {
			return Settings{}, fmt.Errorf("%w: key %q besides another description of the network; keep one", ErrUnsupported, key)
		}
		known = true
		if s, err = TranslateNetworkData(raw); err != nil {
			return Settings{}, fmt.Errorf("%s: %w", key, err)
		}
	}
	if s.Keyfiles == nil {
		s.Keyfiles = map[string][]byte{}
	}
	for _, name := range slices.Sorted(maps.Keys(data)) {
		content := data[name]
		switch {
		case slices.Contains(networkDataKeys, name):
		case strings.HasSuffix(name, suffix):
			known = true
			if strings.HasPrefix(name, ".") {
				return Settings{}, fmt.Errorf("%w: %s: NetworkManager reads no file whose name begins with a dot", ErrUnsupported, name)
			}
			if !bytes.Contains(content, []byte("[connection]")) {
				return Settings{}, fmt.Errorf("%w: %s: no [connection] section, this is not a keyfile", ErrUnsupported, name)
			}
			s.Keyfiles[name] = content
		case name != "nmstate":
			return Settings{}, fmt.Errorf("%w: key %q; there are %q, %q and NAME%s", ErrUnsupported, name, "nmstate", networkDataKeys[0], suffix)
		}
	}
	if !known {
		return Settings{}, fmt.Errorf("%w: neither key %q, nor %q, nor a NAME%s", ErrUnsupported, "nmstate", networkDataKeys[0], suffix)
	}
	return s, nil
}

// IsNetworkData tells whether the content of a Secret describes a network.
func IsNetworkData(data map[string][]byte) bool {
	for key := range data {
		if key == "nmstate" || slices.Contains(networkDataKeys, key) || strings.HasSuffix(key, suffix) {
			return true
		}
	}
	return false
}
