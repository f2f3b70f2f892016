package openshiftinstall

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/wire"
)

// manifestFolders are those of openshift-install that take a user's manifests.
var manifestFolders = []string{"manifests", "openshift"}

// Lacks implements [sources.Source].
func (s *Source) Lacks(_ context.Context, o *sources.Order) []sources.Lack {
	if joins(o) {
		return lacksOfJoining(o)
	}
	all := slices.Concat(s.lacksOfProgram(), lacksOfSecret(o), lacksOfHosts(o), lacksOfManifests(o))
	if o.Kubernetes != nil {
		all = append(all, sources.Lack{
			What: "the cluster has settings of a plain Kubernetes, which openshift-install does not take",
			Next: "remove them, or choose the source " + string(sources.Kubernetes),
		})
	}
	if len(all) > 0 {
		return all
	}
	if _, err := s.Config(o); err != nil {
		all = append(all, sources.Lack{What: err.Error(), Next: "correct the cluster's settings"})
	}
	return all
}

func (s *Source) lacksOfProgram() []sources.Lack {
	next := "put the openshift-install of the release there, executable for the hub, or name another path"
	info, err := os.Stat(s.Program)
	switch {
	case err != nil:
		return []sources.Lack{{What: fmt.Sprintf("the program openshift-install: %v", err), Next: next}}
	case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
		return []sources.Lack{{What: fmt.Sprintf("%s is no program (%s)", s.Program, info.Mode()), Next: next}}
	}
	return nil
}

func lacksOfSecret(o *sources.Order) []sources.Lack {
	var document struct {
		Auths map[string]any `json:"auths"`
	}
	next := "set the cluster's pull_secret to a JSON document with a member auths"
	switch err := json.Unmarshal([]byte(o.PullSecret), &document); {
	case o.PullSecret == "":
		return []sources.Lack{{What: "the cluster has no pull secret, without which openshift-install makes nothing", Next: next}}
	case err != nil || len(document.Auths) == 0:
		return []sources.Lack{{What: "the cluster's pull secret is no such JSON document", Next: next}}
	}
	return nil
}

func lacksOfHosts(o *sources.Order) []sources.Lack {
	var all []sources.Lack
	lack := func(next, format string, args ...any) {
		all = append(all, sources.Lack{What: fmt.Sprintf(format, args...), Next: next})
	}
	bootstraps := 0
	for _, h := range o.Hosts {
		if h.Joins {
			lack("add it when the cluster is installed", "host %s joins the cluster, which is still to be installed", h.Name)
		}
		if h.Bootstrap {
			bootstraps++
			if h.Role != wire.HostRoleMaster {
				lack("choose a host of the control plane", "host %s is to bring up the others and has the role %q", h.Name, h.Role)
			}
		}
		if !slices.Contains([]wire.HostRole{wire.HostRoleMaster, wire.HostRoleWorker, wire.HostRoleArbiter}, h.Role) {
			lack("give it the role master, worker or arbiter", "host %s has the role %q", h.Name, h.Role)
		}
	}
	if bootstraps != 1 {
		lack("choose one host of the control plane for it", "%d hosts are to bring up the others", bootstraps)
	}
	masters, arbiters := count(o, wire.HostRoleMaster), count(o, wire.HostRoleArbiter)
	switch {
	case masters == 0:
		lack("add hosts with the role master", "the cluster has no control plane")
	case masters == 2 && arbiters == 0:
		lack("add a third one, or an arbiter", "two hosts of the control plane are no quorum")
	case inPlace(o) && count(o, wire.HostRoleWorker) > 0:
		lack("add workers when it is installed", "a cluster of one control-plane host is installed alone, and has %d workers", count(o, wire.HostRoleWorker))
	case inPlace(o) && o.Hosts[0].Disk == "":
		lack("choose its installation disk", "host %s has no installation disk, which bootstrap in place has to know", o.Hosts[0].Name)
	}
	return all
}

func lacksOfManifests(o *sources.Order) []sources.Lack {
	var all []sources.Lack
	seen := map[string]bool{}
	for _, m := range o.Manifests {
		path := m.Folder + "/" + m.Name
		switch {
		case !slices.Contains(manifestFolders, m.Folder):
			all = append(all, sources.Lack{What: fmt.Sprintf("manifest %q: no such folder", path), Next: "use the folder manifests or openshift"})
		case m.Name == "" || m.Name != filepath.Base(m.Name) || !filepath.IsLocal(m.Name):
			all = append(all, sources.Lack{What: fmt.Sprintf("manifest %q: no file name", path), Next: "use a name without folders"})
		case strings.Contains(m.Name, ".patch"):
			all = append(all, sources.Lack{What: fmt.Sprintf("manifest %q is a patch, and the hub applies none", path), Next: "add the patched file as a whole, by its own name: it takes the place of the installer's"})
		case seen[path]:
			all = append(all, sources.Lack{What: fmt.Sprintf("manifest %q is there twice", path), Next: "rename one of them"})
		}
		seen[path] = true
	}
	return all
}

// lacksOfJoining is what hosts of a running cluster need: what its installation made.
func lacksOfJoining(o *sources.Order) []sources.Lack {
	var all []sources.Lack
	for _, h := range o.Hosts {
		file := roleFile(h.Role)
		switch {
		case o.Earlier == nil || len(o.Earlier.Files[file]) == 0:
			all = append(all, sources.Lack{
				What: fmt.Sprintf("host %s joins the cluster, and the hub has no %s of its installation", h.Name, file),
				Next: "set the cluster's ignition_endpoint, which the source " + string(sources.Pointer) + " uses",
			})
		case len(o.Earlier.Secrets[inPlaceMark]) > 0:
			all = append(all, sources.Lack{
				What: fmt.Sprintf("host %s joins a cluster that was installed in place, whose %s is empty", h.Name, file),
				Next: "set the cluster's ignition_endpoint, which the source " + string(sources.Pointer) + " uses",
			})
		}
	}
	return all
}
