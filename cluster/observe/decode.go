package observe

import (
	"encoding/json"
	"errors"
	"net/netip"
	"time"

	"github.com/ironflow/ironflow/cluster/csr"
	"github.com/ironflow/ironflow/cluster/facts"
	"github.com/ironflow/ironflow/cluster/operators"
)

type metadata struct {
	Name, Namespace, UID, ResourceVersion string
	Labels                                map[string]string
	OwnerReferences                       []owner
	// DeletionTimestamp is set for what is going.
	DeletionTimestamp string
}

type owner struct {
	Kind       string
	Controller bool
}

type condition struct {
	Type, Status, Reason, Message string
	LastUpdateTime                time.Time
}

var errNoName = errors.New("an object without a name")

// errNotKept is of an object that nobody has to know of, by its name.
var errNotKept = errors.New("an object that is not kept")

// request keeps what tells that a request is there. Its content is read when it is judged, by [Request].
func request(raw json.RawMessage) (string, csr.Listed, error) {
	r, err := Request(raw)
	if err != nil {
		return "", csr.Listed{}, err
	}
	l, keep := r.Listed()
	if !keep {
		return r.Name, csr.Listed{}, errNotKept
	}
	return r.Name, l, nil
}

// Request decodes a signing request with its content.
func Request(raw json.RawMessage) (csr.Request, error) {
	var o struct {
		Metadata metadata
		Spec     struct {
			SignerName, Username string
			Groups, Usages       []string
			Request              []byte
		}
		Status struct {
			Certificate []byte
			Conditions  []condition
		}
	}
	if err := json.Unmarshal(raw, &o); err != nil || o.Metadata.Name == "" {
		return csr.Request{}, errors.Join(err, errNoName)
	}
	r := csr.Request{
		Name: o.Metadata.Name, UID: o.Metadata.UID, Version: o.Metadata.ResourceVersion,
		Signer: o.Spec.SignerName, Username: o.Spec.Username, Groups: o.Spec.Groups, Usages: o.Spec.Usages, PEM: o.Spec.Request,
		Settled: len(o.Status.Certificate) > 0 || len(o.Status.Conditions) > 0,
	}
	for _, c := range o.Status.Conditions {
		if c.Type == "Approved" && c.Status == "True" && c.Reason == csr.ApprovedBy {
			r.ApprovedAt = c.LastUpdateTime
		}
	}
	return r, nil
}

func node(raw json.RawMessage) (string, facts.Node, error) {
	var o struct {
		Metadata metadata
		Spec     struct{ Taints []facts.Taint }
		Status   struct {
			Conditions []condition
			Addresses  []struct{ Type, Address string }
		}
	}
	if err := json.Unmarshal(raw, &o); err != nil || o.Metadata.Name == "" {
		return "", facts.Node{}, errors.Join(err, errNoName)
	}
	n := facts.Node{Name: o.Metadata.Name, UID: o.Metadata.UID, Labels: o.Metadata.Labels, Taints: o.Spec.Taints}
	for _, c := range o.Status.Conditions {
		n.Ready = n.Ready || c.Type == "Ready" && c.Status == "True"
		n.Silent = n.Silent || c.Type == "Ready" && c.Status == "Unknown"
	}
	for _, a := range o.Status.Addresses {
		if ip, err := netip.ParseAddr(a.Address); err == nil && a.Type == "InternalIP" {
			n.Addresses = append(n.Addresses, ip.Unmap())
		}
	}
	return n.Name, n, nil
}

type versioned struct {
	Metadata metadata
	Status   struct {
		Conditions []condition
		Versions   []struct{ Name, Version string }
		Desired    struct{ Version string }
	}
}

func operator(raw json.RawMessage) (string, facts.Operator, error) {
	var o versioned
	if err := json.Unmarshal(raw, &o); err != nil || o.Metadata.Name == "" {
		return "", facts.Operator{}, errors.Join(err, errNoName)
	}
	out := conditions(o.Status.Conditions, "Degraded")
	out.Name = o.Metadata.Name
	for _, v := range o.Status.Versions {
		if v.Name == "operator" {
			out.Version = v.Version
		}
	}
	return out.Name, out, nil
}

// version is the ClusterVersion as an operator.
func version(raw json.RawMessage) (string, facts.Operator, error) {
	var o versioned
	if err := json.Unmarshal(raw, &o); err != nil || o.Metadata.Name == "" {
		return "", facts.Operator{}, errors.Join(err, errNoName)
	}
	out := conditions(o.Status.Conditions, "Failing")
	out.Name, out.Version = operators.Version, o.Status.Desired.Version
	return o.Metadata.Name, out, nil
}

// conditions reads those of an operator; bad is the one that tells of trouble. The
// message is that of the condition which says why it is not available.
func conditions(list []condition, bad string) facts.Operator {
	var o facts.Operator
	says := map[string]string{}
	for _, c := range list {
		is := c.Status == "True"
		says[c.Type] = c.Message
		switch c.Type {
		case "Available":
			o.Available = is
		case bad:
			o.Degraded = is
		case "Progressing":
			o.Progressing = is
		}
	}
	switch {
	case o.Degraded:
		o.Message = says[bad]
	case !o.Available && o.Progressing:
		o.Message = says["Progressing"]
	default:
		o.Message = says["Available"]
	}
	return o
}

func subscription(raw json.RawMessage) (string, facts.Subscription, error) {
	var o struct {
		Metadata metadata
		Status   struct{ InstalledCSV string }
	}
	if err := json.Unmarshal(raw, &o); err != nil || o.Metadata.Name == "" {
		return "", facts.Subscription{}, errors.Join(err, errNoName)
	}
	s := facts.Subscription{Namespace: o.Metadata.Namespace, Name: o.Metadata.Name, Installed: o.Status.InstalledCSV}
	return s.Namespace + "/" + s.Name, s, nil
}

func service(raw json.RawMessage) (string, facts.Service, error) {
	var o struct {
		Metadata metadata
		Spec     struct{ Version string }
		Status   struct{ Phase, Message string }
	}
	if err := json.Unmarshal(raw, &o); err != nil || o.Metadata.Name == "" {
		return "", facts.Service{}, errors.Join(err, errNoName)
	}
	s := facts.Service{Namespace: o.Metadata.Namespace, Name: o.Metadata.Name, Version: o.Spec.Version, Phase: o.Status.Phase, Message: o.Status.Message}
	return s.Namespace + "/" + s.Name, s, nil
}

func pod(raw json.RawMessage) (string, facts.Pod, error) {
	var o struct {
		Metadata metadata
		Spec     struct{ NodeName string }
		Status   struct {
			Phase             string
			Conditions        []condition
			ContainerStatuses []struct {
				State struct{ Waiting *struct{ Reason string } }
			}
		}
	}
	if err := json.Unmarshal(raw, &o); err != nil || o.Metadata.Name == "" {
		return "", facts.Pod{}, errors.Join(err, errNoName)
	}
	p := facts.Pod{Name: o.Metadata.Name, Node: o.Spec.NodeName, Ready: o.Status.Phase == "Succeeded", Waiting: o.Status.Phase}
	for _, c := range o.Status.Conditions {
		p.Ready = p.Ready || c.Type == "Ready" && c.Status == "True"
	}
	for _, s := range o.Status.ContainerStatuses {
		if s.State.Waiting != nil && s.State.Waiting.Reason != "" {
			p.Waiting = s.State.Waiting.Reason
		}
	}
	over := o.Status.Phase == "Failed" || o.Metadata.DeletionTimestamp != ""
	for _, owner := range o.Metadata.OwnerReferences {
		// A Job tries again by itself. What is over has been replaced by its controller, by
		// another pod that is waited for; that of a static pod is the node, which replaces nothing.
		p.Ready = p.Ready || owner.Kind == "Job" || over && owner.Controller && owner.Kind != "Node"
	}
	if p.Ready {
		p.Waiting = ""
	}
	return p.Name, p, nil
}
