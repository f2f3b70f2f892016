// Package chart_test renders the chart of this folder by helm itself, and holds it against what it says: that it can be installed for
// every way in, that values which contradict each other are refused, that the manifests of the folders beside it are the same, and
// which rights come of it on a real API server.
package chart_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/ironflow/ironflow/test/needs"
)

const (
	release   = "ironflow"
	namespace = "ironflow-system"
	// oldest is the Kubernetes that the chart is for at least.
	oldest = "1.30.0"
)

// overlays are the ways in, each with the files that it takes beside example.yaml.
var overlays = map[string][]string{
	"loadbalancer": {"loadbalancer"},
	"nodeport":     {"nodeport"},
	"hostnetwork":  {"hostnetwork"},
	"ingress":      {"ingress"},
	"tls-to-bmcs":  {"loadbalancer", "tls-to-bmcs"},
	"replicas":     {"loadbalancer", "replicas"},
	"namespaced":   {"loadbalancer", "namespaced"},
	"edge-site":    {"loadbalancer", "edge-site"},
	"everything":   {"loadbalancer", "everything"},
	"openshift":    {"loadbalancer", "openshift-install"},
}

// values are the arguments that name the files of an overlay. The controllers alone
// have no base image, which example.yaml has.
func values(overlay string) []string {
	if overlay == "controllers" {
		return []string{"--values", "overlays/controllers.yaml", "--set", "image.repository=registry.example/ironflow,image.tag=v0.1.0,ironic.endpoint=https://ironic.example:6385"}
	}
	args := []string{"--values", "overlays/example.yaml"}
	for _, name := range overlays[overlay] {
		args = append(args, "--values", filepath.Join("overlays", name+".yaml"))
	}
	return args
}

// everyWay are the names of all overlays.
func everyWay() []string {
	names := []string{"controllers"}
	for name := range overlays {
		names = append(names, name)
	}
	return names
}

// helm runs helm with a home of its own, and returns what it prints; its error has
// what it complains about.
func helm(t *testing.T, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), needs.Helm(t), args...)
	home := t.TempDir()
	command.Env = append(os.Environ(), "HOME="+home, "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	out, err := command.Output()
	if err != nil {
		return string(out), fmt.Errorf("helm %s: %w: %s", strings.Join(args, " "), err, complaints.String())
	}
	return string(out), nil
}

// template renders the chart as text.
func template(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return templateOf(t, ".", args...)
}

// templateOf renders the chart of a folder.
func templateOf(t *testing.T, folder string, args ...string) (string, error) {
	t.Helper()
	return helm(t, append([]string{"template", release, folder, "--namespace", namespace, "--kube-version", oldest}, args...)...)
}

// rendered are the objects of the chart.
func rendered(t *testing.T, args ...string) objects {
	t.Helper()
	out, err := template(t, args...)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return decode(t, out)
}

// objects are manifests by kind and name.
type objects map[string]*unstructured.Unstructured

// decode reads a stream of manifests.
func decode(t *testing.T, manifests string) objects {
	t.Helper()
	g := NewWithT(t)
	all := objects{}
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifests), 4096)
	for {
		o := &unstructured.Unstructured{}
		err := decoder.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return all
		}
		g.Expect(err).NotTo(HaveOccurred())
		if len(o.Object) > 0 {
			g.Expect(all).NotTo(HaveKey(key(o)), "twice")
			all[key(o)] = o
		}
	}
}

// key is the kind, namespace and name of an object, the namespace but for ours.
func key(o *unstructured.Unstructured) string {
	name := o.GetName()
	if ns := o.GetNamespace(); ns != "" && ns != namespace {
		name = ns + "/" + name
	}
	return o.GetKind() + " " + name
}

// as converts an object that has to be there.
func as[T any](t *testing.T, all objects, key string) *T {
	t.Helper()
	g, into := NewWithT(t), new(T)
	g.Expect(all).To(HaveKey(key))
	g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(all[key].Object, into, true)).To(Succeed())
	return into
}

// podOf is the pod of the Deployment.
func podOf(t *testing.T, all objects) corev1.PodSpec {
	t.Helper()
	return as[appsv1.Deployment](t, all, "Deployment ironflow").Spec.Template.Spec
}

// environment is that of the program's container, with what its ConfigMaps have.
func environment(t *testing.T, all objects) map[string]string {
	t.Helper()
	env, container := map[string]string{}, podOf(t, all).Containers[0]
	for _, from := range container.EnvFrom {
		maps.Copy(env, as[corev1.ConfigMap](t, all, "ConfigMap "+from.ConfigMapRef.Name).Data)
	}
	for _, v := range container.Env {
		env[v.Name] = v.Value
	}
	return env
}

// text is what a file holds.
func text(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return string(raw)
}
