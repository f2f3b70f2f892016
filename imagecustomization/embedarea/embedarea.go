// Package embedarea packs and unpacks what a live image's embed area holds: an
// initramfs with config.ign, NetworkManager keyfiles and other early files.
//
// The format is the kernel's (buffer-format.rst): archives, raw or compressed,
// with zeros between them and behind. Packing gives gzip, which every kernel
// reads; unpacking takes gzip, xz and zstd, as other tools write them.
package embedarea

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ironflow/ironflow/imagecustomization/cpio"
)

const (
	// IgnitionName is the member that Ignition reads.
	IgnitionName = "config.ign"
	// KeyfileDir is where the initrd of CoreOS media (feature live-initrd-network)
	// finds NetworkManager keyfiles.
	KeyfileDir = "etc/coreos-firstboot-network"
	// keyfileSuffix is what NetworkManager demands of a keyfile's name.
	keyfileSuffix = ".nmconnection"
	// Alignment is what every archive is padded to, in bytes.
	Alignment = 4
)

// Content is what one host's embed area holds.
type Content struct {
	// Ignition is the config; nil leaves the member out. An empty config must
	// not be written: it would switch the console's autologin off.
	Ignition []byte
	// Keyfiles are NetworkManager keyfiles by file name, with or without suffix.
	Keyfiles map[string][]byte
	// Files are further members, written last, in this order.
	Files []cpio.Entry
}

// Empty tells whether there is nothing to write.
func (c Content) Empty() bool {
	return len(c.Ignition) == 0 && len(c.Keyfiles) == 0 && len(c.Files) == 0
}

// Archive packs the content. The same content gives the same bytes, padded with
// zeros to [Alignment]. Empty content gives no bytes: a pristine area is all zero.
func (c Content) Archive() ([]byte, error) {
	if c.Empty() {
		return nil, nil
	}
	var out bytes.Buffer
	z := compressors.Get().(*gzip.Writer)
	defer compressors.Put(z)
	z.Reset(&out)
	if err := c.write(cpio.NewWriter(z)); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	out.Write(make([]byte, -out.Len()&(Alignment-1)))
	return slices.Clip(out.Bytes()), nil
}

// compressors holds writers for reuse: a new one costs 800 KB.
var compressors = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(nil, gzip.BestCompression)
	if err != nil {
		panic(err) //nolint:forbidigo // the level is a constant
	}
	return z
}}

func (c Content) write(w *cpio.Writer) error {
	if len(c.Ignition) > 0 {
		if err := w.File(IgnitionName, 0o600, c.Ignition); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Keyfiles)) {
		if name == "" || strings.ContainsAny(name, "/\x00") {
			return fmt.Errorf("keyfile %q: the name must be a plain file name", name)
		}
		file := KeyfileDir + "/" + strings.TrimSuffix(name, keyfileSuffix) + keyfileSuffix
		if err := w.File(file, 0o600, c.Keyfiles[name]); err != nil {
			return err
		}
	}
	for _, e := range c.Files {
		if err := w.Add(e); err != nil {
			return err
		}
	}
	return w.Close()
}
