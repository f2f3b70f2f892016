//go:build e2e

package agentbased

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/configimage"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/cpio"
	"github.com/ironflow/ironflow/imagecustomization/iso"
	"github.com/ironflow/ironflow/test/hub/rolefiles"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

const (
	// factoryRelease is what the appliances have on their disks.
	factoryRelease = "registry.example/ocp-release:4.20.1-x86_64"
	otherRelease   = "registry.example/ocp-release:4.20.2-x86_64"
	// roles is where an appliance has the Ignition of its release.
	roles = "/var/lib/ironflow-roles"
)

// medium makes the config image of a cluster of that release with the shipped program, and
// returns its file. What is to be different in the manifests and settings is done by change.
func (r *rack) medium(release string, change func(input map[string]string)) string {
	r.Helper()
	input := four.dynamic(3) // DHCP is played here
	input["cluster-manifests/cluster-image-set.yaml"] = "apiVersion: hive.openshift.io/v1\nkind: ClusterImageSet\nmetadata: {name: edge}\nspec: {releaseImage: '" + release + "'}\n"
	install := "cluster-manifests/agent-cluster-install.yaml"
	input[install] = strings.Replace(input[install], "spec:\n", "spec:\n  imageSetRef: {name: edge}\n", 1)
	input["hub.env"] = "IRONFLOW_HUB_STAGE_TIMEOUTS=Rebooting=20s\nIRONFLOW_HUB_IGNITION_DIR=" + roles + "\n" // nobody comes back from a pretended installation
	change(input)
	dir := filepath.Join(r.dir, "settings-"+filepath.Base(release))
	for name, text := range input {
		r.write(dir, name, text)
	}
	r.ends(r.start(r.dir, nil, "ironflow", "agent-image", "create", "--dir", dir, "--format", "config-image", "--rendezvous-ip", four.address(0)))
	return filepath.Join(dir, "agentconfig.noarch.iso")
}

func asItIs(map[string]string) {}

// trap is a config image whose archive leads out of its folder.
func (r *rack) trap() string {
	r.Helper()
	var members, archive, medium bytes.Buffer
	w := cpio.NewWriter(&members)
	r.Expect(w.File("aa/aa/aa/root/.ssh/authorized_keys", 0o600, []byte("ssh-ed25519 AAAA stranger\n"))).To(Succeed())
	r.Expect(w.Close()).To(Succeed())
	z := gzip.NewWriter(&archive)
	_, err := z.Write(bytes.ReplaceAll(members.Bytes(), []byte("aa"), []byte("..")))
	r.Expect(err).NotTo(HaveOccurred())
	r.Expect(z.Close()).To(Succeed())
	r.Expect(iso.Write(&medium, places.ConfigImageLabel, iso.Written{Name: configimage.ArchiveName, Data: archive.Bytes()})).To(Succeed())
	r.write(r.dir, "trap.iso", medium.String())
	return filepath.Join(r.dir, "trap.iso")
}

// settingsOn are all files of a machine that settings could be in.
func (r *rack) settingsOn(m *systemdtest.Machine) (all []string) {
	r.Helper()
	for _, folder := range []string{places.Assisted, places.ServiceSettings, "/usr/local/share/start-cluster", "/opt", "/root", "/etc/ironflow"} {
		err := filepath.WalkDir(m.Host.Path(folder), func(path string, d fs.DirEntry, err error) error {
			if os.IsNotExist(err) {
				return nil
			}
			if err == nil && !d.IsDir() {
				all = append(all, strings.TrimPrefix(path, m.Host.Root))
			}
			return err
		})
		r.Expect(err).NotTo(HaveOccurred())
	}
	return all
}

// says is what a machine's console says about config images.
func (r *rack) says(m *systemdtest.Machine, slot string) func() string {
	return func() string {
		raw, err := os.ReadFile(m.Host.Path("/etc/motd.d/" + slot))
		if err != nil {
			return err.Error()
		}
		return string(raw)
	}
}

// factory boots a machine from the appliance's disk, and waits until it asks for its settings.
func (r *rack) factory(i int) *systemdtest.Machine {
	r.Helper()
	m := r.power(i)
	r.manufactured(m)
	return m
}

// manufactured gives a machine what an appliance's disk has, and waits until it asks for its settings.
func (r *rack) manufactured(m *systemdtest.Machine) {
	r.Helper()
	r.Expect(rolefiles.Write(m.Host.Path(roles))).To(Succeed())
	table, err := units.Render(units.Options{Workflow: units.Appliance})
	r.Expect(err).NotTo(HaveOccurred())
	words := []string{"enable"}
	for _, u := range table {
		if u.Enabled {
			words = append(words, u.Name)
		}
	}
	m.Run(r.T, "systemctl", words...)
	m.Run(r.T, "/usr/bin/udevadm", "control", "--reload") // on a disk, the rule is there before udev
	m.Run(r.T, "systemctl", "start", "--no-block", "multi-user.target")
	r.Eventually(r.says(m, "60_config-image"), patience, look).Should(ContainSubstring("attach a medium with the label agent_configimage"), r.journals)
}

// TestAnApplianceOnARealSystemd: three machines of one factory image get their settings from
// a medium each, and install themselves. One is given a trap and the settings of another
// release before; node zero loses its power after it had begun, and its hub is killed at ten
// random moments.
func TestAnApplianceOnARealSystemd(t *testing.T) {
	r := newRack(t, units.Appliance, map[string]string{}, "--release-image", factoryRelease)
	good := needs.LoopDevice(t, r.medium(factoryRelease, asItIs))
	wrong, trap := needs.LoopDevice(t, r.medium(otherRelease, asItIs)), needs.LoopDevice(t, r.trap())
	for i := range 3 {
		r.machines = append(r.machines, r.factory(i))
	}
	r.cable()

	refused := r.machines[1]
	before := r.settingsOn(refused)
	for device, says := range map[string]string{
		trap:  `this is no plain path`,
		wrong: "it is for the release " + otherRelease + ", this host has the release " + factoryRelease,
	} {
		refused.Plug(t, device) // the rest is udev's and systemd's
		r.Eventually(r.says(refused, "95_load-config-image"), patience, look).Should(
			And(ContainSubstring("Installation cannot proceed: the config image on "+device+" is refused: "), ContainSubstring(says)), r.journals,
		)
		r.Expect(r.settingsOn(refused)).To(Equal(before), "nothing of it is copied")
		refused.Run(t, "rm", device) // somebody pulls it out
	}
	for _, m := range r.machines {
		m.Plug(t, good)
	}
	for i, m := range r.machines {
		r.Eventually(r.says(m, "95_load-config-image"), patience, look).Should(Equal("The config image on "+good+" is in place.\n"), r.journals)
		r.Expect(m.Run(t, "systemctl", "is-enabled", "start-cluster-installation.service")).To(Equal("enabled"), "machine %d", i)
	}
	r.reach(r.machines[0], four.address(0))
	r.Eventually(r.statuses, patience, look).Should(Not(BeEmpty()), r.journals)

	r.unplug()
	r.machines[0].Kill() // its medium stays where it is
	r.machines[0] = r.factory(0)
	r.cable()
	r.machines[0].Plug(t, good)
	r.Eventually(func() string { return r.holdsOn(0, places.RendezvousHost) }, patience, look).Should(ContainSubstring("NODE_ZERO_IP"), r.journals)
	r.reach(r.machines[0], four.address(0))
	killed := r.kills(r.machines[0])
	r.Eventually(r.statuses, 2*patience, look).Should(And(HaveLen(3), HaveEach(wire.HostStatusInstalled)), r.journals)
	killed()
	r.Eventually(func() string {
		return r.machines[0].Run(t, "systemctl", "show", "--property=Result,SubState", "start-cluster-installation.service")
	}, patience, look).Should(And(ContainSubstring("Result=success"), ContainSubstring("SubState=exited")), r.journals)
	zero := r.zero()
	r.Expect([]any{zero.Bootstrap, string(zero.Role), zero.InstallationDiskPath}).To(Equal([]any{true, "master", "/dev/nvme0n1"}))
	r.Expect(r.says(refused, "95_load-config-image")()).To(Equal("The config image on "+good+" is in place.\n"), "those that were pulled out say nothing any more")
	r.Expect(r.says(refused, "60_config-image")()).To(ContainSubstring("no such file"))
	r.Expect(refused.Host.Path(places.NodeZero)).NotTo(BeAnExistingFile())
}

// holdsOn is the text of a machine's file; empty for none.
func (r *rack) holdsOn(i int, path string) string {
	raw, err := os.ReadFile(r.machines[i].Host.Path(path))
	if err != nil {
		return ""
	}
	return string(raw)
}
