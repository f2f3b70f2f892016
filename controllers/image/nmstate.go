package image

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/nmstateconfigs"
	"github.com/ironflow/ironflow/imagecustomization/network"
)

// observeNMState finds the NMStateConfig of the host: of those that its InfraEnv
// selects, the first by name that holds the address of one of its cards. The others are
// told, and so is that there is none. A host with network data of its own needs none.
func (r *Reconciler) observeNMState(ctx context.Context, in *Input) error {
	if in.InfraEnv == nil || in.Host == nil || in.Image.Spec.NetworkDataName != "" {
		return nil
	}
	configs, err := nmstateconfigs.Of(ctx, r.Client, in.InfraEnv)
	if err != nil {
		return err
	}
	in.NMStates = len(configs)
	cards := cardsOf(in.Host)
	for i := range configs {
		switch {
		case !slices.ContainsFunc(configs[i].Spec.Interfaces, func(n agentv1.NMStateInterface) bool { return cards[strings.ToLower(n.MacAddress)] }):
		case in.NMState == nil:
			in.NMState = &configs[i]
		default:
			in.OtherNMStates = append(in.OtherNMStates, configs[i].Name)
		}
	}
	return nil
}

// without says which network of its InfraEnv a host has not, and what to do; empty for
// nothing.
func without(in Input) string {
	switch {
	case len(in.OtherNMStates) > 0:
		return fmt.Sprintf("with the network of NMStateConfig %s: %s holds a card of this host, too, and is left out. Next: describe a host in one NMStateConfig",
			in.NMState.Name, strings.Join(in.OtherNMStates, ", "))
	case in.NMStates > 0 && in.NMState == nil:
		return fmt.Sprintf("without a static network: none of the %d NMStateConfigs that InfraEnv %s selects holds a card of this host, and it boots with DHCP. "+
			"Next: correct spec.interfaces of the one that is meant, or spec.bootMACAddress of the host", in.NMStates, in.InfraEnv.Name)
	}
	return ""
}

// cardsOf are the addresses of a host's cards, in lower case.
func cardsOf(host *metal3v1.BareMetalHost) map[string]bool {
	cards := map[string]bool{strings.ToLower(host.Spec.BootMACAddress): true}
	if details := host.Status.HardwareDetails; details != nil {
		for _, nic := range details.NIC {
			cards[strings.ToLower(nic.MAC)] = true
		}
	}
	delete(cards, "")
	return cards
}

// NetworkOfNMState reads an NMStateConfig. Its names of cards are logical: which card is
// meant, its map of addresses says.
func NetworkOfNMState(live network.Live, config *agentv1.NMStateConfig) (network.Settings, error) {
	var cards []network.Card
	for _, i := range config.Spec.Interfaces {
		cards = append(cards, network.Card{Name: i.Name, Address: i.MacAddress})
	}
	return live.TranslateLogical(config.Spec.NetConfig.Raw, cards)
}

// imagesOfNMState finds the images that an NMStateConfig may be part of.
func (r *Reconciler) imagesOfNMState(ctx context.Context, obj client.Object) []ctrlreconcile.Request {
	return r.imagesWhere(ctx, obj, func(i *metal3v1.PreprovisioningImage) bool { return i.Labels[names.InfraEnvLabel] != "" })
}
