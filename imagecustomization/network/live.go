package network

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
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
		return Settings{}, fmt.Errorf("%w\n%w", identifyErr, err)
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
// nmstatectl finds them. Cards that only the map has are added, and names are text.
func identified(nmstate []byte, cards map[string]string) (string, error) {
	top, err := decode(nmstate)
	if err != nil {
		return "", err
	}
	document, _ := top.(map[string]any)
	interfaces, _ := document["interfaces"].([]any)
	if len(cards) == 0 && !slices.ContainsFunc(interfaces, hasNumberForName) {
		return string(nmstate), nil
	}
	d := parse(&reader{}, nmstate) // what it lacks was said
	below := d.allPorts()
	r := &reader{}
	for n, i := range d.interfaces {
		item, isObject := interfaces[n].(map[string]any)
		if isObject {
			item["name"] = i.name
		}
		if i.kind == "" {
			below = append(below, texts(item)...)
		}
		mac := strings.ToUpper(cards[i.name])
		if mac == "" || !isObject || i.kind != "ethernet" || i.matchMAC != "" {
			continue
		}
		if i.setMAC != "" && i.setMAC != mac {
			r.refuse(i.path+".mac-address", "nmstatectl finds %s by %s, as the map of addresses says, and cannot give it another address; leave the field out, or what is not translated: see below", i.name, mac)
		}
		item["identifier"], item["mac-address"] = "mac-address", mac
	}
	for _, name := range below {
		if mac := cards[name]; mac != "" && d.find(name) == nil {
			interfaces = append(interfaces, map[string]any{"name": name, "type": "ethernet", "identifier": "mac-address", "mac-address": mac})
			d.add(&iface{name: name})
		}
	}
	if err := r.err(); err != nil {
		return "", err
	}
	document["interfaces"] = interfaces
	raw, err := json.Marshal(named(document, func(text string) bool { return d.find(text) != nil || cards[text] != "" }))
	return string(raw), err
}

// hasNumberForName tells whether YAML takes the name of an interface for a number, which
// nmstatectl would refuse.
func hasNumberForName(item any) bool {
	i, _ := item.(map[string]any)
	_, is := i["name"].(written)
	return is
}

// texts are all texts in a value: what an interface that is not translated lies on is among
// them.
func texts(value any) (all []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case written:
		return []string{v.text}
	case []any:
		for _, item := range v {
			all = append(all, texts(item)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			all = append(all, texts(v[key])...)
		}
	}
	return all
}
