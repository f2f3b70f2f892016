package probe

import (
	"fmt"
	"path"
	"strings"
)

// chooseSystem picks the host among a service's systems, by index, and remarks on a
// choice that somebody should confirm. Auxiliary systems, as those of accelerators,
// have no boot override.
func chooseSystem(systems []found[system]) (index int, remark string) {
	if len(systems) == 1 {
		return 0, ""
	}
	var bootable []int
	for i, s := range systems {
		if boots(s) {
			bootable = append(bootable, i)
		}
	}
	names := make([]string, len(systems))
	for i, s := range systems {
		names[i] = s.path
	}
	all := strings.Join(names, ", ")
	switch len(bootable) {
	case 0:
		return 0, fmt.Sprintf("The service has several systems (%s), none with a boot override: name the host's in the address.", all)
	case 1:
		return bootable[0], fmt.Sprintf("The service has several systems (%s): name %s in the address, as Ironic does not choose.", all, names[bootable[0]])
	}
	for _, i := range bootable {
		if path.Base(names[i]) == "DGX" { // beside it, the baseboard of its accelerators
			return i, fmt.Sprintf("The service has several systems (%s): name %s in the address, as Ironic does not choose.", all, names[i])
		}
	}
	return bootable[0], fmt.Sprintf("The service has several systems that boot (%s); the first was taken: name the host's in the address.", all)
}

// chooseManager picks the BMC among managers, by index: one with a console, else one
// that has a version; -1 if none could be read.
func chooseManager(managers []found[manager]) int {
	best, most := -1, -1
	for i, m := range managers {
		if !m.read() {
			continue
		}
		score := 0
		if m.value.FirmwareVersion != "" {
			score++
		}
		if m.value.GraphicalConsole.ServiceEnabled || m.value.SerialConsole.ServiceEnabled || m.value.CommandShell.ServiceEnabled {
			score += 2
		}
		if score > most {
			best, most = i, score
		}
	}
	return best
}

// slotRank orders the slots of virtual media by their names: the lower, the likelier
// it takes a CD. A slot that nothing is known of comes before a floppy.
func slotRank(slotPath string) int {
	name := strings.ToLower(path.Base(slotPath))
	switch {
	case strings.Contains(name, "cd") || strings.Contains(name, "dvd"):
		return 0
	case strings.HasPrefix(name, "ext"): // Lenovo: of ten slots these four are usable
		return 1
	case strings.Contains(name, "floppy") || strings.Contains(name, "removable") || strings.HasPrefix(name, "rdoc") || strings.HasPrefix(name, "remote"):
		return 3
	default:
		return 2
	}
}

// spread are the indexes of a list in the order in which a sample takes them: both
// ends, then what lies between. What is alike usually stands together.
func spread(n int) []int {
	order := make([]int, 0, n)
	taken := make([]bool, n)
	take := func(i int) {
		if i >= 0 && i < n && !taken[i] {
			taken[i] = true
			order = append(order, i)
		}
	}
	take(0)
	take(n - 1)
	for step := (n + 1) / 2; step > 0; step /= 2 {
		for i := step; i < n; i += step {
			take(i)
		}
	}
	return order
}
