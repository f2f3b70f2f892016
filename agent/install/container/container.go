// Package container carries out an install order the way that foreign hubs expect
// it: their installer image runs in a container by podman, reports to the hub by
// itself, and stops the agent's unit when it is done. Our own installer does without.
package container

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/api/installerimage"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	// Name is the container's, which hubs, log collectors and the deploy step know.
	Name = "assisted-installer"

	pullTries = 3
	pullLimit = 600 * time.Second
	// stopGrace is what the installer gets to stop before it is killed.
	stopGrace = 5
	// maxOutput is how much of the installer's last words goes into the reply.
	maxOutput = 16 << 10
	lastLines = 200
)

// Policy says which installer carries out an order.
type Policy string

// The policies. Auto takes our own installer for orders that name our own image,
// and the container for others where there is a podman.
const (
	Auto  Policy = "auto"
	Own   Policy = "own"
	Image Policy = "container"
)

// PolicyEnv is the environment variable of the policy.
const PolicyEnv = "IRONFLOW_INSTALLER"

// Check refuses unknown policies; empty is [Auto].
func (p Policy) Check() error {
	if !slices.Contains([]Policy{"", Auto, Own, Image}, p) {
		return fmt.Errorf("installer policy %q: want %s, %s or %s", p, Auto, Own, Image)
	}
	return nil
}

// Foreign tells whether an order is for the container. agentImage is the image of
// this agent.
func (p Policy) Foreign(request wire.InstallCmdRequest, agentImage string) bool {
	switch p {
	case Own:
		return false
	case Image:
		return request.InstallerImage != "" // there is nothing to run
	default:
		return !installerimage.Own(request.InstallerImage, agentImage)
	}
}

// Runner runs the installer's container.
type Runner struct {
	Commands command.Runner
	// HubURL, AgentImage, CACert and Insecure are handed on to the installer.
	HubURL, AgentImage, CACert string
	Insecure                   bool
	// Env is podman's own configuration, NAME=value.
	Env []string
	// Secret returns the agent's token, which travels in the environment only.
	Secret func() string
	// Ready looks at an order once more right before its installer is started, which is up to
	// half an hour after it came: as it is then, or why it may not be carried out any more.
	Ready func(job install.Job) (install.Job, error)
	Log   *slog.Logger
}

// Args are podman's arguments for the order: the installer has the host's devices,
// processes and network, and all flags that installers of existing hubs take.
func (r Runner) Args(job install.Job) []string {
	args := []string{
		"run", "--detach", "--privileged", "--pid=host", "--net=host", "--name=" + Name,
		"--volume=/dev:/dev:rw", "--volume=/opt:/opt:rw", "--volume=/var/log:/var/log:rw", "--volume=/etc/pki:/etc/pki",
		"--volume=/tmp:/tmp:rw", "--volume=/run/systemd/journal/socket:/run/systemd/journal/socket",
	}
	if r.CACert != "" {
		args = append(args, "--volume="+r.CACert+":"+r.CACert+":ro")
	}
	for _, name := range slices.Sorted(slices.Values(names(r.environment(job)))) {
		args = append(args, "--env="+name) // podman takes the value from its own environment
	}
	return append(append(args, job.Request.InstallerImage), r.flags(job)...)
}

// flags are the installer's own.
func (r Runner) flags(job install.Job) []string {
	q := job.Request
	args := []string{
		"--role", string(q.Role), "--infra-env-id", q.InfraEnvID, "--cluster-id", q.ClusterID, "--host-id", q.HostID,
		"--boot-device", job.Disk, "--url", r.HubURL, "--controller-image", q.ControllerImage, "--agent-image", r.AgentImage,
	}
	add := func(flag, value string) {
		if value != "" {
			args = append(args, flag, value)
		}
	}
	on := func(flag string, set bool) {
		if set {
			args = append(args, flag)
		}
	}
	if q.ControlPlaneCount > 0 {
		add("--control-plane-count", strconv.FormatInt(q.ControlPlaneCount, 10))
	}
	add("--mco-image", q.McoImage)
	add("--must-gather-image", q.MustGatherImage)
	add("--openshift-version", q.OpenshiftVersion)
	for _, disk := range job.Format {
		add("--format-disk", disk)
	}
	on("--insecure", r.Insecure)
	on("--check-cluster-version", q.CheckCvo != nil && *q.CheckCvo)
	on("--skip-installation-disk-cleanup", q.SkipInstallationDiskCleanup)
	add("--cacert", r.CACert)
	add("--installer-args", installerArgs(job))
	on("--enable-skip-mco-reboot", q.EnableSkipMcoReboot)
	on("--notify-num-reboots", q.NotifyNumReboots)
	if p := q.Proxy; p != nil {
		add("--http-proxy", withoutPassword(p.HTTPProxy))
		add("--https-proxy", withoutPassword(p.HTTPSProxy))
		add("--no-proxy", deref(p.NoProxy))
	}
	add("--service-ips", strings.Join(q.ServiceIPs, ","))
	add("--coreos-image", q.CoreosImage)
	return args
}

func installerArgs(job install.Job) string {
	if len(job.Args) == 0 {
		return ""
	}
	raw, err := json.Marshal(job.Args)
	if err != nil {
		return ""
	}
	return string(raw)
}

// withoutPassword is the address of a proxy, or nothing if it holds a password:
// arguments are for all to see. The environment has it in any case.
func withoutPassword(proxy *string) string {
	address := deref(proxy)
	if u, err := url.Parse(address); err != nil || u.User != nil {
		return ""
	}
	return address
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// environment is what podman and the container get: the token, and the proxies.
func (r Runner) environment(job install.Job) []string {
	return append(proxies(job), "PULL_SECRET_TOKEN="+r.Secret())
}

// proxies are what podman needs to pull the image.
func proxies(job install.Job) []string {
	var env []string
	if p := job.Request.Proxy; p != nil {
		for name, value := range map[string]string{"HTTP_PROXY": deref(p.HTTPProxy), "HTTPS_PROXY": deref(p.HTTPSProxy), "NO_PROXY": deref(p.NoProxy)} {
			if value != "" {
				env = append(env, name+"="+value)
			}
		}
	}
	slices.Sort(env)
	return env
}

// podmanEnv is podman's own environment: its configuration, and what it hands on.
func (r Runner) podmanEnv(job install.Job) []string {
	return append(slices.Clone(r.Env), r.environment(job)...)
}

func names(env []string) []string {
	out := make([]string, len(env))
	for i, e := range env {
		out[i], _, _ = strings.Cut(e, "=")
	}
	return out
}

// Run pulls the image, starts the installer and waits for its end, which may come
// hours later. The result is what the step install is answered with.
func (r Runner) Run(ctx context.Context, job install.Job) steps.Result {
	if err := r.pull(ctx, job); err != nil {
		return steps.Failed(steps.ExitPull, "pull the installer image: %v", err)
	}
	job, err := r.Ready(job)
	if err != nil {
		return steps.Failed(steps.ExitBad, "the installer is not started: %v", err)
	}
	if err := r.Commands.Run(ctx, command.Command{Name: "podman", Args: r.Args(job), Env: r.podmanEnv(job)}); err != nil {
		return startFailure(err)
	}
	r.Log.Info("the installer runs in its container", "container", Name, "image", job.Request.InstallerImage)
	return r.Follow(ctx, job)
}

// Clear removes the container of an installer that an earlier order has started, if it
// has ended: how it ended says nothing of the next. One that still runs stays, and
// keeps the name, so that no second one writes the disk beside it.
func (r Runner) Clear(ctx context.Context) error {
	return r.Commands.Run(ctx, command.Command{Name: "podman", Args: []string{"rm", "--ignore", Name}})
}

// Resume goes on after a process that died: it follows the installer that runs, or
// has run, and starts it where there is none. Of the job only what names the installer
// counts until it is started.
func (r Runner) Resume(ctx context.Context, job install.Job) steps.Result {
	err := r.Commands.Run(ctx, command.Command{Name: "podman", Args: []string{"container", "exists", Name}})
	if hostexec.ExitStatus(err) == 1 {
		return r.Run(ctx, job)
	}
	if r.neverStarted(ctx) {
		if err := r.Clear(ctx); err != nil {
			r.Log.Warn("the container that was never started was not removed", "error", err)
		}
		return r.Run(ctx, job)
	}
	return r.Follow(ctx, job)
}

// neverStarted tells whether there is a container that only was made: podman was
// killed in between, and says of it that it has ended with 0.
func (r Runner) neverStarted(ctx context.Context) bool {
	out, err := command.Output(ctx, r.Commands, "podman", "container", "inspect", "--format", "{{.State.Status}}", Name)
	return err == nil && slices.Contains([]string{"created", "configured", "initialized"}, strings.TrimSpace(string(out)))
}

// Follow waits for the end of an installer that runs already.
func (r Runner) Follow(ctx context.Context, _ install.Job) steps.Result {
	code, err := r.wait(ctx)
	switch {
	case ctx.Err() != nil:
		return steps.Failed(steps.ExitBad, "%v", context.Cause(ctx))
	case err != nil:
		return steps.Failed(steps.ExitBad, "wait for the installer: %v", err)
	}
	output := r.lastWords(ctx)
	if code != 0 {
		return steps.Result{Exit: code, Output: output, Error: fmt.Sprintf("the installer ended with exit status %d", code)}
	}
	return steps.Text(output)
}

// pull has three tries of ten minutes each.
func (r Runner) pull(ctx context.Context, job install.Job) error {
	for try := 1; ; try++ {
		bounded, cancel := context.WithTimeoutCause(ctx, pullLimit, fmt.Errorf("not done after %v", pullLimit))
		err := r.Commands.Run(bounded, command.Command{Name: "podman", Args: []string{"pull", "--quiet", job.Request.InstallerImage}, Env: append(slices.Clone(r.Env), proxies(job)...)})
		cancel()
		if err == nil || ctx.Err() != nil || try == pullTries || hostexec.Missing(err) {
			return err
		}
		r.Log.Warn("the installer image was not pulled; it is tried again", "image", job.Request.InstallerImage, "try", try, "error", err)
	}
}

// startFailure tells a container that is there already from other failures.
func startFailure(err error) steps.Result {
	if strings.Contains(err.Error(), "already in use") {
		return steps.Failed(steps.ExitRunning, "%v", install.ErrRunning)
	}
	if exit, ok := errors.AsType[*command.ExitError](err); ok {
		return steps.Failed(int64(exit.Code), "%v", err)
	}
	return steps.Failed(steps.ExitBad, "%v", err)
}

// wait returns the container's exit status.
func (r Runner) wait(ctx context.Context) (int64, error) {
	out, err := command.Output(ctx, r.Commands, "podman", "wait", Name)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
}

// lastWords are the last lines of the installer, at most 16 KiB.
func (r Runner) lastWords(ctx context.Context) string {
	var lines []string
	_ = command.Lines(r.Commands)(ctx, []string{"podman", "logs", "--tail", strconv.Itoa(lastLines), Name}, func(line string) { lines = append(lines, line) })
	text := strings.ToValidUTF8(strings.Join(lines, "\n"), "�")
	return strings.ToValidUTF8(text[max(0, len(text)-maxOutput):], "")
}

// Stop ends the container: five seconds of grace, then it is killed. One that does
// not run is a success.
func (r Runner) Stop(ctx context.Context) error {
	return r.Commands.Run(ctx, command.Command{Name: "podman", Args: []string{"stop", "--ignore", "--time", strconv.Itoa(stopGrace), Name}})
}
