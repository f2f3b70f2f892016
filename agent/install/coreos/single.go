package coreos

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/agent/install/effect"
	"github.com/ironflow/ironflow/hub/wire"
)

// renderedMaster is what the temporary control plane of a single node has
// rendered for the node that it becomes.
const renderedMaster = "/opt/openshift/master.ign"

// singleNode puts the rendered configuration of a single node under the host's own
// Ignition: nobody will serve it any more when the node starts.
func (i *Installer) singleNode(ctx context.Context, job install.Job) error {
	if job.Request.Role != wire.HostRoleBootstrap || job.Request.ControlPlaneCount != 1 {
		return nil
	}
	rendered, err := os.ReadFile(i.Dir.Path(renderedMaster))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no bootstrap role: the host's Ignition is complete
	}
	if err != nil {
		return err
	}
	path := IgnitionFile(job.Request)
	own, err := os.ReadFile(i.Dir.Path(path))
	if err != nil {
		return err
	}
	merged, err := merge(rendered, own)
	if err != nil {
		return fmt.Errorf("merge %s with the host's Ignition: %w", renderedMaster, err)
	}
	return i.Effects.Do(ctx, effect.KeepIgnition, path, func() error { return WritePrivate(i.Dir, path, merged) })
}

// merged is an Ignition configuration that holds others, the later ones winning.
type merged struct {
	Ignition struct {
		Version string `json:"version"`
		Config  struct {
			Merge []source `json:"merge"`
		} `json:"config"`
	} `json:"ignition"`
}

type source struct {
	Source string `json:"source"`
}

// merge returns a configuration in which own is merged into base. What own would
// fetch from the control plane is left out: base is that, and nobody serves it.
// Ignition itself does the merging, at the first boot.
func merge(base, own []byte) ([]byte, error) {
	if err := isIgnition(base); err != nil {
		return nil, err
	}
	var config map[string]json.RawMessage
	if err := json.Unmarshal(own, &config); err != nil {
		return nil, errors.New("the host's Ignition is not JSON")
	}
	var ignition map[string]json.RawMessage
	if err := json.Unmarshal(config["ignition"], &ignition); err != nil {
		return nil, errors.New("the host's Ignition has no ignition section")
	}
	delete(ignition, "config")
	delete(ignition, "security")
	var err error
	if config["ignition"], err = json.Marshal(ignition); err != nil {
		return nil, err
	}
	if own, err = json.Marshal(config); err != nil {
		return nil, err
	}
	var out merged
	out.Ignition.Version = "3.1.0" // the oldest that merges; each part says its own
	for _, part := range [][]byte{base, own} {
		out.Ignition.Config.Merge = append(out.Ignition.Config.Merge, source{"data:;base64," + base64.StdEncoding.EncodeToString(part)})
	}
	return json.Marshal(out)
}
