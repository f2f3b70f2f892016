package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	clientrest "k8s.io/client-go/rest"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/controllers/hubusers"
	"github.com/ironflow/ironflow/hub/configured"
	"github.com/ironflow/ironflow/hub/releases"
	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/users"
)

// hubAPI is what the hub's REST API offers, and to whom.
type hubAPI struct {
	v1alpha1.Hub
	v1alpha1.HubReleases
}

// apply reads the settings into the API's options.
func (a hubAPI) apply(ctx context.Context, kubeconfig string, o *rest.Options) error {
	var err error
	if o.Auth.UserToken, err = a.userToken(); err != nil {
		return err
	}
	if o.Auth.Users, err = a.users(kubeconfig); err != nil {
		return err
	}
	if u, err := url.Parse(a.UpdateService); a.UpdateService != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		return fmt.Errorf("--hub-update-service %q is not a URL such as https://host/graph", a.UpdateService)
	}
	o.Releases = &releases.File{Path: a.File, Service: releases.Service{URL: a.UpdateService}}
	if _, err := o.Releases.Catalog(); err != nil {
		return fmt.Errorf("--hub-releases-file: %w", err)
	}
	o.Lookup, err = configured.ReleaseFinder(ctx, a.HubReleases, o.Releases)
	return err
}

// users are those with names; nil for none.
func (a hubAPI) users(kubeconfig string) (users.Directory, error) {
	var all []users.Directory
	if a.UsersFile != "" {
		list, err := users.Load(a.UsersFile)
		if err != nil {
			return nil, fmt.Errorf("--hub-users-file: %w", err)
		}
		all = append(all, list)
	}
	if a.UserReviews {
		access, err := clusterConfig(kubeconfig)
		if err != nil {
			return nil, fmt.Errorf("--hub-user-reviews: no cluster to ask: %w; set --kubeconfig or KUBECONFIG", err)
		}
		client, err := clientrest.HTTPClientFor(access)
		if err != nil {
			return nil, fmt.Errorf("--hub-user-reviews: %w", err)
		}
		reviews, err := hubusers.New(access, client, time.Now)
		if err != nil {
			return nil, fmt.Errorf("--hub-user-reviews: %w", err)
		}
		all = append(all, reviews)
	}
	if len(all) == 0 {
		return nil, nil
	}
	return users.All(all...), nil
}

// shortestToken is how many characters keep a token from being guessed.
const shortestToken = 16

func (a hubAPI) userToken() (string, error) {
	if a.UserTokenFile == "" {
		return "", nil
	}
	raw, err := os.ReadFile(a.UserTokenFile)
	if err != nil {
		return "", fmt.Errorf("--hub-user-token-file: %w", err)
	}
	token := strings.TrimSpace(string(raw))
	if len(token) < shortestToken {
		return "", errors.New("--hub-user-token-file: the token has less than 16 characters; make one with: openssl rand -hex 32")
	}
	return token, nil
}
