//go:build e2e

package e2e_test

import (
	"maps"
	"slices"
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestImagesInstalledByTheChart is the first hour of somebody who has a cluster, an Ironic and three machines.
func TestImagesInstalledByTheChart(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real parts; run without -short")
	}
	w := newWorld(t)
	begun := w.quickStart()
	p, values := begun.pod, begun.values
	w.isItself(p)
	w.inOrder(p)
	ok := t.Run("hosts", func(t *testing.T) { w.on(t).fromSamplesAndBack() })
	if ok {
		w.inOrder(p)
	}
	w.smallEnough(p)
	w.othersRun()
	w.Expect(p.probe(p.container.LivenessProbe)).To(Succeed())
	t.Run("faults", func(t *testing.T) {
		rest := slices.DeleteFunc(slices.Sorted(maps.Keys(faults)), func(name string) bool { return slices.Contains(lasting, name) })
		for _, name := range append(rest, lasting...) {
			t.Run(name, func(t *testing.T) { faults[name].check(t, w, values) })
			if name == lasting[0] { // helm makes it again
				w.helm("upgrade", "ironflow", chart, "--namespace", namespace, "--values", values)
			}
		}
	})
	w.uninstalled()
}

// on is the world for a test of its own.
func (w *world) on(t *testing.T) *world {
	other := *w
	other.WithT, other.t = NewWithT(t), t
	return &other
}

// isItself: the process is what the pod's specification says, and has no rights in the kernel.
func (w *world) isItself(p *pod) {
	w.t.Helper()
	w.Expect(p.status()).To(And(
		HaveKeyWithValue("Name", "ironflow"), HaveKeyWithValue("Uid", "65532 65532 65532 65532"), HaveKeyWithValue("Gid", "65532 65532 65532 65532"),
		HaveKeyWithValue("CapEff", "0000000000000000"), HaveKeyWithValue("NoNewPrivs", "1"),
	))
	_, code := p.exec("/bin/sh", "-c", "true")
	w.Expect(code).To(Equal(127), "there is no shell")
	out, code := p.exec("/ironflow", "version")
	w.Expect(code).To(BeZero(), out)
	w.Expect(out).To(HavePrefix("ironflow " + version + "\n"))
	out, code = p.exec("/ironflow", "hub", "backup", "/backup.tar.gz")
	w.Expect(code).NotTo(BeZero(), "the root folder cannot be written to: %s", out)
}

// inOrder: `ironflow check` in the pod finds nothing to mend.
func (w *world) inOrder(p *pod) {
	w.t.Helper()
	out, code := p.exec("/ironflow", "check")
	w.t.Log(out)
	w.Expect(code).To(BeZero(), out)
	w.Expect(out).To(HaveSuffix(" in order, 0 warnings, 0 errors\n"))
}

// fromSamplesAndBack takes three hosts of config/samples, that of the quick start among them, from `kubectl apply` to machines that run from their disks, and back.
func (w *world) fromSamplesAndBack() {
	all := []sample{
		first, // applied by the quick start
		{folder: "static-network", host: "machine-5", machine: 1, image: true},
		{folder: "infraenv-cluster", host: "machine-6", machine: 2, giveBack: true},
	}
	for _, s := range all[1:] {
		folder := w.copied(s)
		if s.folder == "infraenv-cluster" {
			w.withoutRelease(folder)
		}
		w.kubectl("apply", "-f", folder)
	}
	for _, s := range all {
		if s.image {
			w.until(s, metal3.StateAvailable)
			w.change(s.host, map[string]any{"spec": map[string]any{"online": true, "image": w.host("machine-0").Spec.Image}})
		}
	}
	for _, s := range all {
		w.provisioned(s)
	}
	for _, s := range all {
		w.giveBack(s)
	}
	for _, s := range all {
		w.until(s, metal3.StateAvailable)
		w.Expect(w.machineOf(s).Disk).To(BeNil(), "%s: nothing is left on the disk", s.host)
	}
	for _, s := range all {
		w.kubectl("-n", hosts, "delete", "baremetalhost", s.host)
	}
	w.Expect(w.nodes()).To(BeEmpty(), "Ironic has forgotten them")
}

// smallEnough: the limit of the chart is enough.
func (w *world) smallEnough(p *pod) {
	w.t.Helper()
	most := resource.MustParse(p.status()["VmHWM"][:len(p.status()["VmHWM"])-len(" kB")] + "Ki")
	w.t.Logf("most memory: %s of %s", most.String(), p.container.Resources.Limits.Memory())
	w.Expect(most.Cmp(*p.container.Resources.Limits.Memory())).To(BeNumerically("<", 0))
}

// othersRun: the programs of the images that other clusters and hosts pull start in their own root, too.
func (w *world) othersRun() {
	w.t.Helper()
	for image, program := range map[string]string{"ironflow-agent": "/usr/bin/agent", "ironflow-cluster": "/usr/bin/ironflow-cluster"} {
		root, _ := w.imageOf("localhost/" + image + ":" + version)
		out := w.run(nil, "unshare", "--mount", "bash", "-c", startContainer, "container", root, "--", "read-only",
			"setpriv", "--no-new-privs", "chroot", "--userspec=65532:65532", "--groups=", root, program, "--version")
		w.Expect(out).To(ContainSubstring(" "+version), image)
	}
}

// uninstalled takes Ironflow away; hosts have gone before.
func (w *world) uninstalled() {
	w.t.Helper()
	w.helm("uninstall", "ironflow", "--namespace", namespace)
	err := w.kube.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: "ironflow"}, &appsv1.Deployment{})
	w.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
}
