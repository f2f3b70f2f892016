package network

import (
	"regexp"
	"slices"
)

var (
	// nameCharacters are those that kernel and NetworkManager take. NetworkManager reads no
	// keyfile whose name begins with a dot.
	nameCharacters = regexp.MustCompile(`^[^\s/:.%[:cntrl:]][^\s/:%[:cntrl:]]*$`)
	// reserved are names that kernel and NetworkManager use themselves.
	reserved = []string{"all", "default", "bonding_masters"}
)

// Lengths of names in bytes: the kernel's, and that of a file name without its suffix.
const maxIfName, maxAnyName = 15, 200

// isIfName tells whether the kernel and NetworkManager take the name for an interface.
func isIfName(name string) bool {
	return len(name) <= maxIfName && nameCharacters.MatchString(name) && !slices.Contains(reserved, name)
}

// isAnyName tells whether it can be the name of a keyfile, which no kernel has to know.
func isAnyName(name string) bool { return len(name) <= maxAnyName && nameCharacters.MatchString(name) }

// badName is what is wrong with the name of an interface.
const badName = "%q is not an interface name (at most 15 characters, without spaces, slashes, colons and percent signs, no dot in front; and not all, default or bonding_masters)"

// functionName is nmstate's name for a virtual function, by its card and number.
var functionName = regexp.MustCompile(`^sriov:([^:]+):[0-9]{1,5}$`)

// functionCard is the card of a virtual function that has nmstate's name, such as eno1 of
// sriov:eno1:0; empty for any other name. What the kernel calls the function is known only
// when there is one.
func functionCard(name string) string {
	if found := functionName.FindStringSubmatch(name); found != nil && isIfName(found[1]) {
		return found[1]
	}
	return ""
}

// leaveFunction leaves the name of a virtual function to nmstatectl.
func (o *object) leaveFunction(path, name string) {
	if functionCard(name) != "" {
		o.leave(path, "%s is a virtual function, whose own name only the live system knows", name)
	}
}
