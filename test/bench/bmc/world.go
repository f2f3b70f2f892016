package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ironflow/ironflow/test/bench/fleets"
	"github.com/ironflow/ironflow/test/bench/usage"
	ironicsim "github.com/ironflow/ironflow/test/ironic/simulator"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/guard"
	"github.com/ironflow/ironflow/test/lab/pki"
	"github.com/ironflow/ironflow/test/lab/ports"
	"github.com/ironflow/ironflow/test/lab/progress"
)

// world is one run: an API server, an Ironic and BMCs that are simulated, the program,
// and hosts.
type world struct {
	options options

	lab     *lab.Lab
	ports   ports.Set
	ironic  *ironicsim.Server
	calls   *calls
	server  *http.Server
	fleet   bmcs
	roll    roll
	hosts   *hosts
	program *guard.Process
	bmcs    *guard.Process
	// runs counts the programs.
	runs       int
	kubeconfig string
	// pprof and metrics are where the program shows its insides.
	pprof, metrics string
	logs           []*os.File
}

// newWorld starts everything but the program.
func newWorld(ctx context.Context, o options) (_ *world, err error) {
	w := &world{options: o, ironic: ironicsim.New(ironicsim.Options{Delays: fleets.Delays, AutomatedClean: true})}
	w.calls = newCalls(w.ironic)
	if w.lab, err = lab.New(lab.Options{StateDir: o.StateDir, Progress: progress.Lines(os.Stderr)}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			w.stop()
		}
	}()
	plane, err := w.lab.StartControlPlane(ctx, lab.ControlPlaneOptions{})
	if err != nil {
		return nil, err
	}
	if err := lab.InstallCRDs(ctx, plane.Config()); err != nil {
		return nil, err
	}
	if err := w.startBMCs(ctx, o); err != nil {
		return nil, err
	}
	if w.hosts, err = newHosts(ctx, plane.Config()); err != nil {
		return nil, err
	}
	w.kubeconfig = plane.Kubeconfig
	return w, errors.Join(w.files(), w.startIronic())
}

// stop ends everything.
func (w *world) stop() {
	ctx := context.Background()
	for _, p := range []*guard.Process{w.program, w.bmcs} {
		if p != nil {
			p.Stop(ctx, stopPatience)
		}
	}
	if w.server != nil {
		_ = w.server.Close() // nobody asks it any more
	}
	w.ironic.Close()
	for _, f := range w.logs {
		_ = f.Close() // written by a process that has ended
	}
	_ = w.ports.Close() // loopback ports; nothing is lost
	if err := w.lab.Stop(ctx); err != nil {
		say("stop the lab: %v", err)
	}
}

// address is a free one on the loopback.
func (w *world) address() (string, error) {
	port, err := w.ports.Free()
	return "127.0.0.1:" + strconv.Itoa(port), err
}

// startBMCs starts the process of the BMCs.
func (w *world) startBMCs(ctx context.Context, o options) error {
	address, err := w.address()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	w.fleet = bmcs{url: "http://" + address}
	if w.bmcs, err = w.start("bmcs", self, "-bmcs", address, "-hosts", strconv.Itoa(o.Hosts), "-answer", o.answer.String()); err != nil {
		return err
	}
	return w.until(ctx, w.bmcs, "bmcs", func() error {
		w.roll, err = w.fleet.roll(ctx)
		return err
	})
}

// startIronic serves the Ironic that the program asks.
func (w *world) startIronic() error {
	address, err := w.address()
	if err != nil {
		return err
	}
	w.server = &http.Server{Addr: address, Handler: w.calls, ReadHeaderTimeout: time.Minute}
	go func() {
		if err := w.server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
			say("the simulated Ironic ends: %v", err)
		}
	}()
	return nil
}

// run starts the program that is measured, in the place of the one that ran before.
// Flags come besides those that it needs.
func (w *world) run(ctx context.Context, flags ...string) error {
	if w.program != nil {
		w.program.Stop(ctx, stopPatience)
	}
	var addresses [3]string
	for i := range addresses {
		var err error
		if addresses[i], err = w.address(); err != nil {
			return err
		}
	}
	health := addresses[0]
	w.metrics, w.pprof = addresses[1], addresses[2]
	args := []string{
		"controllers", "--kubeconfig", w.kubeconfig, "--ironic-endpoint", "http://" + w.server.Addr, "--deploy-iso-url", "https://images.example/live.iso",
		"--metrics-addr", w.metrics, "--metrics-insecure", "--health-addr", health,
	}
	if w.options.Profile != "" {
		args = append(args, "--pprof-addr", w.pprof)
	}
	w.runs++
	log := "controllers-" + strconv.Itoa(w.runs)
	var err error
	if w.program, err = w.start(log, w.options.Program, append(args, flags...)...); err != nil {
		return err
	}
	return w.until(ctx, w.program, log, func() error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+health+"/readyz", http.NoBody)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		if response.StatusCode != http.StatusOK {
			err = fmt.Errorf("the program is not ready: %s", response.Status)
		}
		return errors.Join(err, response.Body.Close())
	})
}

// asking are the flags that have the program ask BMCs.
func (w *world) asking() []string {
	return []string{"--bmc", "--bmc-ca", filepath.Join(w.lab.Dir, "bmcs.pem")}
}

// hearing are the flags that have it take their events as well.
func (w *world) hearing() ([]string, error) {
	address, err := w.address()
	if err != nil {
		return nil, err
	}
	return append(w.asking(), "--bmc-events-addr", address, "--bmc-events-publish-url", "https://"+address,
		"--bmc-events-cert-dir", w.lab.Dir, "--bmc-events-key-file", filepath.Join(w.lab.Dir, "events.key")), nil
}

// files are what those flags name.
func (w *world) files() error {
	authority, err := pki.New("bench bmc")
	if err != nil {
		return err
	}
	pair, err := authority.Server()
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{"bmcs.pem": []byte(w.roll.CA), "tls.crt": pair.Cert, "tls.key": pair.Key, "events.key": []byte(rand.Text() + rand.Text())} {
		err = errors.Join(err, os.WriteFile(filepath.Join(w.lab.Dir, name), text, 0o600))
	}
	return err
}

// start starts a program with a log of its own.
func (w *world) start(name, path string, args ...string) (*guard.Process, error) {
	file, err := os.Create(w.logOf(name))
	if err != nil {
		return nil, err
	}
	w.logs = append(w.logs, file)
	return guard.Start(guard.Command{Path: path, Args: args, Output: file})
}

func (w *world) logOf(name string) string { return filepath.Join(w.lab.Dir, "log", name+".log") }

// stopPatience is how long a program may take to end.
const stopPatience = 15 * time.Second

// startPatience is how long a program may take to answer for the first time.
const startPatience = time.Minute

// until waits until a started program answers.
func (w *world) until(ctx context.Context, p *guard.Process, name string, answers func() error) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := answers()
		if err == nil {
			return nil
		}
		select {
		case <-p.Done():
			log, _ := os.ReadFile(w.logOf(name)) // empty says enough
			return fmt.Errorf("a program ended at its start: %w\n%s", errors.Join(err, p.Err()), log[max(0, len(log)-2000):])
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-tick.C:
		}
	}
}

// process is what the program has used since its start.
func (w *world) process() (usage.Process, error) {
	u, err := usage.Sum(guard.Descendants(w.program.PID()))
	if err == nil && u.Peak == 0 {
		err = errors.New("the program is gone")
	}
	return u, err
}
