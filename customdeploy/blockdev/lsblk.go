package blockdev

import (
	"encoding/json"
	"fmt"
	"strings"
)

// decode reads lsblk's JSON. What stands before it is not lsblk's: a library that
// it loads may print a warning there.
func decode[Row any](out string) ([]Row, error) {
	var table struct {
		Devices []Row `json:"blockdevices"`
	}
	if err := json.Unmarshal([]byte(out[max(0, strings.IndexByte(out, '{')):]), &table); err != nil {
		return nil, fmt.Errorf("lsblk's answer: %w", err)
	}
	return table.Devices, nil
}
