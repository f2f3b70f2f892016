package container_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/agent/install/container"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/played"
)

// podman says how the container engine behaves.
type podman struct {
	// pulls is how many pulls fail, hangs whether they hang.
	pulls int
	hangs bool
	// run plays podman run, if set; exit is what podman wait writes.
	run  played.Program
	exit string
	// absent means that there is no container of that name; status is its own.
	absent bool
	status string
}

func (p podman) programs() *played.Programs {
	all := &played.Programs{}
	all.On("podman pull", played.Times(p.pulls, played.Fails(125, "manifest unknown"), played.Says("")))
	if p.hangs {
		all.On("podman pull", played.Hangs)
	}
	if p.absent {
		all.On("podman container exists", played.Fails(1, ""))
	}
	all.On("podman container inspect", played.Says(p.status+"\n"))
	if p.run != nil {
		all.On("podman run", p.run)
	}
	all.On("podman wait", played.Says(p.exit+"\n"))
	all.On("podman logs", func(_ context.Context, c command.Command) error {
		_, err := fmt.Fprintln(c.Stderr, "Rebooting")
		return err
	})
	return all
}

func runner(p *played.Programs) container.Runner {
	return container.Runner{
		Commands: p, HubURL: "https://hub.example/prefix", AgentImage: "quay.example/agent:v1", CACert: "/etc/ironflow/hub-ca.crt", Insecure: true,
		Secret: func() string { return "s3cret" }, Log: slog.New(slog.DiscardHandler),
		Ready: func(job install.Job) (install.Job, error) { return job, nil },
	}
}

func full() install.Job {
	yes, proxy, none := true, "http://proxy.example:3128", "10.0.0.0/8,.example"
	return install.Job{
		Disk: "/dev/sda", Format: []string{"/dev/sdb", "/dev/sdc"}, Args: []string{"--append-karg", "ip=eno1:dhcp"},
		Request: wire.InstallCmdRequest{
			ClusterID: "c-1", InfraEnvID: "e-1", HostID: "h-1", Role: wire.HostRoleBootstrap, BootDevice: "/dev/disk/by-id/wwn-0x1",
			ControllerImage: "quay.example/controller:1", InstallerImage: "quay.example/installer:1", CheckCvo: &yes, ControlPlaneCount: 3,
			McoImage: "quay.example/mco:1", MustGatherImage: `{"ocp":"quay.example/gather:1"}`, OpenshiftVersion: "4.20.1",
			Proxy: &wire.Proxy{HTTPProxy: &proxy, NoProxy: &none}, ServiceIPs: []string{"192.0.2.1", "192.0.2.2"},
			SkipInstallationDiskCleanup: true, EnableSkipMcoReboot: true, NotifyNumReboots: true, CoreosImage: "quay.example/os:1",
		},
	}
}

// TestArguments has the flags of existing installers, written by hand.
func TestArguments(t *testing.T) {
	g := NewWithT(t)
	g.Expect(runner(&played.Programs{}).Args(full())).To(Equal([]string{
		"run", "--detach", "--privileged", "--pid=host", "--net=host", "--name=assisted-installer",
		"--volume=/dev:/dev:rw", "--volume=/opt:/opt:rw", "--volume=/var/log:/var/log:rw", "--volume=/etc/pki:/etc/pki",
		"--volume=/tmp:/tmp:rw", "--volume=/run/systemd/journal/socket:/run/systemd/journal/socket",
		"--volume=/etc/ironflow/hub-ca.crt:/etc/ironflow/hub-ca.crt:ro",
		"--env=HTTP_PROXY", "--env=NO_PROXY", "--env=PULL_SECRET_TOKEN",
		"quay.example/installer:1",
		"--role", "bootstrap", "--infra-env-id", "e-1", "--cluster-id", "c-1", "--host-id", "h-1", "--boot-device", "/dev/sda",
		"--url", "https://hub.example/prefix", "--controller-image", "quay.example/controller:1", "--agent-image", "quay.example/agent:v1",
		"--control-plane-count", "3", "--mco-image", "quay.example/mco:1", "--must-gather-image", `{"ocp":"quay.example/gather:1"}`,
		"--openshift-version", "4.20.1", "--format-disk", "/dev/sdb", "--format-disk", "/dev/sdc",
		"--insecure", "--check-cluster-version", "--skip-installation-disk-cleanup", "--cacert", "/etc/ironflow/hub-ca.crt",
		"--installer-args", `["--append-karg","ip=eno1:dhcp"]`, "--enable-skip-mco-reboot", "--notify-num-reboots",
		"--http-proxy", "http://proxy.example:3128", "--no-proxy", "10.0.0.0/8,.example",
		"--service-ips", "192.0.2.1,192.0.2.2", "--coreos-image", "quay.example/os:1",
	}))
	small := install.Job{Disk: "/dev/sda", Request: wire.InstallCmdRequest{
		ClusterID: "c-1", InfraEnvID: "e-1", HostID: "h-1", Role: wire.HostRoleWorker, ControllerImage: "k", InstallerImage: "i",
	}}
	plain := runner(&played.Programs{})
	plain.CACert, plain.Insecure = "", false
	args := plain.Args(small)
	g.Expect(args[len(args)-17:]).To(Equal([]string{
		"i", "--role", "worker", "--infra-env-id", "e-1", "--cluster-id", "c-1", "--host-id", "h-1", "--boot-device", "/dev/sda",
		"--url", "https://hub.example/prefix", "--controller-image", "k", "--agent-image", "quay.example/agent:v1",
	}[:17]))
}

// TestAPasswordOfAProxyIsNoArgument: everybody on the host can read those. The
// installer gets the same proxies in its environment.
func TestAPasswordOfAProxyIsNoArgument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		job, open, locked := full(), "http://proxy.example:3128", "http://user:s3cret-proxy@proxy.example:3128"
		job.Request.Proxy = &wire.Proxy{HTTPProxy: &open, HTTPSProxy: &locked}
		p := podman{exit: "0"}.programs()
		g.Expect(runner(p).Run(t.Context(), job).Exit).To(BeZero())
		for _, c := range p.Ran("podman run") {
			g.Expect(played.Line(c)).To(And(ContainSubstring("--http-proxy "+open), ContainSubstring("--env=HTTPS_PROXY")))
			g.Expect(c.Env).To(ContainElement("HTTPS_PROXY=" + locked))
		}
		g.Expect(p.Ran("podman run")).To(HaveLen(1))
		for _, c := range p.Ran("") {
			g.Expect(played.Line(c)).NotTo(ContainSubstring("s3cret-proxy"))
		}
	})
}

func TestResults(t *testing.T) {
	for name, tc := range map[string]struct {
		podman podman
		want   steps.Result
		pulls  int
		after  time.Duration
	}{
		"installed":      {podman{exit: "0"}, steps.Result{Output: "Rebooting"}, 1, 0},
		"the third pull": {podman{exit: "0", pulls: 2}, steps.Result{Output: "Rebooting"}, 3, 0},
		"failed":         {podman{exit: "1"}, steps.Result{Exit: 1, Output: "Rebooting", Error: "the installer ended with exit status 1"}, 1, 0},
		"no image":       {podman{pulls: 3}, steps.Result{Exit: 2, Error: "pull the installer image: podman: exit status 125: manifest unknown"}, 3, 0},
		"pulls hang":     {podman{hangs: true}, steps.Result{Exit: 2, Error: "pull the installer image: podman: not done after 10m0s"}, 3, 30 * time.Minute},
		"is running already": {
			podman{run: played.Fails(125, `Error: creating container storage: the container name "assisted-installer" is already in use by 0123`)},
			steps.Result{Exit: 125, Error: `the container name "assisted-installer" is already in use`},
			1, 0,
		},
		"podman cannot start": {podman{run: played.Fails(126, "no cgroups")}, steps.Result{Exit: 126, Error: "podman: exit status 126: no cgroups"}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				p, begin := tc.podman.programs(), time.Now()
				g.Expect(runner(p).Run(t.Context(), full())).To(Equal(tc.want))
				pulls := 0
				for _, c := range p.Ran("") {
					line := played.Line(c)
					g.Expect(line).NotTo(ContainSubstring("s3cret"), "the token is not in arguments")
					if strings.HasPrefix(line, "podman pull") {
						g.Expect(c.Env).To(Equal([]string{"HTTP_PROXY=http://proxy.example:3128", "NO_PROXY=10.0.0.0/8,.example"}), "a pull needs no token")
						pulls++
					}
					if strings.HasPrefix(line, "podman run") {
						g.Expect(c.Env).To(ContainElement("PULL_SECRET_TOKEN=s3cret"))
					}
				}
				g.Expect(pulls).To(Equal(tc.pulls))
				g.Expect(time.Since(begin)).To(Equal(tc.after))
			})
		})
	}
}

// TestAfterACrash: the earlier process may have died before it started the installer.
func TestAfterACrash(t *testing.T) {
	for name, tc := range map[string]struct {
		absent bool
		status string
		ran    []string
	}{
		"it was made, and podman killed": {
			false, "created",
			[]string{
				"container exists assisted-installer", "container inspect", "rm --ignore assisted-installer", "pull --quiet quay.example/installer:1", "run",
				"wait assisted-installer", "logs --tail 200 assisted-installer",
			},
		},
		"the installer has ended": {false, "exited", []string{"container exists assisted-installer", "container inspect", "wait assisted-installer", "logs --tail 200 assisted-installer"}},
		"the installer runs":      {false, "running", []string{"container exists assisted-installer", "container inspect", "wait assisted-installer", "logs --tail 200 assisted-installer"}},
		"it was never started": {
			true, "",
			[]string{"container exists assisted-installer", "pull --quiet quay.example/installer:1", "run", "wait assisted-installer", "logs --tail 200 assisted-installer"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			p := podman{absent: tc.absent, status: tc.status, exit: "0"}.programs()
			g.Expect(runner(p).Resume(t.Context(), full())).To(Equal(steps.Result{Output: "Rebooting"}))
			g.Expect(p.Lines()).To(HaveLen(len(tc.ran)))
			for i, line := range tc.ran {
				g.Expect(p.Lines()[i]).To(HavePrefix("podman " + line))
			}
		})
	}
}

// TestAnOrderIsLookedAtRightBeforeItsInstaller: its image is pulled for up to half an hour.
func TestAnOrderIsLookedAtRightBeforeItsInstaller(t *testing.T) {
	g := NewWithT(t)
	p := podman{absent: true}.programs()
	r := runner(p)
	r.Ready = func(install.Job) (install.Job, error) {
		return install.Job{}, errors.New("/dev/sda is another disk now")
	}
	refused := steps.Result{Exit: steps.ExitBad, Error: "the installer is not started: /dev/sda is another disk now"}
	g.Expect(r.Run(t.Context(), full())).To(Equal(refused))
	g.Expect(r.Resume(t.Context(), full())).To(Equal(refused))
	g.Expect(p.Ran("podman pull")).To(HaveLen(2))
	g.Expect(p.Ran("podman run")).To(BeEmpty())
	r.Ready = func(job install.Job) (install.Job, error) {
		g.Expect(p.Ran("podman pull")).To(HaveLen(3), "what it is asked then counts")
		job.Disk = "/dev/sdz"
		return job, nil
	}
	r.Run(t.Context(), full())
	g.Expect(played.Line(p.Ran("podman run")[0])).To(ContainSubstring("--boot-device /dev/sdz"))
}

func TestClear(t *testing.T) {
	g := NewWithT(t)
	p := &played.Programs{}
	g.Expect(runner(p).Clear(t.Context())).To(Succeed())
	g.Expect(p.Lines()).To(Equal([]string{"podman rm --ignore assisted-installer"}), "without --force, which would end one that runs")
}

func TestStop(t *testing.T) {
	g := NewWithT(t)
	p := &played.Programs{}
	g.Expect(runner(p).Stop(t.Context())).To(Succeed())
	g.Expect(p.Lines()).To(Equal([]string{"podman stop --ignore --time 5 assisted-installer"}))
}

func TestWhoseInstaller(t *testing.T) {
	for name, tc := range map[string]struct {
		policy    container.Policy
		installer string
		foreign   bool
	}{
		"no image, as our hub":    {"", "", false},
		"nothing to run":          {container.Image, "", false},
		"ours":                    {"", "quay.example/site/ironflow-agent:latest", false},
		"the agent's own image":   {container.Auto, "quay.example:5000/agent@sha256:0123", false},
		"another tag of it":       {container.Auto, "quay.example:5000/agent:v2", false},
		"a foreign hub's":         {container.Auto, "quay.io/edge-infrastructure/assisted-installer:latest", true},
		"foreign, but never":      {container.Own, "quay.io/edge-infrastructure/assisted-installer:latest", false},
		"ours, but in containers": {container.Image, "quay.example/site/ironflow-agent:latest", true},
	} {
		t.Run(name, func(t *testing.T) {
			request := wire.InstallCmdRequest{InstallerImage: tc.installer}
			NewWithT(t).Expect(tc.policy.Foreign(request, "quay.example:5000/agent:v1")).To(Equal(tc.foreign))
		})
	}
	NewWithT(t).Expect(container.Policy("never").Check()).To(MatchError(ContainSubstring("want auto, own or container")))
}
