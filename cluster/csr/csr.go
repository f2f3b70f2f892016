// Package csr judges certificate signing requests of kubelets: whether the request is
// one that a host of the hub would make, and may be approved. [Judge] is a pure function
// over a request, the hub's hosts and the cluster's nodes. A request is written by
// whoever holds a bootstrap token or a node's key, so it is hostile until each of its
// parts is what such a host must ask for; what is not approved is left alone, never denied.
package csr

import (
	"crypto/x509"
	"fmt"
	"strings"
	"time"

	"github.com/ironflow/ironflow/cluster/facts"
	"github.com/ironflow/ironflow/hub/wire"
)

// Signers whose requests are judged; those of others are none of our business.
const (
	Client  = "kubernetes.io/kube-apiserver-client-kubelet"
	Serving = "kubernetes.io/kubelet-serving"
)

// ApprovedBy is the reason of the condition Approved that this program sets.
const ApprovedBy = "IronflowKnowsTheHost"

// Type is the signer's short name, as the hub has it; empty for others.
func (r Request) Type() string {
	switch r.Signer {
	case Client:
		return wire.SigningTypeClient
	case Serving:
		return wire.SigningTypeServing
	}
	return ""
}

// Host is the hub's host that a request is for; false where its name has none, or two.
func Host(r Request, hosts []facts.Host) (facts.Host, bool) {
	parsed, err := r.parse()
	if err != nil {
		return facts.Host{}, false
	}
	in := input{Request: r, world: World{Hosts: hosts}}
	in.name, _ = strings.CutPrefix(parsed.Subject.CommonName, nodePrefix)
	if decision, _ := knownHost(&in); decision != Approve {
		return facts.Host{}, false
	}
	decision, _ := oneHost(&in)
	return *in.host, decision == Approve
}

// Request is a CertificateSigningRequest.
type Request struct {
	Name, UID, Version string
	Signer             string
	// Username and Groups are whom the API server took the request from.
	Username string
	Groups   []string
	Usages   []string
	// PEM is the PKCS#10 request.
	PEM []byte
	// ApprovedAt is when this program, or an earlier one, approved it; zero for any other.
	ApprovedAt time.Time
	// Settled tells that it is approved, denied, failed or has its certificate.
	Settled bool
}

// Listed is what is kept of a request between two looks: strangers can make any number of requests,
// and of any content.
type Listed struct {
	Name, UID, Signer string
	// ApprovedAt is as [Request] has it; zero for one that is pending.
	ApprovedAt time.Time
}

// Listed is what is kept of it; false for one that is not to be looked at again: another signer's, or one that
// others have settled.
func (r Request) Listed() (Listed, bool) {
	l := Listed{Name: r.Name, UID: r.UID, ApprovedAt: r.ApprovedAt}
	switch r.Signer { // the constant: the string is not kept as often as there are requests
	case Client:
		l.Signer = Client
	case Serving:
		l.Signer = Serving
	default:
		return l, false
	}
	return l, !r.Settled || !r.ApprovedAt.IsZero()
}

// Node is the name of the node that it is for; empty where that cannot be read.
func (r Request) Node() string {
	parsed, err := r.parse()
	if err != nil {
		return ""
	}
	name, _ := strings.CutPrefix(parsed.Subject.CommonName, nodePrefix)
	return name
}

// World is what a request is compared with.
type World struct {
	Hosts []facts.Host
	// Nodes are the cluster's, by name.
	Nodes map[string]facts.Node
	// API is where the cluster's API is.
	API facts.API
}

// Decision is what to do with a request.
type Decision string

// The decisions.
const (
	// Approve: a host of the hub makes just this request.
	Approve Decision = "approve"
	// Wait: it may be approved later, when the host is further. Nothing is said.
	Wait Decision = "wait"
	// Leave: it is not for us to approve, which is said once.
	Leave Decision = "leave"
	// Ignore: another signer's, or settled.
	Ignore Decision = "ignore"
)

// Verdict is a decision and why.
type Verdict struct {
	Decision Decision
	// Reason is a word of [Reasons].
	Reason Reason
	// Message says what is wrong, and of which host.
	Message string
	// Host is the name of the host that the request is for; empty when there is none. Node is that of the
	// node in it; empty where it cannot be read. Other is that of another host on which the verdict hangs, too.
	Host, Node, Other string
}

// Judge decides on one request.
func Judge(r Request, w World) Verdict {
	if r.Settled || r.Signer != Client && r.Signer != Serving {
		return Verdict{Decision: Ignore}
	}
	parsed, err := r.parse()
	if err != nil {
		return Verdict{Decision: Leave, Reason: Unreadable, Message: err.Error()}
	}
	in := input{Request: r, x509: parsed, world: w}
	in.name, _ = strings.CutPrefix(parsed.Subject.CommonName, nodePrefix)
	for _, rule := range rules {
		if rule.signer != "" && rule.signer != r.Signer {
			continue
		}
		switch decision, message := rule.broken(&in); decision {
		case Approve:
		default:
			v := Verdict{Decision: decision, Reason: rule.reason, Message: message, Node: in.name, Other: in.other}
			if in.host != nil {
				v.Host = in.host.Name
			}
			return v
		}
	}
	return Verdict{Decision: Approve, Reason: Approved, Message: fmt.Sprintf("host %s of the hub asks for it", in.host.ID), Host: in.host.Name, Node: in.name}
}

// input is what rules see. The rule that finds the host fills it in for those after it.
type input struct {
	Request

	x509  *x509.CertificateRequest
	world World
	// name is the node's in the request's subject.
	name string
	host *facts.Host
	// other is the name of another host that a rule looked at.
	other string
}

// node is the node of the request's name, and whether there is one.
func (in *input) node() (facts.Node, bool) {
	n, ok := in.world.Nodes[in.name]
	return n, ok
}

// renews tells that the node itself asks.
func (in *input) renews() bool { return in.Username == nodePrefix+in.name }
