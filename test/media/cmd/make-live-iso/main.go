// Command make-live-iso writes the demo's live ISO: the CoreOS layout with
// generated content. See package media.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/ironflow/ironflow/test/media"
)

func main() {
	var o media.Options
	out := flag.String("o", "", "file to write (required)")
	flag.StringVar(&o.Arch, "arch", "", "architecture: x86_64, aarch64, ppc64le or s390x (default: x86_64)")
	flag.StringVar(&o.VolumeID, "volume-id", "", "volume label (default: that of the demo)")
	flag.IntVar(&o.RootfsBytes, "rootfs-bytes", 0, "size of the root file system in bytes (default: 6 MiB)")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "make-live-iso: give the file to write: make-live-iso -o FILE")
		os.Exit(2)
	}
	if err := media.WriteFile(*out, o); err != nil {
		fmt.Fprintln(os.Stderr, "make-live-iso:", err)
		os.Exit(1)
	}
}
