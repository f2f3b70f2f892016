package media

import (
	"bytes"
	"encoding/binary"
	"path"
	"slices"
	"strings"
	"unicode/utf16"
)

// records returns the directory's records, none of which crosses a sector.
func (m *image) records(d *dir, joliet bool) []byte {
	var out bytes.Buffer
	add := func(rec []byte) {
		if left := sector - out.Len()%sector; len(rec) > left {
			out.Write(make([]byte, left))
		}
		out.Write(rec)
	}
	parent := m.root
	for _, p := range m.all {
		if slices.Contains(p.dirs, d) {
			parent = p
		}
	}
	var system []byte
	if !joliet && d == m.root {
		system = []byte("SP\x07\x01\xbe\xef\x00")
	}
	add(record([]byte{0}, *d.extent(joliet), true, system))
	add(record([]byte{1}, *parent.extent(joliet), true, nil))
	for _, sub := range d.dirs {
		add(entry(path.Base(sub.path), *sub.extent(joliet), true, joliet))
	}
	for _, f := range d.files {
		add(entry(path.Base(f.path), extent{f.lba, uint32(len(f.data))}, false, joliet))
	}
	return out.Bytes()
}

// entry is a record with the tree's kind of name.
func entry(name string, at extent, isDir, joliet bool) []byte {
	if joliet {
		if isDir {
			return record(ucs2(name), at, true, nil)
		}
		return record(ucs2(name), at, false, nil)
	}
	short := shortName(name)
	if !isDir {
		if !strings.Contains(short, ".") {
			short += "."
		}
		short += ";1"
	}
	return record([]byte(short), at, isDir, rockRidge(name, isDir))
}

// rockRidge is the system use area: POSIX attributes and the real name.
func rockRidge(name string, isDir bool) []byte {
	mode, links := uint32(0o100444), uint32(1)
	if isDir {
		mode, links = 0o040555, 2
	}
	px := []byte{'P', 'X', 36, 1}
	for _, v := range []uint32{mode, links, 0, 0} {
		px = append(px, both32(v)...)
	}
	nm := append([]byte{'N', 'M', byte(5 + len(name)), 1, 0}, name...)
	return append(px, nm...)
}

// record builds one directory record (ECMA-119 9.1).
func record(name []byte, at extent, isDir bool, system []byte) []byte {
	rec := make([]byte, 33, 128)
	copy(rec[2:], both32(at.lba))
	copy(rec[10:], both32(at.size))
	copy(rec[18:], date)
	if isDir {
		rec[25] = 2
	}
	copy(rec[28:], both16(1))
	rec[32] = byte(len(name))
	rec = append(rec, name...)
	if len(rec)%2 == 1 {
		rec = append(rec, 0)
	}
	rec = append(rec, system...)
	if len(rec)%2 == 1 {
		rec = append(rec, 0)
	}
	rec[0] = byte(len(rec))
	return rec
}

// date is the fixed time of everything: 2024-01-01 00:00 UTC.
var date = []byte{124, 1, 1, 0, 0, 0, 0}

// pathTable lists the directories, parents first (ECMA-119 9.4).
func (m *image) pathTable(joliet bool, order binary.AppendByteOrder) []byte {
	number := map[string]uint16{".": 1, "": 1}
	var out []byte
	for i, d := range m.all {
		number[d.path] = uint16(i + 1)
		name := []byte{0}
		if d != m.root {
			name = []byte(shortName(d.path))
			if joliet {
				name = ucs2(path.Base(d.path))
			}
		}
		out = append(out, byte(len(name)), 0)
		out = order.AppendUint32(out, d.extent(joliet).lba)
		out = order.AppendUint16(out, number[path.Dir(d.path)])
		out = append(out, name...)
		if len(name)%2 == 1 {
			out = append(out, 0)
		}
	}
	return out
}

// descriptor builds the primary or the Joliet volume descriptor.
func (m *image) descriptor(joliet bool) []byte {
	d := make([]byte, sector)
	text := func(off, n int, s string) {
		raw := bytes.Repeat([]byte{' '}, n)
		if joliet {
			raw = bytes.Repeat([]byte{0, ' '}, n/2)
			copy(raw, ucs2(s))
		} else {
			copy(raw, s)
		}
		copy(d[off:off+n], raw)
	}
	d[0] = 1
	tables := m.firstFree()
	if joliet {
		d[0] = 2
		tables += 2
		copy(d[88:], "%/E")
	}
	copy(d[1:], "CD001\x01")
	text(8, 32, "LINUX")
	text(40, 32, m.volumeID)
	copy(d[80:], both32(m.blocks))
	copy(d[120:], both16(1))
	copy(d[124:], both16(1))
	copy(d[128:], both16(sector))
	copy(d[132:], both32(uint32(len(m.pathTable(joliet, binary.LittleEndian)))))
	binary.LittleEndian.PutUint32(d[140:], tables)
	binary.BigEndian.PutUint32(d[148:], tables+1)
	copy(d[156:], record([]byte{0}, *m.root.extent(joliet), true, nil))
	for off, n := range map[int]int{190: 128, 318: 128, 446: 128, 574: 128, 702: 37, 739: 37, 776: 37} {
		text(off, n, "")
	}
	for _, off := range []int{813, 830} {
		copy(d[off:], "2024010100000000\x00")
	}
	for _, off := range []int{847, 864} {
		copy(d[off:], "0000000000000000\x00")
	}
	d[881] = 1
	text(883, 512, "")
	return d
}

// shortName is the 8.3 form of the last element of a path.
func shortName(name string) string {
	name = strings.ToUpper(path.Base(name))
	base, ext := name, ""
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		base, ext = name[:dot], name[dot:]
	}
	clean := strings.NewReplacer(".", "_", "-", "_", "~", "_")
	base = clean.Replace(base)
	return base[:min(len(base), 8)] + ext[:min(len(ext), 4)]
}

func ucs2(s string) []byte {
	var out []byte
	for _, u := range utf16.Encode([]rune(s)) {
		out = binary.BigEndian.AppendUint16(out, u)
	}
	return out
}

func both32(v uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, v), v)
}

func both16(v uint16) []byte {
	return binary.BigEndian.AppendUint16(binary.LittleEndian.AppendUint16(nil, v), v)
}
