// Package cli is the command line of ironflow-cluster: it reads the settings, puts the
// parts together and gives the end its exit code. The main function is [Main].
package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ironflow/ironflow/api/version"
	"github.com/ironflow/ironflow/cluster/finalize"
	"github.com/ironflow/ironflow/cluster/hubapi"
	"github.com/ironflow/ironflow/cluster/kube"
	"github.com/ironflow/ironflow/cluster/logs"
	"github.com/ironflow/ironflow/cluster/manifests"
	"github.com/ironflow/ironflow/cluster/metrics"
	"github.com/ironflow/ironflow/cluster/observe"
	"github.com/ironflow/ironflow/cluster/settings"
	"github.com/ironflow/ironflow/cluster/work"
)

const usage = `Usage: ironflow-cluster [run] [FLAGS]       finish the installation of the cluster that this runs in
       ironflow-cluster manifests [FLAGS]  print the manifests that deploy it to a cluster
       ironflow-cluster --version

The token for the hub comes from --token-file or from the variable PULL_SECRET_TOKEN.

Exit codes of run: 0 the installation is over, whatever its outcome; 1 a setting cannot be used; 2 the hub did not answer
within --start-within.

`

// memoryLimit is where the runtime begins to clean up more often.
const memoryLimit = 32 << 20

// Main runs the program and returns its exit code.
func Main(ctx context.Context, args []string, out, errs io.Writer) int {
	command := "run"
	if len(args) > 0 && (args[0] == "run" || args[0] == "manifests") {
		command, args = args[0], args[1:]
	}
	if len(args) > 0 && (args[0] == "--version" || args[0] == "version") {
		fmt.Fprintln(out, "ironflow-cluster", version.String())
		return Over
	}
	var s settings.Settings
	flags := flag.NewFlagSet("ironflow-cluster "+command, flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.Usage = func() {
		fmt.Fprint(errs, usage)
		flags.PrintDefaults()
	}
	err := s.Bind(flags, command == "manifests")
	switch parsed := flags.Parse(args); {
	case errors.Is(parsed, flag.ErrHelp):
		return Over
	case parsed != nil:
		return BadSettings // the flags have said what
	case flags.NArg() > 0:
		err = errors.Join(err, fmt.Errorf("argument %q is not expected; see --help", flags.Arg(0)))
	}
	if err = errors.Join(err, s.Check()); err == nil {
		if command == "manifests" {
			err = printManifests(s, out)
		} else {
			return run(ctx, s, errs)
		}
	}
	if err != nil {
		fmt.Fprintf(errs, "ironflow-cluster: %v\n", err)
		return BadSettings
	}
	return Over
}

func printManifests(s settings.Settings, out io.Writer) error {
	token, ca := s.Token, []byte(nil)
	if s.TokenFile != "" {
		raw, err := os.ReadFile(s.TokenFile)
		if err != nil {
			return fmt.Errorf("--token-file: %w", err)
		}
		token = string(raw)
	}
	if s.CAFile != "" {
		var err error
		if ca, err = os.ReadFile(s.CAFile); err != nil {
			return fmt.Errorf("--ca-file: %w", err)
		}
	}
	raw, err := manifests.Render(manifests.Settings{
		Image: s.Image, HubURL: s.HubURL, ClusterID: s.ClusterID, Token: token, CA: string(ca), Insecure: s.Insecure, Stay: s.Stay,
		HubLeaves: s.HubLeaves, OpenShift: s.OpenShift, KubeAPI: s.KubeAPI, APIPort: s.APIPort, Listen: s.Listen,
		Proxy: map[string]string{"HTTP_PROXY": os.Getenv("HTTP_PROXY"), "HTTPS_PROXY": os.Getenv("HTTPS_PROXY"), "NO_PROXY": os.Getenv("NO_PROXY")},
	})
	if err == nil {
		_, err = out.Write(raw)
	}
	return err
}

// run works until the installation is over or the context ends.
func run(ctx context.Context, s settings.Settings, errs io.Writer) int {
	debug.SetMemoryLimit(memoryLimit)
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.LogLevel)); err != nil {
		level = slog.LevelInfo
	}
	ring := &logs.Ring{}
	log := slog.New(slog.NewJSONHandler(io.MultiWriter(errs, ring), &slog.HandlerOptions{Level: level}))
	r, access, err := parts(s, log, ring)
	if err != nil {
		fmt.Fprintf(errs, "ironflow-cluster: %v\n", err)
		return BadSettings
	}
	defer r.Hub.Close()
	defer r.Kube.Close()
	if r.Probe, err = prober(access, s.APIPort); err != nil {
		fmt.Fprintf(errs, "ironflow-cluster: %v\n", err)
		return BadSettings
	}
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	if s.Listen != "0" {
		running.Go(func() { listen(ctx, s.Listen, r.Metrics, log) })
	}
	running.Go(func() {
		// A kind that comes with an installation is looked for each minute; later, it hardly comes.
		absent := func() time.Duration {
			if r.Staying() {
				return time.Hour
			}
			return time.Minute
		}
		r.Caches.Follow(ctx, r.Kube, log, absent)
	})
	log.Info("ironflow-cluster begins", "version", version.String(), "hub", s.HubURL, "cluster", s.ClusterID, "stay", s.Stay)
	outcome, err := r.Run(ctx)
	log.Info("ironflow-cluster ends", "outcome", outcome, "error", err)
	return code(outcome)
}

func parts(s settings.Settings, log *slog.Logger, ring *logs.Ring) (*work.Runner, kube.Access, error) {
	access, err := kube.InCluster(kube.ServiceAccountDir, s.KubeAPI)
	if s.Kubeconfig != "" {
		access, err = kube.Kubeconfig(s.Kubeconfig)
		if s.KubeAPI != "" {
			access.URL = s.KubeAPI
		}
	}
	if err != nil {
		return nil, access, err
	}
	m := metrics.New()
	client, err := kube.New(access)
	if err != nil {
		return nil, access, err
	}
	client.Requests = m.Kube
	hub, err := hubapi.New(hubapi.Options{
		URL: s.HubURL, ClusterID: s.ClusterID, Token: s.Token, TokenFile: s.TokenFile, CAFile: s.CAFile, Insecure: s.Insecure,
		Version: "ironflow-cluster/" + version.Release(),
	})
	if err != nil {
		return nil, access, err
	}
	hub.Requests = m.Hub
	return &work.Runner{
		Hub: hub, Kube: client, Caches: observe.New(), Metrics: m, Log: log, Ring: ring, Stay: s.Stay, HubLeaves: s.HubLeaves, StartWithin: s.StartWithin,
		Now: time.Now,
	}, access, nil
}

// prober asks whether an API at an address is ready, without saying who asks: a node
// chooses its addresses by itself, and our token is not for it.
func prober(access kube.Access, port uint) (func(context.Context, string) string, error) {
	config, err := kube.Access{CA: access.CA}.TLS()
	if err != nil {
		return nil, err
	}
	client := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: config, DisableKeepAlives: true, DialContext: (&net.Dialer{Timeout: 3 * time.Second}).DialContext},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return func(ctx context.Context, address string) string {
		url := "https://" + net.JoinHostPort(address, strconv.FormatUint(uint64(port), 10)) + "/readyz"
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err.Error()
		}
		answer, err := client.Do(r)
		if err != nil {
			return "its API does not answer"
		}
		_ = answer.Body.Close()
		switch answer.StatusCode {
		// One that does not tell strangers how it is does answer.
		case http.StatusOK, http.StatusUnauthorized, http.StatusForbidden:
			return ""
		}
		return fmt.Sprintf("its API answers %d to /readyz", answer.StatusCode)
	}, nil
}

// listen serves metrics and health until the context ends.
func listen(ctx context.Context, address string, m *metrics.Metrics, log *slog.Logger) {
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(m.Registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	server := &http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: 10 * time.Second, TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.ListenAndServe(); err != nil && !errors.Is(err, http.ErrServerClosed) {
		log.Error("no metrics: the listener cannot be opened; set --listen", "address", address, "error", err)
	}
}

// Exit codes.
const (
	Over           = 0
	BadSettings    = 1
	HubUnreachable = 2
)

// Ends are the rows of the documented table of exit codes.
var Ends = []struct {
	Outcome work.Outcome
	Code    int
	Means   string
}{
	{work.Outcome(finalize.Installed), Over, "the hub says that the cluster is installed (without `--stay`)"},
	{work.Outcome(finalize.Cancelled), Over, "the installation was cancelled (without `--stay`)"},
	{work.Outcome(finalize.Failed), Over, "the hub says that the installation failed (without `--stay`)"},
	{work.Refused, Over, "the hub refused the token three times in a row; start it again with a new token"},
	{work.Unknown, Over, "the hub does not know the cluster, or no longer"},
	{work.Stopped, Over, "SIGTERM or SIGINT"},
	{"", BadSettings, "a setting, or a file that it names, cannot be used; the last line of the log says which"},
	{work.Unreachable, HubUnreachable, "the hub did not answer within `--start-within`; starting it again may help"},
}

func code(outcome work.Outcome) int {
	for _, e := range Ends {
		if e.Outcome == outcome {
			return e.Code
		}
	}
	return BadSettings
}
