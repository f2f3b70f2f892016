package configured

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/ironic"
)

// endpointFile is one Ironic in the file of --ironic-endpoints. Paths that are not
// absolute start from the file's folder, so that a mounted Secret is complete.
type endpointFile struct {
	Name           string        `json:"name"`
	URL            string        `json:"url"`
	CAFile         string        `json:"caFile,omitempty"`
	CertFile       string        `json:"certFile,omitempty"`
	KeyFile        string        `json:"keyFile,omitempty"`
	Insecure       bool          `json:"insecure,omitempty"`
	SkipServerName bool          `json:"skipServerName,omitempty"`
	UsernameFile   string        `json:"usernameFile,omitempty"`
	PasswordFile   string        `json:"passwordFile,omitempty"`
	Keystone       *keystoneFile `json:"keystone,omitempty"`
}

// keystoneFile is how an Ironic's users prove who they are at Keystone.
type keystoneFile struct {
	URL           string `json:"url"`
	CAFile        string `json:"caFile,omitempty"`
	Username      string `json:"username"`
	PasswordFile  string `json:"passwordFile"`
	UserDomain    string `json:"userDomain,omitempty"`
	Project       string `json:"project,omitempty"`
	ProjectDomain string `json:"projectDomain,omitempty"`
	System        bool   `json:"system,omitempty"`
	Region        string `json:"region,omitempty"`
	Visibility    string `json:"visibility,omitempty"`
}

// readEndpoints reads the file of --ironic-endpoints.
func readEndpoints(file string) ([]ironic.Config, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the Ironic endpoints: %w", err)
	}
	var list []endpointFile
	if err := yaml.UnmarshalStrict(raw, &list); err != nil {
		return nil, fmt.Errorf("read the Ironic endpoints in %s: %w", file, err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s lists no Ironic: each entry needs a name and a url", file)
	}
	var configs []ironic.Config
	for i, e := range list {
		if e.Name == "" {
			return nil, fmt.Errorf("entry %d of %s has no name: hosts are assigned to names", i+1, file)
		}
		configs = append(configs, e.config(filepath.Dir(file)))
	}
	return configs, nil
}

// config is the entry in the gateway's terms.
func (e endpointFile) config(dir string) ironic.Config {
	in := func(file string) string {
		if file == "" || filepath.IsAbs(file) {
			return file
		}
		return filepath.Join(dir, file)
	}
	c := ironic.Config{
		Name: e.Name, URL: e.URL, CAFile: in(e.CAFile), CertFile: in(e.CertFile), KeyFile: in(e.KeyFile),
		Insecure: e.Insecure, SkipServerName: e.SkipServerName,
	}
	if e.UsernameFile != "" || e.PasswordFile != "" {
		c.Auth.Basic = &ironic.Basic{UsernameFile: in(e.UsernameFile), PasswordFile: in(e.PasswordFile)}
	}
	if k := e.Keystone; k != nil {
		c.Auth.Keystone = &ironic.Keystone{
			URL: k.URL, IdentityCAFile: in(k.CAFile), Username: k.Username, PasswordFile: in(k.PasswordFile),
			UserDomain: k.UserDomain, Project: k.Project, ProjectDomain: k.ProjectDomain, System: k.System,
			Region: k.Region, EndpointVisibility: k.Visibility,
		}
	}
	return c
}

// All are how each Ironic is reached: that of the settings, or those of their list.
func All(s v1alpha1.Ironic) ([]ironic.Config, error) {
	configs := []ironic.Config{One(s)}
	if s.EndpointsFile != "" {
		var err error
		if configs, err = readEndpoints(s.EndpointsFile); err != nil {
			return nil, err
		}
	}
	for i := range configs {
		configs[i].Timeout = s.Timeout.Duration
	}
	return configs, nil
}
