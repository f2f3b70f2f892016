// Package rolefiles writes a folder of Ignition for clusters with a release: what a
// site's own tool would have put there, as far as the hub looks at it. The installed
// systems do nothing.
package rolefiles

import (
	"os"
	"path/filepath"
)

// Write makes the folder, if it is not there, and writes a file for each role.
func Write(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, role := range []string{"master", "worker", "arbiter", "bootstrap"} {
		if err := os.WriteFile(filepath.Join(dir, role+".ign"), []byte(`{"ignition":{"version":"3.2.0"}}`), 0o600); err != nil {
			return err
		}
	}
	return nil
}
