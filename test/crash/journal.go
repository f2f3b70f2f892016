package crash

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Peer is whom the controller talks to.
type Peer string

// The two peers.
const (
	Kubernetes Peer = "kubernetes"
	Ironic     Peer = "ironic"
)

// Entry is one request.
type Entry struct {
	N     int    // from 1, over both peers
	Start int    // which start of the controller made it, from 1
	Wish  string // what the user wanted then
	Peer  Peer

	Method, Path, Query, Body string

	Status int  // of the peer's answer, delivered or not; 0 if it was not sent on
	Killed bool // the controller died of it
}

// String is the request on one line.
func (e Entry) String() string {
	text := fmt.Sprintf("%d (start %d, %s) %s %s %s", e.N, e.Start, e.Wish, e.Peer, e.Method, e.Path)
	if what := e.asks(); what != "" {
		text += " {" + what + "}"
	}
	text += fmt.Sprintf(" = %d", e.Status)
	if e.Killed {
		text += " KILLED"
	}
	return text
}

// accepted reports whether the peer did what it was asked.
func (e Entry) accepted() bool { return e.Status >= 200 && e.Status < 300 }

// What is asked of Ironic, besides the targets of states/provision and
// states/power, which stand for themselves.
const (
	AskEnrol  = "enrol"
	AskRemove = "remove"
	AskRAID   = "RAID"
)

// asks names what a request to Ironic would have it do that is not the same done
// twice; empty for reads and for what only describes the node.
func (e Entry) asks() string {
	if e.Peer != Ironic || e.Method == http.MethodGet {
		return ""
	}
	below, ofNode := strings.CutPrefix(e.Path, "/v1/nodes")
	parts := strings.Split(strings.Trim(below, "/"), "/")
	switch {
	case !ofNode:
		return ""
	case below == "" || below == "/":
		return AskEnrol
	case len(parts) == 1 && e.Method == http.MethodDelete:
		return AskRemove
	case strings.HasSuffix(below, "/states/provision"), strings.HasSuffix(below, "/states/power"):
		var body struct{ Target string }
		if json.Unmarshal([]byte(e.Body), &body) != nil {
			return "unreadable " + e.Body
		}
		return body.Target
	case strings.HasSuffix(below, "/states/raid"):
		return AskRAID
	case strings.HasSuffix(below, "/vmedia"), strings.HasSuffix(below, "/vendor_passthru"):
		return e.Method + " " + parts[len(parts)-1] + " " + e.Query
	}
	return ""
}

// stored is what a request has written to the host's status: the provisioning
// state and the operational status, each empty if it has not.
func (e Entry) stored() (phase, operation string) {
	if e.Peer != Kubernetes || !e.accepted() || e.Method != http.MethodPatch || !strings.HasSuffix(e.Path, "/status") {
		return "", ""
	}
	var patch struct {
		Status struct {
			OperationalStatus string
			Provisioning      struct{ State string }
		}
	}
	if json.Unmarshal([]byte(e.Body), &patch) != nil {
		return "", ""
	}
	return patch.Status.Provisioning.State, patch.Status.OperationalStatus
}

// OrderKey is the key of a node's extra under which the controller keeps what it
// is about to have cleaned or serviced.
const OrderKey = "ironflow_order"

// orders reports whether a request puts a new order on the node.
func (e Entry) orders() bool {
	if e.Peer != Ironic || !e.accepted() || e.Method != http.MethodPatch {
		return false
	}
	var patch []struct {
		Op, Path string
		Value    json.RawMessage
	}
	if json.Unmarshal([]byte(e.Body), &patch) != nil {
		return false
	}
	for _, change := range patch {
		var order struct{ Failed bool }
		if strings.HasSuffix(change.Path, "/"+OrderKey) && change.Op != "remove" && json.Unmarshal(change.Value, &order) == nil && !order.Failed {
			return true
		}
	}
	return false
}

// Journal is the requests of one life, in the order in which they were made.
type Journal []Entry

// Phases are the provisioning states in the order in which they were stored.
func (j Journal) Phases() []string {
	var phases []string
	for _, e := range j {
		if p, _ := e.stored(); p != "" && (len(phases) == 0 || phases[len(phases)-1] != p) {
			phases = append(phases, p)
		}
	}
	return phases
}

// Wish is one thing that the user wants in a life.
type Wish struct {
	Name string
	// Asks are what Ironic is to be asked for on its account, each that often.
	Asks map[string]int
	// While are the phases in which this wish explains a request that it does not
	// explain otherwise.
	While map[string]string
}

// announcement is what must be stored before a request is made, so that after a
// crash what is stored explains what Ironic does.
type announcement struct {
	phases    []string // one of them, in the host's status
	operation string   // in the host's operational status; empty for any
	order     bool     // an order on the node that was not carried out yet
}

// announcing are the requests that must be announced. The others neither change
// what is on a machine, nor differ when they are made again.
var announcing = map[string]announcement{
	"inspect": {phases: []string{"registering", "inspecting"}}, // a node that is inspected has been registered
	"clean":   {phases: []string{"preparing"}, order: true},
	"provide": {phases: []string{"provisioning", "deprovisioning"}},
	"active":  {phases: []string{"provisioning"}},
	"deleted": {phases: []string{"deprovisioning"}},
	"service": {phases: []string{"provisioned", "externally provisioned"}, operation: "servicing", order: true},
	AskRAID:   {phases: []string{"preparing"}, order: true},
	AskRemove: {phases: []string{"deleting", "available", "provisioned", "externally provisioned"}},
}

// memory is what is stored at some moment of a life.
type memory struct {
	phase, operation string
	ordered          bool
}

// note takes up what a request has stored.
func (m *memory) note(e Entry) {
	phase, operation := e.stored()
	if phase != "" {
		m.phase = phase
	}
	if operation != "" {
		m.operation = operation
	}
	m.ordered = m.ordered || e.orders()
}

// explains says what is missing before a request of a wish may be made; empty
// for nothing.
func (m *memory) explains(what string, w Wish) string {
	need, must := announcing[what]
	switch {
	case !must, m.phase == w.While[what] && m.phase != "":
	case !slices.Contains(need.phases, m.phase):
		return fmt.Sprintf("the stored phase is %q", m.phase)
	case need.operation != "" && m.operation != need.operation:
		return fmt.Sprintf("the stored operational status is %q", m.operation)
	case need.order && !m.ordered:
		return "there is no order on the node"
	}
	if what == "clean" || what == "service" {
		m.ordered = false // it is carried out
	}
	return ""
}

// Violations are the rules that a life of one host broke, as sentences.
func (j Journal) Violations(wishes []Wish) []string {
	var broken []string
	var m memory
	nodes := 0
	asked := map[string]map[string]int{}
	for _, e := range j {
		m.note(e)
		what := e.asks()
		if what == "" || !e.accepted() {
			continue
		}
		if asked[e.Wish] == nil {
			asked[e.Wish] = map[string]int{}
		}
		asked[e.Wish][what]++
		switch what {
		case AskEnrol:
			nodes++
		case AskRemove:
			nodes--
		}
		if nodes > 1 {
			broken = append(broken, fmt.Sprintf("there are %d nodes of one host after %s", nodes, e))
		}
		if missing := m.explains(what, named(wishes, e.Wish)); missing != "" {
			broken = append(broken, fmt.Sprintf("%s, which does not explain %s", missing, e))
		}
	}
	if nodes != 0 {
		broken = append(broken, fmt.Sprintf("%d nodes are left of a host that is gone", nodes))
	}
	return append(broken, compare(wishes, asked)...)
}

// named finds a wish; one without a name explains nothing.
func named(wishes []Wish, name string) Wish {
	for _, w := range wishes {
		if w.Name == name {
			return w
		}
	}
	return Wish{}
}

// compare holds what was accepted against what was wished.
func compare(wishes []Wish, asked map[string]map[string]int) []string {
	var broken []string
	for _, w := range wishes {
		got := asked[w.Name]
		delete(asked, w.Name)
		for what, n := range w.Asks {
			if got[what] != n {
				broken = append(broken, fmt.Sprintf("wish %q: Ironic took %q %d times instead of %d", w.Name, what, got[what], n))
			}
		}
		for what, n := range got {
			if w.Asks[what] == 0 {
				broken = append(broken, fmt.Sprintf("wish %q: Ironic took %q %d times, which nobody asked for", w.Name, what, n))
			}
		}
	}
	for name, got := range asked {
		broken = append(broken, fmt.Sprintf("without a wish (%q): Ironic took %v", name, got))
	}
	slices.Sort(broken)
	return broken
}
