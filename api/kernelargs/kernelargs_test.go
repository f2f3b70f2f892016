package kernelargs_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/kernelargs"
)

func TestRefused(t *testing.T) {
	for name, tc := range map[string]struct{ operation, value, want string }{
		"a disk":                            {"append", "coreos.inst.install_dev=/dev/sda", "coreos.inst.install_dev: "},
		"a disk without its folder":         {"append", "coreos.inst.install_dev=sda", "coreos.inst.install_dev: "},
		"an image":                          {"append", "coreos.inst.image_url=http://i.example/metal.raw", "coreos.inst.image_url: "},
		"a switch":                          {"append", "coreos.inst.insecure", "coreos.inst.insecure: "},
		"the old switch":                    {"append", "coreos.inst=yes", "coreos.inst: "},
		"behind another one":                {"append", "rd.neednet=1 coreos.inst.install_dev=/dev/sda", "coreos.inst.install_dev: "},
		"in quotes":                         {"append", `a="b coreos.inst.install_dev=/dev/sda"`, "coreos.inst.install_dev: "},
		"in the place of another":           {"replace", "coreos.inst.install_dev=/dev/sda=/dev/sdb", "coreos.inst.install_dev: "},
		"for the installed system":          {"append", `coreos.inst.persistent-kargs="console=tty1 console=ttyS1,115200n8"`, "coreos.inst.persistent-kargs: no installer reads it"},
		"for the installed system, one":     {"append", "coreos.inst.persistent-kargs=console=ttyS1", "--append-karg"},
		"one that goes":                     {"delete", "coreos.inst.install_dev=/dev/sda", ""},
		"a console":                         {"append", "console=ttyS0,115200n8", ""},
		"another of CoreOS":                 {"append", "coreos.live.rootfs_url=http://i.example/rootfs", ""},
		"a name that begins with the same":  {"append", "coreos.install=1", ""},
		"a value that looks like the name":  {"append", "a=coreos.inst.install_dev", ""},
		"nothing":                           {"append", "", ""},
		"a replacement that has no new one": {"replace", "a=b", ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := kernelargs.Refused(tc.operation, tc.value)
			if tc.want == "" {
				NewWithT(t).Expect(err).NotTo(HaveOccurred())
				return
			}
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}
