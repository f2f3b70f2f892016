package overlay

import (
	"encoding/binary"
	"fmt"

	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	"github.com/ironflow/ironflow/imagecustomization/iso"
)

// Paths of boot files on CoreOS media.
const (
	InitrdPath = "images/pxeboot/initrd.img"
	RootfsPath = "images/pxeboot/rootfs.img"
	// InsPath lists what an s390x machine loads where; other media have none.
	InsPath = "generic.ins"

	kernelPath      = "images/pxeboot/vmlinuz"
	kernelPathS390x = "images/pxeboot/kernel.img"
	// s390xInitrdAddress is where s390x boot loaders put the initrd, as generic.ins says.
	s390xInitrdAddress = 0x02000000
)

// KernelFile returns the path of the medium's kernel.
func KernelFile(media Media) string {
	if media.Layout.File(kernelPath) == nil && media.Layout.File(kernelPathS390x) != nil {
		return kernelPathS390x
	}
	return kernelPath
}

// Artifact returns one file of the medium as an image.
func Artifact(media Media, name string) (*Image, error) {
	f := media.Layout.File(name)
	if f == nil {
		return nil, fmt.Errorf("%w: the medium has no %s", iso.ErrNotISO, name)
	}
	b := NewBuilder(nil)
	b.Extent(0, media.Source, f.Offset, f.Size)
	return b.Build()
}

// Initrd returns the medium's initrd with the options' archives behind it; the
// initrd itself is not repacked.
func Initrd(media Media, o Options) (*Image, error) {
	f := media.Layout.File(InitrdPath)
	if f == nil {
		return nil, fmt.Errorf("%w: the medium has no %s", iso.ErrNotISO, InitrdPath)
	}
	if len(o.Content.Keyfiles) > 0 && !media.Layout.Features[iso.FeatureInitrdNetwork] {
		return nil, ErrNoInitrdNetwork
	}
	archive, err := o.Content.Archive()
	if err != nil {
		return nil, err
	}
	b := NewBuilder(nil)
	b.Extent(0, media.Source, f.Offset, f.Size)
	at := align(f.Size, embedarea.Alignment)
	b.Bytes(at, archive)
	at += int64(len(archive))
	for _, s := range o.Programs {
		b.Extent(at, s, 0, s.Size())
		end := align(at+s.Size(), embedarea.Alignment)
		b.Zero(at+s.Size(), end-at-s.Size())
		at = end
	}
	return b.Build()
}

// AddrSize returns the 16 bytes by which s390x boot loaders know an initrd of
// the given size: load address and length, both 64 bit big-endian.
func AddrSize(initrdBytes int64) []byte {
	raw := binary.BigEndian.AppendUint64(nil, s390xInitrdAddress)
	return binary.BigEndian.AppendUint64(raw, uint64(initrdBytes))
}
