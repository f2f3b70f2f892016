//go:build e2e

package capi_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/bmc/world/whole"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
	"github.com/ironflow/ironflow/test/machine/ipa"
	"github.com/ironflow/ironflow/test/machine/ironictest"
	"github.com/ironflow/ironflow/test/shipped"
)

// drives are the config drives that the machines have written.
type drives struct {
	mu  sync.Mutex
	all [][]byte
}

// write fetches an image, compares its checksum and keeps the config drive, as the real agent does.
func (d *drives) write(ctx context.Context, image ipa.Image) (string, error) {
	if _, err := image.Fetch(ctx, http.DefaultClient); err != nil {
		return "", err
	}
	raw, err := base64.StdEncoding.DecodeString(image.ConfigDrive)
	if err != nil {
		return "", err
	}
	packed, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(packed)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, content)
	return "/dev/sda", err
}

func (d *drives) written() [][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.all)
}

// Lines of Ironic's log that tell of a change of a node: of what is done to it, and of that or its power.
var (
	movesOf   = regexp.MustCompile(`(?m)^.*moved to provision state.*$`)
	changesOf = regexp.MustCompile(`(?m)^.*(moved to provision state|requested state is|Successfully set node .* power state).*$`)
)

// TestClusterAPIOnTheRealIronic: the same requests with the shipped program and a real Ironic. The log of
// Ironic shows that a host which is moved to another cluster is neither deployed, cleaned nor inspected, and
// is not switched until it is asked to be there.
func TestClusterAPIOnTheRealIronic(t *testing.T) {
	g := NewWithT(t)
	disk := &drives{}
	w := whole.New(t, whole.Options{Patience: 15 * time.Minute, Glance: 200 * time.Millisecond, Hall: ironictest.HallOptions{
		WriteImage: disk.write, Redfish: &lab.RedfishOptions{Delays: simulator.Delays{POST: time.Second}},
	}})
	content := make([]byte, 1<<20)
	sum := sha256.Sum256(content)
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) }))
	t.Cleanup(files.Close)
	image := metal3.Image{URL: files.URL + "/os.raw", Checksum: hex.EncodeToString(sum[:]), ChecksumType: metal3.SHA256, DiskFormat: new("raw")}
	w.Start(t, map[string]string{"IRONFLOW_BMC": "false"})
	first := &site{kube: w.Kube, patience: 15 * time.Minute}
	g.Expect(w.Kube.Create(t.Context(), machineCRD())).To(Succeed())
	hardware := w.Hall.AddSimulated(t, simulator.System{})
	one := w.Register(t, "host-0", hardware, w.Hall.Lab.Redfish, func(h *metal3.BareMetalHost) {
		h.Spec.Online, h.Spec.AutomatedCleaningMode = true, metal3.CleaningModeMetadata
	})
	one.Until(t, "available", available)

	m := first.newMachine(t, "m-0", image)
	m.associate(t)
	m.provision(t)
	one.Until(t, "provisioned", provisioned)
	g.Expect(disk.written()).To(HaveLen(1))
	for _, text := range []string{"#cloud-config\nhostname: m-0", `"local-hostname": "m-0"`, `"services": []`} {
		g.Expect(string(disk.written()[0])).To(ContainSubstring(text), "its config drive has the data of the template")
	}
	m.remediate(t)
	g.Expect(disk.written()).To(HaveLen(1))

	touched, log := hardware.PowerChanges(), logSize(t, w)
	m.pause(t)
	second := secondSite(t, w)
	moved := m.move(t, second)
	moved.unpause(t)
	second.until(t, moved.host, "as it was", provisioned)
	changed := changesOf.FindAllString(logSince(t, w, log), -1)
	g.Expect(changed).To(BeEmpty(), "nothing was done to the machine")
	g.Expect(hardware.PowerChanges()).To(Equal(touched))
	moved.remediate(t) // the controllers there work with Ironic, and have looked at the host
	g.Expect(hardware.PowerChanges()).NotTo(Equal(touched))
	g.Expect(movesOf.FindAllString(logSince(t, w, log), -1)).To(BeEmpty(), "it was neither deployed, cleaned nor inspected")
	g.Expect(disk.written()).To(HaveLen(1))

	moved.release(t)
	g.Expect(movesOf.FindAllString(logSince(t, w, log), -1)).NotTo(BeEmpty(), "the log tells of what is done")
	g.Expect(second.host(t, moved.host).Status.PoweredOn).To(BeFalse())
}

// secondSite is another cluster with the shipped program, in front of the same Ironic.
func secondSite(t *testing.T, w *whole.World) *site {
	t.Helper()
	g := NewWithT(t)
	l := labtest.New(t)
	_, err := l.StartControlPlane(t.Context(), lab.ControlPlaneOptions{Controllers: true})
	g.Expect(err).NotTo(HaveOccurred())
	l.Ironic, l.CAFile = w.Hall.Lab.Ironic, w.Hall.Lab.CAFile
	dir := os.Getenv("IRONFLOW_BIN")
	if dir == "" {
		dir = "../../bin"
	}
	path, err := filepath.Abs(filepath.Join(dir, "ironflow"))
	g.Expect(err).NotTo(HaveOccurred())
	p, err := shipped.Start(t.Context(), shipped.Options{Lab: l, Program: path, Command: "controllers", Settings: map[string]string{
		"DEPLOY_ISO_URL": "http://127.0.0.1:1/live.iso",
	}})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { NewWithT(t).Expect(p.Stop()).To(Succeed()) })
	kube, err := shipped.NewClient(l.ControlPlane.Config())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(kube.Create(t.Context(), machineCRD())).To(Succeed())
	return &site{kube: kube, patience: 15 * time.Minute}
}

func logSize(t *testing.T, w *whole.World) int {
	t.Helper()
	return len(logSince(t, w, 0))
}

// logSince is what Ironic has logged behind an offset.
func logSince(t *testing.T, w *whole.World, offset int) string {
	t.Helper()
	raw, err := os.ReadFile(w.Hall.Ironic.Log)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return string(raw[offset:])
}
