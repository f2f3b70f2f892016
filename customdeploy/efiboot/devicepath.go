package efiboot

import (
	"encoding/binary"
	"strings"

	"github.com/google/uuid"
)

// Nodes of a device path (UEFI 2.10, 10.3): type, subtype, length of the whole node.
const (
	nodeHead = 4

	typeMedia      = 0x04
	mediaHardDrive = 0x01
	mediaFile      = 0x04
	typeEnd        = 0x7f

	// hardDriveSize is the size of a node for a partition; its last two bytes say what
	// kind of partition table and of signature it has.
	hardDriveSize = 42
	tableGPT      = 0x02
	signatureGUID = 0x02
)

var endNode = []byte{typeEnd, 0xff, nodeHead, 0}

// hardDrive is a GPT partition as device paths have it; start and size are in blocks
// of the disk.
type hardDrive struct {
	number      uint32
	start, size uint64
	partition   uuid.UUID
}

func (d hardDrive) node() []byte {
	raw := binary.LittleEndian.AppendUint16([]byte{typeMedia, mediaHardDrive}, hardDriveSize)
	raw = binary.LittleEndian.AppendUint32(raw, d.number)
	raw = binary.LittleEndian.AppendUint64(raw, d.start)
	raw = binary.LittleEndian.AppendUint64(raw, d.size)
	raw = append(raw, swapped(d.partition[:])...)
	return append(raw, tableGPT, signatureGUID)
}

func fileNode(path string) []byte {
	name := text(path)
	raw := binary.LittleEndian.AppendUint16([]byte{typeMedia, mediaFile}, uint16(nodeHead+len(name)))
	return append(raw, name...)
}

// parsePath returns the GPT partition and the file of the first device path in a
// list, whatever stands before them: controller and disk may be named or left out.
func parsePath(raw []byte) (partition uuid.UUID, loader string) {
	for len(raw) >= nodeHead {
		kind, sub, size := raw[0], raw[1], int(binary.LittleEndian.Uint16(raw[2:]))
		if kind == typeEnd || size < nodeHead || size > len(raw) {
			break
		}
		body := raw[nodeHead:size]
		switch {
		case kind == typeMedia && sub == mediaHardDrive && size >= hardDriveSize && body[37] == signatureGUID:
			partition, loader = uuid.UUID(swapped(body[20:36])), ""
		case kind == typeMedia && sub == mediaFile:
			name, _, _ := cutText(body) // one without a zero ends with its node
			loader = joined(loader, name)
		}
		raw = raw[size:]
	}
	return partition, loader
}

// joined puts the parts of a file's path together, which may come as several nodes.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return strings.TrimRight(a, `\`) + `\` + strings.TrimLeft(b, `\`)
}

// swapped is a GUID in the other order of bytes: firmware has the first three of its
// fields with the low byte first.
func swapped(id []byte) []byte {
	return []byte{
		id[3], id[2], id[1], id[0], id[5], id[4], id[7], id[6],
		id[8], id[9], id[10], id[11], id[12], id[13], id[14], id[15],
	}
}
