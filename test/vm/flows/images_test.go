//go:build machine

package flows

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/vm/medium"
	"github.com/ironflow/ironflow/test/vm/shell"
)

// liveISO boots a host from the ISO that its user names, and needs no IPA.
func liveISO(f *flow) {
	h := f.host(Spec{Name: "live"})
	iso, err := shell.Make(f.Context())
	f.Expect(err).NotTo(HaveOccurred())
	console := h.Console()
	f.Expect(h.Create(f.Context(), func(b *metal3v1.BareMetalHost) {
		b.Spec.InspectionMode = metal3v1.InspectionModeDisabled
		b.Spec.AutomatedCleaningMode = metal3v1.CleaningModeDisabled
		b.Spec.Image = &metal3v1.Image{URL: f.serve(iso), DiskFormat: new("live-iso")}
	})).To(Succeed())
	f.Expect(h.UntilState(f.Context(), metal3v1.StateProvisioned, bootLimit)).To(Succeed())
	line, err := console.Wait(f.Context(), regexp.MustCompile("^"+shell.Ready), bootLimit)
	f.Expect(err).NotTo(HaveOccurred())
	h.Timeline.Happened(time.Now(), line[0])
}

// classicImage writes a raw image onto the disk of an available host by Ironic's
// own deploy interface, and the machine starts from it.
func (f *flow) classicImage(h *Host) {
	f.Helper()
	media, err := medium.Make(f.Context())
	f.Expect(err).NotTo(HaveOccurred())
	console := h.Console()
	f.Expect(h.Patch(f.Context(), map[string]any{"spec": map[string]any{"image": map[string]any{
		"url": f.serve(media.Installed), "format": "raw", "checksum": f.digest(media.Installed), "checksumType": "sha256",
	}}})).To(Succeed())
	f.Expect(h.UntilState(f.Context(), metal3v1.StateProvisioned, bootLimit+installLimit)).To(Succeed())
	line, err := console.Wait(f.Context(), saysWhatItIs, installLimit)
	f.Expect(err).NotTo(HaveOccurred())
	h.Timeline.Happened(time.Now(), line[0])
	f.Expect(line[1]).To(Equal(h.UUID))
	f.Expect("0x"+strings.TrimPrefix(line[2], "3")).To(Equal(h.Config.Disks[0].WWN), "it runs from the disk that the hints mean, by the id that udev gives it")
}

// saysWhatItIs is what the system of package medium says when it runs from a disk.
var saysWhatItIs = regexp.MustCompile(`^INSTALLED .*machine=(\S+) .*root=(\S+)`)

// serve serves a file to BMCs, Ironic and machines, and returns its address.
func (f *flow) serve(path string) string {
	f.Helper()
	listener, err := new(net.ListenConfig).Listen(f.Context(), "tcp", net.JoinHostPort(f.world.Network.Address.String(), "0"))
	f.Expect(err).NotTo(HaveOccurred())
	server := &http.Server{Handler: http.FileServer(http.Dir(filepath.Dir(path))), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	f.Cleanup(func() { _ = server.Close() })
	return "http://" + listener.Addr().String() + "/" + filepath.Base(path)
}

// digest is the file's SHA-256 in hex.
func (f *flow) digest(path string) string {
	f.Helper()
	file, err := os.Open(path)
	f.Expect(err).NotTo(HaveOccurred())
	defer file.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	f.Expect(err).NotTo(HaveOccurred())
	return hex.EncodeToString(sum.Sum(nil))
}
