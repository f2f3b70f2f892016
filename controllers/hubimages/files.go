package hubimages

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	"github.com/ironflow/ironflow/imagecustomization/hubpaths"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/proxyinitrd"
	"github.com/ironflow/ironflow/imagecustomization/sharednetwork"
)

// Ignition implements rest.LiveFiles: what our image server puts into an image, and with
// it, for a full ISO of another one, the networks that ours has in the initrd.
func (h Images) Ignition(ctx context.Context, infraEnv string, minimal bool) ([]byte, error) {
	spec, err := h.spec(ctx, infraEnv, ownMedium)
	if err != nil || minimal {
		return spec.Ignition, toClient(infraEnv, err)
	}
	env, err := h.Hub().InfraEnv(ctx, infraEnv)
	if err != nil {
		return nil, err
	}
	var delay time.Duration
	if env.NetworkDiscoveryDelaySeconds != nil {
		delay = time.Duration(*env.NetworkDiscoveryDelaySeconds) * time.Second
	}
	return sharednetwork.WithoutInitrd(spec.Ignition, spec.InitrdFiles, delay)
}

// Initrd implements rest.LiveFiles: a live system that fetches its root file system
// has to know its network by then, and the proxy that it goes through. Both are archives
// of their own, one behind the other, as the kernel takes them.
func (h Images) Initrd(ctx context.Context, infraEnv string) ([]byte, error) {
	spec, err := h.spec(ctx, infraEnv, ownMedium)
	if err != nil { // what no image can be made for has no part of one
		return nil, toClient(infraEnv, err)
	}
	network, err := embedarea.Content{Files: spec.InitrdFiles}.Archive()
	if err != nil {
		return nil, err
	}
	proxy, err := h.proxyArchive(ctx, infraEnv)
	if err != nil || len(network)+len(proxy) == 0 {
		return nil, err
	}
	return slices.Concat(network, proxy), nil
}

// proxyArchive is the archive with the proxy; nil without one.
func (h Images) proxyArchive(ctx context.Context, infraEnv string) ([]byte, error) {
	env, err := h.Hub().InfraEnv(ctx, infraEnv)
	if err != nil || env.Proxy == nil {
		return nil, err
	}
	value := func(text *string) string {
		if text == nil {
			return ""
		}
		return *text
	}
	return proxyinitrd.Archive(value(env.Proxy.HTTPProxy), value(env.Proxy.HTTPSProxy), value(env.Proxy.NoProxy))
}

// toClient gives errors that a client can do something about their code.
func toClient(infraEnv string, err error) error {
	switch {
	case errors.Is(err, hubpaths.ErrNoInfraEnv):
		return &service.Error{Code: http.StatusNotFound, Reason: "there is no infra-env " + infraEnv}
	case errors.Is(err, images.ErrBadSpec):
		return &service.Error{Code: http.StatusConflict, Reason: err.Error()}
	}
	return err
}
