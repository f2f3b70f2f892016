package chart_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// recordedChart is the chart of a release in its folder of test/upgrade/testdata: as `make chart` packages it, but without its definitions, which are
// beside it. It has the overlays of that release, which are files of values that users have copied.
const recordedChart = "chart.tgz"

// releasesOf are the folders of the releases that are supported.
func releasesOf(t *testing.T) []string {
	t.Helper()
	folders, err := filepath.Glob("../../test/upgrade/testdata/*")
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(folders).NotTo(BeEmpty())
	return folders
}

// unpacked is the folder of a release's chart.
func unpacked(t *testing.T, old string) string {
	t.Helper()
	g, dir := NewWithT(t), t.TempDir()
	file, err := os.Open(filepath.Join(old, recordedChart))
	g.Expect(err).NotTo(HaveOccurred())
	defer file.Close()
	content, err := gzip.NewReader(file)
	g.Expect(err).NotTo(HaveOccurred())
	for archive := tar.NewReader(content); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return filepath.Join(dir, "ironflow")
		}
		g.Expect(err).NotTo(HaveOccurred())
		path := filepath.Join(dir, filepath.FromSlash(header.Name))
		g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
		raw, err := io.ReadAll(archive)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(os.WriteFile(path, raw, 0o600)).To(Succeed())
	}
}

// waysOf are the arguments of helm for each way in that a release has, by its name, with the overlays of that release.
func waysOf(folder string) map[string][]string {
	all := map[string][]string{}
	for _, way := range everyWay() {
		args, there := values(way), true
		for i, arg := range args {
			if strings.HasPrefix(arg, "overlays/") {
				args[i] = filepath.Join(folder, arg)
				_, err := os.Stat(args[i])
				there = there && err == nil
			}
		}
		if there {
			all[way] = args
		}
	}
	return all
}

// TestChartsOfReleasesStay: with the values of each release, the chart of today makes what that one made, under the same names. What cannot be changed in
// a cluster is not; what somebody outside knows, such as ports and settings, is still there.
func TestChartsOfReleasesStay(t *testing.T) {
	for _, old := range releasesOf(t) {
		if _, err := os.Stat(filepath.Join(old, recordedChart)); *update && os.IsNotExist(err) {
			record(t, filepath.Join(old, recordedChart))
		}
		folder := unpacked(t, old)
		ways := waysOf(folder)
		NewWithT(t).Expect(len(ways)).To(BeNumerically(">=", 8))
		for way, args := range ways {
			t.Run(filepath.Base(old)+" "+way, func(t *testing.T) {
				g := NewWithT(t)
				out, err := templateOf(t, folder, args...)
				g.Expect(err).NotTo(HaveOccurred())
				stays(t, decode(t, out), rendered(t, args...))
			})
		}
	}
}

// stays holds what there is now against what a release has made.
func stays(t *testing.T, was, now objects) {
	t.Helper()
	g := NewWithT(t)
	for name, before := range was {
		g.Expect(now).To(HaveKey(name), "it would be deleted")
		after := now[name]
		for label, value := range before.GetLabels() {
			g.Expect(after.GetLabels()).To(HaveKeyWithValue(label, value), name)
		}
		switch before.GetKind() {
		case "PersistentVolumeClaim":
			g.Expect(after.Object["spec"]).To(Equal(before.Object["spec"]), "%s: a claim cannot be changed", name)
		case "ClusterRoleBinding", "RoleBinding":
			g.Expect(after.Object["roleRef"]).To(Equal(before.Object["roleRef"]), "%s: a reference cannot be changed", name)
		case "Service":
			old, fresh := as[corev1.Service](t, was, name), as[corev1.Service](t, now, name)
			g.Expect(fresh.Spec.Type).To(Equal(old.Spec.Type), name)
			g.Expect(fresh.Spec.Ports).To(ContainElements(old.Spec.Ports), name)
		}
	}
	const deployment = "Deployment " + release
	old, fresh := as[appsv1.Deployment](t, was, deployment), as[appsv1.Deployment](t, now, deployment)
	g.Expect(fresh.Spec.Selector).To(Equal(old.Spec.Selector), "it cannot be changed")
	pod, before := fresh.Spec.Template.Spec, old.Spec.Template.Spec
	g.Expect(pod.ServiceAccountName).To(Equal(before.ServiceAccountName))
	g.Expect(pod.Volumes).To(ContainElements(before.Volumes))
	g.Expect(pod.Containers[0].VolumeMounts).To(ContainElements(before.Containers[0].VolumeMounts))
	g.Expect(pod.SecurityContext.RunAsUser).To(Equal(before.SecurityContext.RunAsUser), "or it cannot read its files")
	env := environment(t, now)
	for name, value := range environment(t, was) {
		g.Expect(env).To(HaveKeyWithValue(name, value))
	}
}

// TestUpgradedFromAPackagedChart has helm install the chart of each release, upgrade it with the same values to that of today, and roll it back: volumes,
// addresses and the Deployment are the same objects all the time.
func TestUpgradedFromAPackagedChart(t *testing.T) {
	for _, old := range releasesOf(t) {
		t.Run(filepath.Base(old), func(t *testing.T) {
			c := newCluster(t)
			folder := unpacked(t, old)
			args := waysOf(folder)["loadbalancer"]
			c.helm(append([]string{"install", "--create-namespace", release, folder}, args...)...)
			before := c.lasting()
			c.Expect(len(before)).To(BeNumerically(">=", 5))
			c.helm(append([]string{"upgrade", release, "."}, args...)...)
			c.Expect(c.lasting()).To(Equal(before))
			for name, want := range rendered(t, args...) {
				c.Expect(c.admin.Get(t.Context(), client.ObjectKeyFromObject(want), want)).To(Succeed(), name)
			}
			c.helm("rollback", release)
			c.Expect(c.lasting()).To(Equal(before))
			c.helm("uninstall", release)
			claim := &corev1.PersistentVolumeClaim{}
			c.Expect(c.admin.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "ironflow-data"}, claim)).To(Succeed(), "its data is kept, as by the release itself")
		})
	}
}

// lasting are the objects that others hold on to: volumes by their claims, addresses by their Services, pods by their Deployment.
func (c *cluster) lasting() map[string]types.UID {
	c.t.Helper()
	ids := map[string]types.UID{}
	for _, list := range []client.ObjectList{&corev1.PersistentVolumeClaimList{}, &corev1.ServiceList{}, &appsv1.DeploymentList{}, &corev1.ServiceAccountList{}} {
		c.Expect(c.admin.List(c.t.Context(), list, client.InNamespace(namespace))).To(Succeed())
		c.Expect(meta.EachListItem(list, func(item runtime.Object) error {
			o, err := meta.Accessor(item)
			if err != nil {
				return err
			}
			name := fmt.Sprintf("%T %s", item, o.GetName())
			if s, is := item.(*corev1.Service); is {
				name += " " + s.Spec.ClusterIP
			}
			ids[name] = o.GetUID()
			return nil
		})).To(Succeed())
	}
	return ids
}

// record packages the chart of this tree, the same each time.
func record(t *testing.T, file string) {
	t.Helper()
	g := NewWithT(t)
	files := map[string]string{}
	for _, pattern := range []string{"Chart.yaml", "values.yaml", "values.schema.json", "templates/*", "files/*.yaml", "files/*/*.yaml", "overlays/*.yaml"} {
		found, err := filepath.Glob(pattern)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(found).NotTo(BeEmpty(), pattern)
		for _, path := range found {
			if filepath.Base(path) != "kustomization.yaml" {
				files[path] = text(t, path)
			}
		}
	}
	var content bytes.Buffer
	packed := gzip.NewWriter(&content)
	archive := tar.NewWriter(packed)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		g.Expect(archive.WriteHeader(&tar.Header{Name: "ironflow/" + filepath.ToSlash(path), Mode: 0o644, Size: int64(len(files[path]))})).To(Succeed())
		_, err := archive.Write([]byte(files[path]))
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(errors.Join(archive.Close(), packed.Close(), os.WriteFile(file, content.Bytes(), 0o600))).To(Succeed())
}
