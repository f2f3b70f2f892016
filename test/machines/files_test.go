package machines

import (
	"io/fs"
	"testing"
	"testing/fstest"

	. "github.com/onsi/gomega"
)

func TestFilesKeepTheirForm(t *testing.T) {
	g := NewWithT(t)
	files := fstest.MapFS{
		"proc/cmdline":      {Data: []byte("quiet\n"), Mode: 0o644},
		"sys/serial":        {Data: []byte("no newline"), Mode: 0o644},
		"sys/empty":         {Mode: 0o644},
		"sys/holders":       {Mode: dirMode},
		"sys/block/sda":     {Data: []byte("../devices/sda"), Mode: fs.ModeSymlink | 0o777},
		"dev/sda":           {Data: []byte{0xeb, 0, 0x55, 0xaa}, Mode: 0o644},
		"sys/looks-like-it": {Data: []byte("a\n-- /proc/cmdline --\n"), Mode: 0o644},
	}
	text := FormatFiles(files)
	again, err := ParseFiles(text)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(FormatFiles(again)).To(Equal(text))
	for name, f := range files {
		g.Expect(again).To(HaveKey(name))
		g.Expect(string(again[name].Data)).To(Equal(string(f.Data)), name)
		g.Expect(again[name].Mode).To(Equal(f.Mode), name)
	}
	for _, bad := range []string{"-- /../etc/passwd --\n", "-- /a (hex) --\nzz\n"} {
		_, err := ParseFiles(bad)
		g.Expect(err).To(HaveOccurred(), bad)
	}
}
