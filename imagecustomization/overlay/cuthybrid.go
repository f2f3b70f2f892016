package overlay

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/ironflow/ironflow/imagecustomization/iso"
)

// The system area of a medium is its first 32 KiB, which ISO 9660 leaves to
// others: partition tables of hybrid media, and the headers of old CoreOS media.
const (
	systemBytes = 16 * sector
	// disk sectors are what partition tables count in.
	diskSector = 512

	gptHeader      = 1 * diskSector
	gptHeaderBytes = 92
	mbrEntries     = 446
)

// systemArea patches what names places of the medium by absolute offsets.
func (c *cutter) systemArea() error {
	area := make([]byte, systemBytes)
	if _, err := c.media.ReadAt(area, 0); err != nil {
		return fmt.Errorf("read the system area: %w", err)
	}
	c.oldHeaders(area)
	c.masterBootRecord(area)
	if string(area[gptHeader:gptHeader+8]) == "EFI PART" {
		return c.partitionTable(area)
	}
	return nil
}

// oldHeaders moves the offsets in the headers of old CoreOS media.
func (c *cutter) oldHeaders(area []byte) {
	for _, at := range iso.HeaderOffsets(area) {
		if v := int64(binary.LittleEndian.Uint64(area[at:])); v != 0 && c.moved(v) != v {
			c.put(int64(at), binary.LittleEndian.AppendUint64(nil, uint64(c.moved(v))))
		}
	}
}

// masterBootRecord shortens partitions that end behind the result's end.
func (c *cutter) masterBootRecord(area []byte) {
	if area[510] != 0x55 || area[511] != 0xaa {
		return
	}
	sectors := uint32(c.size() / diskSector)
	for i := range 4 {
		entry := area[mbrEntries+16*i:][:16]
		start, length := binary.LittleEndian.Uint32(entry[8:]), binary.LittleEndian.Uint32(entry[12:])
		if length > 0 && start < sectors && start+length > sectors {
			c.put(int64(mbrEntries+16*i+12), binary.LittleEndian.AppendUint32(nil, sectors-start))
		}
	}
}

// partitionTable rewrites a GPT for the shorter medium, and its backup at the
// end (UEFI specification 5.3).
func (c *cutter) partitionTable(area []byte) error {
	header := area[gptHeader : gptHeader+gptHeaderBytes]
	at := int64(binary.LittleEndian.Uint64(header[72:])) * diskSector
	count, size := int64(binary.LittleEndian.Uint32(header[80:])), int64(binary.LittleEndian.Uint32(header[84:]))
	if size < 128 || count > 1024 || size > 1024 || at < gptHeader || at+count*size > systemBytes {
		return fmt.Errorf("%w, and its partition table is of an unknown kind", ErrNoMinimal)
	}
	entries := append([]byte(nil), area[at:at+count*size]...)
	backupEntries := align(c.size(), diskSector)
	backupHeader := backupEntries + align(count*size, diskSector)
	lastUsable := uint64(backupEntries/diskSector - 1)
	for i := range count {
		entry := entries[i*size:][:size]
		if last := binary.LittleEndian.Uint64(entry[40:]); last > lastUsable {
			binary.LittleEndian.PutUint64(entry[40:], lastUsable)
		}
	}
	seal := func(own, other, table int64) []byte {
		h := append([]byte(nil), header...)
		binary.LittleEndian.PutUint64(h[24:], uint64(own/diskSector))
		binary.LittleEndian.PutUint64(h[32:], uint64(other/diskSector))
		binary.LittleEndian.PutUint64(h[48:], lastUsable)
		binary.LittleEndian.PutUint64(h[72:], uint64(table/diskSector))
		binary.LittleEndian.PutUint32(h[88:], crc32.ChecksumIEEE(entries))
		binary.LittleEndian.PutUint32(h[16:], 0)
		binary.LittleEndian.PutUint32(h[16:], crc32.ChecksumIEEE(h))
		return h
	}
	c.put(gptHeader, seal(gptHeader, backupHeader, at))
	c.put(at, entries)
	c.put(backupEntries, entries)
	c.put(backupHeader, append(seal(backupHeader, gptHeader, backupEntries), make([]byte, diskSector-gptHeaderBytes)...))
	return nil
}
