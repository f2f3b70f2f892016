package snapshots

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ironflow/ironflow/hub/store"
)

// Peers are the hosts of a cluster as they are told to each other. A change of one
// host has one host looked at, however many there are.
type Peers struct {
	// mu is held while the list is brought up to date.
	mu     sync.Mutex
	loaded bool
	hosts  map[store.HostKey][]byte
	// text is all of them in JSON, separated by commas; spans says where each is.
	text  []byte
	spans map[store.HostKey]span

	// late guards stale, the hosts that have changed since.
	late  sync.Mutex
	stale map[store.HostKey]bool
}

type span struct{ from, to int }

// outdated notes that a host is to be looked at again.
func (p *Peers) outdated(key store.HostKey) {
	p.late.Lock()
	defer p.late.Unlock()
	if p.stale == nil {
		p.stale = map[store.HostKey]bool{}
	}
	p.stale[key] = true
}

// take returns the hosts that are to be looked at again, and forgets that they are.
func (p *Peers) take() []store.HostKey {
	p.late.Lock()
	defer p.late.Unlock()
	keys := slices.SortedFunc(maps.Keys(p.stale), store.HostKey.Compare)
	p.stale = nil
	return keys
}

// Others returns the list in JSON without the host itself; empty for nobody. list
// names the cluster's hosts, look returns what peers are told of one: nothing for
// a host that has left or is not to be asked for.
func (p *Peers) Others(self store.HostKey, list func() ([]store.HostKey, error), look func(store.HostKey) ([]byte, error)) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.refresh(list, look); err != nil {
		return "", err
	}
	before, after := p.text, []byte(nil)
	if s, listed := p.spans[self]; listed {
		before, after = bytes.TrimSuffix(p.text[:s.from], []byte(",")), bytes.TrimPrefix(p.text[s.to:], []byte(","))
	}
	if len(before)+len(after) == 0 {
		return "", nil
	}
	var all strings.Builder
	all.Grow(len(before) + len(after) + len("[,]"))
	all.WriteByte('[')
	all.Write(before)
	if len(before) > 0 && len(after) > 0 {
		all.WriteByte(',')
	}
	all.Write(after)
	all.WriteByte(']')
	return all.String(), nil
}

func (p *Peers) refresh(list func() ([]store.HostKey, error), look func(store.HostKey) ([]byte, error)) error {
	keys := p.take()
	if !p.loaded {
		all, err := list()
		if err != nil {
			return err
		}
		keys, p.hosts, p.loaded = all, map[store.HostKey][]byte{}, true
	}
	if len(keys) == 0 {
		return nil
	}
	for _, key := range keys {
		peer, err := look(key)
		if err != nil {
			p.loaded = false // from the beginning, the next time
			return err
		}
		if len(peer) == 0 {
			delete(p.hosts, key)
		} else {
			p.hosts[key] = peer
		}
	}
	p.write()
	return nil
}

func (p *Peers) write() {
	p.text, p.spans = nil, map[store.HostKey]span{}
	for i, key := range slices.SortedFunc(maps.Keys(p.hosts), store.HostKey.Compare) {
		if i > 0 {
			p.text = append(p.text, ',')
		}
		from := len(p.text)
		p.text = append(p.text, p.hosts[key]...)
		p.spans[key] = span{from, len(p.text)}
	}
}
