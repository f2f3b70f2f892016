package configimage_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/configimage"
	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/needs"
)

// appliance is a host below a folder; it notes which programs were started, and what was
// in place by then.
type appliance struct {
	dir     hostfile.Dir
	started []string
	// fails is the program that fails, once.
	fails string
}

func newAppliance(t *testing.T) *appliance {
	a := &appliance{dir: hostfile.Dir{Root: t.TempDir()}}
	a.write(t, places.ClusterImageSet, imageSet("quay.io/r:1"))
	a.write(t, "/sys/class/net/enp1s0/address", "52:54:00:00:00:01\n")
	return a
}

func (a *appliance) write(t *testing.T, file, text string) {
	t.Helper()
	if err := places.Write(a.dir, file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (a *appliance) read(file string) string {
	raw, err := os.ReadFile(a.dir.Path(file))
	if err != nil {
		return "missing"
	}
	return string(raw)
}

// Run notes programs.
func (a *appliance) Run(_ context.Context, c command.Command) error {
	if c.Name == "agetty" || c.Name == "udevadm" {
		return nil
	}
	line := c.Name + " " + strings.Join(c.Args, " ")
	if c.Stdin != nil {
		raw, _ := io.ReadAll(c.Stdin)
		line += " < " + string(raw)
	}
	if places.Exists(a.dir, places.RendezvousHost) {
		line += " (too late)"
	}
	a.started = append(a.started, line)
	if c.Name == a.fails {
		a.fails = ""
		return errors.New("the power has failed")
	}
	return nil
}

func (a *appliance) loader(medium func() ([]byte, error)) configimage.Loader {
	log := slog.New(slog.DiscardHandler)
	return configimage.Loader{
		Dir: a.dir, Commands: a, Log: log, Console: &messages.Console{Dir: a.dir, Commands: a, Log: log},
		Medium: func(string) ([]byte, error) { return medium() },
	}
}

// settings are a whole config image.
func settings(release string) []byte {
	manifests := "etc/assisted/manifests/"
	return archive(
		member("etc/assisted/rendezvous-host.env", regular, "NODE_ZERO_IP=192.0.2.1\n"),
		member(manifests+"agent-cluster-install.yaml", regular, "a"), member(manifests+"cluster-deployment.yaml", regular, "b"),
		member(manifests+"cluster-image-set.yaml", regular, imageSet(release)), member(manifests+"infraenv.yaml", regular, "c"), member(manifests+"pull-secret.yaml", 0o100600, "d"),
		member("opt/agent/tls/kubeadmin-password.hash", 0o100600, "$2a$10$abc"),
		member("etc/assisted/network/host0/mac_interface.ini", regular, "52:54:00:00:00:01=eth0\n"), member("etc/assisted/network/host0/eth0.nmconnection", regular, "[connection]\ninterface-name=eth0\n"),
	)
}

func next() { <-time.After(6 * time.Second); synctest.Wait() }

func TestAConfigImageIsLoaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		a := newAppliance(t)
		medium, failed := settings("quay.io/r:2"), error(nil)
		l := a.loader(func() ([]byte, error) { return medium, failed })
		waited, loaded := make(chan error, 1), make(chan error, 1)
		go func() { waited <- a.loader(nil).Wait(t.Context()) }()
		go func() { loaded <- l.Run(t.Context(), "/dev/sr1") }()
		next()
		g.Expect(a.read("/etc/motd.d/60_config-image")).To(ContainSubstring("attach a medium with the label agent_configimage"))
		g.Expect(a.read("/etc/motd.d/95_load-config-image")).To(Equal("Installation cannot proceed: the config image on /dev/sr1 is refused: it is for the release quay.io/r:2, this host has the release quay.io/r:1.\n"))
		entries, err := os.ReadDir(a.dir.Path("/etc/assisted"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(entries).To(HaveLen(1), "nothing of a refused image is copied")
		failed = errors.New("the archive is damaged")
		next()
		g.Expect(a.read("/etc/motd.d/95_load-config-image")).To(ContainSubstring("is refused: the archive is damaged."))
		medium, failed = settings("quay.io/r:1"), nil
		g.Expect(<-loaded).To(Succeed())
		g.Expect(<-waited).To(Succeed())
		g.Expect(a.read(places.RendezvousHost)).To(Equal("NODE_ZERO_IP=192.0.2.1\n"))
		g.Expect(a.read("/etc/assisted/manifests/pull-secret.yaml")).To(Equal("d"))
		g.Expect(a.dir.Path("/etc/assisted/extra-manifests")).To(BeADirectory())
		g.Expect(a.read(places.Keyfiles + "/eth0.nmconnection")).To(ContainSubstring("interface-name=enp1s0"))
		g.Expect(a.started).To(Equal([]string{
			"chpasswd --encrypted < core:$2a$10$abc\n", "systemctl restart NetworkManager.service",
			"systemctl --no-block enable --now start-cluster-installation.service",
		}))
		g.Expect(a.read("/etc/motd.d/60_config-image")).To(Equal("missing"))
		g.Expect(a.read("/etc/motd.d/95_load-config-image")).To(Equal("The config image on /dev/sr1 is in place.\n"))

		g.Expect(l.Run(t.Context(), "/dev/sr1")).To(Succeed(), "the same once more")
		g.Expect(a.started).To(HaveLen(3))
	})
}

func TestSettingsAreNotReplacedByOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		a := newAppliance(t)
		a.write(t, places.RendezvousHost, "NODE_ZERO_IP=192.0.2.200\n")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- a.loader(func() ([]byte, error) { return settings("quay.io/r:1"), nil }).Run(ctx, "/dev/sr1")
		}()
		next()
		g.Expect(a.read("/etc/motd.d/95_load-config-image")).To(And(
			HavePrefix("The config image on /dev/sr1 is not used, and the installation goes on: "), ContainSubstring("this host has other settings already"),
		))
		g.Expect(a.read(places.RendezvousHost)).To(Equal("NODE_ZERO_IP=192.0.2.200\n"))
		cancel()
		g.Expect(<-ended).To(MatchError(context.Canceled))
	})
}

// TestTwoWrongMedia: what is said of the second one stays when the first one is pulled out.
func TestTwoWrongMedia(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		a := newAppliance(t)
		there := true
		first, second := a.loader(nil), a.loader(func() ([]byte, error) { return settings("quay.io/r:3"), nil })
		first.Medium = func(string) ([]byte, error) {
			if !there {
				return configimage.ReadMedium(filepath.Join(a.dir.Root, "pulled out"))
			}
			return settings("quay.io/r:2"), nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		go func() { ended <- first.Run(ctx, "/dev/sr1") }()
		next()
		g.Expect(a.read("/etc/motd.d/95_load-config-image")).To(ContainSubstring("the config image on /dev/sr1 is refused"))
		go func() { ended <- second.Run(ctx, "/dev/sr2") }()
		there = false
		next()
		next()
		g.Expect(a.read("/etc/motd.d/95_load-config-image")).To(ContainSubstring("the config image on /dev/sr2 is refused: it is for the release quay.io/r:3"))
		there = true
		next()
		g.Expect(a.read("/etc/motd.d/95_load-config-image")).To(ContainSubstring("the config image on /dev/sr1 is refused"), "it is there again")
		there = false
		next()
		g.Expect(a.read("/etc/motd.d/95_load-config-image")).To(ContainSubstring("the config image on /dev/sr2 is refused"), "it is still there")
		cancel()
		for range 2 {
			g.Expect(<-ended).To(Or(Succeed(), MatchError(context.Canceled)))
		}
	})
}

// TestAMediumThatIsPulledOut after another one has brought the settings: its program ends, and
// leaves what that one has said. One with something else stays, and stops nothing.
func TestAMediumThatIsPulledOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		a := newAppliance(t)
		there := true
		wrong := a.loader(nil)
		wrong.Medium = func(device string) ([]byte, error) {
			if !there {
				return configimage.ReadMedium(filepath.Join(a.dir.Root, "pulled out"))
			}
			return settings("quay.io/r:2"), nil
		}
		ended := make(chan error, 1)
		go func() { ended <- wrong.Run(t.Context(), "/dev/sr1") }()
		next()
		g.Expect(a.read("/etc/motd.d/95_load-config-image")).To(HavePrefix("Installation cannot proceed: "))
		g.Expect(a.loader(func() ([]byte, error) { return settings("quay.io/r:1"), nil }).Run(t.Context(), "/dev/sr2")).To(Succeed())
		next()
		g.Expect(a.read("/etc/motd.d/95_load-config-image")).To(Equal(
			"The config image on /dev/sr1 is not used, and the installation goes on: it is for the release quay.io/r:2, this host has the release quay.io/r:1.\n"))
		there = false
		g.Expect(<-ended).To(Succeed())
	})
}

func TestAPasswordOfTheAppliance(t *testing.T) {
	g := NewWithT(t)
	a := newAppliance(t)
	a.write(t, places.PasswordSet, "")
	g.Expect(a.loader(func() ([]byte, error) { return settings("quay.io/r:1"), nil }).Run(t.Context(), "/dev/sr1")).To(Succeed())
	g.Expect(a.started).To(HaveLen(2))
	g.Expect(a.started[0]).To(HavePrefix("systemctl"))
}

// TestALossOfPower stops at each program that is started, and throws away what a process
// knew: without the medium, the next boot ends what was begun.
func TestALossOfPower(t *testing.T) {
	for _, at := range []string{"chpasswd", "systemctl"} {
		t.Run(at, func(t *testing.T) {
			g := NewWithT(t)
			a := newAppliance(t)
			a.fails = at
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			g.Expect(a.loader(func() ([]byte, error) { return settings("quay.io/r:1"), nil }).Run(ctx, "/dev/sr1")).To(MatchError(context.Canceled))
			g.Expect(a.read(places.RendezvousHost)).To(Equal("missing"), "nobody begins with half of the settings")
			g.Expect(a.loader(nil).Wait(t.Context())).To(Succeed())
			g.Expect(a.read(places.RendezvousHost)).To(Equal("NODE_ZERO_IP=192.0.2.1\n"))
			g.Expect(a.started[len(a.started)-1]).To(HavePrefix("systemctl --no-block enable"))
			entries, err := filepath.Glob(a.dir.Path("/etc/assisted") + "/.config-image.*")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(entries).To(HaveLen(1), "only the note of what is loaded is left")
		})
	}
}

// What was unpacked but not accepted when the power failed is worth nothing.
func TestALossOfPowerWhileUnpacking(t *testing.T) {
	g := NewWithT(t)
	a := newAppliance(t)
	a.write(t, "/etc/assisted/.config-image.incoming/files/etc/assisted/rendezvous-host.env", "NODE_ZERO_IP=half")
	g.Expect(a.loader(func() ([]byte, error) { return settings("quay.io/r:1"), nil }).Run(t.Context(), "/dev/sr1")).To(Succeed())
	g.Expect(a.read(places.RendezvousHost)).To(Equal("NODE_ZERO_IP=192.0.2.1\n"))
}

// A host whose folder leads out of its root gets nothing written there.
func TestLinksOfTheHost(t *testing.T) {
	g := NewWithT(t)
	a := newAppliance(t)
	outside := t.TempDir()
	g.Expect(os.MkdirAll(a.dir.Path("/opt"), 0o755)).To(Succeed())
	g.Expect(os.Symlink(outside, a.dir.Path("/opt/agent"))).To(Succeed())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g.Expect(a.loader(func() ([]byte, error) { return settings("quay.io/r:1"), nil }).Run(ctx, "/dev/sr1")).To(MatchError(context.Canceled))
	g.Expect(a.read("/etc/motd.d/95_load-config-image")).To(ContainSubstring("escapes"))
	entries, err := os.ReadDir(outside)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(entries).To(BeEmpty())
}

// TestARealMedium: a medium as the field's own program makes it.
func TestARealMedium(t *testing.T) {
	xorriso := needs.Program(t, "xorriso", "xorriso")
	g := NewWithT(t)
	a := newAppliance(t)
	dir := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(dir, "config.gz"), settings("quay.io/r:1"), 0o600)).To(Succeed())
	device := a.dir.Path("/dev/sr1")
	g.Expect(os.MkdirAll(filepath.Dir(device), 0o755)).To(Succeed())
	out, err := exec.CommandContext(t.Context(), xorriso, "-as", "mkisofs", "-V", places.ConfigImageLabel, "-R", "-J", "-o", device, dir).CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), "%s", out)
	l := a.loader(nil)
	l.Medium = nil
	g.Expect(l.Run(t.Context(), "/dev/sr1")).To(Succeed())
	g.Expect(a.read(places.RendezvousHost)).To(Equal("NODE_ZERO_IP=192.0.2.1\n"))

	_, err = configimage.ReadMedium(filepath.Join(dir, "missing"))
	g.Expect(err).To(MatchError(ContainSubstring("no medium")))
	g.Expect(os.WriteFile(filepath.Join(dir, "fat"), make([]byte, 1<<20), 0o600)).To(Succeed())
	_, err = configimage.ReadMedium(filepath.Join(dir, "fat"))
	g.Expect(err).To(MatchError(ContainSubstring("the medium cannot be read")))
}
