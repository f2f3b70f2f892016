package configimage_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
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
	// unplugged is a card that no connection can be activated on.
	unplugged string
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
	if a.unplugged != "" && strings.HasSuffix(line, " up id eth0 ifname "+a.unplugged) {
		return errors.New("the card has no carrier")
	}
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

// rendezvous is the file of a config image that hosts wait for.
const rendezvous = "NODE_ZERO_IP=192.0.2.1\nSERVICE_BASE_URL=http://192.0.2.1:8090/\n"

// settings are a whole config image.
func settings(release string) []byte { return changed(release, nil) }

// changed are the same with other files, or with further ones.
func changed(release string, files map[string]string) []byte {
	const manifests = "etc/assisted/manifests/"
	all := map[string]string{
		"etc/assisted/rendezvous-host.env": rendezvous,
		manifests + "agent-cluster-install.yaml": `{apiVersion: extensions.hive.openshift.io/v1beta1, kind: AgentClusterInstall, metadata: {name: edge}, spec: {
			clusterDeploymentRef: {name: edge}, imageSetRef: {name: edge}, provisionRequirements: {controlPlaneAgents: 1}}}`,
		manifests + "cluster-deployment.yaml":          "{apiVersion: hive.openshift.io/v1, kind: ClusterDeployment, metadata: {name: edge}, spec: {clusterName: edge, baseDomain: lab.example}}",
		manifests + "cluster-image-set.yaml":           "{apiVersion: hive.openshift.io/v1, kind: ClusterImageSet, metadata: {name: edge}, spec: {releaseImage: " + strconv.Quote(release) + "}}",
		manifests + "infraenv.yaml":                    "{apiVersion: agent-install.openshift.io/v1beta1, kind: InfraEnv, metadata: {name: edge}}",
		manifests + "pull-secret.yaml":                 `{apiVersion: v1, kind: Secret, metadata: {name: pull}, stringData: {.dockerconfigjson: '{"auths": {}}'}}`,
		"opt/agent/tls/kubeadmin-password.hash":        "$2a$10$abc",
		"etc/assisted/network/host0/mac_interface.ini": "52:54:00:00:00:01=eth0\n",
		"etc/assisted/network/host0/eth0.nmconnection": "[connection]\ninterface-name=eth0\n",
	}
	maps.Copy(all, files)
	var members []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		members = append(members, member(name, 0o100600, all[name]))
	}
	return archive(members...)
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
		g.Expect(a.read("/etc/motd.d/95_load-config-image")).
			To(Equal("Installation cannot proceed: the config image on /dev/sr1 is refused: it is for the release quay.io/r:2, this host has the release quay.io/r:1.\n"))
		entries, err := os.ReadDir(a.dir.Path("/etc/assisted"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(entries).To(HaveLen(1), "nothing of a refused image is copied")
		failed = errors.New("the archive is damaged")
		next()
		g.Expect(a.read("/etc/motd.d/95_load-config-image")).To(ContainSubstring("is refused: the archive is damaged."))
		medium, failed = settings("quay.io/r:1"), nil
		g.Expect(<-loaded).To(Succeed())
		g.Expect(<-waited).To(Succeed())
		g.Expect(a.read(places.RendezvousHost)).To(Equal(rendezvous))
		g.Expect(a.read("/etc/assisted/manifests/pull-secret.yaml")).To(ContainSubstring("kind: Secret"))
		g.Expect(a.dir.Path("/etc/assisted/extra-manifests")).To(BeADirectory())
		g.Expect(a.read(places.Keyfiles + "/eth0.nmconnection")).To(ContainSubstring("interface-name=enp1s0"))
		g.Expect(a.started).To(Equal([]string{
			"chpasswd --encrypted < core:$2a$10$abc\n", "nmcli connection load /etc/NetworkManager/system-connections/eth0.nmconnection",
			"nmcli --wait 30 connection up id eth0 ifname enp1s0",
			"systemctl --no-block enable --now start-cluster-installation.service",
		}))
		g.Expect(a.read("/etc/motd.d/60_config-image")).To(Equal("missing"))
		g.Expect(a.read("/etc/motd.d/95_load-config-image")).To(Equal("The config image on /dev/sr1 is in place.\n"))

		g.Expect(l.Run(t.Context(), "/dev/sr1")).To(Succeed(), "the same once more")
		g.Expect(a.started).To(HaveLen(4))
	})
}

// TestAConfigImageOfOtherHosts of the same release: it describes all of its own by their cards, and
// this host is none of them.
func TestAConfigImageOfOtherHosts(t *testing.T) {
	of := func(masters int, files map[string]string) []byte {
		all := map[string]string{
			"etc/assisted/manifests/agent-cluster-install.yaml": `{apiVersion: extensions.hive.openshift.io/v1beta1, kind: AgentClusterInstall, metadata: {name: edge}, spec: {
				clusterDeploymentRef: {name: edge}, imageSetRef: {name: edge}, provisionRequirements: {controlPlaneAgents: ` + strconv.Itoa(masters) + `}}}`,
			"etc/assisted/network/host0/mac_interface.ini": "52:54:00:00:00:F1=eth0\n",
		}
		maps.Copy(all, files)
		return changed("quay.io/r:1", all)
	}
	three := map[string]string{
		// The first of them is described in three ways.
		"etc/assisted/hostconfig/a/mac_addresses": "52:54:00:00:00:f1\n52:54:00:00:00:f2\n", "etc/assisted/hostnames/52:54:00:00:00:f2": "a\n",
		"etc/assisted/hostconfig/b/mac_addresses": "52:54:00:00:00:f3\n", "etc/assisted/hostnames/52:54:00:00:00:f4": "c\n", "etc/assisted/hostnames/52:54:00:00:00:f5": "c\n",
	}
	mine := maps.Clone(three)
	mine["etc/assisted/hostconfig/b/mac_addresses"] = "52:54:00:00:00:f3\n52:54:00:00:00:01\n"
	for name, tc := range map[string]struct {
		medium []byte
		want   string
	}{
		"one host": {of(1, nil), "it describes all 1 hosts of cluster edge.lab.example, which have the MAC addresses 52:54:00:00:00:f1, and this host has 52:54:00:00:00:01: attach"},
		"three hosts": {
			of(3, three),
			"it describes all 3 hosts of cluster edge.lab.example, which have the MAC addresses 52:54:00:00:00:f1, " +
				"52:54:00:00:00:f2, 52:54:00:00:00:f3, 52:54:00:00:00:f4, 52:54:00:00:00:f5, and this host has 52:54:00:00:00:01: attach",
		},
		"one of five is not described": {of(5, three), ""},
		"it is one of them":            {of(3, mine), ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				a := newAppliance(t)
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- a.loader(func() ([]byte, error) { return tc.medium, nil }).Run(ctx, "/dev/sr1") }()
				next()
				if tc.want == "" {
					g.Expect(<-ended).To(Succeed())
					g.Expect(a.read(places.RendezvousHost)).To(Equal(rendezvous))
				} else {
					g.Expect(a.read("/etc/motd.d/95_load-config-image")).To(And(HavePrefix("Installation cannot proceed: "), ContainSubstring(tc.want)))
					entries, err := os.ReadDir(a.dir.Path("/etc/assisted"))
					g.Expect(err).NotTo(HaveOccurred())
					g.Expect(entries).To(HaveLen(1), "nothing of it is copied")
					a.write(t, "/sys/class/net/enp2s0/address", "52:54:00:00:00:f1\n")
					g.Expect(<-ended).To(Succeed(), "the card was late")
				}
				cancel()
			})
		})
	}
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

// TestAConfigImageThatCouldNotBeUsed: all of it is looked at before anything counts, since a host
// takes one config image only. The next medium brings a good one.
func TestAConfigImageThatCouldNotBeUsed(t *testing.T) {
	const manifests = "etc/assisted/manifests/"
	for name, tc := range map[string]struct {
		change map[string]string
		want   []string
	}{
		"no hash of a password": {map[string]string{"opt/agent/tls/kubeadmin-password.hash": "secret"}, []string{"holds no hash of a password as /etc/shadow has it"}},
		"no address": {
			map[string]string{"etc/assisted/rendezvous-host.env": "NODE_ZERO_IP=node-0\n"},
			[]string{`NODE_ZERO_IP in /etc/assisted/rendezvous-host.env: "node-0" is not an address`},
		},
		"nobody": {map[string]string{"etc/assisted/rendezvous-host.env": "A=1\n"}, []string{"NODE_ZERO_IP in /etc/assisted/rendezvous-host.env: no address is given"}},
		"no hub": {
			map[string]string{"etc/assisted/rendezvous-host.env": "NODE_ZERO_IP=192.0.2.1\n"},
			[]string{"SERVICE_BASE_URL is not set in /etc/assisted/rendezvous-host.env"},
		},
		"no URL": {
			map[string]string{"etc/assisted/rendezvous-host.env": "NODE_ZERO_IP=192.0.2.1\nSERVICE_BASE_URL=192.0.2.1:8090\n"},
			[]string{`SERVICE_BASE_URL in /etc/assisted/rendezvous-host.env: hub URL "192.0.2.1:8090": want http(s)://HOST[:PORT][/PREFIX]`},
		},
		"no id": {
			map[string]string{"usr/local/share/assisted-service/assisted-service.env": "INFRA_ENV_ID=edge\n"},
			[]string{`/usr/local/share/assisted-service/assisted-service.env: INFRA_ENV_ID`, `"edge"`, "a UUID"},
		},
		"no number of hosts": {
			map[string]string{"usr/local/share/start-cluster/start-cluster.env": "REQUIRED_MASTER_NODES=three\n"},
			[]string{`/usr/local/share/start-cluster/start-cluster.env: REQUIRED_MASTER_NODES "three": want a number of hosts`},
		},
		"nobody of the control plane": {
			map[string]string{"usr/local/share/start-cluster/start-cluster.env": "REQUIRED_MASTER_NODES=0\nREQUIRED_WORKER_NODES=2\n"},
			[]string{`/usr/local/share/start-cluster/start-cluster.env: REQUIRED_MASTER_NODES: a cluster has at least one host of the control plane`},
		},
		"no environment file": {
			map[string]string{"usr/local/share/start-cluster/start-cluster.env": "REQUIRED_MASTER_NODES: 3\n"},
			[]string{"/usr/local/share/start-cluster/start-cluster.env: line 1 is not NAME=value"},
		},
		"no addresses of cards": {map[string]string{"etc/assisted/network/host0/mac_interface.ini": "eth0\n"}, []string{"/etc/assisted/network/host0/mac_interface.ini: line 1: want MAC=NAME"}},
		"no delay":              {map[string]string{"etc/assisted/network/discovery.env": "DISCOVERY_DELAY_SECONDS=soon\n"}, []string{`DISCOVERY_DELAY_SECONDS is "soon": want a number of seconds`}},
		"no name that hosts have": {
			map[string]string{"etc/assisted/hostnames/52:54:00:00:00:01": "Edge_1\n"},
			[]string{`/etc/assisted/hostnames/52:54:00:00:00:01: "Edge_1" is no name that a node can have`},
		},
		"manifests, all of them": {
			map[string]string{
				manifests + "infraenv.yaml":                    "apiVersion: agent-install.openshift.io/v1beta1\nkind: InfraEnv\nmetadata: {name: edge}\nspec: {sshKey: k}\n",
				"etc/assisted/hostconfig/edge-0/mac_addresses": "52:54:00:00:00:01\n", "etc/assisted/hostconfig/edge-0/role": "king\n",
			},
			[]string{"/etc/assisted/manifests/infraenv.yaml, document 1, line 4: spec.sshKey is unknown", `/etc/assisted/hostconfig/edge-0/role: is "king"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				a := newAppliance(t)
				medium := changed("quay.io/r:1", tc.change)
				loaded := make(chan error, 1)
				go func() {
					loaded <- a.loader(func() ([]byte, error) { return medium, nil }).Run(t.Context(), "/dev/sr1")
				}()
				next()
				said := a.read("/etc/motd.d/95_load-config-image")
				for _, want := range append(tc.want, "Installation cannot proceed: the config image on /dev/sr1 is refused") {
					g.Expect(said).To(ContainSubstring(want))
				}
				g.Expect(said).NotTo(ContainSubstring("secret"))
				entries, err := os.ReadDir(a.dir.Path("/etc/assisted"))
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(entries).To(HaveLen(1), "nothing of a refused image is copied")
				g.Expect(a.started).To(BeEmpty())
				medium = settings("quay.io/r:1")
				g.Expect(<-loaded).To(Succeed())
				g.Expect(a.read(places.RendezvousHost)).To(Equal(rendezvous))
			})
		})
	}
}

// TestModesOfAConfigImage are those of a careless maker: what may hold secrets is root's alone all the
// same, and what an appliance adds to the list is nobody else's to write.
func TestModesOfAConfigImage(t *testing.T) {
	g := NewWithT(t)
	a := newAppliance(t)
	files := []configimage.File{
		{Path: "/etc/assisted/manifests/pull-secret.yaml", Mode: 0o666},
		{Path: places.RendezvousHost, Mode: 0o644},
		{Path: places.ServiceSettings + "/assisted-service.env", Mode: 0o644},
		{Path: places.ClusterCertificates + "/root-ca.key", Mode: 0o644},
		{Path: "/etc/issue", Mode: 0o666},
		{Path: "/etc/containers/registries.conf", Mode: 0o644},
	}
	s, err := configimage.OpenStore(a.dir)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(s.Close()).To(Succeed()) }()
	g.Expect(s.Place(files)).To(Succeed())
	for i, want := range []os.FileMode{0o600, 0o600, 0o600, 0o600, 0o644, 0o644} {
		info, err := os.Stat(a.dir.Path(files[i].Path))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(info.Mode().Perm()).To(Equal(want), files[i].Path)
	}
}

// TestAConfigImageOfALenientAppliance: what its client would only warn of is taken.
func TestAConfigImageOfALenientAppliance(t *testing.T) {
	g := NewWithT(t)
	a := newAppliance(t)
	medium := changed("quay.io/r:1", map[string]string{
		"usr/local/share/assisted-service/assisted-service.env": "IRONFLOW_LENIENT_MANIFESTS=true\n",
		"etc/assisted/manifests/infraenv.yaml":                  "apiVersion: agent-install.openshift.io/v1beta1\nkind: InfraEnv\nmetadata: {name: edge}\nspec: {sshKey: k}\n",
	})
	g.Expect(a.loader(func() ([]byte, error) { return medium, nil }).Run(t.Context(), "/dev/sr1")).To(Succeed())
}

func TestAPasswordOfTheAppliance(t *testing.T) {
	g := NewWithT(t)
	a := newAppliance(t)
	a.write(t, places.PasswordSet, "")
	g.Expect(a.loader(func() ([]byte, error) { return settings("quay.io/r:1"), nil }).Run(t.Context(), "/dev/sr1")).To(Succeed())
	g.Expect(a.started).To(HaveLen(3))
	g.Expect(a.started[0]).To(HavePrefix("nmcli"), "no password is set")
}

// TestACardWithoutACable does not keep the host from its installation: its connection comes up once there is one.
func TestACardWithoutACable(t *testing.T) {
	g := NewWithT(t)
	a := newAppliance(t)
	a.unplugged = "enp1s0"
	g.Expect(a.loader(func() ([]byte, error) { return settings("quay.io/r:1"), nil }).Run(t.Context(), "/dev/sr1")).To(Succeed())
	g.Expect(a.started).To(ContainElement("nmcli --wait 30 connection up id eth0 ifname enp1s0"))
	g.Expect(a.read(places.RendezvousHost)).To(Equal(rendezvous))
}

// TestALossOfPower stops at each program that is started, and throws away what a process
// knew: without the medium, the next boot ends what was begun.
func TestALossOfPower(t *testing.T) {
	for _, at := range []string{"chpasswd", "nmcli", "systemctl"} {
		t.Run(at, func(t *testing.T) {
			g := NewWithT(t)
			a := newAppliance(t)
			a.fails = at
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			g.Expect(a.loader(func() ([]byte, error) { return settings("quay.io/r:1"), nil }).Run(ctx, "/dev/sr1")).To(MatchError(context.Canceled))
			g.Expect(a.read(places.RendezvousHost)).To(Equal("missing"), "nobody begins with half of the settings")
			g.Expect(a.loader(nil).Wait(t.Context())).To(Succeed())
			g.Expect(a.read(places.RendezvousHost)).To(Equal(rendezvous))
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
	g.Expect(a.read(places.RendezvousHost)).To(Equal(rendezvous))
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
	g.Expect(a.read(places.RendezvousHost)).To(Equal(rendezvous))

	_, err = configimage.ReadMedium(filepath.Join(dir, "missing"))
	g.Expect(err).To(MatchError(ContainSubstring("no medium")))
	g.Expect(os.WriteFile(filepath.Join(dir, "fat"), make([]byte, 1<<20), 0o600)).To(Succeed())
	_, err = configimage.ReadMedium(filepath.Join(dir, "fat"))
	g.Expect(err).To(MatchError(ContainSubstring("the medium cannot be read")))
}
