// Package topics has the settings of the program by topic: for each field of the configuration the
// flag and the environment variable that set it, its default, and what it means. Who takes which
// of them is for the parts of the program to say. The main function is [All].
package topics

import (
	"slices"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
)

// All are all settings, in the order of the documentation.
func All(c *v1alpha1.IronflowConfiguration) []settings.Group {
	return slices.Concat(Process(c), []settings.Group{
		Hosts(&c.Hosts), Ironic(&c.Ironic), BMC(&c.BMC), BMCEvents(&c.BMCEvents), BMCCredentials(&c.BMCCredentials), Store(&c.Store),
	}, OfHub(c), OfImages(c), []settings.Group{DeployImages(&c.DeployImages)})
}

// Process are the settings of everything that runs.
func Process(c *v1alpha1.IronflowConfiguration) []settings.Group {
	return []settings.Group{Kubernetes(&c.Kubernetes), LeaderElection(&c.LeaderElection), Monitoring(&c.Monitoring), TLS(&c.TLS)}
}

// OfHub are the settings of the hub, but for where its records are.
func OfHub(c *v1alpha1.IronflowConfiguration) []settings.Group {
	return []settings.Group{
		Files(&c.Files), Hub(&c.Hub), HubReleases(&c.HubReleases), HubValidations(&c.HubValidations), HubInstallation(&c.HubInstallation), HubLimits(&c.HubLimits),
	}
}

// OfImages are the settings of the image server and of what it serves.
func OfImages(c *v1alpha1.IronflowConfiguration) []settings.Group {
	return []settings.Group{Images(&c.Images), LiveSystem(&c.LiveSystem)}
}

// Schema is the kind of file that has them.
func Schema(c *v1alpha1.IronflowConfiguration) settings.Schema {
	return settings.Schema{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.Kind, Config: c, Groups: All(c)}
}
