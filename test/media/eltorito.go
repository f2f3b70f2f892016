package media

import (
	"encoding/binary"
	"slices"
)

// bootRecord is the descriptor that names the boot catalog.
func (m *image) bootRecord() []byte {
	d := make([]byte, sector)
	copy(d[1:], "CD001\x01EL TORITO SPECIFICATION")
	binary.LittleEndian.PutUint32(d[71:], m.find(m.catalog).lba)
	return d
}

// bootCatalog has an entry for each boot image: the first is the default one, each
// further one has a section of its own.
func (m *image) bootCatalog() []byte {
	c := make([]byte, 0, sector)
	head := make([]byte, 32)
	head[0], head[1] = 1, m.boot[0].platform
	head[30], head[31] = 0x55, 0xaa
	var sum uint16
	for i := 0; i < len(head); i += 2 {
		sum += binary.LittleEndian.Uint16(head[i:])
	}
	binary.LittleEndian.PutUint16(head[28:], -sum) // all words together are 0
	c = append(c, head...)
	for i, b := range m.boot {
		if i > 0 {
			section := make([]byte, 32)
			section[0], section[1], section[2] = 0x90, b.platform, 1
			if i == len(m.boot)-1 {
				section[0] = 0x91
			}
			c = append(c, section...)
		}
		entry := make([]byte, 32)
		entry[0] = 0x88
		binary.LittleEndian.PutUint16(entry[6:], b.sectors)
		binary.LittleEndian.PutUint32(entry[8:], m.find(b.path).lba)
		c = append(c, entry...)
	}
	return c[:sector]
}

func (m *image) find(path string) *file {
	i := slices.IndexFunc(m.files, func(f *file) bool { return f.path == path })
	return m.files[i]
}
