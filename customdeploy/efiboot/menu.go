package efiboot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/api/hostfile"
)

// bootOrder is the variable that says what is started, and in which order.
const bootOrder = "BootOrder" + global

var (
	entryName = regexp.MustCompile(`^Boot([0-9A-Fa-f]{4})` + global + `$`)

	errNoPlace = errors.New("the firmware's boot menu has no number left")
)

// entry is one of the boot menu.
type entry struct {
	option
	// variable is its name, attributes those of the variable, raw its load option.
	variable   string
	attributes uint32
	raw        []byte
}

// menu is the boot menu as it was read.
type menu struct {
	vars  variables
	order []uint16
	// orderAttributes are those of BootOrder.
	orderAttributes uint32
	// entries has all that there are; of one that cannot be read only the number counts.
	entries map[uint16]entry
}

// readMenu reads the boot menu. An entry that is broken is no error.
func readMenu(host hostfile.Dir) (menu, error) {
	m := menu{vars: variablesOf(host), orderAttributes: variableAttributes, entries: map[uint16]entry{}}
	names, err := m.vars.names()
	if err != nil {
		return m, err
	}
	for _, name := range names {
		if found := entryName.FindStringSubmatch(name); found != nil {
			number, _ := strconv.ParseUint(found[1], 16, 16) // it has the form of one
			m.entries[uint16(number)] = readEntry(m.vars, name)
		}
	}
	attributes, raw, err := m.vars.read(bootOrder)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return m, nil
	case err != nil:
		return m, fmt.Errorf("read the boot order: %w", err)
	}
	m.orderAttributes = attributes
	for ; len(raw) >= 2; raw = raw[2:] {
		m.order = append(m.order, binary.LittleEndian.Uint16(raw))
	}
	return m, nil
}

func readEntry(vars variables, name string) entry {
	e := entry{variable: name}
	attributes, raw, err := vars.read(name)
	if err != nil {
		return e
	}
	if o, err := parseOption(raw); err == nil {
		e.option, e.attributes, e.raw = o, attributes, raw
	}
	return e
}

// boots tells whether firmware starts something from the partition by itself.
func (m menu) boots(partition uuid.UUID) bool {
	return slices.ContainsFunc(m.order, func(number uint16) bool {
		e := m.entries[number]
		return e.startedByItself() && e.partition == partition && e.loader != ""
	})
}

// find returns the number of the entry for the loader of the partition, one that is
// in the order before others. Labels do not count: other systems use the same ones.
func (m menu) find(partition uuid.UUID, loader string) (uint16, bool) {
	for _, number := range slices.Concat(m.order, slices.Sorted(maps.Keys(m.entries))) {
		if e := m.entries[number]; e.raw != nil && e.partition == partition && strings.EqualFold(e.loader, loader) {
			return number, true
		}
	}
	return 0, false
}

// activate makes sure that firmware does not pass over the entry.
func (m menu) activate(number uint16) error {
	e := m.entries[number]
	if e.startedByItself() {
		return nil
	}
	return m.vars.write(e.variable, e.attributes, activated(e.raw))
}

// add makes an entry under the lowest number that nobody uses, not even an order
// that names what is gone.
func (m menu) add(raw []byte) (uint16, error) {
	named := map[uint16]bool{}
	for _, number := range m.order {
		named[number] = true
	}
	for n := range 1 << 16 {
		number := uint16(n)
		if _, taken := m.entries[number]; taken || named[number] {
			continue
		}
		e := entry{variable: fmt.Sprintf("Boot%04X%s", number, global), attributes: variableAttributes, raw: raw}
		if err := m.vars.write(e.variable, e.attributes, raw); err != nil {
			return 0, err
		}
		m.entries[number] = e
		return number, nil
	}
	return 0, errNoPlace
}

// putFirst moves the entry to the front of the order and keeps the others, without
// numbers that have no entry: some firmware refuses an order with such.
func (m menu) putFirst(number uint16) error {
	order := []uint16{number}
	for _, other := range m.order {
		if _, there := m.entries[other]; there && !slices.Contains(order, other) {
			order = append(order, other)
		}
	}
	if slices.Equal(order, m.order) {
		return nil
	}
	var raw []byte
	for _, n := range order {
		raw = binary.LittleEndian.AppendUint16(raw, n)
	}
	return m.vars.write(bootOrder, m.orderAttributes, raw)
}
