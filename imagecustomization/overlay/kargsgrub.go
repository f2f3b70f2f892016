package overlay

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/imagecustomization/iso"
)

// grubConfig is the name of the configuration that GRUB reads, as a script.
const grubConfig = "grub.cfg"

// checkForGRUB refuses new arguments that GRUB would read as a part of its script: some
// make an error of the whole menu, so that the machine does not boot, others change on the
// way. Nothing can be escaped, because isolinux would hand the escape on.
func (e *editor) checkForGRUB(k *iso.Kargs, args string) error {
	i := slices.IndexFunc(k.Areas, func(a iso.KargsArea) bool { return path.Base(a.Path) == grubConfig })
	if i < 0 {
		return nil
	}
	current, err := k.Areas[i].Read(e.media)
	if err != nil {
		return err
	}
	known := append(strings.Fields(current), strings.Fields(k.Default)...)
	for arg := range strings.FieldsSeq(args) {
		if what := scriptIn(arg); what != "" && !slices.Contains(known, arg) {
			return fmt.Errorf("kernel argument %q holds %s, which GRUB reads as a part of its script (%s): leave it out, or boot over the network, where arguments are taken as they are",
				arg, what, k.Areas[i].Path)
		}
	}
	return nil
}

// scriptIn is what GRUB would not take as it is, empty for nothing (GRUB manual, "Quoting").
// Double quotes are taken away by GRUB or by the kernel, whoever comes first.
func scriptIn(arg string) string {
	switch {
	case arg[0] == '#':
		return "# at its beginning"
	case arg == "[[":
		return arg
	}
	quoted := false
	for _, r := range arg {
		switch {
		case r == '"':
			quoted = !quoted
		case strings.ContainsRune("$\\", r), !quoted && strings.ContainsRune("&|;<>{}'", r):
			return string(r)
		}
	}
	if quoted {
		return "a quote without an end"
	}
	return ""
}
