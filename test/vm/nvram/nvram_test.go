package nvram_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/vm/nvram"
)

// empty is an NVRAM without variables, of a size.
func empty(size int) []byte {
	raw := bytes.Repeat([]byte{0xff}, 72+size+100)
	copy(raw[40:], "_FVH")
	binary.LittleEndian.PutUint16(raw[48:], 72)
	copy(raw[72:], []byte{0x78, 0x2c, 0xf3, 0xaa, 0x7b, 0x94, 0x9a, 0x43, 0xa1, 0x80, 0x2e, 0x14, 0x4e, 0xc3, 0x77, 0x92})
	binary.LittleEndian.PutUint32(raw[72+16:], uint32(size))
	copy(raw[72+20:], []byte{0x5a, 0xfe, 0, 0, 0, 0, 0, 0})
	return raw
}

func TestVariables(t *testing.T) {
	g := NewWithT(t)
	raw := empty(400)
	store, err := nvram.Open(raw)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(store.Set("Boot0001", nvram.Global, []byte("one"))).To(Succeed())
	g.Expect(store.Set("Boot0002", nvram.Global, []byte("two"))).To(Succeed())
	g.Expect(store.Set("Boot0001", nvram.Global, []byte("longer"))).To(Succeed())

	// What was written is there for the next who opens it.
	store, err = nvram.Open(raw)
	g.Expect(err).NotTo(HaveOccurred())
	one, ok := store.Get("Boot0001", nvram.Global)
	g.Expect(ok).To(BeTrue())
	g.Expect(string(one)).To(Equal("longer"))
	two, _ := store.Get("Boot0002", nvram.Global)
	g.Expect(string(two)).To(Equal("two"))
	_, ok = store.Get("Boot0001", nvram.GUID{1})
	g.Expect(ok).To(BeFalse(), "another vendor")

	store.Delete("Boot0001", nvram.Global)
	_, ok = store.Get("Boot0001", nvram.Global)
	g.Expect(ok).To(BeFalse())
	g.Expect(store.Set("Large", nvram.Global, make([]byte, 200))).To(MatchError(nvram.ErrFull))
	g.Expect(raw[72+400:]).To(HaveEach(byte(0xff)), "behind the store")
}

func TestHTTPBoot(t *testing.T) {
	g := NewWithT(t)
	store, err := nvram.Open(empty(4096))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(store.SetHTTPBoot("http://192.0.2.1/a.iso")).To(Succeed())
	next, _ := store.Get("BootNext", nvram.Global)
	g.Expect(next).To(Equal([]byte{0x00, 0x1f}))
	option, _ := store.Get("Boot1F00", nvram.Global)
	g.Expect(option[:6]).To(Equal([]byte{1, 0, 0, 0, 4 + 22 + 4, 0}))
	g.Expect(string(option)).To(HaveSuffix("\x03\x18\x1a\x00http://192.0.2.1/a.iso\x7f\xff\x04\x00"))
	g.Expect(store.SetHTTPBoot("")).To(Succeed())
	_, ok := store.Get("BootNext", nvram.Global)
	g.Expect(ok).To(BeFalse())
}

func TestNotAnNVRAM(t *testing.T) {
	for name, change := range map[string]func([]byte) []byte{
		"short":         func(raw []byte) []byte { return raw[:71] },
		"no volume":     func(raw []byte) []byte { raw[40] = 'x'; return raw },
		"another store": func(raw []byte) []byte { raw[72] = 0; return raw },
		"too large":     func(raw []byte) []byte { binary.LittleEndian.PutUint32(raw[72+16:], 1<<31); return raw },
		"header at the end": func(raw []byte) []byte {
			binary.LittleEndian.PutUint16(raw[48:], uint16(len(raw)-10))
			return raw
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := nvram.Open(change(empty(100)))
			NewWithT(t).Expect(err).To(HaveOccurred())
		})
	}
}

func FuzzStore(f *testing.F) {
	f.Add(empty(300))
	f.Fuzz(func(t *testing.T, raw []byte) {
		store, err := nvram.Open(raw)
		if err != nil {
			return
		}
		size := len(raw)
		if store.SetHTTPBoot("http://192.0.2.1/") == nil {
			if _, ok := store.Get("BootNext", nvram.Global); !ok {
				t.Fatal("written, and not there")
			}
		}
		if len(raw) != size {
			t.Fatal("the NVRAM has another size")
		}
	})
}
