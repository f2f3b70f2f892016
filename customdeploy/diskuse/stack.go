package diskuse

import (
	"slices"
	"strings"

	"github.com/ironflow/ironflow/customdeploy/source"
)

// Partitions lists the disk's partitions.
func Partitions(m source.Machine, name string) []string {
	var out []string
	for _, entry := range m.Names(blockDir, name) {
		if strings.HasPrefix(entry, name) && m.Exists(blockDir, name, entry, "partition") {
			out = append(out, entry)
		}
	}
	return out
}

// Holders lists what is built on the disk or its Partitions.
func Holders(m source.Machine, name string, parts []string) []string {
	all := m.Names(blockDir, name, "holders")
	for _, part := range parts {
		all = append(all, m.Names(blockDir, name, part, "holders")...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Numbers lists the numbers of the disk, its Partitions and all that is built on them.
func Numbers(m source.Machine, name string, parts []string) []string {
	numbers := []string{m.Line(blockDir, name, "dev")}
	for _, part := range parts {
		numbers = append(numbers, m.Line(blockDir, name, part, "dev"))
	}
	return append(numbers, stacked(m, name, parts)...)
}

// maxStack bounds how many devices are looked at above one disk.
const maxStack = 256

// stacked lists the numbers of all devices that are built on the disk: the
// Partitions of a multipath device are devices of the mapper, and a volume
// group may lie on a RAID.
func stacked(m source.Machine, name string, parts []string) []string {
	var numbers []string
	seen := map[string]bool{name: true}
	for next := Holders(m, name, parts); len(next) > 0 && len(seen) < maxStack; {
		above := next[0]
		next = next[1:]
		if seen[above] {
			continue
		}
		seen[above] = true
		inner := Partitions(m, above)
		numbers = append(numbers, m.Line(blockDir, above, "dev"))
		for _, part := range inner {
			numbers = append(numbers, m.Line(blockDir, above, part, "dev"))
		}
		next = append(next, Holders(m, above, inner)...)
	}
	return numbers
}
