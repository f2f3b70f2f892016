package ignition

import (
	"encoding/json"

	"github.com/coreos/ignition/v2/config/v3_6/types"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/hub/wire"
)

// machineConfig is the object by which a cluster of OpenShift configures the hosts of a
// role, now and when more of them join.
type machineConfig struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		Config          json.RawMessage `json:"config"`
		KernelArguments []string        `json:"kernelArguments,omitempty"`
	} `json:"spec"`
}

// MachineConfig is the manifest that has the disks of a role encrypted, in YAML.
func (e Encryption) MachineConfig(role wire.HostRole) (string, error) {
	config, err := e.merge(types.Config{Ignition: types.Ignition{Version: types.MaxVersion.String()}})
	if err != nil {
		return "", err
	}
	raw, err := encode(config)
	if err != nil {
		return "", err
	}
	var m machineConfig
	m.APIVersion, m.Kind = "machineconfiguration.openshift.io/v1", "MachineConfig"
	m.Metadata.Name = "99-" + string(role) + "-disk-encryption"
	m.Metadata.Labels = map[string]string{"machineconfiguration.openshift.io/role": string(role)}
	m.Spec.Config = raw
	if e.Mode == wire.DiskEncryptionModeTang {
		m.Spec.KernelArguments = []string{"rd.neednet=1"} // the servers are asked at each start
	}
	out, err := yaml.Marshal(m)
	return string(out), err
}
