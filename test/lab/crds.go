package lab

import (
	"context"
	"fmt"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/ironflow/ironflow/config"
)

// InstallCRDs creates the resources of config/crd, or those of some groups, and waits until
// they are served. Those that are there already are left as they are.
func InstallCRDs(ctx context.Context, access *rest.Config, groups ...string) error {
	crds, err := config.CRDs()
	if err != nil {
		return err
	}
	clients, err := clientset.NewForConfig(access)
	if err != nil {
		return fmt.Errorf("make a client of the API: %w", err)
	}
	crds = slices.DeleteFunc(crds, func(crd *apiextensionsv1.CustomResourceDefinition) bool {
		return len(groups) > 0 && !slices.Contains(groups, crd.Spec.Group)
	})
	for _, crd := range crds {
		if _, err := clients.ApiextensionsV1().CustomResourceDefinitions().Create(ctx, crd, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create CRD %s: %w", crd.Name, err)
		}
	}
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		for _, crd := range crds {
			if are, err := served(clients.Discovery(), crd); err != nil || !are {
				return false, err
			}
		}
		return true, nil
	})
}

// served tells that clients find the resource in all its versions.
func served(api discovery.DiscoveryInterface, crd *apiextensionsv1.CustomResourceDefinition) (bool, error) {
	for _, version := range crd.Spec.Versions {
		if !version.Served {
			continue
		}
		list, err := api.ServerResourcesForGroupVersion(crd.Spec.Group + "/" + version.Name)
		switch {
		case apierrors.IsNotFound(err):
			return false, nil
		case err != nil:
			return false, err
		case !slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == crd.Spec.Names.Plural }):
			return false, nil
		}
	}
	return true, nil
}
