package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ironflow/ironflow/hub/seal"
	"github.com/ironflow/ironflow/hub/wire"
)

// Sealed is the store with those members of records sealed in its tables that open something,
// or may: what opens the Ignition of the cluster that a host joins, and overrides, which are
// whatever their users write. Who reads a record has them as they were. Those that an
// earlier version has stored are plain, and are sealed when their record is written.
func Sealed(s Store, keys seal.Keys) Store { return &sealed{s, keys} }

type sealed struct {
	Store
	keys seal.Keys
}

// View implements [Store].
func (s *sealed) View(ctx context.Context, f func(*Reader) error) error {
	return s.Store.View(ctx, func(r *Reader) error {
		own := *r
		own.keys = s.keys
		return f(&own)
	})
}

// Commit implements [Store].
func (s *sealed) Commit(ctx context.Context, u *Unit) error {
	u.keys = s.keys
	return s.Store.Commit(ctx, u)
}

// Kept are members of a record as its table has them: sealed, by their names.
type Kept struct {
	// Texts are stored with the record, in the place of the members.
	Texts map[string]seal.Text `json:",omitempty"`
	// lost is why members cannot be opened; stale tells of one that is plain, or sealed with
	// an earlier key, plain of one that was never sealed.
	lost         []error
	stale, plain bool
}

// Lost says which members are sealed with a key that is lost, and are empty for now; nil for
// none. They stay in the table until they are set anew.
func (k *Kept) Lost() error {
	if err := errors.Join(k.lost...); err != nil {
		return fmt.Errorf("%w, or set it anew", err)
	}
	return nil
}

// Stale tells that the record is to be written once more, so that all of it is sealed with the
// present key; plain that some of it never was.
func (k *Kept) Stale() (stale, plain bool) { return k.stale, k.plain }

// member is one that is sealed.
type member struct {
	// name is its own in [Kept.Texts], of whose record it is.
	name, of string
	get      func() string
	set      func(string)
}

func (m member) place() string { return m.name + " of " + m.of }

// asText is a member that is a text.
func asText(name, of string, at *string) member {
	return member{name, of, func() string { return *at }, func(s string) { *at = s }}
}

// asJSON is a member that is kept as JSON; is tells that there is anything.
func asJSON[T any](name, of string, at *T, is func(T) bool) member {
	return member{name, of, func() string {
		if !is(*at) {
			return ""
		}
		raw, _ := json.Marshal(*at) // plain values
		return string(raw)
	}, func(s string) {
		var value T
		_ = json.Unmarshal([]byte(s), &value) // it is the store's own text, or empty
		*at = value
	}}
}

func (e *InfraEnv) members() []member {
	return []member{asText("ignition_config_override", "infra-env "+e.API.ID, &e.API.IgnitionConfigOverride)}
}

func (c *Cluster) members() []member {
	return []member{asText("install_config_overrides", "cluster "+c.API.ID, &c.API.InstallConfigOverrides)}
}

func (h *Host) members() []member {
	of := h.named()
	return []member{
		asText("ignition_endpoint_token", of, &h.EndpointToken),
		asJSON("ignition_endpoint_http_headers", of, &h.EndpointHeaders, func(v []wire.IgnitionEndpointHTTPHeadersParams) bool { return len(v) > 0 }),
		asJSON("headers that its object asks for", of, &h.Asked.Headers, func(v map[string]string) bool { return len(v) > 0 }),
	}
}

func (h *Host) named() string { return "host " + h.API.ID + " of infra-env " + h.API.InfraEnvID }

// overrides is the report that users write, and that is sealed as well.
const overrides = "ignition"

func (h *Host) overrides() string { return "ignition_config_overrides of " + h.named() }

// open puts the members of a record that was read into their places.
func (k *Kept) open(keys seal.Keys, members []member) error {
	if keys.IsZero() {
		return nil
	}
	for _, m := range members {
		kept, sealed := k.Texts[m.name]
		if !sealed {
			k.plain = k.plain || m.get() != ""
			continue
		}
		plain, err := k.reveal(keys, m.place(), kept)
		if err != nil {
			return err
		}
		m.set(plain)
	}
	k.stale = k.stale || k.plain
	return nil
}

// reveal is the text; empty, and noted, where its key is lost.
func (k *Kept) reveal(keys seal.Keys, place string, t seal.Text) (string, error) {
	k.stale, k.plain = k.stale || !keys.Fresh(t), k.plain || t.Plain()
	plain, err := keys.Reveal(place, t)
	if errors.Is(err, seal.ErrKey) {
		k.lost, k.stale = append(k.lost, err), false
		return "", nil
	}
	return plain, err
}

// shut takes the members out of a record that is to be written: what it has sealed of them.
func (k *Kept) shut(keys seal.Keys, members []member) error {
	if keys.IsZero() {
		return nil
	}
	var texts map[string]seal.Text
	for _, m := range members {
		kept, err := again(keys, m.place(), k.Texts[m.name], m.get())
		if err != nil {
			return err
		}
		m.set("")
		if kept == "" {
			continue
		}
		if texts == nil {
			texts = map[string]seal.Text{}
		}
		texts[m.name] = kept
	}
	*k = Kept{Texts: texts}
	return nil
}

// again is what a table has of a secret from now on: the same text where nothing is to be
// done, and where an empty one stands for one whose key is lost.
func again(keys seal.Keys, place string, have seal.Text, plain string) (seal.Text, error) {
	if plain == "" {
		if _, err := keys.Reveal(place, have); errors.Is(err, seal.ErrKey) {
			return have, nil
		}
		return "", nil
	}
	if !keys.Fresh(have) {
		have = ""
	}
	return keys.Keep(place, have, plain)
}

// openOverrides notes the report that is sealed, and returns it.
func (h *Host) openOverrides(keys seal.Keys, kind, text string) (string, error) {
	if kind != overrides || keys.IsZero() {
		return text, nil
	}
	return h.Kept.reveal(keys, h.overrides(), seal.Text(text))
}

// shutOverrides is what the row of the report has from now on.
func (h *Host) shutOverrides(keys seal.Keys, kind, text string) (string, error) {
	if kind != overrides || keys.IsZero() {
		return text, nil
	}
	kept, err := again(keys, h.overrides(), seal.Text(h.loaded[kind]), text)
	return string(kept), err
}
