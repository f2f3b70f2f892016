//go:build e2e

package e2e_test

import (
	"errors"
	"io"
	"strings"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// root is the top of the repository, and chart the folder of the chart.
const (
	root  = "../.."
	chart = root + "/config/chart"
)

// objects are manifests by kind and name.
type objects map[string]*unstructured.Unstructured

// rendered are the manifests of the chart with these files of values.
func (w *world) rendered(values ...string) objects {
	w.t.Helper()
	args := []string{"template", "ironflow", chart, "--namespace", namespace, "--kube-version", "1.30.0"}
	for _, file := range values {
		args = append(args, "--values", file)
	}
	all := objects{}
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(w.helm(args...)), 4096)
	for {
		o := &unstructured.Unstructured{}
		err := decoder.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return all
		}
		w.Expect(err).NotTo(HaveOccurred())
		if len(o.Object) > 0 {
			all[o.GetKind()+" "+o.GetName()] = o
		}
	}
}

// find reads an object of the manifests, or if they do not have it, of the cluster.
func (w *world) find(all objects, kind, name string, into client.Object) {
	w.t.Helper()
	if o, found := all[kind+" "+name]; found {
		w.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, into)).To(Succeed())
		return
	}
	w.Expect(w.kube.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, into)).To(Succeed(), "%s %s", kind, name)
}

// deployment is that of Ironflow.
func (w *world) deployment(all objects) *appsv1.Deployment {
	w.t.Helper()
	d := &appsv1.Deployment{}
	w.find(all, "Deployment", "ironflow", d)
	return d
}

func (p *pod) configMap(name string) *corev1.ConfigMap {
	p.t.Helper()
	c := &corev1.ConfigMap{}
	p.find(p.objects, "ConfigMap", name, c)
	return c
}

// openPorts holds the ports of the load balancer against those of the container: nobody translates them here.
func (w *world) openPorts(p *pod) {
	w.t.Helper()
	service := &corev1.Service{}
	w.find(nil, "Service", "ironflow-machines", service)
	w.Expect(service.Spec.LoadBalancerIP).To(Equal(nodeAddress))
	ports := map[string]int32{}
	for _, c := range p.container.Ports {
		ports[c.Name] = c.ContainerPort
	}
	for _, open := range service.Spec.Ports {
		w.Expect(ports).To(HaveKeyWithValue(open.TargetPort.String(), open.Port))
	}
}

// clusterIP is the address of Ironflow's Service.
func (w *world) clusterIP() string {
	w.t.Helper()
	service := &corev1.Service{}
	w.find(nil, "Service", "ironflow", service)
	return service.Spec.ClusterIP
}
