package infraenv

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// imaged is a hub that knows an image server.
type imaged struct {
	*testhub.Hub
	urls service.ImageURLs
	err  error
}

func (i *imaged) ImageURLs(context.Context, string) (service.ImageURLs, error) { return i.urls, i.err }

func TestTheEnvironmentsOwnImageIsShown(t *testing.T) {
	w := newWorld(t, pullSecret(goodSecret), infraEnv())
	hub := &imaged{Hub: w.hub, urls: service.ImageURLs{ISO: "http://i/1.iso", Initrd: "http://i/initrd", Kernel: "http://i/vmlinuz", Rootfs: "http://i/rootfs"}}
	w.r.hub = hub
	_, env := w.pass()
	w.Expect(env.Status.ISODownloadURL).To(Equal("http://i/1.iso"))
	w.Expect(env.Status.BootArtifacts).To(And(HaveField("InitrdURL", "http://i/initrd"), HaveField("KernelURL", "http://i/vmlinuz"), HaveField("RootfsURL", "http://i/rootfs")))
	w.Expect(env.Status.CreatedTime).NotTo(BeNil())
	version := env.ResourceVersion
	_, env = w.pass()
	w.Expect(env.ResourceVersion).To(Equal(version), "a pass without news writes nothing")

	hub.err = errors.New("no base image fits")
	_, env = w.pass()
	w.Expect(env.Status.ISODownloadURL).To(Equal("http://i/1.iso"), "the last good address stays")
	hub.err, hub.urls.ISO = nil, "http://i/2.iso"
	_, env = w.pass()
	w.Expect(env.Status.ISODownloadURL).To(Equal("http://i/2.iso"))
}
