package manifests_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/manifests"
)

func configs(folder string) manifests.Configs {
	return manifests.Configs{
		Root: folder, InstallConfig: "/install-config.yaml", AgentConfig: "/agent-config.yaml", ExtraManifests: "/openshift",
		ReleaseImage: "registry.example/ocp-release:4.19.3-x86_64",
	}
}

func TestTheFormThatPeopleKnow(t *testing.T) {
	g := NewWithT(t)
	in, warnings, err := manifests.ReadConfigs(configs(data(t, "configs/whole")), manifests.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(warnings).To(BeEmpty())
	g.Expect(in.Agent.RendezvousIP).To(Equal("192.0.2.10"))
	g.Expect(in.InfraEnv.Spec.ImageType).To(Equal("minimal-iso"))
	g.Expect(in.AgentClusterInstall.Spec.ProvisionRequirements).To(Equal(manifests.Requirements{ControlPlaneAgents: 3, WorkerAgents: 1}))
	g.Expect(in.AgentClusterInstall.Spec.PlatformType).To(Equal("BareMetal"))
	g.Expect(in.AgentClusterInstall.Metadata.Annotations).To(HaveKeyWithValue("agent-install.openshift.io/install-config-overrides", MatchJSON(`{
		"fips": true, "capabilities": {"baselineCapabilitySet": "None"}, "imageDigestSources": [{"source": "quay.example/release", "mirrors": ["registry.example/release"]}],
		"additionalTrustBundle": "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"
	}`)))
	no := false
	g.Expect(in.Hosts).To(Equal([]manifests.HostConfig{
		{Name: "master-0", MACs: []string{"02:00:00:00:00:a1"}, Role: "master", Hints: &manifests.RootDeviceHints{DeviceName: "/dev/sda", Rotational: &no}},
		{Name: "host-1", MACs: []string{"02:00:00:00:00:a2"}},
	}))
	g.Expect(in.NMStateConfigs).To(HaveLen(1), "a host with DHCP has none")
	g.Expect(in.Extra).To(HaveLen(1))
}

// What is written for the host is read there by the strict reader, and is the same.
func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	for name, read := range map[string]func(t *testing.T) *manifests.Set{
		"from both files": func(t *testing.T) *manifests.Set {
			in, _, err := manifests.ReadConfigs(configs(data(t, "configs/whole")), manifests.Options{})
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
			return in.Set
		},
		"from manifests": func(t *testing.T) *manifests.Set {
			set, _, err := manifests.Read(ztp(data(t, "whole")), manifests.Options{})
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
			return set
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, root := NewWithT(t), t.TempDir()
			set := read(t)
			write := func() map[string][]byte {
				files, err := set.Render()
				g.Expect(err).NotTo(HaveOccurred())
				return files
			}
			files := write()
			for file, text := range files {
				file = filepath.Join(root, file)
				g.Expect(os.MkdirAll(filepath.Dir(file), 0o755)).To(Succeed())
				g.Expect(os.WriteFile(file, text, 0o600)).To(Succeed())
			}
			where := ztp(root)
			where.ExtraManifests, where.HostConfig = "/extra-manifests", "/hostconfig"
			again, _, err := manifests.Read(where, manifests.Options{})
			g.Expect(err).NotTo(HaveOccurred())
			set = again
			g.Expect(write()).To(Equal(files))
		})
	}
}

func TestEverythingWrongWithBothFilesIsTold(t *testing.T) {
	for name, lenient := range map[string]bool{"strict": false, "lenient": true} {
		t.Run(name, func(t *testing.T) {
			in, warnings, err := manifests.ReadConfigs(configs(data(t, "configs/wrong")), manifests.Options{Lenient: lenient})
			NewWithT(t).Expect(in).To(BeNil())
			text := told(warnings, err)
			golden(t, "configs/wrong/"+name+".txt", text)
			NewWithT(t).Expect(text).NotTo(ContainSubstring("TOP-SECRET"))
		})
	}
}

func TestAReleaseThatNobodyCanFind(t *testing.T) {
	files := configs(data(t, "configs/whole"))
	files.ReleaseImage = "ocp-release"
	_, _, err := manifests.ReadConfigs(files, manifests.Options{})
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring(`/install-config.yaml: cannot be installed: the release image: "ocp-release" is no full image reference`)))
}
