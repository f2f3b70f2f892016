package manifests_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/manifests"
)

var update = flag.Bool("update", false, "write the golden files anew")

// ztp are the files of a folder of testdata.
func ztp(folder string) manifests.Files {
	return manifests.Files{
		Root:              folder,
		ClusterDeployment: "/manifests/cluster-deployment.yaml", AgentClusterInstall: "/manifests/agent-cluster-install.yaml",
		ClusterImageSet: "/manifests/cluster-image-set.yaml", InfraEnv: "/manifests/infraenv.yaml", PullSecret: "/manifests/pull-secret.yaml",
		NMStateConfig: "/manifests/nmstateconfig.yaml", Operators: "/manifests/operators.yaml", ExtraManifests: "/extra", HostConfig: "/hosts",
	}
}

func data(t *testing.T, name string) string {
	t.Helper()
	folder, err := filepath.Abs(filepath.Join("testdata", name))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return folder
}

// golden compares a text with a file.
func golden(t *testing.T, file, text string) {
	t.Helper()
	g := NewWithT(t)
	file = filepath.Join("testdata", file)
	if *update {
		g.Expect(os.WriteFile(file, []byte(text), 0o644)).To(Succeed())
	}
	want, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred(), "run go test ./agent/agentbased/manifests -update")
	g.Expect(text).To(Equal(string(want)))
}

// told is what a reader would print.
func told(warnings []manifests.Problem, err error) string {
	var b strings.Builder
	for _, w := range warnings {
		b.WriteString("warning: " + w.String() + "\n")
	}
	if err != nil {
		b.WriteString(err.Error() + "\n")
	}
	return b.String()
}

func TestWhatIsRead(t *testing.T) {
	g := NewWithT(t)
	set, warnings, err := manifests.Read(ztp(data(t, "whole")), manifests.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(warnings).To(BeEmpty())
	g.Expect(set.ClusterDeployment.Spec.ClusterName).To(Equal("edge"))
	api, ingress := set.AgentClusterInstall.VIPs()
	g.Expect(api).To(Equal([]string{"192.0.2.5", "2001:db8::5"}))
	g.Expect(ingress).To(Equal([]string{"192.0.2.6", "2001:db8::6"}))
	g.Expect(set.AgentClusterInstall.Spec.ProvisionRequirements.Hosts()).To(Equal(5))
	g.Expect(set.ClusterImageSet.Spec.ReleaseImage).To(Equal("registry.example/ocp-release:4.19.3-x86_64"))
	g.Expect(set.PullSecret).To(Equal(`{"auths":{"registry.example":{"auth":"dTpw"}}}`))
	g.Expect(set.NMStateConfigs).To(HaveLen(2))
	text, err := set.NMStateConfigs[1].Spec.Config.YAML()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(text).To(MatchYAML("interfaces: [{name: eno1, type: ethernet, state: up, ipv4: {enabled: true, dhcp: true}}]"))
	g.Expect(set.Operators).To(BeEmpty(), "the file need not be there")
	g.Expect(set.Extra).To(HaveLen(2))
	g.Expect(set.Extra[1].Name).To(Equal("b.yml"))
	no := false
	g.Expect(set.Hosts).To(Equal([]manifests.HostConfig{
		{Name: "master-0", MACs: []string{"02:00:00:00:00:01", "02:00:00:00:00:a1"}, Role: "master", Hints: &manifests.RootDeviceHints{DeviceName: "/dev/sda", MinSizeGigabytes: 100, Rotational: &no}},
		{Name: "worker-0", MACs: []string{"02:00:00:00:00:02"}},
	}))
	g.Expect(set.Fencing).To(HaveLen(1))
	g.Expect(set.Fencing[0].Password).To(Equal("0000"))
}

func TestEverythingWrongIsToldAtOnce(t *testing.T) {
	for name, lenient := range map[string]bool{"strict": false, "lenient": true} {
		t.Run(name, func(t *testing.T) {
			set, warnings, err := manifests.Read(ztp(data(t, "wrong")), manifests.Options{Lenient: lenient})
			NewWithT(t).Expect(set).To(BeNil())
			text := told(warnings, err)
			golden(t, "wrong/"+name+".txt", text)
			NewWithT(t).Expect(text).NotTo(Or(ContainSubstring("TOP-SECRET"), ContainSubstring("secret@proxy"), ContainSubstring("1234")), "no secret is quoted")
		})
	}
}

func TestALenientReaderGoesOn(t *testing.T) {
	g := NewWithT(t)
	root := copied(t, "whole")
	file := filepath.Join(root, "manifests/infraenv.yaml")
	change(t, file, "spec:\n", "spec:\n  agentLabels: {site: edge}\n  agentLabel: x\n")
	_, _, err := manifests.Read(ztp(root), manifests.Options{})
	g.Expect(err).To(MatchError(And(ContainSubstring("line 7: spec.agentLabels is not acted upon"), ContainSubstring("line 8: spec.agentLabel is unknown"))))
	set, warnings, err := manifests.Read(ztp(root), manifests.Options{Lenient: true})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(set.InfraEnv.Metadata.Name).To(Equal("edge"))
	g.Expect(warnings).To(HaveLen(2))
}

// A change of the good manifests, and what is told of it.
func TestSingleMistakes(t *testing.T) {
	install, env, secret := "manifests/agent-cluster-install.yaml", "manifests/infraenv.yaml", "manifests/pull-secret.yaml"
	for name, tc := range map[string]struct{ file, old, replacement, want string }{
		"no file":               {env, "", "", "/manifests/infraenv.yaml: is missing"},
		"an empty file":         {secret, "*", "---\n", "/manifests/pull-secret.yaml: is empty"},
		"no YAML":               {secret, "*", "a: [TOP", "/manifests/pull-secret.yaml, document 1: is no YAML"},
		"a bomb":                {env, "*", bomb(), "is too large once its aliases are replaced"},
		"no VIPs on bare metal": {install, "  ingressVIPs: [192.0.2.6, \"2001:db8::6\"]\n", "", "document 1, line 12: spec.ingressVIPs is missing"},
		"one address for both":  {install, "192.0.2.6", "192.0.2.5", "is the address of the API, too"},
		"a virtual address elsewhere": {
			install, "    - cidr: \"2001:db8::/64\"\n", "",
			"spec.apiVIPs[1] is 2001:db8::5, which is in no machine network (192.0.2.0/24): write an address of one, or add its network",
		},
		"managed by nobody": {install, "platformType: BareMetal", "platformType: None", "spec.networking.userManagedNetworking is false"},
		"managed by two": {
			install, "userManagedNetworking: false", "userManagedNetworking: true",
			"spec.networking.userManagedNetworking is true, which does not go with platform BareMetal, whose network is the cluster's: take one of them away",
		},
		"addresses that nobody keeps":  {install, "    userManagedNetworking: false\n  platformType: BareMetal", "  platformType: None", "spec.platformType is None beside virtual addresses"},
		"an arbiter beside one master": {install, "controlPlaneAgents: 3", "controlPlaneAgents: 1\n    arbiterAgents: 1", "provisionRequirements.arbiterAgents is 1 beside a control plane of one host"},
		"an alias in a network":        {"manifests/nmstateconfig.yaml", "dhcp: true}", "dhcp: &x true, auto-dns: *x}", `document 2, line 33: spec.config.interfaces[0].ipv4.auto-dns is an alias (*x)`},
		"a secret in both forms":       {secret, "stringData:", "data: {.dockerconfigjson: e30=}\nstringData:", `data[".dockerconfigjson"] is there beside stringData[".dockerconfigjson"]`},
		"a secret without its key":     {secret, ".dockerconfigjson:", "config.json:", `stringData[".dockerconfigjson"] is missing`},
		"an empty name":                {"manifests/cluster-deployment.yaml", "clusterName: edge", `clusterName: ""`, "document 1, line 9: spec.clusterName is missing"},
		"a name without a value":       {"manifests/cluster-deployment.yaml", "clusterName: edge", "clusterName:", "document 1, line 9: spec.clusterName is missing"},
		"no selector":                  {env, "    matchLabels:\n      infraenv: edge\n", "    {}\n", "spec.nmStateConfigLabelSelector.matchLabels is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			root := copied(t, "whole")
			file := filepath.Join(root, tc.file)
			switch tc.old {
			case "":
				if tc.replacement == "" {
					NewWithT(t).Expect(os.Remove(file)).To(Succeed())
				}
			case "*":
				NewWithT(t).Expect(os.WriteFile(file, []byte(tc.replacement), 0o600)).To(Succeed())
			default:
				change(t, file, tc.old, tc.replacement)
			}
			_, _, err := manifests.Read(ztp(root), manifests.Options{})
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

// A cluster of source kubernetes has no release, and needs no domain.
func TestWithoutARelease(t *testing.T) {
	g := NewWithT(t)
	root := copied(t, "whole")
	g.Expect(os.Remove(filepath.Join(root, "manifests/cluster-image-set.yaml"))).To(Succeed())
	install := filepath.Join(root, "manifests/agent-cluster-install.yaml")
	change(t, install, "  imageSetRef: {name: openshift}\n", "")
	_, _, err := manifests.Read(ztp(root), manifests.Options{})
	g.Expect(err).To(MatchError(And(ContainSubstring("cluster-image-set.yaml: is missing"), ContainSubstring("spec.imageSetRef is missing"))))
	change(t, install, "  annotations:\n", "  annotations:\n    ironflow.io/ignition-source: kubernetes\n    ironflow.io/kubernetes-version: v1.37.1\n")
	set, _, err := manifests.Read(ztp(root), manifests.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(set.ClusterImageSet).To(BeNil())
}

func copied(t *testing.T, name string) string {
	t.Helper()
	root := t.TempDir()
	NewWithT(t).Expect(os.CopyFS(root, os.DirFS(data(t, name)))).To(Succeed())
	return root
}

func change(t *testing.T, file, old, replacement string) {
	t.Helper()
	g := NewWithT(t)
	raw, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(raw)).To(ContainSubstring(old))
	g.Expect(os.WriteFile(file, []byte(strings.Replace(string(raw), old, replacement, 1)), 0o600)).To(Succeed())
}

// bomb is a document of few bytes and many values.
func bomb() string {
	return "a: &a {" + strings.Repeat("k: 1, ", 999) + "k: 1}\nspec: {kernelArguments: [" + strings.Repeat("*a, ", 999) + "*a]}\n"
}

func FuzzRead(f *testing.F) {
	for _, folder := range []string{"whole", "wrong"} {
		files, _ := filepath.Glob(filepath.Join("testdata", folder, "manifests", "*.yaml"))
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(raw)
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		root := t.TempDir()
		if err := os.WriteFile(filepath.Join(root, "x.yaml"), raw, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := manifests.Read(manifests.Files{
			Root: root, ClusterDeployment: "/x.yaml", AgentClusterInstall: "/x.yaml", InfraEnv: "/x.yaml", NMStateConfig: "/x.yaml", PullSecret: "/x.yaml", Operators: "/x.yaml",
		}, manifests.Options{})
		if err == nil || strings.Contains(err.Error(), "%!") {
			t.Fatal("one file is never all of those kinds:", err)
		}
	})
}
