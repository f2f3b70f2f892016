package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/wire"
)

// roles are the files that are filled in for a host.
var roles = []string{"master.ign", "worker.ign", "arbiter.ign", bootstrapFile}

// Names are all files that the source knows.
func Names() []string {
	var all []string
	for _, name := range slices.Concat(roles, downloads, []string{Kubeconfig, Password}) {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// IsSecret tells that a file opens a cluster, so that it does not belong into a ConfigMap.
func IsSecret(name string) bool { return name == Kubeconfig || name == Password }

// Check refuses a file that the source cannot make use of, whatever the host is: a name
// that it does not know, a variable that there is not, text that is no JSON. Whether a
// variable has a value, and whether what becomes of the file is Ignition, is known when a
// host's is made.
func Check(f sources.File) error {
	switch {
	case !slices.Contains(Names(), f.Name):
		return fmt.Errorf("%s: the source files knows no such file; want %s", shown(f), strings.Join(Names(), ", "))
	case len(f.Content) > maxFile:
		return fmt.Errorf("%s: larger than %d MiB", shown(f), maxFile>>20)
	case len(f.Content) == 0:
		return fmt.Errorf("%s: it is empty; write it, or take it away", shown(f))
	case !slices.Contains(roles, f.Name):
		return nil
	}
	filled, err := fill(shown(f), f.Content, samples())
	if err != nil {
		return err
	}
	var document any
	err = json.Unmarshal(filled, &document)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return at(shown(f), filled, max(0, int(syntax.Offset)-1), "it is no JSON: "+syntax.Error())
	}
	return err
}

// samples has a value for each variable, as long as the variable, so that what is behind
// it stays where it is.
func samples() map[string]string {
	known := values(&sources.Order{Cluster: wire.Cluster{}}, sources.Host{})
	for name := range known {
		known[name] = strings.Repeat("x", len(open)+len(name)+len(end))
	}
	return known
}
