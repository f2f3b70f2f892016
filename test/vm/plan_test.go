package vm

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab/emulator"
)

// inserted is a BMC with the medium at the address.
func inserted(address string, more emulator.SystemChange) emulator.SystemChange {
	more.Media = map[string]emulator.Medium{emulator.MediaCd: {Image: address, Inserted: true}}
	return more
}

func TestPlan(t *testing.T) {
	config := Config{Firmware: UEFI, Order: []Source{SourceDisk, SourceMedium}}
	const iso = "http://192.0.2.1/a.iso"
	for _, c := range []struct {
		name   string
		board  emulator.SystemChange
		forced []Source
		want   plan
	}{
		{"a BMC that was never asked", emulator.SystemChange{}, nil, plan{firmware: UEFI, order: []Source{SourceDisk, SourceMedium}}},
		{
			"medium, BIOS", inserted(iso, emulator.SystemChange{BootDevice: emulator.BootCd, BootMode: emulator.BootModeLegacy}), nil,
			plan{firmware: BIOS, order: []Source{SourceMedium, SourceDisk}, medium: iso},
		},
		{
			"BIOS has no secure boot",
			emulator.SystemChange{BootMode: emulator.BootModeLegacy, SecureBoot: true},
			nil,
			plan{firmware: BIOS, order: []Source{SourceDisk, SourceMedium}},
		},
		{
			"secure boot from the disk with a medium in the drive", inserted(iso, emulator.SystemChange{BootDevice: emulator.BootHdd, SecureBoot: true}), nil,
			plan{firmware: UEFI, secure: true, order: []Source{SourceDisk, SourceMedium}, medium: iso},
		},
		{
			"network",
			emulator.SystemChange{BootDevice: emulator.BootPxe},
			nil,
			plan{firmware: UEFI, order: []Source{SourceNetwork, SourceDisk, SourceMedium}},
		},
		{
			"HTTP boot", inserted(iso, emulator.SystemChange{BootDevice: emulator.BootCd, HTTPBootURI: iso}), nil,
			plan{firmware: UEFI, order: []Source{SourceMedium, SourceDisk}, httpBoot: iso},
		},
		{
			"a medium after an HTTP boot", inserted(iso, emulator.SystemChange{BootDevice: emulator.BootCd, HTTPBootURI: "http://192.0.2.1/other"}), nil,
			plan{firmware: UEFI, order: []Source{SourceMedium, SourceDisk}, medium: iso},
		},
		{
			"a machine with a mind of its own", inserted(iso, emulator.SystemChange{BootDevice: emulator.BootHdd}),
			[]Source{SourceMedium},
			plan{firmware: UEFI, order: []Source{SourceMedium}, medium: iso},
		},
	} {
		t.Run(c.name, func(t *testing.T) { NewWithT(t).Expect(decide(config, c.board, c.forced)).To(Equal(c.want)) })
	}
}

// TestActions shows that every request has an answer in every state.
func TestActions(t *testing.T) {
	g := NewWithT(t)
	for _, reset := range []emulator.Reset{
		emulator.ResetOn, emulator.ResetForceOn, emulator.ResetForceOff, emulator.ResetGracefulShutdown, emulator.ResetGracefulRestart, emulator.ResetForceRestart,
	} {
		for _, s := range []state{off, on, stopping} {
			g.Expect(actions[reset]).To(HaveKeyWithValue(s, Not(BeEmpty())), "%s when %s", reset, s)
		}
		if strings.HasSuffix(string(reset), "On") || strings.HasSuffix(string(reset), "Restart") {
			g.Expect(actions[reset][off]).To(Equal(start), "%s of a machine that is off", reset)
		}
	}
}

func TestAcceptable(t *testing.T) {
	for address, want := range map[string]string{
		"http://192.0.2.1/a.iso": "", "https://[2001:db8::1]:8443/a,b.iso?x=1": "",
		"ftp://192.0.2.1/a.iso": "http and https", "file:///etc/passwd": "http and https", "nfs": "http and https", "http:///a.iso": "http and https",
		"http://192.0.2.1/" + strings.Repeat("a", maxURL): "at most",
	} {
		err := acceptable(inserted(address, emulator.SystemChange{}))
		if want == "" {
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
		} else {
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(want)), address)
		}
	}
	floppy := emulator.SystemChange{Media: map[string]emulator.Medium{emulator.MediaFloppy: {Image: "http://192.0.2.1/a.img", Inserted: true}}}
	NewWithT(t).Expect(acceptable(floppy)).To(MatchError(ContainSubstring("no drive")))
}
