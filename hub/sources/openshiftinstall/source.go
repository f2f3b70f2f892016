// Package openshiftinstall is the Ignition source that runs the openshift-install
// program, which makes the Ignition of OpenShift's roles, the kubeconfig and the first
// user's password.
//
// Each run has a private folder below a state folder, which goes with it: what was made
// is returned, never left there. The program has limits, an environment of named
// variables only, and a process group that ends with the run. Its output is handed on
// line by line without secrets. A preparation with the same inputs, the program itself
// among them, runs nothing. The main type is [Source].
package openshiftinstall

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/wire"
)

// Options say how a source works. Program and State are required.
type Options struct {
	// Program is the path of openshift-install.
	Program string
	// State is a folder of this source alone, in which each run has one of its own.
	// It is made when it is missing, and is private.
	State string
	// Config makes the install-config.yaml of an order; nil means [Config].
	Config func(*sources.Order) ([]byte, error)
	// Proxy is what the program itself uses to reach a registry; not the cluster's.
	Proxy Proxy
	// Invoker says who has the program run, which the cluster tells later on; may be empty.
	Invoker string
	// Certificates are files that were made before, by their paths in the program's folder
	// tls: the clusters of this source use them, so that their kubeconfig is known. A hub
	// with more than one cluster must not have any.
	Certificates map[string][]byte
	// Limits of one run; members that are zero have defaults.
	Limits Limits
	// Output is told each line that the program writes for a cluster, without secrets.
	// It is called by one goroutine per run, which waits for it. May be nil.
	Output func(clusterID, line string)
	// Fresh is how long what was made counts for the same inputs; zero means 12 hours.
	// The certificates in bootstrap.ign end after 24 hours, and an installation takes some.
	Fresh time.Duration
	// Parallel is how many programs run at a time; zero means 2.
	Parallel int
}

// Proxy has the usual variables; empty ones are not set.
type Proxy struct{ HTTP, HTTPS, No string }

const (
	defaultFresh    = 12 * time.Hour
	defaultParallel = 2
)

// Source implements [sources.Source], see [New].
type Source struct {
	Options
	folders  *folders
	identity identity
	kept     kept
	slots    chan struct{}
}

var _ sources.Source = (*Source)(nil)

// New returns a source. It removes the folders that runs of a killed program have left.
// A program that is missing is said by [Source.Lacks], since it may be put there later.
func New(o Options) (*Source, error) {
	if o.Program == "" || o.State == "" {
		return nil, errors.New("openshift-install: the program's path and a folder for its runs are required")
	}
	if o.Config == nil {
		o.Config = Config
	}
	if o.Fresh <= 0 {
		o.Fresh = defaultFresh
	}
	if o.Parallel <= 0 {
		o.Parallel = defaultParallel
	}
	o.Limits = o.Limits.orDefaults()
	f, err := openFolders(o.State)
	if err != nil {
		return nil, err
	}
	return &Source{Options: o, folders: f, slots: make(chan struct{}, o.Parallel)}, nil
}

// Close lets go of the state folder. No run may be under way.
func (s *Source) Close() error { return s.folders.root.Close() }

// Ending implements [sources.Source].
func (*Source) Ending(*sources.Order) sources.Ending { return sources.EndsInside }

// Make implements [sources.Source]. Hosts that join get what was made for their role
// when the cluster was installed: it leads to the cluster's own server.
func (s *Source) Make(ctx context.Context, o *sources.Order) (*sources.Made, error) {
	if lacks := s.Lacks(ctx, o); len(lacks) > 0 {
		return nil, sources.Lacking(lacks)
	}
	if joins(o) {
		return forHosts(o, o.Earlier), nil
	}
	j, err := s.job(o)
	if err != nil {
		return nil, err
	}
	if made := s.earlier(j, o); made != nil {
		return forHosts(o, made), nil
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return nil, fmt.Errorf("openshift-install: waiting for other clusters' runs: %w", context.Cause(ctx))
	}
	made, err := s.run(ctx, j)
	if err != nil {
		return nil, err
	}
	s.stamp(j, o, made)
	return forHosts(o, made), nil
}

// job is one run: everything that its results depend on.
type job struct {
	cluster   string
	program   string // what the program is, see [identity]
	config    []byte
	manifests []sources.Manifest
	// certificates are those that were handed in.
	certificates map[string][]byte
	release      string
	inPlace      bool
	arbiters     bool
	resets       int
	secrets      *secrets
}

func (s *Source) job(o *sources.Order) (*job, error) {
	config, err := s.Config(o)
	if err != nil {
		return nil, err
	}
	program, err := s.identity.of(s.Program)
	if err != nil {
		return nil, err
	}
	return &job{
		cluster: o.Cluster.ID, program: program, config: config, manifests: o.Manifests, certificates: s.Certificates, release: o.Cluster.OcpReleaseImage,
		inPlace: inPlace(o), arbiters: count(o, wire.HostRoleArbiter) > 0, resets: o.Resets,
		secrets: secretsOf(o, config, s.Proxy),
	}, nil
}

// joins tells that the order is for hosts that join a cluster which runs.
func joins(o *sources.Order) bool {
	return len(o.Hosts) > 0 && !slices.ContainsFunc(o.Hosts, func(h sources.Host) bool { return !h.Joins })
}

// inPlace tells that the only host brings itself up.
func inPlace(o *sources.Order) bool {
	return count(o, wire.HostRoleMaster) == 1 && count(o, wire.HostRoleArbiter) == 0
}

// count is how many hosts of a new cluster have the role.
func count(o *sources.Order, role wire.HostRole) int {
	n := 0
	for _, h := range o.Hosts {
		if h.Role == role && !h.Joins {
			n++
		}
	}
	return n
}

// forHosts gives each host of the order the file of its role. What was made is not changed.
func forHosts(o *sources.Order, made *sources.Made) *sources.Made {
	out := &sources.Made{
		Hosts: make(map[string][]byte, len(o.Hosts)), Files: maps.Clone(made.Files),
		Credentials: maps.Clone(made.Credentials), Secrets: maps.Clone(made.Secrets),
	}
	for _, h := range o.Hosts {
		out.Hosts[h.ID] = made.Files[roleFile(h.Role)]
	}
	return out
}

func roleFile(role wire.HostRole) string { return string(role) + ".ign" }
