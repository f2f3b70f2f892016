package link

import (
	"context"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// macIndex finds Agents by any of their MAC addresses, and bootMACIndex finds
// BareMetalHosts by their boot MAC address, both in lower case.
const (
	macIndex     = "link.agent.mac"
	bootMACIndex = "link.host.bootmac"
)

// agentsOf returns the Agents that may be the host's machine: those of the host's
// infra-env that say they have its boot MAC address. Between a registration and
// its inventory an Agent has no addresses; then the label that an earlier pass has
// set tells. So it does, together with the address, for a host whose own label is
// gone, or names an infra-env in which its machine has not registered yet.
func (r *Reconciler) agentsOf(ctx context.Context, host *metal3v1.BareMetalHost) ([]agentv1.Agent, error) {
	if host.Spec.BootMACAddress == "" {
		return nil, nil
	}
	var linked, claiming agentv1.AgentList
	if err := r.Client.List(ctx, &linked, client.InNamespace(host.Namespace), client.MatchingLabels{names.AgentHostLabel: names.HostLabel(host.Name)}); err != nil {
		return nil, err
	}
	mac, env := strings.ToLower(host.Spec.BootMACAddress), host.Labels[names.InfraEnvLabel]
	own := slices.DeleteFunc(linked.Items, func(a agentv1.Agent) bool { // another machine's, whose host had this name
		macs := agentMACs(&a)
		return len(macs) > 0 && !slices.Contains(macs, mac)
	})
	if env == "" {
		return own, nil
	}
	if err := r.Client.List(ctx, &claiming, client.InNamespace(host.Namespace), client.MatchingLabels{names.InfraEnvLabel: env},
		client.MatchingFields{macIndex: mac}); err != nil {
		return nil, err
	}
	for _, a := range own {
		if a.Labels[names.InfraEnvLabel] == env && len(agentMACs(&a)) == 0 {
			claiming.Items = append(claiming.Items, a)
		}
	}
	if found := believed(claiming.Items, host); len(found) > 0 {
		return found, nil
	}
	return own, nil
}

// believed are those that may be the host's machine, of all Agents that say so: whoever has registered from the image of
// another machine is that one. Where one has from the host's own image, those that have not are strangers. That image is named
// by the host's object where it was made before the host was given its address: the machine may run it still.
func believed(claiming []agentv1.Agent, host *metal3v1.BareMetalHost) []agentv1.Agent {
	own := []string{strings.ToLower(host.Spec.BootMACAddress), client.ObjectKeyFromObject(host).String()}
	from := func(a *agentv1.Agent) string { return a.Annotations[names.ImageOf] }
	linked := func(a *agentv1.Agent) bool { return a.Labels[names.AgentHostLabel] == names.HostLabel(host.Name) }
	proven := slices.ContainsFunc(claiming, func(a agentv1.Agent) bool { return slices.Contains(own, from(&a)) })
	return slices.DeleteFunc(claiming, func(a agentv1.Agent) bool {
		switch image := from(&a); {
		case linked(&a), slices.Contains(own, image), image == "":
			return false
		case image == names.ImageOfAll:
			return proven
		}
		return true
	})
}

func (r *Reconciler) hostsOfAgent(ctx context.Context, obj client.Object) []ctrlreconcile.Request {
	var requests []ctrlreconcile.Request
	for _, mac := range agentMACs(obj) {
		var hosts metal3v1.BareMetalHostList
		if err := r.Client.List(ctx, &hosts, client.InNamespace(obj.GetNamespace()), client.MatchingFields{bootMACIndex: mac}); err != nil {
			logr.FromContextOrDiscard(ctx).Error(err, "cannot find the host of an agent", "agent", obj.GetName())
			continue
		}
		for i := range hosts.Items {
			requests = append(requests, ctrlreconcile.Request{NamespacedName: client.ObjectKeyFromObject(&hosts.Items[i])})
		}
	}
	if name := hostNamed(obj); name != "" {
		key := types.NamespacedName{Namespace: obj.GetNamespace(), Name: name}
		// One that is elsewhere now is no wish about the machine.
		if reconcile.Moved(obj) {
			return requests
		}
		if agent, ok := obj.(*agentv1.Agent); ok && !agent.DeletionTimestamp.IsZero() {
			r.deleted.Store(key, agent)
		}
		requests = append(requests, ctrlreconcile.Request{NamespacedName: key})
	}
	return requests
}

func agentMACs(obj client.Object) []string {
	agent, ok := obj.(*agentv1.Agent)
	if !ok {
		return nil
	}
	var macs []string
	for _, nic := range agent.Status.Inventory.Interfaces {
		if nic.MacAddress != "" {
			macs = append(macs, strings.ToLower(nic.MacAddress))
		}
	}
	return macs
}

func bootMAC(obj client.Object) []string {
	host, ok := obj.(*metal3v1.BareMetalHost)
	if !ok || host.Spec.BootMACAddress == "" {
		return nil
	}
	return []string{strings.ToLower(host.Spec.BootMACAddress)}
}

// agentDeleted reports whether somebody deletes, or has deleted, the Agent of the host
// and nothing else. Agents go along with their InfraEnv and with their namespace, too,
// which is no wish to have a machine cleaned: both are read past the cache, which may
// not have heard of it yet, and another InfraEnv may have taken the name since. An Agent
// that went before the host was made, or installed, was of another installation. What was
// seen is held in memory until it is recorded on the host; without it the host stays as it is.
func (r *Reconciler) agentDeleted(ctx context.Context, in Input) (bool, error) {
	key := client.ObjectKeyFromObject(in.Host)
	seen, ok := r.deleted.Load(key)
	if !ok {
		return false, nil
	}
	agent, ok := seen.(*agentv1.Agent)
	state := in.Host.Status.Provisioning.State
	if !ok || state != metal3v1.StateProvisioned || !deletedSince(agent, in.Host) || len(in.Claims) > 0 || in.Agent != nil && in.Agent.DeletionTimestamp.IsZero() ||
		!slices.Contains(agentMACs(agent), strings.ToLower(in.Host.Spec.BootMACAddress)) {
		r.deleted.Delete(key)
		return false, nil
	}
	live := r.Live
	if live == nil {
		live = r.Client
	}
	for name, parent := range map[types.NamespacedName]client.Object{
		{Namespace: agent.Namespace, Name: agent.Labels[names.InfraEnvLabel]}: &agentv1.InfraEnv{},
		{Name: agent.Namespace}: &corev1.Namespace{},
	} {
		err := live.Get(ctx, name, parent)
		if client.IgnoreNotFound(err) != nil {
			return false, err
		}
		if err != nil || !parent.GetDeletionTimestamp().IsZero() || disowned(agent, parent) { // gone, or going
			r.deleted.Delete(key)
			return false, nil //nolint:nilerr // that it is not there is the answer
		}
	}
	return true, nil
}

// deletedSince reports whether an Agent was deleted while its host was there, and installed.
func deletedSince(agent *agentv1.Agent, host *metal3v1.BareMetalHost) bool {
	at := agent.DeletionTimestamp
	installed := host.Status.OperationHistory.Provision.End
	return at != nil && at.After(host.CreationTimestamp.Time) && at.After(installed.Time)
}

// disowned reports whether the InfraEnv of an Agent's name is another one than that which the
// Agent belongs to.
func disowned(agent *agentv1.Agent, env client.Object) bool {
	if _, is := env.(*agentv1.InfraEnv); !is {
		return false
	}
	return slices.ContainsFunc(agent.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.Kind == "InfraEnv" && o.Name == env.GetName() && o.UID != env.GetUID()
	})
}
