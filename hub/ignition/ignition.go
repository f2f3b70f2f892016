// Package ignition finishes the Ignition configurations that installed systems start
// with: it adds the host's name, merges the user's override last, and writes the oldest
// version of the specification that says all of it.
//
// Where configurations come from is hub/sources. The main function is [Finish]; [Encrypt]
// comes before it where the root file system is to be encrypted.
package ignition

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/coreos/ignition/v2/config/v3_4"
	v3 "github.com/coreos/ignition/v2/config/v3_6"
	"github.com/coreos/ignition/v2/config/v3_6/types"
)

// Finish returns a host's configuration, in the oldest version of the specification that
// says all of it, 3.2 to 3.6. The base is Ignition JSON of any version up to 3.6, and so
// is the override, which is merged last; the name is written to /etc/hostname. An empty
// name leaves that to the system, an empty override changes nothing.
func Finish(raw []byte, name, override string) ([]byte, error) {
	base, err := parse(raw)
	if err != nil {
		return nil, err
	}
	if name != "" {
		base = v3.Merge(base, hostname(name))
	}
	if override != "" {
		changes, err := parse([]byte(override))
		if err != nil {
			return nil, fmt.Errorf("override of the host: %w", err)
		}
		base = v3.Merge(base, changes)
	}
	return encode(base)
}

// parse reads a configuration of any version up to 3.6. What Ignition would drop from
// it is refused, see [dropped].
func parse(raw []byte) (types.Config, error) {
	config, report, err := v3.ParseCompatibleVersion(raw)
	if err != nil {
		return config, fmt.Errorf("%w: %s", err, strings.TrimSpace(report.String()))
	}
	if err := dropped(report); err != nil {
		return config, err
	}
	keepAdvertisements(raw, config.Storage.Luks)
	return config, nil
}

// keepAdvertisements puts back what the library forgets when it translates version 3.4
// to 3.5: the advertisements of Tang servers, without which a disk is not encrypted offline.
func keepAdvertisements(raw []byte, volumes []types.Luks) {
	old, _, err := v3_4.Parse(raw)
	if err != nil {
		return // of another version
	}
	for i, luks := range old.Storage.Luks {
		for j, tang := range luks.Clevis.Tang {
			volumes[i].Clevis.Tang[j].Advertisement = tang.Advertisement
		}
	}
}

// Valid reports what is wrong with a user's Ignition; empty text is fine.
func Valid(text string) error {
	if text == "" {
		return nil
	}
	_, err := parse([]byte(text))
	return err
}

func hostname(name string) types.Config {
	source := "data:," + url.PathEscape(name)
	return types.Config{
		Ignition: types.Ignition{Version: types.MaxVersion.String()},
		Storage: types.Storage{Files: []types.File{{
			Node: types.Node{Path: "/etc/hostname", Overwrite: new(true)},
			FileEmbedded1: types.FileEmbedded1{
				Contents: types.Resource{Source: &source}, Mode: new(0o644),
			},
		}}},
	}
}
