// Package files is the source of clusters whose Ignition the site wrote itself: role
// files in a folder, filled in for each host.
//
// What the cluster's objects give (a ConfigMap or a Secret) comes first, then
// CLUSTER_ID/FILE of the folder, then FILE, which serves all clusters. Credentials are
// those of one cluster: they are taken from its objects and its own folder only. A
// cluster without a release that has no role file gets a system that boots and lets its
// owner log in; one with a release is refused before a disk is touched. [Source] is the
// source; [Check] judges what an object gives.
package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/coreos/ignition/v2/config/v3_6/types"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/hub/ignition"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/pointer"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	// Kubeconfig is the access that a cluster is made with.
	Kubeconfig = "kubeconfig-noingress"
	// Password is that of its first user.
	Password = "kubeadmin-password"

	bootstrapFile = "bootstrap.ign"
)

// downloads are the files that clients may ask for; those of roles are downloaded as
// they lie in the folder, for what is in them depends on the host.
var downloads = []string{"master.ign", "worker.ign", "arbiter.ign", "metadata.json", "install-config.yaml", "custom_manifests.json", "custom_manifests.yaml"}

// Source implements [sources.Source].
type Source struct {
	// Root is the folder; files outside of it cannot be reached. nil has no files.
	Root *os.Root
}

var _ sources.Source = Source{}

// Ending implements [sources.Source]. Who made credentials has made a cluster in which a
// program reports how it comes up.
func (s Source) Ending(o *sources.Order) sources.Ending {
	if s.shelf(o).hasOwn(Kubeconfig) {
		return sources.EndsInside
	}
	return sources.EndsWithHosts
}

// Lacks implements [sources.Source].
func (s Source) Lacks(_ context.Context, o *sources.Order) []sources.Lack {
	var all []sources.Lack
	shelf, told := s.shelf(o), map[string]bool{}
	need := func(file, of string) {
		if !told[file] && !shelf.has(file) {
			told[file] = true
			all = append(all, sources.Lack{
				What: fmt.Sprintf("there is no file %s for %s", file, of),
				Next: fmt.Sprintf("put %s/%s, or %s for all clusters, into the folder of --hub-ignition-dir, or %s into a ConfigMap or Secret that annotation %s of the AgentClusterInstall names",
					o.Cluster.ID, file, file, file, names.IgnitionFiles),
			})
		}
	}
	for _, h := range o.Hosts {
		file := roleFile(h)
		switch {
		case h.Joins && !shelf.has(file) && h.Endpoint != nil:
			all = append(all, pointer.Lacks(h)...)
		case h.Joins:
			need(file, "host "+h.Name+", which joins a cluster that runs; or set ignition_endpoint.url of the cluster")
		case sources.HasRelease(&o.Cluster):
			need(file, "hosts of role "+string(h.Role)+" of cluster "+o.Cluster.Name+", which has a release")
			if h.Bootstrap && len(o.Hosts) > 1 {
				need(bootstrapFile, "host "+h.Name+", which brings up cluster "+o.Cluster.Name)
			}
		}
	}
	return all
}

func roleFile(h sources.Host) string { return string(h.Role) + ".ign" }

// Make implements [sources.Source].
func (s Source) Make(ctx context.Context, o *sources.Order) (*sources.Made, error) {
	if lacks := s.Lacks(ctx, o); len(lacks) > 0 {
		return nil, sources.Lacking(lacks)
	}
	out := &sources.Made{Hosts: map[string][]byte{}, Files: map[string][]byte{}, Credentials: map[string][]byte{}}
	shelf, read := s.shelf(o), map[wire.HostRole]content{}
	for _, h := range o.Hosts {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		role, ok := read[h.Role]
		if !ok {
			role = shelf.read(roleFile(h))
			read[h.Role] = role
		}
		raw, err := host(o, h, role)
		if err != nil {
			return nil, fmt.Errorf("host %s: %w", h.Name, err)
		}
		if !ok && role.err == nil { // what is wrong with it is so for all hosts of the role
			if err := ignition.Valid(string(raw)); err != nil {
				return nil, fmt.Errorf("%s: %w", role.name, err)
			}
		}
		out.Hosts[h.ID] = raw
		if h.Bootstrap {
			if err := shelf.bootstrap(o, h, out); err != nil {
				return nil, err
			}
		}
	}
	for _, name := range downloads {
		if err := shelf.read(name).add(out.Files, name); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{Kubeconfig, Password} {
		if err := shelf.readOwn(name).add(out.Credentials, name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// bootstrap fills in the file of the host that brings up the others, where there is one.
func (s shelf) bootstrap(o *sources.Order, h sources.Host, out *sources.Made) error {
	file := s.read(bootstrapFile)
	if errors.Is(file.err, errNone) {
		return nil
	}
	if file.err != nil {
		return file.err
	}
	raw, err := fill(file.name, file.raw, values(o, h))
	if err != nil {
		return err
	}
	if err := ignition.Valid(string(raw)); err != nil {
		return fmt.Errorf("%s: %w", file.name, err)
	}
	out.Files[bootstrapFile] = raw
	return nil
}

// host makes one host's configuration of its role's file.
func host(o *sources.Order, h sources.Host, role content) ([]byte, error) {
	switch {
	case role.err == nil:
		return fill(role.name, role.raw, values(o, h))
	case !errors.Is(role.err, errNone):
		return nil, role.err
	case h.Joins:
		return pointer.Config(h.Endpoint)
	}
	return json.Marshal(minimal(o.Cluster.SSHPublicKey))
}

// minimal is a system that boots, and that the owner of the key can log in to.
func minimal(key string) types.Config {
	config := types.Config{Ignition: types.Ignition{Version: types.MaxVersion.String()}}
	if key != "" {
		config.Passwd.Users = []types.PasswdUser{{Name: "core", SSHAuthorizedKeys: []types.SSHAuthorizedKey{types.SSHAuthorizedKey(key)}}}
	}
	return config
}
