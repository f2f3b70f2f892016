package main

import (
	"context"
	"fmt"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	ironflowv1 "github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
)

// sameName are the kinds whose object for a host has the host's name.
var sameName = []schema.GroupVersionKind{
	metal3v1.GroupVersion.WithKind("PreprovisioningImage"), metal3v1.GroupVersion.WithKind("HardwareData"),
	metal3v1.GroupVersion.WithKind("HostFirmwareSettings"), metal3v1.GroupVersion.WithKind("HostFirmwareComponents"),
	metal3v1.GroupVersion.WithKind("HostUpdatePolicy"), metal3v1.GroupVersion.WithKind("DataImage"),
	ironflowv1.GroupVersion.WithKind("BMC"),
}

// belonging is an object that events are about; uid is empty where it could not be read.
type belonging struct {
	kind, name string
	uid        types.UID
}

// readHost reads a host; one that is not there is said in plain words.
func readHost(ctx context.Context, cl client.Client, key types.NamespacedName, h *metal3v1.BareMetalHost) error {
	err := cl.Get(ctx, key, h)
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("host %s is not there", key)
	}
	if err != nil {
		return fmt.Errorf("host %s: %w", key, err)
	}
	return nil
}

// belongings are a host and all that belongs to it. What cannot be read counts by its name.
func belongings(ctx context.Context, cl client.Client, h *metal3v1.BareMetalHost) []belonging {
	all := []belonging{{"BareMetalHost", h.Name, h.UID}}
	for _, gvk := range sameName {
		o := &metav1.PartialObjectMetadata{}
		o.SetGroupVersionKind(gvk)
		_ = cl.Get(ctx, client.ObjectKeyFromObject(h), o) // one that is gone has events, too
		all = append(all, belonging{gvk.Kind, h.Name, o.UID})
	}
	if name := h.Spec.BMC.CredentialsName; name != "" {
		all = append(all, belonging{"Secret", name, ""})
	}
	var agents agentv1.AgentList
	if err := cl.List(ctx, &agents, client.InNamespace(h.Namespace), client.MatchingLabels{names.AgentHostLabel: names.HostLabel(h.Name)}); err == nil {
		for i := range agents.Items {
			all = append(all, belonging{"Agent", agents.Items[i].Name, agents.Items[i].UID})
		}
	}
	var subscriptions metal3v1.BMCEventSubscriptionList
	if err := cl.List(ctx, &subscriptions, client.InNamespace(h.Namespace)); err == nil {
		for i := range subscriptions.Items {
			if subscriptions.Items[i].Spec.HostName == h.Name {
				all = append(all, belonging{"BMCEventSubscription", subscriptions.Items[i].Name, subscriptions.Items[i].UID})
			}
		}
	}
	return all
}

// isOf reports whether an event's subject is it. An earlier object of the same name is another one.
func (b belonging) isOf(kind, name string, uid types.UID) bool {
	return b.kind == kind && b.name == name && (b.uid == "" || uid == "" || b.uid == uid)
}
