package migrate

import (
	"context"
	"errors"
	"slices"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/address"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/ironic"
)

// Ways in which a node is found.
const (
	byID        = "id"
	byName      = "name"
	byPlainName = "plain name"
	byMAC       = "MAC"
	byNothing   = "none"
	notLooked   = "-"
)

// checkHosts reads the hosts, finds each host's node, and judges states.
func checkHosts(ctx context.Context, s *state) error {
	if err := s.list(ctx); err != nil {
		return err
	}
	known := policy.States()
	for i := range s.hosts {
		h := &s.hosts[i]
		row := Host{
			Namespace: h.Namespace, Name: h.Name, State: string(h.Status.Provisioning.State),
			Status: statusText(h), FoundBy: notLooked,
		}
		s.report.States[stateText(h)]++
		if !slices.Contains(known, h.Status.Provisioning.State) {
			s.found(Blocker, row.key(), "state %q is not known to this version of Ironflow: the host would stand still with an error", row.State)
		}
		if hasNode(h) && !s.down {
			if err := s.findNode(ctx, h, &row); err != nil {
				return err
			}
		}
		s.report.Hosts = append(s.report.Hosts, row)
	}
	return nil
}

// stateText is the state in the table of counts.
func stateText(h *metal3.BareMetalHost) string {
	if h.Status.Provisioning.State == metal3.StateNone {
		return "new"
	}
	return string(h.Status.Provisioning.State)
}

// statusText is the operational status, with the error type if there is one.
func statusText(h *metal3.BareMetalHost) string {
	parts := []string{string(h.Status.OperationalStatus)}
	if h.Status.ErrorType != "" {
		parts = append(parts, string(h.Status.ErrorType))
	}
	if _, paused := h.Annotations[names.Paused]; paused {
		parts = append(parts, "paused")
	}
	if !h.DeletionTimestamp.IsZero() {
		parts = append(parts, "being deleted")
	}
	return strings.TrimPrefix(strings.Join(parts, ", "), ", ")
}

// hasNode reports whether Ironic should have a node of the host.
func hasNode(h *metal3.BareMetalHost) bool {
	switch h.Status.Provisioning.State {
	case metal3.StateNone, metal3.StateUnmanaged:
		return false
	default:
		return h.Status.OperationalStatus != metal3.OperationalStatusDetached
	}
}

// findNode looks for the node as the host controller does.
func (s *state) findNode(ctx context.Context, h *metal3.BareMetalHost, row *Host) error {
	name := h.Namespace + names.NodeNameSeparator + h.Name
	n, err := s.gateway.Find(ctx, ironic.Identity{UUID: h.Status.Provisioning.ID, Name: name, BootMAC: h.Spec.BootMACAddress})
	if conflict, ok := errors.AsType[*ironic.MACConflictError](err); ok {
		row.FoundBy = byNothing
		s.found(Blocker, row.key(), "its boot MAC address belongs to another node in Ironic (%s): correct spec.bootMACAddress of one of the two, or remove that node", conflict.OtherNode)
		return nil
	}
	if errors.Is(err, ironic.ErrNotFound) {
		row.FoundBy = byNothing
		s.found(Warning, row.key(), "Ironic has no node of it: it would be enrolled again, and adopted if something is installed")
		return nil
	}
	if err != nil {
		return err
	}
	s.nodes[row.key()] = n
	row.Node, row.NodeState, row.FoundBy = n.UUID, string(n.ProvisionState), foundBy(h, n, name)
	if row.FoundBy != byID {
		s.found(Warning, row.key(), "its node %s was found by %s, not by the id in its status: make sure that it is this machine", n.UUID, row.FoundBy)
	}
	if n.Maintenance && n.Fault == "" {
		s.found(Warning, row.key(), "its node is in maintenance (%s): Ironflow leaves it alone until somebody takes it out, baremetal-operator does not", n.MaintenanceReason)
	}
	return nil
}

// foundBy says what led to the node.
func foundBy(h *metal3.BareMetalHost, n *ironic.Node, name string) string {
	switch {
	case n.UUID == h.Status.Provisioning.ID:
		return byID
	case n.Name == name:
		return byName
	case n.Name == h.Name:
		return byPlainName
	default:
		return byMAC
	}
}

// checkDuplicates looks for hosts that stand for the same machine.
func checkDuplicates(_ context.Context, s *state) error {
	seen := map[string]string{} // what is unique, by the first host that has it
	for i := range s.hosts {
		h := &s.hosts[i]
		key := h.Namespace + "/" + h.Name
		claims := map[string]string{}
		if mac := strings.ToLower(h.Spec.BootMACAddress); mac != "" {
			claims["boot MAC address "+mac] = "mac " + mac
		}
		if a, err := address.Parse(h.Spec.BMC.Address); err == nil {
			bmc, system := a.Machine()
			claims["BMC "+a.Host()+a.SystemPath()] = "bmc " + bmc + " " + system
		}
		if n := s.nodes[key]; n != nil {
			claims["node "+n.UUID] = "node " + n.UUID
		}
		for what, id := range claims {
			if other, taken := seen[id]; taken {
				s.found(Blocker, key, "has the same %s as host %s: both would work on one machine; correct one of them", what, other)
			} else {
				seen[id] = key
			}
		}
	}
	return nil
}
