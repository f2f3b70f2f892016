package infraenv

import (
	"context"
	"net/url"

	ctrl "sigs.k8s.io/controller-runtime"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/hub/envurl"
)

// scriptTypes are the words of the hub's API for the types of iPXE scripts.
var scriptTypes = map[agentv1.IPXEScriptType]string{
	agentv1.DiscoveryImageAlways: "discovery-image-always", agentv1.BootOrderControl: "boot-order-control",
}

// showAddresses writes where the hub serves what helps to look further and to boot over
// the network: addresses that stay the same until the environment's signing key is made
// anew, and open nothing of another environment. It comes last, because what it shows has
// to be there.
func (r *reconciler) showAddresses(ctx context.Context, env *agentv1.InfraEnv, id string, networks int) {
	token, err := r.hub.ImageToken(ctx, id)
	if err != nil {
		ctrl.LoggerFrom(ctx).V(1).Info("the environment's addresses stay as they are", "reason", err.Error())
		return
	}
	at := envurl.InfraEnv{API: envurl.API(r.publicURL), ID: id, Token: token}
	env.Status.InfraEnvDebugInfo = agentv1.InfraEnvDebugInfo{EventsURL: at.Events()}
	if networks > 0 {
		env.Status.InfraEnvDebugInfo.StaticNetworkDownloadURL = at.File(envurl.StaticNetworks, nil)
	}
	if env.Status.ISODownloadURL == "" {
		return // a hub without live images has no files that boot them
	}
	script := url.Values{}
	if kind := scriptTypes[env.Spec.IPXEScriptType]; kind != "" {
		script.Set("ipxe_script_type", kind)
	}
	env.Status.BootArtifacts.IpxeScriptURL = at.File(envurl.Script, script)
	env.Status.BootArtifacts.DiscoveryIgnitionURL = at.File(envurl.Ignition, nil)
}
