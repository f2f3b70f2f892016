package image

import (
	"context"
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
// selects, the first by name that holds the address of one of its cards. A host
// with network data of its own needs none.
func (r *Reconciler) observeNMState(ctx context.Context, in *Input) error {
	if in.InfraEnv == nil || in.Host == nil || in.Image.Spec.NetworkDataName != "" {
		return nil
	}
	configs, err := nmstateconfigs.Of(ctx, r.Client, in.InfraEnv)
	if err != nil {
		return err
	}
	cards := cardsOf(in.Host)
	for i := range configs {
		if slices.ContainsFunc(configs[i].Spec.Interfaces, func(n agentv1.NMStateInterface) bool { return cards[strings.ToLower(n.MacAddress)] }) {
			in.NMState = &configs[i]
			return nil
		}
	}
	return nil
}

// cardsOf are the addresses of a host's cards, in lower case.
func cardsOf(host *metal3v1.BareMetalHost) map[string]bool {
	cards := map[string]bool{strings.ToLower(host.Spec.BootMACAddress): host.Spec.BootMACAddress != ""}
	if details := host.Status.HardwareDetails; details != nil {
		for _, nic := range details.NIC {
			cards[strings.ToLower(nic.MAC)] = nic.MAC != ""
		}
	}
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
