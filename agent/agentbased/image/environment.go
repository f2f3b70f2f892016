package image

import (
	"maps"
	"net"
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/agent/agentbased/client"
	"github.com/ironflow/ironflow/agent/agentbased/manifests"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/api/localtoken"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
)

// Names of settings of the hub of an agent-based installation, as the protocol has them.
const (
	authType       = "AUTH_TYPE"
	publicKey      = "EC_PUBLIC_KEY_PEM"
	deployTarget   = "DEPLOY_TARGET"
	storage        = "STORAGE"
	invoker        = "INSTALL_INVOKER"
	imageType      = "IMAGE_TYPE_ISO"
	imagesURL      = "IMAGE_SERVICE_BASE_URL"
	workflowType   = "WORKFLOW_TYPE"
	releaseMirror  = "OPENSHIFT_INSTALL_RELEASE_IMAGE_MIRROR"
	certificates   = "EPHEMERAL_INSTALLER_CLUSTER_TLS_CERTS_OVERRIDE_DIR"
	hubMirrors     = "IRONFLOW_HUB_RELEASE_MIRRORS"
	hubCA          = "IRONFLOW_HUB_RELEASE_CA"
	requiredMaster = "REQUIRED_MASTER_NODES"
	requiredWorker = "REQUIRED_WORKER_NODES"
	requiredArbit  = "REQUIRED_ARBITER_NODES"
)

// ownSettings are those that follow from the image, so that nobody else may set them.
var ownSettings = []string{
	authType, publicKey, deployTarget, storage, invoker, imageType, imagesURL, workflowType, releaseMirror, certificates, hubMirrors, hubCA, requiredMaster, requiredWorker, requiredArbit,
	places.InfraEnvID, places.SettingsDigest, places.NodeZeroIP, places.ServiceBaseURL, places.BootstrapMAC, places.ClusterID, places.UserToken, places.AgentToken, places.WatcherToken, places.TokenExpiry,
}

// Ports of the hub on the rendezvous host.
const (
	apiPort    = 8090
	imagesPort = 8888
)

// HubURL is the hub's REST API on the rendezvous host.
func (p *Plan) HubURL() string { return p.url(apiPort) }

func (p *Plan) url(port int) string {
	return "http://" + net.JoinHostPort(p.Rendezvous.String(), strconv.Itoa(port)) + "/"
}

// hubEnvironment are the settings of the hub.
func (p *Plan) hubEnvironment(id Identity) (map[string]string, error) {
	out := settingsOfAll()
	key, err := id.PublicKey()
	if err != nil {
		return nil, err
	}
	out[authType], out[publicKey] = "agent-installer-local", key
	out[places.InfraEnvID], err = id.InfraEnvID()
	out[imageType] = "full-iso"
	if p.Format == MinimalISO {
		out[imageType] = string(MinimalISO)
	}
	if len(id.tls) > 0 {
		out[certificates] = places.ClusterCertificates
	}
	maps.Copy(out, p.proxy())
	return out, err
}

// settingsOfAll are those of every hub on a host, also of an appliance without settings.
func settingsOfAll() map[string]string {
	return map[string]string{deployTarget: "onprem", storage: "filesystem", invoker: "agent-installer"}
}

// imagesEnvironment says where release images come from, and who is trusted there.
func (p *Plan) imagesEnvironment() map[string]string {
	out := map[string]string{}
	if p.registries != "" {
		out[hubMirrors] = ignition.RegistriesPath
	}
	if mirror := mirrorOf(p.registries, p.Release); mirror != "" {
		out[releaseMirror] = mirror
	}
	if p.trusted() != "" && p.Format != ConfigImage {
		out[hubCA] = ignition.CABundlePath
	}
	return out
}

// rendezvousEnvironment is what all hosts wait for.
func (p *Plan) rendezvousEnvironment(id Identity) (map[string]string, error) {
	out := map[string]string{workflowType: client.WorkflowAddNodes} // each host finds its own address
	if p.joins == nil {
		out = map[string]string{
			places.NodeZeroIP: p.Rendezvous.String(), places.ServiceBaseURL: p.HubURL(), imagesURL: p.url(imagesPort), workflowType: client.WorkflowInstall,
		}
	}
	for name, scheme := range map[string]localtoken.Scheme{places.UserToken: localtoken.User, places.AgentToken: localtoken.Agent, places.WatcherToken: localtoken.Watcher} {
		var err error
		if out[name], err = id.Token(scheme); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// startEnvironment says how many hosts the installation waits for.
func (p *Plan) startEnvironment() map[string]string {
	return map[string]string{
		requiredMaster: strconv.Itoa(p.Wanted.ControlPlaneAgents), requiredWorker: strconv.Itoa(p.Wanted.WorkerAgents), requiredArbit: strconv.Itoa(p.Wanted.ArbiterAgents),
	}
}

// proxy are the variables of the live system's proxy, which the hub is reached without.
func (p *Plan) proxy() map[string]string {
	in := p.liveProxy()
	if in == nil || in.HTTPProxy == "" && in.HTTPSProxy == "" {
		return nil
	}
	no := in.NoProxy
	if p.Rendezvous.IsValid() { // a host that joins is its own hub, which its programs ask no proxy for
		no = strings.TrimPrefix(no+","+p.Rendezvous.String(), ",")
	}
	out := map[string]string{}
	for name, value := range map[string]string{"HTTP_PROXY": in.HTTPProxy, "HTTPS_PROXY": in.HTTPSProxy, "NO_PROXY": no} {
		if value != "" {
			out[name], out[strings.ToLower(name)] = value, value
		}
	}
	return out
}

func (p *Plan) liveProxy() *manifests.Proxy {
	if p.Set == nil || p.Set.InfraEnv == nil {
		return nil
	}
	return p.Set.InfraEnv.Spec.Proxy
}
