package media

import (
	"compress/gzip"
	"encoding/binary"
	"io"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// archs are the architectures with every spelling in use.
var archs = map[string]string{
	"x86_64": "x86_64", "amd64": "x86_64",
	"aarch64": "aarch64", "arm64": "aarch64",
	"ppc64le": "ppc64le",
	"s390x":   "s390x",
}

// Architectures returns the known architectures in the kernel's spelling, sorted.
func Architectures() []string {
	return slices.Compact(slices.Sorted(maps.Values(archs)))
}

// NormalArch returns the kernel's spelling of an architecture; unknown names
// stay as they are.
func NormalArch(name string) string {
	if a, ok := archs[strings.ToLower(name)]; ok {
		return a
	}
	return name
}

// arch tells a medium's architecture by its file name, its kernel, its boot
// files, or else assumes the hub's own.
func arch(b *Medium) string {
	for _, guess := range []func(*Medium) string{archByName, archByKernel, archByBootFiles} {
		if a := guess(b); a != "" {
			return a
		}
	}
	return NormalArch(runtime.GOARCH)
}

func archByName(b *Medium) string {
	name := strings.ToLower(filepath.Base(b.Path))
	for spelling, a := range archs {
		i := strings.Index(name, spelling)
		if i > 0 && strings.ContainsRune("-_.", rune(name[i-1])) {
			return a
		}
	}
	return ""
}

// archByKernel reads the kernel's signature: the x86 boot protocol, the arm64
// image header, a PE header, or an ELF header. Kernels for arm64 may be packed.
func archByKernel(b *Medium) string {
	f := b.Layout.File("images/pxeboot/vmlinuz")
	if f == nil {
		return ""
	}
	head := make([]byte, kernelHead)
	n, err := io.ReadFull(io.NewSectionReader(b, f.Offset, f.Size), head)
	if err == nil && string(head[:2]) == "\x1f\x8b" {
		n, err = 0, nil
		if z, bad := gzip.NewReader(io.NewSectionReader(b, f.Offset, f.Size)); bad == nil {
			n, err = io.ReadFull(z, head)
		}
	}
	if err != nil || n < kernelHead {
		return ""
	}
	switch {
	case string(head[0x202:0x206]) == "HdrS":
		return "x86_64"
	case string(head[0x38:0x3c]) == "ARM\x64":
		return "aarch64"
	case string(head[:4]) == "\x7fELF" && head[5] == 1 && binary.LittleEndian.Uint16(head[18:]) == 21:
		return "ppc64le"
	case string(head[:2]) == "MZ":
		pe := binary.LittleEndian.Uint32(head[0x3c:])
		if int64(pe)+6 <= kernelHead && binary.LittleEndian.Uint16(head[pe+4:]) == 0xaa64 {
			return "aarch64"
		}
	}
	return ""
}

// kernelHead is how many bytes of a kernel tell its architecture.
const kernelHead = 1024

func archByBootFiles(b *Medium) string {
	switch {
	case b.Layout.File("generic.ins") != nil:
		return "s390x"
	case b.Layout.File("boot/grub/grub.cfg") != nil:
		return "ppc64le"
	case b.Layout.File("isolinux/isolinux.bin") != nil:
		return "x86_64"
	}
	return ""
}
