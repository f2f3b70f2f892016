//go:build machine

package registry_test

import (
	"archive/tar"
	"errors"
	"io"
	"net/http"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/vm/registry"
)

// missing are the programs that ironic-python-agent runs and the image does not
// have, with what becomes of that.
var missing = map[string]string{
	"biosdevname":     "Debian has none; the names of network cards are then the kernel's",
	"chronyc":         "the live system keeps the time",
	"chronyd":         "the live system keeps the time",
	"hardware-detect": "a collector that nobody switches on",
	"iscsistart":      "a root disk over iSCSI is attached by the live system's initrd",
	"mstconfig":       "firmware of one vendor's cards",
	"mstflint":        "firmware of one vendor's cards",
	"mstfwreset":      "firmware of one vendor's cards",
	"multipath":       "IPA would start a daemon of its own, whose maps hold disks that the host writes to; each path to a disk is shown as a disk",
	"multipathd":      "see multipath",
	"ntpdate":         "the live system keeps the time",
	"hexdump":         "an image that is written whole has no id of its disk, of which IPA warns",
	"modprobe":        "the live system has loaded the drivers",
	"file":            "an image that is written whole is not asked for its boot sector",
}

// runs is where IPA runs a program.
var runs = regexp.MustCompile(`execute\(\s*'([a-zA-Z][\w.-]*)'`)

// TestTheImageHasWhatIPARuns looks through the sources of ironic-python-agent in
// the image for the programs that it runs, and for these in the image. A machine
// shows a missing one at the end of its cleaning at the earliest.
func TestTheImageHasWhatIPARuns(t *testing.T) {
	g := NewWithT(t)
	needs.Program(t, "buildah", "buildah")
	r, err := registry.Start(t.Context(), registry.Options{Address: "127.0.0.1", Source: "../../..", Dir: t.TempDir()})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(r.Close)
	// It has these two in a variable.
	const standby = "extensions/standby.py"
	programs, wanted := map[string]bool{}, map[string]string{"poweroff": standby, "reboot": standby}
	files(t, r.IPA(), func(name string, content io.Reader) {
		switch folder := path.Base(path.Dir(name)); {
		case folder == "bin" || folder == "sbin":
			programs[path.Base(name)] = true
		case strings.Contains(name, "/ironic_python_agent/") && !strings.Contains(name, "/tests/") && path.Ext(name) == ".py":
			source, err := io.ReadAll(content)
			g.Expect(err).NotTo(HaveOccurred())
			for _, found := range runs.FindAllStringSubmatch(string(source), -1) {
				wanted[found[1]] = name
			}
		}
	})
	g.Expect(wanted).To(HaveKey("mdadm"), "the sources were found")
	for program, source := range wanted {
		_, known := missing[program]
		g.Expect(programs[program]).NotTo(Equal(known), "%s, which %s runs; the table of missing programs names it: %t", program, source, known)
	}
}

// files goes through the files of an image's layers.
func files(t *testing.T, reference string, visit func(name string, content io.Reader)) {
	t.Helper()
	g := NewWithT(t)
	host, repository, _ := strings.Cut(strings.TrimSuffix(reference, ":latest"), "/")
	base := "http://" + host + "/v2/" + repository
	var manifest struct{ Layers []struct{ Digest string } }
	get(t, base+"/manifests/latest", &manifest)
	for _, layer := range manifest.Layers {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/blobs/"+layer.Digest, nil)
		g.Expect(err).NotTo(HaveOccurred())
		response, err := http.DefaultClient.Do(request)
		g.Expect(err).NotTo(HaveOccurred())
		defer response.Body.Close()
		unpacked, err := zstd.NewReader(response.Body)
		g.Expect(err).NotTo(HaveOccurred())
		defer unpacked.Close()
		archive := tar.NewReader(unpacked)
		for {
			header, err := archive.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			g.Expect(err).NotTo(HaveOccurred())
			visit("/"+header.Name, archive)
		}
	}
}
