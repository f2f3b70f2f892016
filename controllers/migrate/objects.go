package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kjson "sigs.k8s.io/json"

	"github.com/ironflow/ironflow/api/names"
)

// checkSecrets looks whether the Secrets of the hosts are there and marked.
func checkSecrets(ctx context.Context, s *state) error {
	for i := range s.hosts {
		h := &s.hosts[i]
		for _, name := range secretNames(h) {
			secret := &corev1.Secret{}
			err := s.options.Client.Get(ctx, client.ObjectKey{Namespace: h.Namespace, Name: name}, secret)
			switch {
			case apierrors.IsNotFound(err):
				s.found(Warning, h.Namespace+"/"+h.Name, "its Secret %q does not exist: create it", name)
			case err != nil:
				return fmt.Errorf("read Secret %s/%s: %w", h.Namespace, name, err)
			case secret.Labels[names.EnvironmentLabel] != names.EnvironmentValue:
				s.found(Warning, h.Namespace+"/"+h.Name, "its Secret %q lacks the label %s=%s: Ironflow sets it the first time that it reads the Secret",
					name, names.EnvironmentLabel, names.EnvironmentValue)
			}
		}
	}
	return nil
}

// secretNames lists the Secrets that a host refers to.
func secretNames(h *metal3.BareMetalHost) []string {
	list := []string{h.Spec.BMC.CredentialsName, h.Spec.PreprovisioningNetworkDataName}
	for _, ref := range []*corev1.SecretReference{h.Spec.UserData, h.Spec.NetworkData, h.Spec.MetaData} {
		if ref != nil {
			list = append(list, ref.Name)
		}
	}
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(name string) bool { return name == "" })
}

// checkFields looks for members of stored hosts that Ironflow's types lack: they
// come from a newer schema. Ironflow keeps them, and does not act on them.
func checkFields(ctx context.Context, s *state) error {
	for i := range s.hosts {
		h := &s.hosts[i]
		stored := &unstructured.Unstructured{}
		stored.SetGroupVersionKind(metal3.GroupVersion.WithKind("BareMetalHost"))
		if err := s.options.Client.Get(ctx, client.ObjectKeyFromObject(h), stored); err != nil {
			if apierrors.IsNotFound(err) {
				continue // deleted meanwhile
			}
			return fmt.Errorf("read BareMetalHost %s/%s: %w", h.Namespace, h.Name, err)
		}
		raw, err := json.Marshal(stored.Object)
		if err != nil {
			return err
		}
		unknown, err := kjson.UnmarshalStrict(raw, &metal3.BareMetalHost{})
		if err != nil {
			return fmt.Errorf("BareMetalHost %s/%s: %w", h.Namespace, h.Name, err)
		}
		var members []string
		for _, u := range unknown {
			members = append(members, strings.Trim(strings.TrimPrefix(u.Error(), "unknown field "), `"`))
		}
		if len(members) > 0 {
			s.found(Warning, h.Namespace+"/"+h.Name, "has members that this version of Ironflow does not know: it keeps them and would not act on them: %s", some(members))
		}
	}
	return nil
}

// feature is something that baremetal-operator does and Ironflow does not (yet).
type feature struct {
	uses func(*metal3.BareMetalHost) bool
	text string
}

// features are those that can be told from a host. docs/baremetalhost.md has the
// whole list.
var features = []feature{
	{
		func(h *metal3.BareMetalHost) bool { return h.Spec.Firmware != nil }, //nolint:staticcheck // reported because it is deprecated
		"spec.firmware is not acted on: use the HostFirmwareSettings of the host, and remove it",
	},
	{
		func(h *metal3.BareMetalHost) bool { return len(h.Spec.Taints) > 0 },
		"spec.taints is not acted on, as with baremetal-operator",
	},
}

// checkFeatures names hosts that use what is missing.
func checkFeatures(_ context.Context, s *state) error {
	for i := range s.hosts {
		for _, f := range features {
			if f.uses(&s.hosts[i]) {
				s.found(Warning, s.hosts[i].Namespace+"/"+s.hosts[i].Name, "%s", f.text)
			}
		}
	}
	return nil
}
