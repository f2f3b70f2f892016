package files

import (
	"context"
	"encoding/json"

	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/hub/settle"
)

// Files of a cluster that the hub makes of its record where the Ignition source has
// none: whoever makes Ignition elsewhere begins with them.
const (
	installConfig = "install-config.yaml"
	manifestsJSON = "custom_manifests.json"
	manifestsYAML = "custom_manifests.yaml"
)

// manifest is one of a cluster's, with its content.
type manifest struct {
	Folder  string `json:"folder"`
	Name    string `json:"file_name"`
	Content string `json:"content"`
}

// made returns a file that the hub makes; false for others, and for a cluster that has
// nothing to make it of.
func (d *Folder) made(ctx context.Context, clusterID, name string) (content []byte, ok bool, err error) {
	switch name {
	case installConfig, manifestsJSON, manifestsYAML:
	default:
		return nil, false, nil
	}
	err = d.units.View(ctx, func(w *settle.Work) error {
		c, err := w.Cluster(clusterID)
		if err != nil {
			return err
		}
		if name == installConfig {
			content, err = w.InstallConfig(c)
			return err
		}
		var all []manifest
		for _, m := range c.Manifests {
			text, err := w.Manifest(c, m.Folder, m.FileName)
			if err != nil {
				return err
			}
			all = append(all, manifest{Folder: m.Folder, Name: m.FileName, Content: text})
		}
		switch {
		case len(all) == 0:
			return nil
		case name == manifestsJSON:
			content, err = json.Marshal(all)
		default:
			content, err = yaml.Marshal(all)
		}
		return err
	})
	return content, err == nil && content != nil, err
}
