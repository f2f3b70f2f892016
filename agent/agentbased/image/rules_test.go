package image_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/client"
	"github.com/ironflow/ironflow/agent/agentbased/image"
	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/network"
)

// edited reads an input of which one text of a file is another; empty is no error.
func edited(t *testing.T, input, file, old, now string, edit func(*image.Options)) string {
	t.Helper()
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(os.CopyFS(dir, os.DirFS("testdata/"+input))).To(Succeed())
	raw, err := os.ReadFile(filepath.Join(dir, file))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(raw)).To(ContainSubstring(old))
	g.Expect(os.WriteFile(filepath.Join(dir, file), []byte(strings.Replace(string(raw), old, now, 1)), 0o600)).To(Succeed())
	o := image.Options{Dir: dir, Workflow: units.Automated, Arch: "x86_64", Live: network.Live{Nmstatectl: true}}
	if edit != nil {
		edit(&o)
	}
	if _, _, err = image.Read(o); err != nil {
		return err.Error()
	}
	return ""
}

func ofRelease(o *image.Options) {
	o.ReleaseImage = "quay.example/release/ocp:4.19.3-x86_64"
}

func served(o *image.Options) { o.BootArtifactsURL = "http://192.0.2.1:8080/boot" }

// TestControlPlanesWithoutAQuorum: their hosts would boot, and wait for ever.
func TestControlPlanesWithoutAQuorum(t *testing.T) {
	const install = "cluster-manifests/agent-cluster-install.yaml"
	for name, tc := range map[string]struct{ input, file, old, now, want string }{
		"two": {
			"ztp", install, "controlPlaneAgents: 3", "controlPlaneAgents: 2",
			install + ", document 1, line 33: spec.provisionRequirements.controlPlaneAgents is 2 without an arbiter",
		},
		"two with an arbiter": {"ztp", install, "controlPlaneAgents: 3", "controlPlaneAgents: 2\n    arbiterAgents: 1", ""},
		"one with others": {
			"ztp", install, "controlPlaneAgents: 3", "controlPlaneAgents: 1",
			install + ", document 1, line 33: spec.provisionRequirements.controlPlaneAgents is 1 beside other hosts",
		},
		"two, of the two files":  {"configs", "install-config.yaml", "replicas: 3", "replicas: 2", "install-config.yaml, document 1, line 7: controlPlane.replicas is 2 without an arbiter"},
		"four, of the two files": {"configs", "install-config.yaml", "replicas: 3", "replicas: 4", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			edit := served
			if tc.input == "configs" {
				edit = ofRelease
			}
			said := edited(t, tc.input, tc.file, tc.old, tc.now, edit)
			if tc.want == "" {
				g.Expect(said).To(BeEmpty())
			}
			g.Expect(said).To(ContainSubstring(tc.want))
		})
	}
	g := NewWithT(t)
	said := edited(t, "kubernetes", install, "controlPlaneAgents: 1", "controlPlaneAgents: 1, workerAgents: 1", func(o *image.Options) {
		o.RendezvousIP = "2001:db8::10"
	})
	g.Expect(said).To(BeEmpty(), "a plain Kubernetes has one host that is the whole control plane")
}

// TestWhatIsRefusedIsToldWhereItIsWritten, whichever form that is.
func TestWhatIsRefusedIsToldWhereItIsWritten(t *testing.T) {
	refuse := func(edit func(*image.Options), all ...image.Refused) func(*image.Options) {
		return func(o *image.Options) {
			edit(o)
			o.Rules = func(asked client.Asked, hosts []wire.HostUpdateParams) []image.Refused {
				NewWithT(t).Expect(asked.Cluster.Name).To(Equal("edge"))
				NewWithT(t).Expect(asked.InfraEnv.Name).To(Equal("edge"))
				NewWithT(t).Expect(hosts).NotTo(BeEmpty())
				return all
			}
		}
	}
	all := []image.Refused{
		{Object: "ClusterDeployment spec.baseDomain", Text: ` "x": want another`},
		{Object: "AgentClusterInstall spec.proxy.noProxy", Text: ": want another"},
		{Object: "InfraEnv spec.additionalNTPSources", Text: ` "y": want another`},
		{Object: "AgentClusterInstall metadata.annotations{agent-install.openshift.io/install-config-overrides}", Text: ": want another"},
		{Object: "Agent spec.hostname", Text: ` "z": want another`},
		{Object: "additional_ntp_source", Text: ": of what the client makes itself"},
	}
	for input, want := range map[string][]string{
		"ztp": {
			`cluster-manifests/cluster-deployment.yaml, document 1, line 8: spec.baseDomain "x": want another`,
			"cluster-manifests/agent-cluster-install.yaml, document 1, line 39: spec.proxy.noProxy cannot be used: want another",
			`cluster-manifests/infraenv.yaml, document 1, line 10: spec.additionalNTPSources "y": want another`,
			`cluster-manifests/agent-cluster-install.yaml, document 1, line 7: metadata.annotations["agent-install.openshift.io/install-config-overrides"] cannot be used: want another`,
			`hostconfig: the name of host master-0 "z": want another`,
		},
		"configs": {
			`install-config.yaml, document 1, line 4: baseDomain "x": want another`, "install-config.yaml, document 1, line 24: proxy.noProxy cannot be used: want another",
			`agent-config.yaml, document 1, line 6: additionalNTPSources "y": want another`, "install-config.yaml, document 1, line 1: cannot be used: want another",
			`agent-config.yaml, document 1, line 9: hosts[0].hostname "z": want another`,
		},
	} {
		t.Run(input, func(t *testing.T) {
			file, edit := "cluster-manifests/infraenv.yaml", served
			if input == "configs" {
				file, edit = "install-config.yaml", ofRelease
			}
			said := edited(t, input, file, "", "", refuse(edit, all...))
			for _, one := range want {
				NewWithT(t).Expect(said).To(ContainSubstring(one))
			}
			NewWithT(t).Expect(said).NotTo(ContainSubstring("the client makes"))
		})
	}
}
