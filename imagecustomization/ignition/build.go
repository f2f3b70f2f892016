package ignition

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	ignitionerrors "github.com/coreos/ignition/v2/config/shared/errors"
	"github.com/coreos/ignition/v2/config/v3_2"
	"github.com/coreos/ignition/v2/config/v3_2/types"
	"github.com/coreos/vcontext/report"
)

// Version is the Ignition spec that is rendered.
const Version = "3.2.0"

// newestMinor is the newest 3.x that an override may be written in, as far as it
// uses nothing that 3.2 lacks.
const newestMinor = 6

// ErrInvalid is wrapped by every error that the user's input causes.
var ErrInvalid = errors.New("invalid live image configuration")

// Build renders the config. Errors name the field at fault and wrap [ErrInvalid].
func Build(c HostConfig) ([]byte, error) {
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	merged := c.base().config()
	if c.IPA != nil {
		merged = v3_2.Merge(merged, c.ipa().config())
	}
	if len(c.Override) > 0 {
		user, err := parseOverride(c.Override)
		if err != nil {
			return nil, fmt.Errorf("%w: ignition override: %w", ErrInvalid, err)
		}
		merged = v3_2.Merge(merged, user)
	}
	merged.Ignition.Version = Version
	raw, err := json.Marshal(merged)
	if err != nil {
		return nil, fmt.Errorf("encode the Ignition config: %w", err)
	}
	// Layers that are valid each may still contradict each other.
	if _, rpt, err := v3_2.Parse(raw); err != nil {
		return nil, fmt.Errorf("%w: the merged Ignition config: %w", ErrInvalid, reportError(rpt, err))
	}
	return raw, nil
}

// parseOverride reads a config of any 3.x version as 3.2.
func parseOverride(raw []byte) (types.Config, error) {
	var head struct {
		Ignition struct {
			Version string `json:"version"`
			Config  struct {
				Replace struct {
					Source *string `json:"source"`
				} `json:"replace"`
			} `json:"config"`
		} `json:"ignition"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return types.Config{}, fmt.Errorf("not valid JSON: %w", err)
	}
	if head.Ignition.Config.Replace.Source != nil {
		return types.Config{}, errors.New("ignition.config.replace would replace the whole image configuration, use ignition.config.merge")
	}
	minor, err := minorVersion(head.Ignition.Version)
	if err != nil {
		return types.Config{}, err
	}
	newer := minor > 2
	if newer {
		if raw, err = withVersion(raw, Version); err != nil {
			return types.Config{}, err
		}
	}
	config, rpt, err := v3_2.ParseCompatibleVersion(raw)
	if err != nil {
		return types.Config{}, reportError(rpt, err)
	}
	if newer && len(rpt.Entries) > 0 {
		return types.Config{}, fmt.Errorf("written for %s, the live system reads %s, which lacks this: %w",
			head.Ignition.Version, Version, reportError(rpt, nil))
	}
	if slices.ContainsFunc(rpt.Entries, dropsBits) { // it would only be said in the journal of the host
		return types.Config{}, reportError(rpt, nil)
	}
	return config, nil
}

// dropsBits tells of a mode with setuid, setgid or sticky, which no version has that a
// live system reads.
func dropsBits(e report.Entry) bool { return e.Message == ignitionerrors.ErrModeSpecialBits.Error() }

// minorVersion returns N of "3.N.P".
func minorVersion(version string) (int, error) {
	parts := strings.Split(version, ".")
	if len(parts) != 3 || parts[0] != "3" {
		return 0, fmt.Errorf("ignition.version is %q, want 3.0.0 to 3.%d.0", version, newestMinor)
	}
	minor, err := strconv.Atoi(parts[1])
	if err != nil || minor < 0 || minor > newestMinor || parts[2] != "0" {
		return 0, fmt.Errorf("ignition.version is %q, want 3.0.0 to 3.%d.0", version, newestMinor)
	}
	return minor, nil
}

// withVersion returns the config with another version; nothing else is touched.
func withVersion(raw []byte, version string) ([]byte, error) {
	var top map[string]json.RawMessage
	var section map[string]json.RawMessage
	if err := json.Unmarshal(raw, &top); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(top["ignition"], &section); err != nil {
		return nil, err
	}
	var err error
	if section["version"], err = json.Marshal(version); err != nil {
		return nil, err
	}
	if top["ignition"], err = json.Marshal(section); err != nil {
		return nil, err
	}
	return json.Marshal(top)
}

// reportError turns a validator's report into one error with the path of each
// fatal finding, or of every finding when none is fatal.
func reportError(rpt report.Report, err error) error {
	var found, minor []string
	for _, e := range rpt.Entries {
		text := e.Message
		if e.Context.Len() > 0 {
			text = e.Context.String() + ": " + text
		}
		if e.Kind.IsFatal() {
			found = append(found, text)
		} else {
			minor = append(minor, text)
		}
	}
	if len(found) == 0 {
		found = minor
	}
	if len(found) == 0 {
		return err
	}
	return errors.New(strings.Join(found, "; "))
}
