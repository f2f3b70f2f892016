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

	"github.com/ironflow/ironflow/controllers/hubusers"
	"github.com/ironflow/ironflow/hub/releases"
	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/users"
)

// hubAPI is what the hub's REST API offers, and to whom.
type hubAPI struct {
	// userTokenFile holds the token of users; releasesFile the releases that clusters can have.
	userTokenFile, releasesFile string
	// usersFile holds users with names, roles and tokens.
	usersFile string
	// reviewUsers asks the Kubernetes API of kubeconfig who other users are.
	reviewUsers bool
	// updateService knows the releases of the file's sources.
	updateService string
	// lookup finds out which release an image is that the file does not have.
	lookup releaseLookup
}

// settings are those of the hub's REST API.
func (a *hubAPI) settings() []setting {
	return append([]setting{
		{"hub-user-token-file", "IRONFLOW_HUB_USER_TOKEN_FILE", "", "file with the token that users of the hub's REST API send (Authorization: Bearer TOKEN), at least 16 characters; empty refuses them: Kubernetes is the users' API", text(&a.userTokenFile)},
		{"hub-users-file", "IRONFLOW_HUB_USERS_FILE", "", "file with users of the hub's REST API, one a line as NAME,ROLE,TOKEN: admin, read-only-admin, or user, who has what it has made; read at the start; empty for none", text(&a.usersFile)},
		{"hub-user-reviews", "IRONFLOW_HUB_USER_REVIEWS", "false", "take tokens of Kubernetes users, too: the API server says whose they are (TokenReview), and which role they have (SubjectAccessReview of get /ironflow/hub/roles/ROLE)", boolean(&a.reviewUsers)},
		{"hub-releases-file", "IRONFLOW_HUB_RELEASES_FILE", "", "YAML or JSON file with release_images and release_sources, such as a mounted ConfigMap, read again when it changes; empty for no list of releases", text(&a.releasesFile)},
		{"hub-update-service", "IRONFLOW_HUB_UPDATE_SERVICE", "", "URL of an update service, such as https://api.openshift.com/api/upgrades_info/v1/graph, that is asked for the releases of release_sources every 3 hours; empty for none, and the sources are only shown", text(&a.updateService)},
	}, a.lookup.settings()...)
}

// apply reads the settings into the API's options.
func (a *hubAPI) apply(ctx context.Context, kubeconfig string, o *rest.Options) error {
	var err error
	if o.Auth.UserToken, err = a.userToken(); err != nil {
		return err
	}
	if o.Auth.Users, err = a.users(kubeconfig); err != nil {
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

// users are those with names; nil for none.
func (a *hubAPI) users(kubeconfig string) (users.Directory, error) {
	var all []users.Directory
	if a.usersFile != "" {
		list, err := users.Load(a.usersFile)
		if err != nil {
			return nil, fmt.Errorf("--hub-users-file: %w", err)
		}
		all = append(all, list)
	}
	if a.reviewUsers {
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
