package model

import (
	"maps"
	"slices"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/resources"
	"github.com/ironflow/ironflow/ironic"
)

// Who is woken by what, as package schedule has it: by changes of the host that are not
// of its status, of its Secrets, and of its node.

// wakeFor wakes the hosts that an object concerns.
func (w *World) wakeFor(key objectKey, before, after client.Object) {
	switch key.kind {
	case "BareMetalHost":
		if before.GetGeneration() != after.GetGeneration() || !maps.Equal(before.GetAnnotations(), after.GetAnnotations()) ||
			!maps.Equal(before.GetLabels(), after.GetLabels()) || !slices.Equal(before.GetFinalizers(), after.GetFinalizers()) {
			w.woken[key.NamespacedName] = true
		}
	case "Secret":
		for _, name := range w.hosts() {
			if h := w.host(name); usesSecret(h, key.Name) {
				w.woken[name] = true
			}
		}
	}
}

func usesSecret(h *metal3.BareMetalHost, name string) bool {
	return h.Spec.BMC.CredentialsName == name || slices.Contains(resources.SecretNames(h), name)
}

// wakeForNode wakes the host of a node.
func (w *World) wakeForNode(before, after ironic.Row) {
	if w.rows != nil {
		return // it hears of that when it catches up
	}
	name, id := after.Name, after.UUID
	if id == "" {
		name, id = before.Name, before.UUID
	}
	for _, key := range w.hosts() {
		if w.host(key).Status.Provisioning.ID == id {
			w.woken[key] = true
		}
	}
	namespace, host, found := strings.Cut(name, names.NodeNameSeparator)
	key := types.NamespacedName{Namespace: namespace, Name: host}
	if found && w.host(key) != nil {
		w.woken[key] = true
	}
}
