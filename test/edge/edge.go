// Package edge is the site of an agent-based installation on this computer, for people to
// watch and for figures: the image is made by the shipped program. Where [Systemd] finds what
// it needs, a host is a booted systemd in namespaces of its own (packages booted, live), which
// runs the units of the image, and all are at one cable. Elsewhere, and for figures, a host is
// a folder with what the image's Ignition writes, and the programs of its units run on it as
// they are shipped; then also played are systemd (programs are started in the order of the
// units, and again when they fail) and the network (all hosts share loopback, so that node
// zero is told that it is). In both, the agents pretend to install. The main type is [Site].
package edge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/bench/usage"
	"github.com/ironflow/ironflow/test/lab/ports"
	"github.com/ironflow/ironflow/test/spawn"
	"github.com/ironflow/ironflow/test/systemd/booted"
)

// Options choose what is installed.
type Options struct {
	// Hosts is how many there are, all of the control plane: 1, or 3 to 5.
	Hosts int
	// BinDir has ironflow, ironflow-agent and ironflow-agent-based; Dir is an empty folder for all files.
	BinDir, Dir string
	// Stage is how long each stage of an installation is pretended to take.
	Stage time.Duration
	// Root is the root file system of hosts that are booted systemds, see [Systemd]; empty makes
	// them folders.
	Root string
	// Say is told what happens.
	Say func(format string, args ...any)
}

// Site is an installation that goes on.
type Site struct {
	options Options
	url     string
	hosts   []host
	thread  *spawn.Thread
	ports   ports.Set
	client  *http.Client
	hub     *process
	failed  chan error
	booted  time.Time
	// machines are the booted systemds; none where the hosts are folders.
	machines []*booted.Machine
	// stop ends what leads the installation, led is closed when that has ended.
	stop context.CancelFunc
	led  chan struct{}

	mu  sync.Mutex
	all []*process
}

// host is a folder.
type host struct {
	name string
	dir  hostfile.Dir
}

// boots is how long a host may be on its way to its disk until it counts as installed: no
// one inside this cluster tells.
const boots = 10 * time.Second

// Begin makes the image and boots all hosts; they install themselves from then on. The site
// has to be closed, also after an error.
func Begin(ctx context.Context, o Options) (*Site, error) {
	s := &Site{options: o, thread: spawn.NewThread(), client: &http.Client{Timeout: 10 * time.Second}, failed: make(chan error, 1)}
	if o.Hosts != 1 && (o.Hosts < 3 || o.Hosts > 5) {
		return s, fmt.Errorf("HOSTS=%d: all of them are the control plane, so choose 1, or 3 to 5", o.Hosts)
	}
	if o.Root != "" {
		return s, s.beginMachines(ctx)
	}
	return s, s.beginFolders(ctx)
}

// beginFolders has the units' programs run on folders.
func (s *Site) beginFolders(ctx context.Context) error {
	port, err := s.ports.Free()
	if err != nil {
		return err
	}
	s.url = fmt.Sprintf("http://127.0.0.1:%d/", port)
	config, err := s.image(ctx)
	if err != nil {
		return err
	}
	for i := range s.options.Hosts {
		if err := s.unpack(i, config); err != nil {
			return err
		}
	}
	s.booted = time.Now()
	if err := s.startHub(ctx, port); err != nil {
		return err
	}
	for i := range s.hosts {
		if err := s.boot(i); err != nil {
			return err
		}
	}
	leading, stop := context.WithCancel(ctx)
	s.stop, s.led = stop, make(chan struct{})
	go s.lead(leading)
	return nil
}

// Booted is when the first program of a host was started, the image being there.
func (s *Site) Booted() time.Time { return s.booted }

// startHub starts node zero's, which assisted-service.service does.
func (s *Site) startHub(ctx context.Context, port int) error {
	node0 := s.hosts[0]
	if err := places.Write(node0.dir, places.NodeZero, []byte(places.FormatEnv(map[string]string{places.BootstrapMAC: macOf(0)})), 0o644); err != nil {
		return err
	}
	env, err := places.Settings(node0.dir)
	if err != nil {
		return err
	}
	env["IRONFLOW_DATA_DIR"] = filepath.Join(s.options.Dir, "hub")
	env["IRONFLOW_HUB_ADDR"] = fmt.Sprintf("127.0.0.1:%d", port)
	if s.hub, err = s.start(node0, "hub", env, "ironflow", "hub", "agent-based"); err != nil {
		return err
	}
	for {
		if _, err := s.cluster(ctx); err == nil {
			s.options.Say("the hub runs on %s as one process, at %s", node0.name, s.url)
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.hub.ended:
			return fmt.Errorf("the hub does not start: %s", s.hub.tail())
		case <-time.After(look):
		}
	}
}

// boot starts what agent.service and agent-console-messages.service do.
func (s *Site) boot(i int) error {
	h := s.hosts[i]
	if _, err := s.start(h, "messages", nil, "ironflow-agent-based", "report-messages"); err != nil {
		return err
	}
	_, err := s.start(h, "agent", nil, "ironflow-agent-based", "start-agent", "--", "--interval", "1",
		"--with-journal-logging=false", "--with-text-logging=false", "--with-stdout-logging", "--dry-run", "--dry-scenario", h.dir.Path(machineFile))
	s.options.Say("%s boots the image", h.name)
	return err
}

// lead runs the units of node zero that turn manifests into calls, one after the other.
func (s *Site) lead(ctx context.Context) {
	defer close(s.led)
	for _, words := range [][]string{
		{"agent-installer-client", "registerCluster"}, {"agent-installer-client", "registerInfraEnv"}, {"agent-installer-client", "configure"}, {"start-cluster-installation"},
	} {
		if err := s.oneshot(ctx, words); err != nil {
			s.failed <- err
			return
		}
	}
}

// oneshot runs a unit until it succeeds, as systemd does.
func (s *Site) oneshot(ctx context.Context, words []string) error {
	name := words[len(words)-1]
	for {
		env, err := places.Settings(s.hosts[0].dir)
		if err != nil {
			return err
		}
		p, err := s.start(s.hosts[0], name, env, "ironflow-agent-based", words...)
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.ended:
		}
		if p.command.ProcessState.Success() {
			s.options.Say("%s: %s has done its work", s.hosts[0].name, name)
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Second):
		}
	}
}

// Failed gets the reason why the installation cannot go on.
func (s *Site) Failed() <-chan error { return s.failed }

// URL is the hub's.
func (s *Site) URL() string { return s.url }

// HubPeak is the most memory that the hub's process has had, in bytes.
func (s *Site) HubPeak() (int64, error) {
	if len(s.machines) > 0 {
		return s.machinePeak()
	}
	u, err := usage.Of(s.hub.command.Process.Pid)
	return u.Peak, err
}

// Logs is the folder with what the programs have said.
func (s *Site) Logs() string { return filepath.Join(s.options.Dir, "log") }

// Close ends all programs.
func (s *Site) Close() error {
	if s.stop != nil {
		s.stop()
		<-s.led
	}
	errs := []error{s.saveJournals()}
	for _, m := range s.machines {
		errs = append(errs, m.Close())
	}
	s.thread.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.all {
		<-p.ended
	}
	s.client.CloseIdleConnections()
	return errors.Join(append(errs, s.ports.Close())...)
}

// start starts a program on a host, with nothing of our own environment but the path.
func (s *Site) start(h host, name string, env map[string]string, program string, args ...string) (*process, error) {
	if err := os.MkdirAll(s.Logs(), 0o755); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(filepath.Join(s.Logs(), h.name+"-"+name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	p := newProcess(filepath.Join(s.options.BinDir, program), args, h.dir, env, log)
	err = errors.Join(s.thread.Do(p.begin), log.Close())
	if err != nil {
		return nil, fmt.Errorf("start %s on %s: %w", program, h.name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, p)
	return p, nil
}
