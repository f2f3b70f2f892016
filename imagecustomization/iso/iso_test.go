package iso_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/iso"
	coreosiso "github.com/ironflow/ironflow/test/fixtures/coreos-iso"
)

type place struct {
	path   string
	offset int64
}

// golden holds the known facts of the fixtures.
var golden = map[string]struct {
	sha, volume string
	ignition    int64
	wholeFile   bool
	kargs       []place
	kargsSize   int64
	source      string
	joliet      bool
	network     bool
	miniso      bool
}{
	"2020-09": {sha: "748e9a3a5d2e", volume: "rhcos-46.82.202112161843-0", ignition: 92160, wholeFile: true},
	"2021-01": {
		sha: "92355b648201", volume: "rhcos-47.84.202112162337-0", ignition: 96256, wholeFile: true,
		kargs: []place{{"isolinux/isolinux.cfg", 94026}, {"EFI/redhat/grub.cfg", 365415}}, kargsSize: 1131, source: "header",
	},
	"2021-12": {
		sha: "af3870b377da", volume: "fedora-coreos-35.20211216.dev.0", ignition: 161792, wholeFile: true,
		kargs: []place{{"EFI/fedora/grub.cfg", 431050}, {"isolinux/isolinux.cfg", 139086}}, kargsSize: 1139,
		source: "kargs.json", network: true, miniso: true,
	},
	"2022-09": {
		sha: "5ab68daec527", volume: "fedora-coreos-36.20220909.dev.0", ignition: 159744, wholeFile: true,
		kargs: []place{{"EFI/fedora/grub.cfg", 429002}, {"isolinux/isolinux.cfg", 137038}}, kargsSize: 1139,
		source: "kargs.json", network: true, miniso: true,
	},
	"2023-07.x86_64": {
		sha: "a4079e6ffe86", volume: "fedora-coreos-38.20230718.dev.0", ignition: 139264, wholeFile: true,
		kargs: []place{{"EFI/fedora/grub.cfg", 408522}, {"isolinux/isolinux.cfg", 137037}}, kargsSize: 1139,
		source: "kargs.json", network: true, miniso: true,
	},
	"2023-07.s390x": {
		sha: "f365f000adf9", volume: "fedora-coreos-38.20230718.dev.0", ignition: 203776,
		kargs: []place{{"images/cdboot.img", 138368}}, kargsSize: 896, source: "kargs.json", network: true, miniso: true,
	},
}

func parse(t *testing.T, raw []byte) *iso.Layout {
	t.Helper()
	l, err := iso.Parse(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestGoldenOffsets(t *testing.T) {
	for _, name := range coreosiso.Names {
		t.Run(name, func(t *testing.T) {
			g, want := NewWithT(t), golden[name]
			raw := coreosiso.Read(t, name)
			sum := sha256.Sum256(raw)
			g.Expect(hex.EncodeToString(sum[:])).To(HavePrefix(want.sha))
			l := parse(t, raw)

			g.Expect(l.VolumeID).To(Equal(want.volume))
			g.Expect(l.Ignition.Area).To(Equal(iso.Area{Offset: want.ignition, Length: 262144}))
			g.Expect(l.Ignition.WholeFile).To(Equal(want.wholeFile))
			g.Expect(l.Features[iso.FeatureInitrdNetwork]).To(Equal(want.network))
			g.Expect(l.Miniso != nil).To(Equal(want.miniso))
			if want.source == "" {
				g.Expect(l.Kargs).To(BeNil())
				return
			}
			g.Expect(l.Kargs.Source).To(Equal(want.source))
			var areas []place
			for _, a := range l.Kargs.Areas {
				g.Expect(a.Length).To(Equal(want.kargsSize))
				areas = append(areas, place{a.Path, a.Offset})
			}
			g.Expect(areas).To(ConsistOf(want.kargs))
			g.Expect(l.Kargs.Read(bytes.NewReader(raw))).To(Equal(l.Kargs.Default))
			g.Expect(l.Kargs.Default).To(ContainSubstring("coreos.liveiso=" + want.volume))
		})
	}
}

// Without kargs.json and header, the marker leads to the very same areas.
func TestMarkerFindsTheSameAreas(t *testing.T) {
	for _, name := range []string{"2021-01", "2021-12", "2022-09", "2023-07.x86_64"} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			raw := coreosiso.Read(t, name)
			want := parse(t, raw).Kargs
			raw = bytes.ReplaceAll(raw, []byte("KARGS.JSO"), []byte("KARGX.JSO"))
			raw = bytes.ReplaceAll(raw, []byte("kargs.json"), []byte("kargx.json"))
			raw = bytes.ReplaceAll(raw, []byte("\x00k\x00a\x00r\x00g\x00s\x00.\x00j"), []byte("\x00k\x00a\x00r\x00g\x00x\x00.\x00j"))
			raw = bytes.ReplaceAll(raw, []byte("coreKarg"), []byte("coreNone"))
			got := parse(t, raw).Kargs
			g.Expect(got.Source).To(Equal("marker"))
			g.Expect(got.Default).To(Equal(want.Default))
			g.Expect(got.Areas).To(ConsistOf(want.Areas))
		})
	}
}

func TestFindsFilesUnderEveryName(t *testing.T) {
	l := parse(t, coreosiso.Read(t, "2023-07.s390x"))
	for long, short := range map[string]string{
		"coreos/kargs.json":      "COREOS/KARGS.JSO",
		"images/genericdvd.prm":  "IMAGES/GENERICD.PRM",
		"images/initrd.addrsize": "/images/initrd.add",
		"generic.ins":            "GENERIC.INS",
	} {
		t.Run(long, func(t *testing.T) {
			g := NewWithT(t)
			f := l.File(long)
			g.Expect(f).NotTo(BeNil())
			g.Expect(l.File(short)).To(BeIdenticalTo(f))
			g.Expect(f.Path).To(Equal(long))
		})
	}
	NewWithT(t).Expect(l.File("images/none")).To(BeNil())
	NewWithT(t).Expect(l.File("images")).To(BeNil())
}

// The records must be right, or a relocation would patch foreign bytes.
func TestRecordsPointBack(t *testing.T) {
	for _, name := range coreosiso.Names {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			raw := coreosiso.Read(t, name)
			l := parse(t, raw)
			for f := range l.Files() {
				records := []int64{f.Record}
				if l.Joliet != nil {
					g.Expect(f.JolietRecord).NotTo(BeZero(), f.Path)
					records = append(records, f.JolietRecord)
				}
				for _, at := range records {
					g.Expect(int64(binary.LittleEndian.Uint32(raw[at+2:]))*2048).To(Equal(f.Offset), f.Path)
					g.Expect(int64(binary.LittleEndian.Uint32(raw[at+10:]))).To(Equal(f.Size), f.Path)
				}
			}
		})
	}
}

func TestRefusesBrokenMedia(t *testing.T) {
	good := coreosiso.Read(t, "2023-07.x86_64")
	cases := []struct {
		name  string
		spoil func([]byte) []byte
		want  error
		text  string
	}{
		{"empty", func([]byte) []byte { return nil }, iso.ErrNotISO, "no volume descriptor"},
		{"no signature", func(b []byte) []byte { b[32769] = 'X'; return b }, iso.ErrNotISO, "CD001"},
		{"cut download", func(b []byte) []byte { return b[:400000] }, iso.ErrIncomplete, "the file only 400000"},
		{"other sector size", func(b []byte) []byte { b[32768+129] = 4; return b }, iso.ErrNotISO, "sectors of"},
		{"kargs outside the file", func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"size": 1139`), []byte(`"size": 9139`), 1)
		}, iso.ErrNotISO, "kargs.json"},
		{"igninfo names a missing file", func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"images/ignition.img"`), []byte(`"images/ignition.xyz"`), 1)
		}, iso.ErrNotISO, "ignition.xyz"},
		{"not JSON", func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"default":`), []byte(`"default" `), 1)
		}, iso.ErrNotISO, "kargs.json"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			raw := tc.spoil(bytes.Clone(good))
			_, err := iso.Parse(bytes.NewReader(raw), int64(len(raw)))
			g.Expect(err).To(MatchError(tc.want))
			g.Expect(err.Error()).To(ContainSubstring(tc.text))
		})
	}
}

// FuzzParse writes patches into good media: bytes that are all random never get
// beyond the signature.
func FuzzParse(f *testing.F) {
	var good [][]byte
	for i, name := range coreosiso.Names {
		raw := coreosiso.Read(f, name)
		good = append(good, raw)
		l, err := iso.Parse(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			f.Fatal(err)
		}
		for file := range l.Files() {
			f.Add(uint8(i), uint32(file.Record), []byte{0x22, 0, 0xff, 0xff})
			f.Add(uint8(i), uint32(file.Offset), []byte(`{"size":18446744073709551615}`))
		}
		f.Add(uint8(i), uint32(32768+156), []byte{34, 0, 1})
		f.Add(uint8(i), uint32(32672), []byte("coreKarg\xff\xff\xff\xff\xff\xff\xff\x7f"))
	}
	f.Fuzz(func(t *testing.T, fixture uint8, off uint32, patch []byte) {
		raw := bytes.Clone(good[int(fixture)%len(good)])
		copy(raw[int(off)%len(raw):], patch)
		l, err := iso.Parse(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			return
		}
		for file := range l.Files() {
			if file.Offset < 0 || file.Offset+file.Size > int64(len(raw)) {
				t.Fatalf("%s is outside the image", file.Path)
			}
		}
		if l.Ignition != nil && (l.Ignition.Offset < 0 || l.Ignition.Length < 0 || l.Ignition.End() > int64(len(raw))) {
			t.Fatal("the Ignition area is outside the image")
		}
		if l.Kargs != nil {
			for _, a := range l.Kargs.Areas {
				if a.Offset < 0 || a.End() > int64(len(raw)) {
					t.Fatalf("the kernel arguments of %s are outside the image", a.Path)
				}
			}
			_, _ = l.Kargs.Read(bytes.NewReader(raw))
		}
	})
}
