package staticnetwork_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/staticnetwork"
)

func TestArchive(t *testing.T) {
	g := NewWithT(t)
	raw, err := staticnetwork.Archive(`[{"network_yaml":"interfaces: []","mac_interface_map":[{"mac_address":"52:54:00:00:00:01","logical_nic_name":"eth0"}]},{"network_yaml":"x: y"}]`)
	g.Expect(err).NotTo(HaveOccurred())
	files := map[string]string{}
	for r := tar.NewReader(bytes.NewReader(raw)); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(header.Mode).To(BeEquivalentTo(0o600))
		content, err := io.ReadAll(r)
		g.Expect(err).NotTo(HaveOccurred())
		files[header.Name] = string(content)
	}
	g.Expect(files).To(Equal(map[string]string{
		"host0/ymlFile0.yml": "interfaces: []", "host0/mac_interface.ini": "52:54:00:00:00:01=eth0\n",
		"host1/ymlFile1.yml": "x: y", "host1/mac_interface.ini": "",
	}))
	for _, none := range []string{"", "[]"} {
		raw, err := staticnetwork.Archive(none)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(raw).To(BeNil())
	}
	_, err = staticnetwork.Archive("x")
	g.Expect(err).To(HaveOccurred())
}
