package host

import (
	"fmt"
	"maps"
	"slices"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/controllers/reconcile"
)

// ConfigDrive is what an instance is given: the contents of the host's Secrets.
type ConfigDrive struct {
	// UserData is given as it is; nil for none.
	UserData []byte
	// NetworkData and MetaData are parsed YAML or JSON; nil for none.
	NetworkData map[string]any
	MetaData    map[string]any
	// Problem is what is wrong with one of the Secrets; empty for nothing.
	Problem string
}

// needsConfigDrive reports whether the deployment hands anything over. A live ISO
// takes none, and a custom method without image or Secrets has no use for one.
func needsConfigDrive(h *metal3.BareMetalHost) bool {
	if methodOf(h.Spec.CustomDeploy) == "" {
		return !h.Spec.Image.IsLiveISO()
	}
	return h.Spec.Image != nil || h.Spec.UserData != nil || h.Spec.NetworkData != nil || h.Spec.MetaData != nil
}

// Value is the object that Ironic makes a config drive from.
func (c *ConfigDrive) Value() map[string]any {
	v := map[string]any{"meta_data": c.MetaData}
	if c.UserData != nil {
		v["user_data"] = string(c.UserData)
	}
	if c.NetworkData != nil {
		v["network_data"] = c.NetworkData
	}
	return v
}

// metaData is what every instance is told about itself, overlaid by the user's.
func metaData(h *metal3.BareMetalHost, overlay map[string]any) map[string]any {
	m := map[string]any{
		"uuid": string(h.UID), "name": h.Name,
		"local-hostname": h.Name, "local_hostname": h.Name,
		"metal3-name": h.Name, "metal3-namespace": h.Namespace,
	}
	maps.Copy(m, overlay)
	return m
}

// parseObject reads a YAML or JSON object; empty text is none.
func parseObject(raw []byte) (map[string]any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var m map[string]any
	if err := yaml.Unmarshal(raw, &m); err != nil {
		return nil, fmt.Errorf("it is neither a YAML nor a JSON object: %w", err)
	}
	return m, nil
}

// parseStatus reads the status annotation: what the API server would refuse in a
// status is an error. Members that this version does not know are told beside it.
func parseStatus(raw string) (*metal3.BareMetalHostStatus, reconcile.Unknown, error) {
	var s metal3.BareMetalHostStatus
	unknown, err := reconcile.DecodeKnown([]byte(raw), &s)
	if err != nil {
		return nil, nil, err
	}
	_, knownState := phases[s.Provisioning.State]
	_, knownError := errorKinds[s.ErrorType]
	switch {
	case !knownState:
		return nil, nil, fmt.Errorf("provisioning state %q is not known", s.Provisioning.State)
	case s.ErrorType != "" && !knownError:
		return nil, nil, fmt.Errorf("error type %q is not known", s.ErrorType)
	case !slices.Contains(operationalStates, s.OperationalStatus):
		return nil, nil, fmt.Errorf("operational status %q is not known", s.OperationalStatus)
	}
	return &s, unknown, nil
}

// operationalStates are those that the schema of the API takes.
var operationalStates = []metal3.OperationalStatus{
	"", metal3.OperationalStatusOK, metal3.OperationalStatusDiscovered, metal3.OperationalStatusError,
	metal3.OperationalStatusDelayed, metal3.OperationalStatusDetached, metal3.OperationalStatusServicing,
}
