package clusters

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/ignition"
	"github.com/ironflow/ironflow/hub/refusal"
	"github.com/ironflow/ironflow/hub/wire"
)

// encryptable are the names of roles in a list of those whose disks are encrypted.
var encryptable = []string{wire.DiskEncryptionEnableOnMasters, wire.DiskEncryptionEnableOnArbiters, wire.DiskEncryptionEnableOnWorkers}

// checkEncryption refuses what no disk would be encrypted by.
func checkEncryption(e *wire.DiskEncryption) error {
	if e == nil {
		return nil
	}
	on := cmp.Or(wire.Value(e.EnableOn), wire.DiskEncryptionEnableOnNone)
	if on == wire.DiskEncryptionEnableOnNone {
		return nil
	}
	for role := range strings.SplitSeq(on, ",") {
		if on != wire.DiskEncryptionEnableOnAll && !slices.Contains(encryptable, role) {
			return refusal.BadRequest("disk_encryption.enable_on %.60q: want none, all, or a list of %q", on, encryptable)
		}
	}
	asked := ignition.Encryption{Mode: cmp.Or(wire.Value(e.Mode), wire.DiskEncryptionModeTpmv2), TangServers: e.TangServers}
	if err := asked.Check(); err != nil {
		return refusal.BadRequest("disk_encryption.%v", err)
	}
	return nil
}
