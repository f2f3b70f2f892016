// Command cluster measures ironflow-cluster as it is shipped, in a cluster with many
// nodes: a real kube-apiserver has the nodes, each with the images that a kubelet tells of,
// the pods of the system, operators, what the lifecycle manager copies into namespaces, and
// signing requests of strangers, as many as somebody with a bootstrap token makes in a minute.
// The hub is played, with inventories of 30 KB. The program reports all hosts and the
// end, and then stays.
//
// The figures are its size, the most memory that it took on the way to the end and at rest,
// and how many requests it makes at rest. The last line is JSON.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/bench/usage"
	"github.com/ironflow/ironflow/test/cluster/played"
)

// options are the flags.
type options struct {
	program   string
	hosts     int
	strangers int
	rest      time.Duration
}

// figures are the numbers of the last line.
type figures struct {
	Hosts int `json:"hosts"`
	// Strangers is how many signing requests there are that are nobody's.
	Strangers int `json:"strangers"`
	// Image is the size of the program, which is all of the image but its base.
	Image float64 `json:"image_mib"`
	// Resident is the most memory that it took, RestResident what it takes at rest.
	Resident     float64 `json:"rss_mib"`
	RestResident float64 `json:"rest_rss_mib"`
	// Requests are those to the hub and to the API server while nothing happens.
	Requests  float64 `json:"rest_requests_per_min"`
	Installed float64 `json:"installed_s"`
}

// limits of the figures: no cluster is so large that the program may take more.
func (f figures) verdict() error {
	var errs []error
	for _, l := range []struct {
		name        string
		value, most float64
	}{{"image_mib", f.Image, 20}, {"rss_mib", f.Resident, 40}, {"rest_requests_per_min", f.Requests, 1}} {
		if l.value > l.most {
			errs = append(errs, fmt.Errorf("%s is %v, more than %v", l.name, l.value, l.most))
		}
	}
	return errors.Join(errs...)
}

func main() {
	var o options
	flag.StringVar(&o.program, "ironflow-cluster", "bin/ironflow-cluster", "the program to measure")
	flag.IntVar(&o.hosts, "hosts", 500, "hosts of the cluster")
	flag.IntVar(&o.strangers, "strangers", 10_000, "signing requests of nobody's")
	flag.DurationVar(&o.rest, "rest", 10*time.Minute, "how long it is watched at rest; a watch of the API is renewed within 50 minutes")
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := measure(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench cluster:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to clean up here
	}
}

const (
	// patience bounds the way to the end.
	patience = 20 * time.Minute
	// settle is how long the program has made next to no requests after the end before it is watched.
	settle = 30 * time.Second
	look   = 200 * time.Millisecond
)

func measure(ctx context.Context, o options) (err error) {
	w, err := newWorld(ctx, o.hosts, o.strangers)
	defer func() { err = errors.Join(err, w.stop(context.WithoutCancel(ctx))) }()
	if err != nil {
		return err
	}
	fmt.Printf("a cluster of %d nodes, and %d signing requests of strangers\n", o.hosts, o.strangers)
	f := figures{Hosts: o.hosts, Strangers: o.strangers}
	info, err := os.Stat(o.program)
	if err != nil {
		return err
	}
	f.Image = mib(info.Size())
	p, err := start(w, o.program)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.end()) }()
	begin := time.Now()
	if err := p.until(ctx, func() bool { return w.hub.Status() == wire.ClusterStatusInstalled }); err != nil {
		return err
	}
	f.Installed = round(time.Since(begin).Seconds())
	fmt.Printf("all hosts and the end were reported within %.0f s\n", f.Installed)
	before, err := p.settled(ctx)
	if err != nil {
		return err
	}
	if !wait(ctx, o.rest) {
		return ctx.Err()
	}
	after, err := p.requests(ctx)
	if err != nil {
		return err
	}
	u, err := usage.Of(p.command.Process.Pid)
	if err != nil {
		return err
	}
	f.Requests, f.Resident, f.RestResident = round((after-before)/o.rest.Minutes()), mib(u.Peak), mib(u.Resident)
	raw, err := json.Marshal(f)
	if err != nil {
		return err
	}
	fmt.Println(string(raw))
	return f.verdict()
}

// process is the program.
type process struct {
	command *exec.Cmd
	metrics string
	log     *os.File
	ended   chan error
}

func start(w *world, program string) (*process, error) {
	config := filepath.Join(w.lab.Dir, "inside.kubeconfig")
	raw, err := w.inner.Kubeconfig()
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(config, raw, 0o600); err != nil {
		return nil, err
	}
	free, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it only finds a port
	if err != nil {
		return nil, err
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		return nil, err
	}
	p := &process{metrics: "http://" + address + "/metrics", ended: make(chan error, 1)}
	if p.log, err = os.Create(filepath.Join(w.lab.Dir, "inside.log")); err != nil {
		return nil, err
	}
	p.command = exec.Command(program, "run", "--hub-url", w.hub.URL, "--cluster-id", played.ClusterID, "--kubeconfig", config, "--listen", address, "--stay") //nolint:noctx // end ends it
	p.command.Env = append(os.Environ(), "PULL_SECRET_TOKEN=token")
	p.command.Stdout, p.command.Stderr = p.log, p.log
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.command.Start(); err != nil {
		return nil, errors.Join(err, p.log.Close())
	}
	go func() { p.ended <- p.command.Wait() }()
	return p, nil
}

// until waits until something is so, as long as the program runs.
func (p *process) until(ctx context.Context, so func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no end within %s", patience))
	defer cancel()
	for !so() {
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), p.tail())
		case err := <-p.ended:
			p.ended <- err
			return errors.Join(errors.New("the program has ended"), err, p.tail())
		case <-time.After(look):
		}
	}
	return nil
}

// tail is the end of what the program says.
func (p *process) tail() error {
	raw, err := os.ReadFile(p.log.Name())
	if err != nil {
		return err
	}
	return errors.New(string(raw[max(0, len(raw)-5000):]))
}

// settled waits until the program is at rest, and returns how many requests it has made.
func (p *process) settled(ctx context.Context) (float64, error) {
	before, err := p.requests(ctx)
	for err == nil {
		if !wait(ctx, settle) {
			return 0, ctx.Err()
		}
		var now float64
		if now, err = p.requests(ctx); now-before <= few {
			return now, err
		}
		before = now
	}
	return 0, err
}

// few are as many requests as the program may make within [settle] at rest, all of them at once.
const few = 10

// requests is how many the program has made, by its own count.
func (p *process) requests(ctx context.Context) (sum float64, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.metrics, http.NoBody)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), "} ")
		for _, counted := range []string{"ironflow_cluster_hub_requests_total", "ironflow_cluster_kubernetes_requests_total"} {
			if !strings.HasPrefix(name, counted+"{") {
				continue
			}
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return 0, err
			}
			fmt.Println("  " + lines.Text())
			sum += n
		}
	}
	return sum, nil
}

func (p *process) end() error {
	_ = p.command.Process.Kill() // it may have ended
	err := <-p.ended
	if _, killed := errors.AsType[*exec.ExitError](err); killed {
		err = nil
	}
	return errors.Join(err, p.log.Close())
}

// wait waits; false means that it is over.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

func mib(bytes int64) float64 { return math.Round(float64(bytes)/(1<<20)*10) / 10 }

func round(v float64) float64 { return math.Round(v*1000) / 1000 }
