package chart_test

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the manifests of the folders beside this one")

// defaults are what config/default is made with.
var defaults = []string{"--values", "overlays/defaults.yaml"}

// manifests are the files of the folders beside this one that are the chart's, with the template that each is, and with values
// beside the defaults.
var manifests = map[string]struct{ template, set string }{
	"manager/deployment.yaml":         {template: "deployment"},
	"manager/storage.yaml":            {template: "storage"},
	"manager/service.yaml":            {template: "service"},
	"rbac/service_account.yaml":       {template: "service_account"},
	"rbac/role_binding.yaml":          {template: "role_binding"},
	"rbac/metrics_reader.yaml":        {template: "metrics_reader"},
	"rbac/user_roles.yaml":            {template: "user_roles"},
	"hostclaims/role.yaml":            {"feature_rights", "features.hostClaims.enabled=true"},
	"bmc-rotation/role.yaml":          {"feature_rights", "features.bmc.enabled=true,features.bmc.rotation.enabled=true"},
	"cluster-credentials/role.yaml":   {"feature_rights", "features.clusterCredentials.enabled=true"},
	"network-policy/policy.yaml":      {"network_policy", "networkPolicy.enabled=true"},
	"prometheus/service_monitor.yaml": {"service_monitor", "serviceMonitor.enabled=true"},
}

// sources are lines that tell which template an object is of.
var sources = regexp.MustCompile(`(?m)^# Source: .*\n`)

// TestManifestsAreTheChart: what `kubectl apply -k` applies is written from the chart, which is the one source of both.
func TestManifestsAreTheChart(t *testing.T) {
	for file, m := range manifests {
		t.Run(file, func(t *testing.T) {
			g := NewWithT(t)
			args := append(slices.Clone(defaults), "--show-only", "templates/"+m.template+".yaml")
			if m.set != "" {
				args = append(args, "--set", m.set)
			}
			out, err := template(t, args...)
			g.Expect(err).NotTo(HaveOccurred())
			want := "# Written from config/chart: go test ./config/chart -update\n" + strings.TrimPrefix(sources.ReplaceAllString(out, ""), "---\n")
			path := filepath.Join("..", file)
			if *update {
				g.Expect(os.WriteFile(path, []byte(want), 0o644)).To(Succeed())
				return
			}
			g.Expect(text(t, path)).To(Equal(want), "run: go test ./config/chart -update")
		})
	}
}

// TestDefaultIsTheChart: config/default has what the chart installs, no more and no less. The role of config/rbac is that of all
// features; the chart leaves out what belongs to those that are off.
func TestDefaultIsTheChart(t *testing.T) {
	g := NewWithT(t)
	apart := []string{"Namespace ironflow-system", "ClusterRole ironflow-controllers"}
	folder, chart := kustomization(t, "../default"), rendered(t, defaults...)
	own := func(all objects) []string {
		return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(name string) bool {
			return slices.Contains(apart, name) || strings.HasPrefix(name, "CustomResourceDefinition ")
		})
	}
	g.Expect(own(folder)).To(Equal(own(chart)))
	for _, name := range own(chart) {
		g.Expect(folder[name].Object).To(Equal(chart[name].Object), name)
	}
	g.Expect(folder).To(HaveKey(apart[0]))
	role := as[rbacv1.ClusterRole](t, folder, apart[1]).Rules
	g.Expect(as[rbacv1.ClusterRole](t, rendered(t, values("everything")...), apart[1]).Rules).To(Equal(role))
	for _, rule := range as[rbacv1.ClusterRole](t, chart, apart[1]).Rules {
		g.Expect(role).To(ContainElement(HaveField("Resources", ContainElements(rule.Resources))))
	}
}

// TestDefinitionsAreTheChart: helm makes the same CustomResourceDefinitions that config/crd has.
func TestDefinitionsAreTheChart(t *testing.T) {
	g := NewWithT(t)
	out, err := helm(t, "show", "crds", ".")
	g.Expect(err).NotTo(HaveOccurred())
	chart, folder := decode(t, out), kustomization(t, "../crd")
	g.Expect(slices.Sorted(maps.Keys(chart))).To(Equal(slices.Sorted(maps.Keys(folder))))
	for name := range folder {
		g.Expect(chart[name].Object).To(Equal(folder[name].Object), name)
	}
	const move = "clusterctl.cluster.x-k8s.io"
	g.Expect(chart["CustomResourceDefinition baremetalhosts.metal3.io"].GetLabels()).To(And(HaveKey(move), HaveKey(move+"/move-hierarchy")), "or `clusterctl move` leaves hosts behind")
	g.Expect(chart["CustomResourceDefinition hardwaredata.metal3.io"].GetLabels()).To(HaveKey(move))
}

// TestAKustomizationOfTheSite has kubectl put image and settings on config/default as docs/install.md says, and as it was done before there
// was a chart; a real API server takes all of it.
func TestAKustomizationOfTheSite(t *testing.T) {
	c := newCluster(t)
	site := t.TempDir()
	page := text(t, "../../docs/install.md")
	_, example, found := strings.Cut(page, "resources: [github.com/ironflow/ironflow/config/default?ref=v0.1.0]\n")
	c.Expect(found).To(BeTrue())
	example, _, _ = strings.Cut(example, "```")
	folder, err := filepath.Abs("../default")
	c.Expect(err).NotTo(HaveOccurred())
	relative, err := filepath.Rel(site, folder)
	c.Expect(err).NotTo(HaveOccurred())
	c.Expect(os.WriteFile(filepath.Join(site, "kustomization.yaml"), []byte("resources: ["+relative+"]\n"+example), 0o600)).To(Succeed())
	all := decode(t, c.kubectl("kustomize", site))
	env := environment(t, all)
	c.Expect(env).To(HaveKeyWithValue("IRONFLOW_HUB_PUBLISH_URL", "https://192.0.2.10:8090"))
	c.Expect(env).To(HaveKeyWithValue("DEPLOY_ISO", "/images"), "what the site says nothing of stays")
	for name, value := range env {
		c.Expect(value).NotTo(ContainSubstring(".invalid"), name)
	}
	c.Expect(podOf(t, all).Containers[0].Image).To(Equal("registry.example/ironflow:v0.1.0"))
	c.Expect(podOf(t, all).Containers[0].EnvFrom[0].ConfigMapRef.Name).To(HavePrefix("ironflow-config-"), "a change of settings is a change of the pod")
	c.create(text(t, "../manager/namespace.yaml")) // in which a dry run needs to look
	c.kubectl("apply", "--dry-run=server", "--validate=strict", "-k", site)
}

// kubectl runs it on the cluster, and returns what it prints.
func (c *cluster) kubectl(args ...string) string {
	c.t.Helper()
	command := exec.CommandContext(c.t.Context(), filepath.Join(c.plane.AssetsDir, "kubectl"), append(args, "--kubeconfig", c.plane.Kubeconfig)...)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	out, err := command.Output()
	c.Expect(err).NotTo(HaveOccurred(), complaints.String())
	return string(out)
}

// kustomization are the objects of a folder and of those that it names. It knows what the folders of config/ use: resources,
// components and ConfigMaps of literals; anything else is an error.
func kustomization(t *testing.T, dir string) objects {
	t.Helper()
	g := NewWithT(t)
	var k struct {
		APIVersion string   `json:"apiVersion"`
		Kind       string   `json:"kind"`
		Resources  []string `json:"resources"`
		Components []string `json:"components"`
		Generated  []struct {
			Name      string   `json:"name"`
			Namespace string   `json:"namespace"`
			Literals  []string `json:"literals"`
		} `json:"configMapGenerator"`
	}
	g.Expect(yaml.UnmarshalStrict([]byte(text(t, filepath.Join(dir, "kustomization.yaml"))), &k)).To(Succeed(), dir)
	all := objects{}
	for _, config := range k.Generated {
		data := map[string]any{}
		for _, literal := range config.Literals {
			name, value, _ := strings.Cut(literal, "=")
			data[name] = value
		}
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": data}}
		o.SetNamespace(config.Namespace)
		o.SetName(config.Name)
		all[key(o)] = o
	}
	for _, entry := range slices.Concat(k.Resources, k.Components) {
		path := filepath.Join(dir, entry)
		info, err := os.Stat(path)
		g.Expect(err).NotTo(HaveOccurred())
		var part objects
		if info.IsDir() {
			part = kustomization(t, path)
		} else {
			part = decode(t, text(t, path))
		}
		for name, o := range part {
			g.Expect(all).NotTo(HaveKey(name), path)
			all[name] = o
		}
	}
	return all
}
