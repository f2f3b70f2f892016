package hubid

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// HostLabel is the value of the label by which an Agent names the BareMetalHost that is
// its machine. The values of labels are shorter than names may be: a long name is cut and
// made unique, and the Agent's annotation of the same key has it in full.
func HostLabel(name string) string {
	if len(name) <= validation.LabelValueMaxLength {
		return name
	}
	const digits = 10
	sum := sha256.Sum256([]byte(name))
	return strings.TrimRight(name[:validation.LabelValueMaxLength-digits-1], "-.") + "-" + hex.EncodeToString(sum[:])[:digits]
}
