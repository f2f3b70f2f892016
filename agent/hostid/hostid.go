// Package hostid computes the id that a host registers with. The rules are
// those of the agents before us for every host that a hub already knows: the
// same machine must get the same id from any agent. Where those would give a
// placeholder, the next rule is taken; there is no last resort, because two
// machines with one id would be merged into one host.
package hostid

import (
	"crypto/md5" //nolint:gosec // an id, no secret: the rule is given by the protocol
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// Sources is what the id is made from.
type Sources struct {
	// BoardSerial and ProductUUID are /sys/class/dmi/id/board_serial and product_uuid.
	BoardSerial, ProductUUID string
	// MACs are the permanent MACs of the host's own (not virtual) interfaces.
	MACs []string
}

// ErrNone means that nothing identifies the host yet; try again later.
var ErrNone = errors.New("the host has no board serial, no product UUID and no network interface with a MAC: nothing to identify it by")

// placeholders are board serials that many machines share, in lower case.
var placeholders = []string{
	"", "unknown", "none", "(none)", "-", "default string", "not specified",
	"unspecified base board serial number", "unspecified system serial number", "pca_number.acc",
	// Ours: seen on boards whose vendor forgot to fill the field in.
	"to be filled by o.e.m.", "to be filled by o.e.m", "o.e.m.", "oem", "system serial number",
	"base board serial number", "serial number", "not applicable", "n/a", "0", "00000000", "123456789",
}

// sharedUUIDs are product UUIDs that firmware vendors left in place.
var sharedUUIDs = []string{"00000000-0000-0000-0000-000000000000", "03000200-0400-0500-0006-000700080009", "ffffffff-ffff-ffff-ffff-ffffffffffff"}

// Of returns the host's id, or [ErrNone].
func Of(s Sources) (string, error) {
	if serial := strings.TrimSpace(s.BoardSerial); !slices.Contains(placeholders, strings.ToLower(serial)) {
		return digest(serial), nil
	}
	if id, err := uuid.Parse(strings.TrimSpace(s.ProductUUID)); err == nil && !slices.Contains(sharedUUIDs, id.String()) {
		return id.String(), nil
	}
	if len(s.MACs) > 0 {
		return digest(slices.Min(s.MACs)), nil
	}
	return "", ErrNone
}

// digest is the MD5 of the text in the form of a UUID, without version bits.
func digest(text string) string {
	sum := md5.Sum([]byte(text)) //nolint:gosec // see above
	h := hex.EncodeToString(sum[:])
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}
