package ignition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	ignition "github.com/coreos/ignition/v2/config/shared/errors"
	"github.com/coreos/ignition/v2/config/v3_6/types"
	"github.com/coreos/vcontext/report"
)

// versions are those of the specification that a configuration may be written in,
// the oldest first. All systems that are installed this way read 3.2.0; an engine
// refuses whatever is newer than itself, and the system then does not boot.
var versions = []string{"3.2.0", "3.3.0", "3.4.0", "3.5.0", "3.6.0"}

// encode writes a configuration in the oldest version that says all of it: the one
// that, read again, gives the same configuration. Parts that are fine alone may
// contradict each other: what no version takes is an error.
func encode(config types.Config) ([]byte, error) {
	config.Ignition.Version = types.MaxVersion.String()
	whole, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("encode the Ignition configuration: %w", err)
	}
	var problem error
	for _, version := range versions {
		if version < specialModes && hasSpecialModes(config) {
			continue // an older one has the bits dropped
		}
		config.Ignition.Version = version
		raw, err := marshal(config)
		if err != nil {
			return nil, fmt.Errorf("encode the Ignition configuration: %w", err)
		}
		read, err := parse(raw)
		if problem = err; err != nil {
			continue
		}
		again, err := json.Marshal(read)
		if err == nil && bytes.Equal(again, whole) {
			return raw, nil
		}
	}
	if problem != nil {
		return nil, fmt.Errorf("the role's file and the override of the host do not go together: %w", problem)
	}
	return whole, nil
}

// specialModes is the version since which the modes of files and folders may have the
// bits setuid, setgid and sticky. Of an older configuration Ignition drops them, with
// no more than a line in the journal of the first boot.
const specialModes = "3.6.0"

// dropped says which of the modes of an older configuration would lose such bits. A
// program that runs with its caller's rights, or a folder that anybody may empty, is
// not what was asked for.
func dropped(found report.Report) error {
	var all []error
	for _, entry := range found.Entries {
		if entry.Message == ignition.ErrModeSpecialBits.Error() {
			all = append(all, fmt.Errorf("%s: Ignition drops the bits setuid, setgid and sticky from a configuration that is older than %s: write that version, "+
				"which takes Ignition 2.26 in the installed system, or have a unit of the system set them", strings.TrimPrefix(entry.Context.String(), "$."), specialModes))
		}
	}
	return errors.Join(all...)
}

func hasSpecialModes(config types.Config) bool {
	special := func(mode *int) bool { return mode != nil && *mode > 0o777 }
	return slices.ContainsFunc(config.Storage.Files, func(f types.File) bool { return special(f.Mode) }) ||
		slices.ContainsFunc(config.Storage.Directories, func(d types.Directory) bool { return special(d.Mode) })
}

// marshal writes the configuration without its empty sections, some of which older
// versions do not have.
func marshal(config types.Config) ([]byte, error) {
	raw, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		return nil, err
	}
	prune(tree)
	return json.Marshal(tree)
}

// prune removes members that are empty objects, from the inside out.
func prune(value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			prune(member)
			if object, ok := member.(map[string]any); ok && len(object) == 0 {
				delete(v, name)
			}
		}
	case []any:
		for _, member := range v {
			prune(member)
		}
	}
}
