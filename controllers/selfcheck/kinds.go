package selfcheck

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/config"
	"github.com/ironflow/ironflow/controllers/migrate"
)

// Wanted are the kinds of a scheme that are made by CustomResourceDefinitions: those of our groups that have a list.
func Wanted(scheme *runtime.Scheme) (kinds []schema.GroupVersionKind) {
	all := scheme.AllKnownTypes()
	for kind := range all {
		list := kind.GroupVersion().WithKind(kind.Kind + "List")
		if _, has := all[list]; has && (kind.Group == "metal3.io" || kind.Group == "ironflow.io" || slices.Contains(hubGroups, kind.Group)) {
			kinds = append(kinds, kind)
		}
	}
	slices.SortFunc(kinds, func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	return kinds
}

// Each definition is read by its name, to be compared.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=baremetalhosts.metal3.io;bmceventsubscriptions.metal3.io;dataimages.metal3.io,verbs=get
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=firmwareschemas.metal3.io;hardwaredata.metal3.io;preprovisioningimages.metal3.io,verbs=get
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=hostfirmwarecomponents.metal3.io;hostfirmwaresettings.metal3.io,verbs=get
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=hostclaims.metal3.io;hostdeploypolicies.metal3.io;hostupdatepolicies.metal3.io,verbs=get
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=agentclassifications.agent-install.openshift.io;agents.agent-install.openshift.io,verbs=get
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=infraenvs.agent-install.openshift.io;nmstateconfigs.agent-install.openshift.io,verbs=get
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=agentclusterinstalls.extensions.hive.openshift.io,verbs=get
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=clusterdeployments.hive.openshift.io;clusterimagesets.hive.openshift.io,verbs=get
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=bmcs.ironflow.io,verbs=get

// Kinds asks whether the API server serves the kinds that run here, and how their definitions differ from Ironflow's.
func Kinds(access *rest.Config, reader client.Reader, kinds []schema.GroupVersionKind, f Features) Check {
	return Check{"definitions", func(ctx context.Context) []Finding {
		asker, err := discovery.NewDiscoveryClientForConfig(access)
		if err != nil {
			return wrong(fmt.Sprintf("cannot ask for kinds: %v", err), "see the check kubernetes")
		}
		var missing []string
		served, wanted := map[schema.GroupVersion]map[string]bool{}, 0
		for _, kind := range kinds {
			if !f.needs(kind) {
				continue
			}
			wanted++
			version := kind.GroupVersion()
			if served[version] == nil {
				if served[version], err = kindsOf(asker, version); err != nil {
					return wrong(fmt.Sprintf("cannot ask for kinds: %v", err), "see the check kubernetes")
				}
			}
			if !served[version][kind.Kind] {
				missing = append(missing, kind.Kind+" of "+version.String())
			}
		}
		if len(missing) > 0 {
			return wrong("the API server does not serve "+some(missing), "ironflow crds --apply, by somebody who may make CustomResourceDefinitions")
		}
		return append(good(fmt.Sprintf("all %d kinds are served", wanted)), differences(ctx, reader, f)...)
	}}
}

// needs tells whether a kind is worked on.
func (f Features) needs(kind schema.GroupVersionKind) bool {
	switch {
	case kind.Group == "ironflow.io":
		return f.BMCs
	case kind.Group != "metal3.io":
		return f.Hub
	case kind.Kind == "HostClaim", kind.Kind == "HostDeployPolicy":
		return f.Claims
	}
	return true
}

// kindsOf are the kinds of a group's version that are served; none if there is no such version.
func kindsOf(asker discovery.DiscoveryInterface, version schema.GroupVersion) (map[string]bool, error) {
	list, err := asker.ServerResourcesForGroupVersion(version.String())
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	names := map[string]bool{}
	if list != nil {
		for _, r := range list.APIResources {
			names[r.Kind] = true
		}
	}
	return names, nil
}

// differences are definitions that are older than Ironflow's: the API server drops the fields
// that they lack without a word.
func differences(ctx context.Context, reader client.Reader, f Features) (findings []Finding) {
	wanted, err := config.CRDs()
	if err != nil {
		return wrong(err.Error(), "")
	}
	wanted = slices.DeleteFunc(wanted, func(d *apiextensionsv1.CustomResourceDefinition) bool {
		return !f.needs(schema.GroupVersionKind{Group: d.Spec.Group, Kind: d.Spec.Names.Kind})
	})
	list, err := migrate.Compare(ctx, reader, wanted)
	switch {
	case apierrors.IsForbidden(err):
		return doubtful("the definitions are not compared with Ironflow's, which may be newer: no right to read them",
			"give the right: upgrade the chart or apply config/rbac; `ironflow crds`, by somebody who may read them, compares them, too")
	case err != nil:
		return doubtful(fmt.Sprintf("cannot compare definitions: %v", err), "ironflow crds")
	}
	for _, d := range list {
		if len(d.Lacks) > 0 {
			findings = append(findings, doubtful(fmt.Sprintf("%s is older than Ironflow's, it lacks %s", d.Name, some(d.Lacks)), "`ironflow crds` shows all differences, `ironflow crds --apply` updates")...)
		}
	}
	return findings
}

// OtherOperator looks whether baremetal-operator (BMO) works on the hosts: two would undo each
// other's work.
func OtherOperator(reader client.Reader, now func() time.Time) Check {
	return Check{"other operator", func(ctx context.Context) []Finding {
		holder, err := migrate.LeaseHolder(ctx, reader, now())
		switch {
		case err != nil:
			return doubtful(fmt.Sprintf("cannot tell whether baremetal-operator runs: %v", err), "see the checks kubernetes and rights")
		case holder != "":
			return wrong(holder+" holds the lease of baremetal-operator, so Ironflow waits", "scale that deployment to 0; docs/migrate.md has all steps")
		}
		return good("no baremetal-operator holds its lease")
	}}
}
