package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/ironflow/ironflow/hub/releases"
	"github.com/ironflow/ironflow/hub/rest"
)

// hubAPI is what the hub's REST API offers, and to whom.
type hubAPI struct {
	// userTokenFile holds the token of users; releasesFile the releases that clusters can have.
	userTokenFile, releasesFile string
	// updateService knows the releases of the file's sources.
	updateService string
	// lookup finds out which release an image is that the file does not have.
	lookup releaseLookup
}

// settings are those of the hub's REST API.
func (a *hubAPI) settings() []setting {
	return append([]setting{
		{"hub-user-token-file", "IRONFLOW_HUB_USER_TOKEN_FILE", "", "file with the token that users of the hub's REST API send (Authorization: Bearer TOKEN), at least 16 characters; empty refuses them: Kubernetes is the users' API", text(&a.userTokenFile)},
		{"hub-releases-file", "IRONFLOW_HUB_RELEASES_FILE", "", "YAML or JSON file with release_images and release_sources, such as a mounted ConfigMap, read again when it changes; empty for no list of releases", text(&a.releasesFile)},
		{"hub-update-service", "IRONFLOW_HUB_UPDATE_SERVICE", "", "URL of an update service, such as https://api.openshift.com/api/upgrades_info/v1/graph, that is asked for the releases of release_sources every 3 hours; empty for none, and the sources are only shown", text(&a.updateService)},
	}, a.lookup.settings()...)
}

// apply reads the settings into the API's options.
func (a *hubAPI) apply(ctx context.Context, o *rest.Options) error {
	var err error
	if o.Auth.UserToken, err = a.userToken(); err != nil {
		return err
	}
	if u, err := url.Parse(a.updateService); a.updateService != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		return fmt.Errorf("--hub-update-service %q is not a URL such as https://host/graph", a.updateService)
	}
	o.Releases = &releases.File{Path: a.releasesFile, Service: releases.Service{URL: a.updateService}}
	if _, err := o.Releases.Catalog(); err != nil {
		return fmt.Errorf("--hub-releases-file: %w", err)
	}
	o.Lookup, err = a.lookup.desk(ctx, o.Releases)
	return err
}

// shortestToken is how many characters keep a token from being guessed.
const shortestToken = 16

func (a *hubAPI) userToken() (string, error) {
	if a.userTokenFile == "" {
		return "", nil
	}
	raw, err := os.ReadFile(a.userTokenFile)
	if err != nil {
		return "", fmt.Errorf("--hub-user-token-file: %w", err)
	}
	token := strings.TrimSpace(string(raw))
	if len(token) < shortestToken {
		return "", errors.New("--hub-user-token-file: the token has less than 16 characters; make one with: openssl rand -hex 32")
	}
	return token, nil
}
