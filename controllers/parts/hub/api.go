package hub

import (
	"context"
	"fmt"
	"time"

	clientrest "k8s.io/client-go/rest"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/controllers/hubusers"
	"github.com/ironflow/ironflow/controllers/parts"
	"github.com/ironflow/ironflow/hub/configured"
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
	if o.Auth.UserToken, err = configured.UserToken(a.Hub); err != nil {
		return err
	}
	if o.Auth.Users, err = a.users(kubeconfig); err != nil {
		return err
	}
	if o.Releases, err = configured.Releases(a.HubReleases); err != nil {
		return err
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
		access, err := parts.ClusterConfig(kubeconfig)
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
