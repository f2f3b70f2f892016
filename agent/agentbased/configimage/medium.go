package configimage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/ironflow/ironflow/imagecustomization/iso"
)

// ArchiveName is the archive's on the medium.
const ArchiveName = "config.gz"

// maxArchive bounds the compressed archive.
const maxArchive = 64 << 20

// errNoMedium means that the device has no medium now.
var errNoMedium = errors.New("no medium")

// ReadMedium returns the archive on an ISO 9660 medium. It is read without being mounted:
// the kernel's file systems were not made for hostile media.
func ReadMedium(device string) ([]byte, error) {
	f, err := os.Open(device)
	if err != nil {
		return nil, errors.Join(errNoMedium, err)
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return nil, errors.Join(errNoMedium, err)
	}
	layout, err := iso.Parse(f, size)
	if err != nil {
		return nil, fmt.Errorf("the medium cannot be read: %w", err)
	}
	file := layout.File(ArchiveName)
	switch {
	case file == nil:
		return nil, fmt.Errorf("there is no file %s on the medium", ArchiveName)
	case file.Size > maxArchive:
		return nil, fmt.Errorf("%s has %d bytes, at most %d are read", ArchiveName, file.Size, maxArchive)
	}
	var raw bytes.Buffer
	if _, err := io.Copy(&raw, io.NewSectionReader(f, file.Offset, file.Size)); err != nil {
		return nil, fmt.Errorf("read %s of the medium: %w", ArchiveName, err)
	}
	return raw.Bytes(), nil
}
