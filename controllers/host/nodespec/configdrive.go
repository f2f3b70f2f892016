package nodespec

import (
	"errors"
	"fmt"
	"maps"
	"regexp"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/yamldoc"
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

// NeedsConfigDrive reports whether the deployment hands anything over. A live ISO
// takes none, and a custom method without image or Secrets has no use for one.
func NeedsConfigDrive(h *metal3.BareMetalHost) bool {
	if MethodOf(h.Spec.CustomDeploy) == "" {
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

// lineOf finds the line that an error of the YAML parser is about.
var lineOf = regexp.MustCompile(`\bline \d+`)

// ParseObject reads a YAML or JSON object; empty text is none. The text is of a Secret:
// an error tells the line, if it is known, and quotes nothing.
func ParseObject(raw []byte) (map[string]any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	value, err := yamldoc.Decode(raw)
	if whole, ok := errors.AsType[*yamldoc.LimitError](err); ok {
		return nil, fmt.Errorf("it is refused: it %w", whole)
	}
	if err != nil {
		if line := lineOf.FindString(err.Error()); line != "" {
			return nil, fmt.Errorf("it is neither a YAML nor a JSON object: see %s", line)
		}
		return nil, errors.New("it is neither a YAML nor a JSON object")
	}
	m, ok := value.(map[string]any)
	if !ok && value != nil {
		return nil, errors.New("it is neither a YAML nor a JSON object")
	}
	return m, nil
}

// Complete parses what was read.
func (c *ConfigDrive) Complete(h *metal3.BareMetalHost, rawNetwork, rawMeta []byte) {
	var err error
	if c.NetworkData, err = ParseObject(rawNetwork); err != nil && c.Problem == "" {
		c.Problem = "the network data cannot be used: " + err.Error()
	}
	overlay, err := ParseObject(rawMeta)
	if err != nil && c.Problem == "" {
		c.Problem = "the meta data cannot be used: " + err.Error()
	}
	c.MetaData = metaData(h, overlay)
}
