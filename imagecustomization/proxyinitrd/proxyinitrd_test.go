package proxyinitrd_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/cpio"
	"github.com/ironflow/ironflow/imagecustomization/proxyinitrd"
)

func TestArchive(t *testing.T) {
	g := NewWithT(t)
	raw, err := proxyinitrd.Archive("http://proxy.example:3128/%41", "", "192.0.2.0/24,.example")
	g.Expect(err).NotTo(HaveOccurred())
	plain, err := gzip.NewReader(bytes.NewReader(raw))
	g.Expect(err).NotTo(HaveOccurred())
	files := map[string]string{}
	for r := cpio.NewReader(plain, 1<<20); ; {
		entry, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		g.Expect(err).NotTo(HaveOccurred())
		if entry.IsRegular() {
			files[entry.Name] = string(entry.Data)
		}
	}
	g.Expect(files).To(Equal(map[string]string{"etc/systemd/system/coreos-livepxe-rootfs.service.d/10-proxy.conf": `[Service]
Environment="http_proxy=http://proxy.example:3128/%%41"
Environment="HTTP_PROXY=http://proxy.example:3128/%%41"
Environment="no_proxy=192.0.2.0/24,.example"
Environment="NO_PROXY=192.0.2.0/24,.example"
`}))
}

func TestNoProxyNoArchive(t *testing.T) {
	g := NewWithT(t)
	raw, err := proxyinitrd.Archive("", "", "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(raw).To(BeNil())
	_, err = proxyinitrd.Archive("http://a\"\nExecStart=x", "", "")
	g.Expect(err).To(HaveOccurred())
}
