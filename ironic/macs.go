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
	list   *macList // being read; nil for none
}

// macList is a list that is being read for all who ask meanwhile.
type macList struct {
	over  chan struct{} // closed when what follows is set
	ports map[string]wirePort
	err   error
	// meanwhile are the ports of our own that came, and those that went: nil.
	meanwhile map[string]*wirePort
}

// find returns the port with this MAC, of whatever node. Only one list is read at
// a time; whoever asks meanwhile waits for it, and gets its failure.
func (m *macs) find(ctx context.Context, g *Gateway, mac string) (port wirePort, found bool, err error) {
	mac = strings.ToLower(mac)
	m.mu.Lock()
	now := time.Now()
	if now.Sub(m.since) > macWindow {
		m.since, m.asked = now, 0
	}
	m.asked++
	if now.Sub(m.listed) < macGood {
		defer m.mu.Unlock()
		port, found = m.ports[mac]
		return port, found, nil
	}
	m.ports = nil
	if m.list == nil && m.asked <= macQuestions+m.pages {
		m.mu.Unlock()
		return g.portOf(ctx, mac)
	}
	if m.list == nil {
		m.list = &macList{over: make(chan struct{}), meanwhile: map[string]*wirePort{}}
		go m.read(context.WithoutCancel(ctx), g, m.list)
	}
	list := m.list
	m.mu.Unlock()
	select {
	case <-list.over:
	case <-ctx.Done():
		return wirePort{}, false, &Error{Kind: Unavailable, Op: opListPorts, Text: context.Cause(ctx).Error(), Err: ctx.Err()}
	}
	m.mu.Lock() // the map lives on
	defer m.mu.Unlock()
	port, found = list.ports[mac]
	return port, found, list.err
}

// read reads a list, and has it answer questions. Each of its requests has its time-out.
func (m *macs) read(ctx context.Context, g *Gateway, list *macList) {
	asked := time.Now()
	ports, pages, err := g.allPorts(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	for mac, p := range list.meanwhile {
		delete(ports, mac)
		if p != nil {
			ports[mac] = *p
		}
	}
	if m.list, list.ports, list.err = nil, ports, err; err == nil {
		m.ports, m.pages, m.listed = ports, pages, asked
	}
	close(list.over)
}

// opListPorts names the reading of all ports.
const opListPorts = "list all ports"

// allPorts lists all ports, by MAC, and says on how many pages they were.
func (g *Gateway) allPorts(ctx context.Context) (ports map[string]wirePort, pages int, err error) {
	ports = map[string]wirePort{}
	query := url.Values{"fields": {"node_uuid,uuid,address,pxe_enabled"}, "limit": {strconv.Itoa(macPage)}}
	for {
		var page portList
		err := g.do(ctx, call{op: opListPorts, method: http.MethodGet, path: "ports?" + query.Encode(), into: &page})
		if err != nil {
			return map[string]wirePort{}, 0, err
		}
		pages++
		for _, p := range page.Ports {
			ports[strings.ToLower(p.Address)] = p
		}
		if page.Next == "" || len(page.Ports) == 0 {
			return ports, pages, nil
		}
		query.Set("marker", page.Ports[len(page.Ports)-1].UUID)
	}
}

// forget drops a port that was just removed.
func (m *macs) forget(mac string) { m.change(strings.ToLower(mac), nil) }

// learn adds a port that was just created, if a list answers questions, or will.
func (m *macs) learn(p wirePort) { m.change(strings.ToLower(p.Address), &p) }

func (m *macs) change(mac string, p *wirePort) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.list != nil {
		m.list.meanwhile[mac] = p
	}
	switch {
	case m.ports == nil:
	case p == nil:
		delete(m.ports, mac)
	default:
		m.ports[mac] = *p
	}
}
