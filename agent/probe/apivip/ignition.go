package apivip

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	ignitionerrors "github.com/coreos/ignition/v2/config/shared/errors"
	"github.com/coreos/ignition/v2/config/v3_6"

	"github.com/ironflow/ironflow/agent/probe"
)

// keptFiles are the files that hubs look into.
var keptFiles = map[string]bool{
	"/etc/kubernetes/manifests/coredns.yaml":    true,
	"/etc/kubernetes/manifests/keepalived.yaml": true,
	"/etc/kubernetes/kubeconfig":                true,
}

// keptSections are the sections of a config that are given on, and those of its
// storage besides files.
var (
	keptSections = []string{"ignition", "kernelArguments", "passwd"}
	keptStorage  = []string{"directories", "disks", "filesystems", "links", "luks", "raid"}
)

// reduce checks that the text is an Ignition config and drops its units and all
// but the kept files. The version stays what it was: a hub reads no newer one
// than it knows. The text is reduced as JSON and not through a library's types,
// which would raise the version and lose what they do not know.
func reduce(raw []byte) (string, error) {
	if err := check(raw); err != nil {
		return "", err
	}
	var config map[string]json.RawMessage
	if err := json.Unmarshal(raw, &config); err != nil {
		return "", fmt.Errorf("the answer is not Ignition: %w", err)
	}
	out := pick(config, keptSections)
	storage, err := reduceStorage(config["storage"])
	if err != nil {
		return "", err
	}
	if storage != nil {
		out["storage"] = storage
	}
	text, err := json.Marshal(out)
	return string(text), err
}

// newer is the version of a config that may be newer than the library is.
var newer = regexp.MustCompile(`^3\.\d{1,3}\.\d{1,3}(-[a-z0-9.]{1,32})?$`)

// check tells whether the text is a valid config. A version 3 that the library
// does not know yet is taken on its word.
func check(raw []byte) error {
	if !json.Valid(raw) {
		return fmt.Errorf("the answer is not Ignition: %s", probe.Quote(raw))
	}
	_, report, err := v3_6.ParseCompatibleVersion(raw)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ignitionerrors.ErrUnknownVersion):
		var config struct {
			Ignition struct {
				Version string `json:"version"`
			} `json:"ignition"`
		}
		if json.Unmarshal(raw, &config) == nil && newer.MatchString(config.Ignition.Version) {
			return nil
		}
		return fmt.Errorf("the answer is not Ignition of version 3: %s", probe.Quote(raw))
	case len(report.Entries) > 0:
		return fmt.Errorf("the answer is not valid Ignition: %s", probe.Quote([]byte(report.String())))
	default:
		return fmt.Errorf("the answer is not Ignition: %w: %s", err, probe.Quote(raw))
	}
}

func reduceStorage(raw json.RawMessage) (json.RawMessage, error) {
	var storage map[string]json.RawMessage
	if len(raw) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(raw, &storage); err != nil {
		return nil, fmt.Errorf("the answer is not Ignition: storage: %w", err)
	}
	out := pick(storage, keptStorage)
	var files []json.RawMessage
	if list, ok := storage["files"]; ok {
		if err := json.Unmarshal(list, &files); err != nil {
			return nil, fmt.Errorf("the answer is not Ignition: storage.files: %w", err)
		}
	}
	kept := []json.RawMessage{}
	for i, file := range files {
		var f struct {
			Path string `json:"path"`
		}
		if err := json.Unmarshal(file, &f); err != nil {
			return nil, fmt.Errorf("the answer is not Ignition: storage.files.%d: %w", i, err)
		}
		if keptFiles[f.Path] {
			kept = append(kept, file)
		}
	}
	if len(kept) > 0 {
		list, err := json.Marshal(kept)
		if err != nil {
			return nil, err
		}
		out["files"] = list
	}
	if len(out) == 0 {
		return nil, nil
	}
	return json.Marshal(out)
}

// pick returns the named members that are there.
func pick(from map[string]json.RawMessage, names []string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for _, name := range names {
		if value, ok := from[name]; ok {
			out[name] = value
		}
	}
	return out
}
