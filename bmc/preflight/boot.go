package preflight

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/quirks"
)

const (
	fieldAddress  = "spec.bmc.address"
	fieldBootMode = "spec.bootMode"
	fieldImage    = "spec.image.url"
	fieldRAID     = "spec.raid"
	fieldHardware = "spec.raid.hardwareRAIDVolumes"
	fieldSoftware = "spec.raid.softwareRAIDVolumes"
	fieldSettings = "spec.settings"
	fieldUpdates  = "spec.updates"
)

// The values of spec.bootMode.
const (
	uefiSecureBoot = "UEFISecureBoot"
	legacy         = "legacy"
)

// needsRedfish: what Ironic does over Redfish only.
func needsRedfish(in *Input) []v1alpha1.Mismatch {
	w := in.Wishes
	if w.Address.Redfish {
		return nil
	}
	message := func(what, instead string) string {
		return fmt.Sprintf("%s needs a BMC over Redfish, and %s is of another kind: use a Redfish scheme, or %s.", what, quoted(w.Address.Scheme), instead)
	}
	var mismatches []v1alpha1.Mismatch
	if w.Volumes != nil {
		mismatches = append(mismatches, mismatch(kindHost, fieldHardware, ReasonNeedsRedfish,
			message("Hardware RAID", "use softwareRAIDVolumes, or leave hardwareRAIDVolumes out to keep the volumes as they are")))
	}
	if w.BootMode == uefiSecureBoot {
		mismatches = append(mismatches, mismatch(kindHost, fieldBootMode, ReasonNeedsRedfish, message("Switching secure boot", "write UEFI")))
	}
	if len(w.Settings) > 0 {
		mismatches = append(mismatches, mismatch(kindSettings, fieldSettings, ReasonNeedsRedfish, message("Changing BIOS settings", "remove the settings")))
	}
	if len(w.Updates) > 0 {
		mismatches = append(mismatches, mismatch(kindComponents, fieldUpdates, ReasonNeedsRedfish, message("Updating firmware", "remove the updates")))
	}
	return mismatches
}

// addressScheme: the quirk table names a scheme that virtual media need.
func addressScheme(in *Input) []v1alpha1.Mismatch {
	address := in.Wishes.Address
	needed := quirks.Values(in.Report.Quirks, quirks.RequiredScheme)
	if address.Boot != VirtualMedia || len(needed) == 0 || slices.Contains(needed, address.Scheme) {
		return nil
	}
	return one(kindHost, fieldAddress, ReasonAddressScheme, fmt.Sprintf("Virtual media by %s do not work with %s %s: write %s instead.",
		quoted(address.Scheme), cut(in.Report.ManagerModel, longestValue), known(in.Report.BMCVersion), strings.Join(needed, " or ")))
}

// badVersion: faults that spoil everything. Those of single capabilities are said
// where these are asked for.
func badVersion(in *Input) []v1alpha1.Mismatch {
	var mismatches []v1alpha1.Mismatch
	for _, bad := range quirks.BadVersions(in.Report.Quirks) {
		if bad.Capability == "" {
			mismatches = append(mismatches, mismatch(kindHost, fieldAddress, ReasonBadVersion,
				fmt.Sprintf("The BMC has %s, which has a fault that %s fixes. %s", known(in.Report.BMCVersion), bad.Mends, bad.Advice)))
		}
	}
	return mismatches
}

// bootKind: virtual media need a slot and a boot from it, HTTP boot needs a firmware
// that has it.
func bootKind(in *Input) []v1alpha1.Mismatch {
	address := in.Wishes.Address
	needs := func(capability, reason, instead string) []v1alpha1.Mismatch {
		because, as, refused := in.refused(capability, reason)
		if !refused {
			return nil
		}
		return one(kindHost, fieldAddress, as, fmt.Sprintf("%s by %s cannot work. %s Otherwise %s.", upper(string(address.Boot)), quoted(address.Scheme), because, instead))
	}
	switch address.Boot {
	case VirtualMedia:
		if mismatches := needs(quirks.VirtualMediaCD, ReasonVirtualMedia, "boot over the network with "+overNetwork(address.Scheme)); mismatches != nil {
			return mismatches
		}
		if !strings.HasPrefix(address.Scheme, "idrac-") { // these direct the boot by a call of Dell's own
			return needs(quirks.BootOnce, ReasonBootOnce, "boot over the network with "+overNetwork(address.Scheme))
		}
	case HTTPBoot:
		return needs(quirks.HTTPBoot, ReasonHTTPBoot, "use redfish-virtualmedia, or redfish for the network")
	case Network:
	}
	return nil
}

// overNetwork is the scheme that boots over the network in place of virtual media.
func overNetwork(scheme string) string {
	kind, _, _ := strings.Cut(scheme, "-virtualmedia")
	if kind == "redfish" {
		return kind
	}
	return kind + "-redfish"
}

func upper(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// eachImage calls check with the images that the BMC fetches as virtual media.
func eachImage(in *Input, check func(image LiveImage, name, field string) []v1alpha1.Mismatch) []v1alpha1.Mismatch {
	if in.Wishes.Address.Boot != VirtualMedia {
		return nil
	}
	return append(check(in.Wishes.LiveImage, "The live image", fieldAddress), check(in.Wishes.LiveISO, "The live ISO", fieldImage)...)
}

// imageScheme: the BMC fetches the image itself.
func imageScheme(in *Input) []v1alpha1.Mismatch {
	allowed := quirks.Values(in.Report.Quirks, quirks.ImageScheme)
	if len(allowed) == 0 {
		allowed = in.Report.MediaProtocols
	}
	return eachImage(in, func(image LiveImage, name, field string) []v1alpha1.Mismatch {
		if image.Scheme == "" || len(allowed) == 0 || slices.ContainsFunc(allowed, func(s string) bool { return strings.EqualFold(s, image.Scheme) }) {
			return nil
		}
		return one(kindHost, field, ReasonImageScheme, fmt.Sprintf("%s is served by %s, and virtual media of this BMC take %s: serve it so, or boot over the network with %s.",
			name, image.Scheme, list(allowed), overNetwork(in.Wishes.Address.Scheme)))
	})
}

// imageURL: some BMCs refuse more than a plain path.
func imageURL(in *Input) []v1alpha1.Mismatch {
	return eachImage(in, func(image LiveImage, name, field string) []v1alpha1.Mismatch {
		if !image.Query || !quirks.Has(in.Report.Quirks, quirks.PlainURL) {
			return nil
		}
		return one(kindHost, field, ReasonImageURL,
			name+" has an address with ? or =, and virtual media of this BMC take plain paths only: serve it from a path that ends in .iso.")
	})
}

// imageSize: a site knows how large an image its BMCs take.
func imageSize(in *Input) []v1alpha1.Mismatch {
	return eachImage(in, func(image LiveImage, name, field string) []v1alpha1.Mismatch {
		for _, text := range quirks.Values(in.Report.Quirks, quirks.ImageSize) {
			most, err := strconv.ParseInt(text, 10, 64)
			if err != nil || image.Bytes <= most<<20 {
				continue
			}
			has, takes := amounts(image.Bytes, most<<20)
			return one(kindHost, field, ReasonImageSize, fmt.Sprintf("%s has %s, and virtual media of this BMC take %s: use a smaller one, or boot over the network with %s.",
				name, has, takes, overNetwork(in.Wishes.Address.Scheme)))
		}
		return nil
	})
}

// bootMode: HTTP boot and aarch64 know UEFI only.
func bootMode(in *Input) []v1alpha1.Mismatch {
	if in.Wishes.BootMode != legacy {
		return nil
	}
	switch {
	case in.Wishes.Address.Boot == HTTPBoot:
		return one(kindHost, fieldBootMode, ReasonBootMode, "legacy does not go with HTTP boot, which is part of UEFI: write UEFI, or use virtual media in spec.bmc.address.")
	case in.Wishes.Architecture == "aarch64":
		return one(kindHost, fieldBootMode, ReasonBootMode, "legacy does not go with aarch64, which has UEFI only: write UEFI.")
	}
	return nil
}

// secureBoot: the switch has to be there.
func secureBoot(in *Input) []v1alpha1.Mismatch {
	if in.Wishes.BootMode != uefiSecureBoot || !in.Wishes.Address.Redfish {
		return nil
	}
	because, reason, refused := in.refused(quirks.SecureBoot, ReasonSecureBoot)
	if !refused {
		return nil
	}
	return one(kindHost, fieldBootMode, reason, "UEFISecureBoot is asked for, and secure boot cannot be switched. "+because+" Write UEFI, or switch it on by hand.")
}
