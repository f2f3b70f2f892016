package network

import (
	"encoding/json"
	"fmt"

	"sigs.k8s.io/yaml"
)

// Live is what is known of the live system that the settings are for.
type Live struct {
	// Nmstatectl tells that it has that program. Why says how that is known, or why
	// it is not taken for granted; it is part of a refusal.
	Nmstatectl bool
	Why        string
}

// Ways in which a description of the network reaches the live system.
const (
	WayTranslated = "translated"
	WayNmstatectl = "nmstatectl in the live system"
	WayRefused    = "refused"
)

// Way names the way that the settings take.
func (s Settings) Way() string {
	if s.Nmstate != "" {
		return WayNmstatectl
	}
	return WayTranslated
}

// Translate translates an nmstate document as the function of the same name does.
// One that has nothing wrong with it, and more than can be translated, is left to
// the live system's nmstatectl where there is one; otherwise the error says what
// the ways out are.
func (l Live) Translate(nmstate []byte, cards map[string]string) (Settings, error) {
	s, err := Translate(nmstate, cards)
	switch {
	case err == nil || !LeftToNmstatectl(err):
		return s, err
	case !l.Nmstatectl:
		return Settings{}, fmt.Errorf("%w\nand nmstatectl cannot do it: %s; either leave the field out (or write the connection as a keyfile, key NAME%s of the Secret), or use a base image with nmstatectl", err, l.why(), suffix)
	}
	document, identifyErr := identified(nmstate, cards)
	if identifyErr != nil {
		return Settings{}, identifyErr
	}
	return Settings{Nmstate: document, Left: err}, nil
}

func (l Live) why() string {
	if l.Why == "" {
		return "the live system is not known to have it"
	}
	return l.Why
}

// identified returns the document with the addresses of the cards in it, by which
// nmstatectl finds them. Cards that only the map has are added.
func identified(nmstate []byte, cards map[string]string) (string, error) {
	if len(cards) == 0 {
		return string(nmstate), nil
	}
	document := map[string]any{}
	if err := yaml.Unmarshal(nmstate, &document); err != nil {
		return "", err
	}
	r := &reader{}
	d := parse(r, nmstate) // what it lacks was said
	interfaces, _ := document["interfaces"].([]any)
	for n, i := range d.interfaces {
		item, isObject := interfaces[n].(map[string]any)
		if mac := cards[i.name]; mac != "" && isObject && i.kind == "ethernet" && i.matchMAC == "" {
			item["identifier"], item["mac-address"] = "mac-address", mac
		}
	}
	for _, p := range d.allPorts() {
		if mac := cards[p]; mac != "" && d.find(p) == nil {
			interfaces = append(interfaces, map[string]any{"name": p, "type": "ethernet", "identifier": "mac-address", "mac-address": mac})
			d.add(&iface{name: p})
		}
	}
	document["interfaces"] = interfaces
	raw, err := json.Marshal(document)
	return string(raw), err
}
