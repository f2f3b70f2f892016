package ironic

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// macWindow is the time within which questions for MAC addresses are counted.
	macWindow = 2 * time.Second
	// macQuestions is how many of them are asked one by one before a list is read.
	macQuestions = 4
	// macGood is how long a list answers questions. A port that somebody else makes
	// meanwhile is noticed when ours is refused.
	macGood = 5 * time.Second
	// macPage is the length of a page of the list.
	macPage = 1000
)

// macs finds ports by MAC address. When a fleet is enrolled, a question for each
// host would be an eighth of all requests; then all ports are listed instead, once
// for the questions of five seconds.
type macs struct {
	mu     sync.Mutex
	since  time.Time // of the questions that are counted
	asked  int
	listed time.Time
	pages  int // of the last list
	ports  map[string]wirePort
}

// find returns the port with this MAC, of whatever node. Only one list is read at
// a time; whoever asks meanwhile waits for it.
func (m *macs) find(ctx context.Context, g *Gateway, mac string) (port wirePort, found bool, err error) {
	m.mu.Lock()
	now := time.Now()
	if now.Sub(m.since) > macWindow {
		m.since, m.asked = now, 0
	}
	m.asked++
	if now.Sub(m.listed) >= macGood {
		m.ports = nil
		if m.asked <= macQuestions+m.pages {
			m.mu.Unlock()
			return g.portOf(ctx, mac)
		}
		if err := m.list(ctx, g); err != nil {
			m.mu.Unlock()
			return wirePort{}, false, err
		}
	}
	port, found = m.ports[strings.ToLower(mac)]
	m.mu.Unlock()
	return port, found, nil
}

// list reads all ports; the lock is held.
func (m *macs) list(ctx context.Context, g *Gateway) error {
	ports, pages, asked := map[string]wirePort{}, 0, time.Now()
	query := url.Values{"fields": {"node_uuid,uuid,address,pxe_enabled"}, "limit": {strconv.Itoa(macPage)}}
	for {
		var page portList
		err := g.do(ctx, call{op: "list all ports", method: http.MethodGet, path: "ports?" + query.Encode(), into: &page})
		if err != nil {
			return err
		}
		pages++
		for _, p := range page.Ports {
			ports[strings.ToLower(p.Address)] = p
		}
		if page.Next == "" || len(page.Ports) == 0 {
			m.ports, m.pages, m.listed = ports, pages, asked
			return nil
		}
		query.Set("marker", page.Ports[len(page.Ports)-1].UUID)
	}
}

// forget drops a port that was just removed.
func (m *macs) forget(mac string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.ports, strings.ToLower(mac))
}

// learn adds a port that was just created, if a list answers questions.
func (m *macs) learn(p wirePort) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ports != nil {
		m.ports[strings.ToLower(p.Address)] = p
	}
}
