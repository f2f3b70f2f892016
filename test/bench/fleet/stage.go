package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/ironflow/ironflow/test/bench/usage"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/guard"
	"github.com/ironflow/ironflow/test/lab/ports"
	"github.com/ironflow/ironflow/test/lab/progress"
)

// controllerUser is who the controllers are for the API server.
const controllerUser = "ironflow-bench"

// surroundings are the processes of a run.
type surroundings struct {
	lab        *lab.Lab
	ironicURL  string
	simulator  *guard.Process
	controller *guard.Process
	audit      *auditLog
	ports      ports.Set
	pprof      string
	logs       []*os.File
}

// measurement is what one stage took.
type measurement struct {
	name   string
	took   time.Duration
	cpu    time.Duration // of the controller, in this stage
	peak   int64         // of the controller, since its start
	kube   map[string]int
	ironic map[string]int
	react  figures // since the start
}

// setUp starts everything.
func setUp(ctx context.Context, o options) (*surroundings, error) {
	s := &surroundings{}
	var err error
	if s.lab, err = lab.New(lab.Options{StateDir: o.StateDir, Progress: progress.Lines(os.Stderr)}); err != nil {
		return nil, err
	}
	for _, start := range []func(context.Context, options) error{s.startAPI, s.startSimulator, s.startController} {
		if err := start(ctx, o); err != nil {
			s.tearDown()
			return nil, err
		}
	}
	return s, nil
}

// tearDown ends everything.
func (s *surroundings) tearDown() {
	ctx := context.Background()
	for _, p := range []*guard.Process{s.controller, s.simulator} {
		if p != nil {
			p.Stop(ctx, 5*time.Second)
		}
	}
	for _, f := range s.logs {
		_ = f.Close() // written by a process that has ended
	}
	_ = s.ports.Close() // loopback ports; nothing is lost
	if err := s.lab.Stop(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench fleet: stop the lab:", err)
	}
}

func (s *surroundings) startAPI(ctx context.Context, _ options) error {
	// One file for the whole run: a rotated one would have to be searched for.
	plane, err := s.lab.StartControlPlane(ctx, lab.ControlPlaneOptions{Audit: true, ExtraArgs: []string{"--audit-log-maxsize=100000"}})
	if err != nil {
		return err
	}
	s.audit = &auditLog{file: plane.AuditLog, user: controllerUser, counts: map[string]int{}}
	return lab.InstallCRDs(ctx, plane.Config(), metal3.GroupVersion.Group)
}

func (s *surroundings) startSimulator(ctx context.Context, _ options) error {
	port, err := s.ports.Free()
	if err != nil {
		return err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	s.ironicURL = "http://" + address
	if s.simulator, err = s.start(guard.Command{Path: self, Args: []string{"-simulator", address}}, "simulator"); err != nil {
		return err
	}
	return s.until(ctx, s.simulator, func() error { _, err := s.figures(ctx); return err })
}

func (s *surroundings) startController(ctx context.Context, o options) error {
	config, err := s.lab.ControlPlane.ConfigFor(controllerUser, "system:masters")
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(s.lab.Dir, "controller.kubeconfig")
	if err := writeKubeconfig(kubeconfig, config); err != nil {
		return err
	}
	var addresses [3]string
	for i := range addresses {
		port, err := s.ports.Free()
		if err != nil {
			return err
		}
		addresses[i] = fmt.Sprintf("127.0.0.1:%d", port)
	}
	health, metrics := addresses[0], addresses[1]
	s.pprof = addresses[2]
	// Addresses only: what is measured is what everybody gets.
	command := guard.Command{Path: o.Program, Args: []string{
		"controllers", "--kubeconfig", kubeconfig, "--ironic-endpoint", s.ironicURL,
		"--deploy-iso-url", "http://images.example/live.iso", "--metrics-addr", metrics, "--health-addr", health,
	}}
	if o.Profile != "" {
		command.Args = append(command.Args, "--pprof-addr", s.pprof)
	}
	if s.controller, err = s.start(command, "controllers"); err != nil {
		return err
	}
	return s.until(ctx, s.controller, func() error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+health+"/readyz", http.NoBody)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		return response.Body.Close()
	})
}

// start starts a program with a log of its own.
func (s *surroundings) start(c guard.Command, name string) (*guard.Process, error) {
	file, err := os.Create(filepath.Join(s.lab.Dir, "log", name+".log"))
	if err != nil {
		return nil, err
	}
	s.logs = append(s.logs, file)
	c.Output = file
	return guard.Start(c)
}

// startPatience is how long a program may take to answer for the first time.
const startPatience = 30 * time.Second

// until waits until a started program answers.
func (s *surroundings) until(ctx context.Context, p *guard.Process, answers func() error) error {
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
			return fmt.Errorf("a program ended at its start: %w\n%s", errors.Join(err, p.Err()), s.controllerTail())
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-tick.C:
		}
	}
}

// measure runs a stage and takes the differences of all figures.
func (s *surroundings) measure(ctx context.Context, name string, do func(context.Context) error) (measurement, error) {
	m := measurement{name: name}
	before, kube, ironic, err := s.look(ctx)
	if err != nil {
		return m, err
	}
	begin := time.Now()
	if err := do(ctx); err != nil {
		return m, err
	}
	m.took = time.Since(begin)
	after, kubeAfter, ironicAfter, err := s.look(ctx)
	if err != nil {
		return m, err
	}
	m.cpu, m.peak = after.CPU-before.CPU, after.Peak
	m.kube, m.ironic, m.react = minus(kubeAfter, kube), minus(ironicAfter.Requests, ironic.Requests), ironicAfter
	return m, nil
}

// look reads all figures.
func (s *surroundings) look(ctx context.Context) (usage.Process, map[string]int, figures, error) {
	f, err := s.figures(ctx)
	if err != nil {
		return usage.Process{}, nil, f, err
	}
	if err := s.audit.take(); err != nil {
		return usage.Process{}, nil, f, err
	}
	u, err := usage.Sum(guard.Descendants(s.controller.PID()))
	if err != nil {
		return u, nil, f, fmt.Errorf("the controller is gone: %w", err)
	}
	return u, maps.Clone(s.audit.counts), f, nil
}

// figures asks the simulator.
func (s *surroundings) figures(ctx context.Context) (figures, error) {
	var f figures
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.ironicURL+figuresPath, http.NoBody)
	if err != nil {
		return f, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return f, err
	}
	defer response.Body.Close()
	return f, json.NewDecoder(response.Body).Decode(&f)
}

// controllerTail is the end of the controllers' log.
func (s *surroundings) controllerTail() string {
	raw, err := os.ReadFile(filepath.Join(s.lab.Dir, "log", "controllers.log"))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}

// minus is what was added since before.
func minus(after, before map[string]int) map[string]int {
	d := map[string]int{}
	for key, n := range after {
		if n -= before[key]; n != 0 {
			d[key] = n
		}
	}
	return d
}

// writeKubeconfig makes a file of an access.
func writeKubeconfig(file string, c *rest.Config) error {
	k := clientcmdapi.NewConfig()
	k.Clusters["lab"] = &clientcmdapi.Cluster{Server: c.Host, CertificateAuthorityData: c.CAData}
	k.AuthInfos["lab"] = &clientcmdapi.AuthInfo{ClientCertificateData: c.CertData, ClientKeyData: c.KeyData}
	k.Contexts["lab"] = &clientcmdapi.Context{Cluster: "lab", AuthInfo: "lab"}
	k.CurrentContext = "lab"
	return clientcmd.WriteToFile(*k, file)
}
