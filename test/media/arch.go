package media

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// architecture is what media of one architecture have of their own.
type architecture struct {
	// files are the boot files, in their order on the medium, and those that carry the
	// kernel arguments.
	files func(o *Options, args string) ([]*file, []kargsArea, error)
	// boot are the images that firmware starts by El Torito, in the catalog's order.
	boot []bootImage
	// catalog is the path of the boot catalog, "" for none.
	catalog string
	// ignition is igninfo.json.
	ignition map[string]any
}

// bootImage is an entry of the boot catalog.
type bootImage struct {
	path string
	// platform is 0 for BIOS (and all that has no number), 0xef for UEFI.
	platform byte
	// sectors is the number of 512-byte sectors that firmware loads.
	sectors uint16
}

// kargsArea is an entry of kargs.json.
type kargsArea struct {
	Path   string `json:"path"`
	Offset int    `json:"offset"`
	Pad    string `json:"pad"`
	End    string `json:"end"`
}

const efi = 0xef

// wholeFile is igninfo.json where the area is a file of its own.
var wholeFile = map[string]any{"file": "images/ignition.img"}

var architectures = map[string]architecture{
	"x86_64": {
		files: x86Files, catalog: "isolinux/boot.cat", ignition: wholeFile,
		boot: []bootImage{{"isolinux/isolinux.bin", 0, 4}, {"images/efiboot.img", efi, 4}},
	},
	"aarch64": {
		files: armFiles, catalog: "images/boot.cat", ignition: wholeFile,
		boot: []bootImage{{"images/efiboot.img", efi, 4}},
	},
	"ppc64le": {files: powerFiles, ignition: wholeFile},
	"s390x": {
		files: mainframeFiles, catalog: "boot.cat",
		boot:     []bootImage{{"images/cdboot.img", 0, 772}},
		ignition: map[string]any{"file": "images/cdboot.img", "offset": cdArea, "length": ignitionArea},
	},
}

// Architectures are those that media can be made for, sorted.
func Architectures() []string { return slices.Sorted(maps.Keys(architectures)) }

// grub is GRUB's configuration with the area.
func grub(path, args string, size int) (*file, kargsArea) {
	config, at := withArea("set timeout=1\nmenuentry 'Live' {\n\tlinux /images/pxeboot/vmlinuz ", args, size,
		"\tinitrd /images/pxeboot/initrd.img /images/ignition.img\n}\n")
	return &file{path: path, data: config}, kargsArea{path, at, "#", "\n"}
}

func x86Files(o *Options, args string) ([]*file, []kargsArea, error) {
	size := len(args) + kargsSpare
	efiConfig, efiArea := grub("EFI/fedora/grub.cfg", args, size)
	isolinux, at := withArea("default linux\ntimeout 10\nlabel linux\n  kernel /images/pxeboot/vmlinuz\n"+
		"  append initrd=/images/pxeboot/initrd.img,/images/ignition.img ", args, size, "")
	return []*file{
		{path: "isolinux/isolinux.bin", data: noise("isolinux", 38<<10)},
		{path: "images/efiboot.img", data: noise("efiboot", 64<<10)},
		{path: "isolinux/isolinux.cfg", data: isolinux},
		efiConfig,
		{path: "images/ignition.img", data: make([]byte, ignitionArea)},
		{path: "images/pxeboot/vmlinuz", data: kernel()},
	}, []kargsArea{efiArea, {"isolinux/isolinux.cfg", at, "#", "\n"}}, nil
}

// armFiles have a kernel that is packed, as Fedora packs it: GRUB unpacks it.
func armFiles(o *Options, args string) ([]*file, []kargsArea, error) {
	config, area := grub("EFI/fedora/grub.cfg", args, len(args)+kargsSpare)
	image := noise("kernel", kernelBytes)
	copy(image, "MZ")
	copy(image[0x38:], "ARM\x64")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(image); err != nil {
		return nil, nil, err
	}
	if err := z.Close(); err != nil {
		return nil, nil, err
	}
	return []*file{
		{path: "images/efiboot.img", data: noise("efiboot", 64<<10)},
		config,
		{path: "images/ignition.img", data: make([]byte, ignitionArea)},
		{path: "images/pxeboot/vmlinuz", data: packed.Bytes()},
	}, []kargsArea{area}, nil
}

// powerFiles boot as CHRP says: Open Firmware reads ppc/bootinfo.txt, which names
// GRUB. There is neither El Torito nor a folder for EFI.
func powerFiles(o *Options, args string) ([]*file, []kargsArea, error) {
	config, area := grub("boot/grub/grub.cfg", args, len(args)+kargsSpare)
	image := noise("kernel", kernelBytes)
	copy(image, "\x7fELF\x02\x01\x01")
	binary.LittleEndian.PutUint16(image[16:], 2)  // ET_EXEC
	binary.LittleEndian.PutUint16(image[18:], 21) // EM_PPC64
	return []*file{
		{path: "ppc/bootinfo.txt", data: []byte("<chrp-boot>\n<boot-script>boot &device;:\\boot\\grub\\powerpc-ieee1275\\core.elf</boot-script>\n</chrp-boot>\n")},
		{path: "boot/grub/powerpc-ieee1275/core.elf", data: append([]byte("\x7fELF\x01\x02\x01"), noise("core", 64<<10)...)},
		config,
		{path: "images/ignition.img", data: make([]byte, ignitionArea)},
		{path: "images/pxeboot/vmlinuz", data: image},
	}, []kargsArea{area}, nil
}

// Places in the boot image of s390x: the kernel with its arguments, then the initrd
// and behind it the area, which counts as initrd already.
const (
	cdInitrdPointer = 0x10408
	cdKargs         = 0x10480
	cdKargsBytes    = 896
	cdInitrd        = kernelBytes
	cdArea          = cdInitrd + initrdBytes
	initrdAddress   = 0x02000000
)

func mainframeFiles(o *Options, args string) ([]*file, []kargsArea, error) {
	if len(args) >= cdKargsBytes {
		return nil, nil, fmt.Errorf("kernel arguments of %d bytes, s390x takes fewer than %d", len(args), cdKargsBytes)
	}
	image := noise("kernel", kernelBytes)
	clear(image[cdInitrdPointer : cdKargs+cdKargsBytes])
	boot := slices.Concat(image, noise("initrd", initrdBytes), make([]byte, ignitionArea))
	binary.BigEndian.PutUint64(boot[cdInitrdPointer:], cdInitrd)
	binary.BigEndian.PutUint64(boot[cdInitrdPointer+8:], initrdBytes+ignitionArea)
	copy(boot[cdKargs:], args)
	addrSize := binary.BigEndian.AppendUint64(nil, initrdAddress)
	addrSize = binary.BigEndian.AppendUint64(addrSize, initrdBytes)
	ins := "* minimal lpar ins file\nimages/pxeboot/kernel.img 0x00000000\nimages/pxeboot/initrd.img 0x02000000\n" +
		"images/genericdvd.prm 0x00010480\nimages/initrd.addrsize 0x00010408\n"
	files := []*file{{path: "images/cdboot.img", data: boot}, {path: "generic.ins", data: []byte(ins)}}
	for _, name := range []string{"cdboot.prm", "generic.prm", "genericdvd.prm"} {
		files = append(files, &file{path: "images/" + name, data: []byte(args + "\n")})
	}
	return append(files,
		&file{path: "images/initrd.addrsize", data: addrSize},
		&file{path: "images/redhat.exec", data: []byte("/* */\n'CL RDR'\n")},
		&file{path: "images/pxeboot/kernel.img", data: image},
	), []kargsArea{{"images/cdboot.img", cdKargs, "\x00", "\x00"}}, nil
}
