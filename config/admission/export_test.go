package admission

import "regexp"

// The patterns, as CEL compiles them.
var (
	AddressPattern = regexp.MustCompile(addressPattern())
	RedfishPattern = regexp.MustCompile(redfishPattern())
	MACPattern     = regexp.MustCompile(macPattern())
)
