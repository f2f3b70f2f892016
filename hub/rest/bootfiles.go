package rest

import (
	"context"
	"net/http"
	"net/url"

	"github.com/ironflow/ironflow/hub/envurl"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/staticnetwork"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// LiveFiles makes what the live systems of an infra-env are made of. Errors that a
// client can do something about are [service.Error].
type LiveFiles interface {
	// Ignition is the configuration of a live system whose image somebody else makes. A
	// minimal one needs its network before the configuration is read: see Initrd.
	Ignition(ctx context.Context, infraEnvID string, minimal bool) ([]byte, error)
	// Initrd is what a live system without its root file system needs in addition;
	// nil for nothing.
	Initrd(ctx context.Context, infraEnvID string) ([]byte, error)
}

// Kinds of iPXE scripts.
const (
	scriptAlways    = "discovery-image-always"
	scriptBootOrder = "boot-order-control"
)

func infraEnvFile(r *request) (any, error) {
	id, err := r.infraEnv()
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	switch name := q.Get("file_name"); name {
	case envurl.Ignition:
		if err := r.mayBoot(name); err != nil {
			return nil, err
		}
		raw, err := r.discoveryIgnition(id, wire.ImageType(q.Get("discovery_iso_type")))
		return &file{name: name, raw: raw}, err
	case envurl.Script:
		if err := r.mayBoot(name); err != nil {
			return nil, err
		}
		script, err := r.script(id)
		return &file{name: name, raw: []byte(script)}, err
	case envurl.StaticNetworks:
		env, err := r.hub.InfraEnv(r.Context(), id)
		if err != nil {
			return nil, err
		}
		raw, err := staticnetwork.Archive(env.StaticNetworkConfig)
		return &file{name: name + ".tar", raw: raw}, err
	default:
		return nil, bad("file_name %q: want discovery.ign, ipxe-script or static-network-config", clip(name))
	}
}

// discoveryIgnition is the Ignition for an image of the kind, or of the infra-env's own.
func (r *request) discoveryIgnition(infraEnvID string, kind wire.ImageType) ([]byte, error) {
	if kind != "" && kind != wire.ImageTypeFullISO && kind != wire.ImageTypeMinimalISO {
		return nil, bad("discovery_iso_type %q: want full-iso or minimal-iso", clip(string(kind)))
	}
	if r.live == nil {
		return nil, noLiveImages()
	}
	if kind == "" {
		env, err := r.hub.InfraEnv(r.Context(), infraEnvID)
		if err != nil {
			return nil, err
		}
		kind = env.Type
	}
	return r.live.Ignition(r.Context(), infraEnvID, kind == wire.ImageTypeMinimalISO)
}

func noLiveImages() error { return bad("this hub makes no live images") }

// script is the iPXE script of an infra-env. Where the boot order of machines is to
// be kept, a machine asks with its address, and one that has its system on its disk
// is told that there is nothing for it: its firmware goes on to the disk.
func (r *request) script(infraEnvID string) (string, error) {
	q := r.URL.Query()
	kind, mac := q.Get("ipxe_script_type"), q.Get("mac")
	switch {
	case kind != "" && kind != scriptAlways && kind != scriptBootOrder:
		return "", bad("ipxe_script_type %q: want %s or %s", clip(kind), scriptAlways, scriptBootOrder)
	case kind == scriptBootOrder && mac == "":
		address, err := r.infraEnvURL(infraEnvID, envurl.Script, url.Values{"ipxe_script_type": {scriptBootOrder}})
		return ipxeRedirect(address), err
	case mac != "":
		if err := r.wantsImage(infraEnvID, mac); err != nil {
			return "", err
		}
	}
	env, err := r.hub.InfraEnv(r.Context(), infraEnvID)
	if err != nil {
		return "", err
	}
	urls, err := r.hub.ImageURLs(r.Context(), infraEnvID)
	if err != nil {
		return "", err
	}
	arguments := ""
	if env.KernelArguments != nil {
		arguments = *env.KernelArguments
	}
	script, err := ipxeScript(artifacts{initrd: urls.Initrd, kernel: urls.Kernel, rootfs: urls.Rootfs}, arguments)
	if err != nil {
		return "", bad("%v", err)
	}
	return script, nil
}

// wantsImage refuses the machine that should start from its disk, and one that
// cannot be told from another.
func (r *request) wantsImage(infraEnvID, mac string) error {
	hosts, err := r.hub.Hosts(r.Context(), store.HostFilter{InfraEnvID: infraEnvID, MAC: normalMAC(mac), Bare: true, Limit: 2})
	switch {
	case err != nil:
		return err
	case len(hosts) > 1:
		return &service.Error{Code: http.StatusConflict, Reason: "two hosts of the infra-env say that they have the address " + clip(mac)}
	case len(hosts) == 1 && bootsDisk(hosts[0]):
		return notFound("host %s starts from its disk", hosts[0].ID)
	}
	return nil
}

// infraEnvURL is the address of a file of an infra-env, with the right to get it. It
// is good until the infra-env's signing key is made anew.
func (r *request) infraEnvURL(infraEnvID, name string, query url.Values) (string, error) {
	token, err := r.hub.ImageToken(r.Context(), infraEnvID)
	if err != nil {
		return "", err
	}
	return envurl.InfraEnv{API: r.base(), ID: infraEnvID, Token: token}.File(name, query), nil
}

func presignInfraEnvFile(r *request) (any, error) {
	id, err := r.infraEnv()
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	query := url.Values{}
	switch q.Get("file_name") {
	case envurl.Ignition:
	case envurl.Script:
		if kind := q.Get("ipxe_script_type"); kind != "" {
			query.Set("ipxe_script_type", kind)
		}
	default:
		return nil, bad("file_name %q: want discovery.ign or ipxe-script", clip(q.Get("file_name")))
	}
	address, err := r.infraEnvURL(id, q.Get("file_name"), query)
	return wire.PresignedURL{URL: address}, err
}

// minimalInitrd answers 204 where nothing is needed.
func minimalInitrd(r *request) (any, error) {
	id, err := r.infraEnv()
	if err != nil {
		return nil, err
	}
	if r.live == nil {
		return nil, noLiveImages()
	}
	raw, err := r.live.Initrd(r.Context(), id)
	if err != nil || raw == nil {
		return nothing{}, err
	}
	return &file{name: "minimal-initrd", raw: raw}, nil
}

// regenerateSigningKey revokes the tokens of the infra-env's images, and with agents=true
// those of its agents, too.
func regenerateSigningKey(r *request) (any, error) {
	id, err := r.infraEnv()
	if err != nil {
		return nil, err
	}
	agents, err := r.flag("agents")
	if err != nil {
		return nil, err
	}
	if agents {
		return nil, r.hub.RevokeAgentTokens(r.Context(), id)
	}
	return nil, r.hub.RevokeImageTokens(r.Context(), id)
}
