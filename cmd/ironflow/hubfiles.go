package main

import (
	"context"
	"errors"
	"net/http"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/imagecustomization/hubpaths"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/proxyinitrd"
)

// Ignition implements rest.LiveFiles: what the image server puts into the image.
func (h hubImages) Ignition(ctx context.Context, infraEnv string) ([]byte, error) {
	spec, err := h.Spec(ctx, infraEnv)
	return spec.Ignition, toClient(infraEnv, err)
}

// Initrd implements rest.LiveFiles: a live system that fetches its root file system
// through a proxy has to know it.
func (h hubImages) Initrd(ctx context.Context, infraEnv string) ([]byte, error) {
	if _, err := h.Spec(ctx, infraEnv); err != nil { // what no image can be made for has no part of one
		return nil, toClient(infraEnv, err)
	}
	env, err := h.hub.core.InfraEnv(ctx, infraEnv)
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
