package names

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// longest is how many characters the value of a label may have.
const longest = 63

// HostLabel is the value of the label by which an Agent names the BareMetalHost that is
// its machine. The values of labels are shorter than names may be: a long name is cut and
// made unique, and the Agent's annotation of the same key has it in full.
func HostLabel(name string) string {
	if len(name) <= longest {
		return name
	}
	const digits = 10
	sum := sha256.Sum256([]byte(name))
	return strings.TrimRight(name[:longest-digits-1], "-.") + "-" + hex.EncodeToString(sum[:])[:digits]
}
