package image

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// errNmstate is the answer to network data in a form that is not translated here.
var errNmstate = errors.New("key nmstate is not supported yet: give NetworkManager keyfiles, one key NAME.nmconnection each")

// networkKeyfiles takes the NetworkManager keyfiles out of a network data Secret.
func networkKeyfiles(data map[string][]byte) (map[string][]byte, error) {
	keyfiles := map[string][]byte{}
	for _, key := range slices.Sorted(maps.Keys(data)) {
		switch {
		case strings.HasSuffix(key, ".nmconnection"):
			keyfiles[key] = data[key]
		case key == "nmstate" && len(data[key]) > 0:
			return nil, errNmstate
		}
	}
	return keyfiles, nil
}
