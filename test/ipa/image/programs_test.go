//go:build e2e

package image_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// missing are the programs that ironic-python-agent runs and the image does not
// have, with what becomes of that.
var missing = map[string]string{
	"biosdevname":     "Debian has none; the names of network cards are then the kernel's",
	"chronyc":         "the live system keeps the time",
	"chronyd":         "the live system keeps the time",
	"hardware-detect": "a collector that nobody switches on",
	"iscsistart":      "a root disk over iSCSI is attached by the live system's initrd",
	"mstconfig":       "firmware of one vendor's cards",
	"mstflint":        "firmware of one vendor's cards",
	"mstfwreset":      "firmware of one vendor's cards",
	"multipath":       "IPA would start a daemon of its own, whose maps hold disks that the host writes to; each path to a disk is shown as a disk",
	"multipathd":      "see multipath",
	"ntpdate":         "the live system keeps the time",
	"hexdump":         "an image that is written whole has no id of its disk, of which IPA warns",
	"modprobe":        "the live system has loaded the drivers",
	"file":            "an image that is written whole is not asked for its boot sector",
}

// runs is where IPA runs a program.
var runs = regexp.MustCompile(`execute\(\s*'([a-zA-Z][\w.-]*)'`)

// hasWhatIPARuns looks through the sources of ironic-python-agent in the image for
// the programs that it runs, and for these in the image. A machine shows a missing
// one at the end of its cleaning at the earliest.
func hasWhatIPARuns(_ *testing.T, i *image) {
	// It has these two in a variable.
	const standby = "extensions/standby.py"
	wanted := map[string]string{"poweroff": standby, "reboot": standby}
	packages, err := filepath.Glob(filepath.Join(i.root, "opt/ipa/lib/python3*/site-packages/ironic_python_agent"))
	i.Expect(err).NotTo(HaveOccurred())
	i.Expect(packages).To(HaveLen(1))
	i.Expect(filepath.WalkDir(packages[0], func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".py" || strings.Contains(path, "/tests/") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, found := range runs.FindAllStringSubmatch(string(source), -1) {
			wanted[found[1]] = path
		}
		return err
	})).To(Succeed())
	i.Expect(wanted).To(HaveKey("mdadm"), "the sources were found")
	for program, source := range wanted {
		_, known := missing[program]
		i.Expect(i.has(program)).NotTo(Equal(known), "%s, which %s runs; the table of missing programs names it: %t", program, source, known)
	}
}

// has says whether a program is in the image's PATH.
func (i *image) has(program string) bool {
	for _, variable := range i.config.Env {
		folders, found := strings.CutPrefix(variable, "PATH=")
		if !found {
			continue
		}
		for _, folder := range filepath.SplitList(folders) {
			if _, err := os.Lstat(filepath.Join(i.root, folder, program)); err == nil {
				return true
			}
		}
	}
	return false
}
