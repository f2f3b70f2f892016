package nvram

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// httpOption is the number of the boot option that SetHTTPBoot writes. The
// firmware counts its own from zero.
const httpOption = 0x1f00

const (
	// active is the attribute of a boot option that is used.
	active = 1
	// uriNode is a device path's node with an address (UEFI specification,
	// "Uniform Resource Identifiers Device Path"), endNode its end.
	uriNodeType, uriNodeSubtype = 0x03, 0x18
	endNodeType, endNodeSubtype = 0x7f, 0xff
	nodeHeader                  = 4
)

// SetHTTPBoot makes the firmware boot the address by HTTP the next time, once,
// before anything else: BootNext names an option that has the address alone, for
// which the firmware looks for a network card by itself. An empty address ends it.
func (s *Store) SetHTTPBoot(address string) error {
	name := fmt.Sprintf("Boot%04X", httpOption)
	if address == "" {
		if next, ok := s.Get("BootNext", Global); ok && len(next) == 2 && binary.LittleEndian.Uint16(next) == httpOption {
			s.Delete("BootNext", Global)
		}
		s.Delete(name, Global)
		return nil
	}
	if len(address) > 0xffff-nodeHeader {
		return errors.New("an address of a boot option is of at most 65531 characters")
	}
	var path []byte
	path = append(path, uriNodeType, uriNodeSubtype)
	path = binary.LittleEndian.AppendUint16(path, uint16(nodeHeader+len(address)))
	path = append(path, address...)
	path = append(path, endNodeType, endNodeSubtype, nodeHeader, 0)
	option := binary.LittleEndian.AppendUint32(nil, active)
	option = binary.LittleEndian.AppendUint16(option, uint16(len(path)))
	option = append(option, encode("HTTP boot of the BMC")...)
	option = append(option, path...)
	if err := s.Set(name, Global, option); err != nil {
		return err
	}
	return s.Set("BootNext", Global, binary.LittleEndian.AppendUint16(nil, httpOption))
}
