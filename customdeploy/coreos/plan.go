package coreos

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/customdeploy/step"
)

// Environment of IPA's container, rendered into the live image.
const (
	ipOptionsEnv   = "IPA_COREOS_IP_OPTIONS"
	copyNetworkEnv = "IPA_COREOS_COPY_NETWORK"
)

// Plan is what will be installed, complete and checked.
type Plan struct {
	Hints Hints
	// ImageURL is where the image comes from; empty for the one of the live system (--offline).
	ImageURL string
	// HashAlgo and HashValue are the image's digest; empty for none.
	HashAlgo, HashValue string
	// Ignition is the config for the first boot.
	Ignition []byte
	// KernelArgs are appended, each on its own.
	KernelArgs []string
	// CopyNetwork carries the live system's network settings over.
	CopyNetwork bool
}

// NewPlan reads the node. Nothing is touched; an error names the member.
func NewPlan(node step.Node, hostname string) (Plan, error) {
	var p Plan
	return p, errors.Join(p.readHints(node), p.readImage(node.InstanceInfo), p.readConfigDrive(node.InstanceInfo, hostname))
}

// readHints takes the instance's root device hints before the node's.
func (p *Plan) readHints(node step.Node) error {
	for _, from := range []struct {
		name string
		in   map[string]any
	}{{"instance_info", node.InstanceInfo}, {"properties", node.Properties}} {
		raw, ok := from.in["root_device"]
		if !ok || raw == nil {
			continue
		}
		hints, ok := raw.(map[string]any)
		if !ok {
			return fmt.Errorf("%s.root_device must be an object", from.name)
		}
		if len(hints) == 0 {
			continue
		}
		p.Hints = hints
		if err := p.Hints.Check(); err != nil {
			return fmt.Errorf("%s.root_device: %w", from.name, err)
		}
		return nil
	}
	return nil
}

// digestBytes are the digests that the step can check, with their length.
var digestBytes = map[string]int{"sha256": 32, "sha512": 64}

func (p *Plan) readImage(info map[string]any) error {
	source, err := text(info, "image_source")
	if err != nil || source == "" {
		return err
	}
	u, err := url.Parse(source)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("instance_info.image_source %q is not an http or https URL", source)
	}
	p.ImageURL = source
	algo, err1 := text(info, "image_os_hash_algo")
	value, err2 := text(info, "image_os_hash_value")
	if err := errors.Join(err1, err2); err != nil || value == "" {
		return err
	}
	size, ok := digestBytes[strings.ToLower(algo)]
	if !ok {
		return fmt.Errorf("instance_info.image_os_hash_algo %q is not supported; use sha256 or sha512", algo)
	}
	if raw, err := hex.DecodeString(value); err != nil || len(raw) != size {
		return fmt.Errorf("instance_info.image_os_hash_value is not a %s digest in hex", algo)
	}
	p.HashAlgo, p.HashValue = strings.ToLower(algo), strings.ToLower(value)
	return nil
}

func text(info map[string]any, key string) (string, error) {
	switch v := info[key].(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	default:
		return "", fmt.Errorf("instance_info.%s must be a text", key)
	}
}

func (p *Plan) readConfigDrive(info map[string]any, hostname string) error {
	drive, err := object(info["configdrive"])
	if err != nil {
		return fmt.Errorf("instance_info.configdrive %w", err)
	}
	meta, err := object(drive["meta_data"])
	if err != nil {
		return fmt.Errorf("configdrive.meta_data %w", err)
	}
	if p.KernelArgs, err = kernelArgs(meta["coreos_append_karg"]); err != nil {
		return err
	}
	if options := strings.Fields(os.Getenv(ipOptionsEnv)); len(options) > 0 {
		p.KernelArgs = append(p.KernelArgs, options...)
	}
	p.CopyNetwork = os.Getenv(copyNetworkEnv) == "true"
	switch v := meta["coreos_copy_network"].(type) {
	case nil:
	case bool:
		p.CopyNetwork = v
	default:
		return errors.New("configdrive.meta_data.coreos_copy_network must be true or false")
	}
	p.Ignition, err = ignition(drive["user_data"], hostname)
	return err
}

// object accepts an object, or a text that holds one; nothing is an empty one.
func object(v any) (map[string]any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case map[string]any:
		return v, nil
	case string:
		if v == "" {
			return nil, nil
		}
		var m map[string]any
		if err := json.Unmarshal([]byte(v), &m); err != nil {
			return nil, errors.New("must be JSON (an ISO image cannot be used here)")
		}
		return m, nil
	default:
		return nil, errors.New("must be an object")
	}
}

func kernelArgs(v any) ([]string, error) {
	const where = "configdrive.meta_data.coreos_append_karg"
	if v == nil {
		return nil, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("%s must be a list of texts", where)
	}
	var args []string
	for i, item := range list {
		arg, ok := item.(string)
		if !ok || arg == "" || strings.ContainsAny(arg, " \t\n") {
			return nil, fmt.Errorf("%s[%d] must be one kernel argument without spaces", where, i)
		}
		args = append(args, arg)
	}
	return args, nil
}

const hostnameFile = "/etc/hostname"

// ignition completes the user's config by the host's present name, unless the
// user writes /etc/hostname or the host has no name. Without user data there is
// a minimal config.
func ignition(userData any, hostname string) ([]byte, error) {
	config := map[string]any{"ignition": map[string]any{"version": "3.0.0"}}
	if userData != nil && userData != "" {
		given, err := object(userData)
		if err != nil {
			return nil, errors.New("configdrive.user_data must be an Ignition config (JSON)")
		}
		config = given
	}
	header, _ := config["ignition"].(map[string]any)
	if version, _ := header["version"].(string); !strings.HasPrefix(version, "3.") {
		return nil, fmt.Errorf("configdrive.user_data: ignition.version %q is not 3.x", version)
	}
	if err := addHostname(config, hostname); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(config); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func addHostname(config map[string]any, hostname string) error {
	if hostname == "" {
		return nil
	}
	storage, ok := config["storage"].(map[string]any)
	if !ok {
		if config["storage"] != nil {
			return errors.New("configdrive.user_data: storage must be an object")
		}
		storage = map[string]any{}
	}
	files, ok := storage["files"].([]any)
	if !ok && storage["files"] != nil {
		return errors.New("configdrive.user_data: storage.files must be a list")
	}
	own := slices.ContainsFunc(files, func(f any) bool {
		file, _ := f.(map[string]any)
		return file["path"] == hostnameFile
	})
	if own {
		return nil
	}
	storage["files"] = append(files, map[string]any{
		"path": hostnameFile, "mode": 0o644, "overwrite": true,
		"contents": map[string]any{"source": "data:," + url.PathEscape(hostname)},
	})
	config["storage"] = storage
	return nil
}
