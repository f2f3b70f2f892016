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
	"unicode"

	ignitionerrors "github.com/coreos/ignition/v2/config/shared/errors"
	"github.com/coreos/ignition/v2/config/v3_6"
	"github.com/coreos/vcontext/report"

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
	// Skip says what may not be touched.
	Skip Skip
	// ImageURL is where the image comes from; empty for the one of the live system (--offline).
	ImageURL string
	// HashAlgo and HashValue are the image's digest; empty for none.
	HashAlgo, HashValue string
	// Ignition is the config for the first boot.
	Ignition []byte
	// KernelArgs are appended, each on its own.
	KernelArgs []string
	// Warning is what the installed system will not do of it; empty for nothing.
	Warning string
	// CopyNetwork carries the live system's network settings over.
	CopyNetwork bool
}

// NewPlan reads the node. Nothing is touched; an error names the member.
func NewPlan(node step.Node, hostname string) (Plan, error) {
	var p Plan
	return p, errors.Join(p.readHints(node), p.readSkip(node), p.readImage(node.InstanceInfo), p.readConfigDrive(node.InstanceInfo, hostname))
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
	if err != nil { // its text holds the URL, which may hold a secret
		return errors.New("instance_info.image_source is not a URL")
	}
	if u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("instance_info.image_source %q is not an http or https URL", public(u))
	}
	p.ImageURL = source
	return p.readDigest(info)
}

// public is a URL without what may be secret: user, password and query.
func public(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// readDigest takes the digest that Ironic knows with its algorithm, or the older
// image_checksum, whose length names it.
func (p *Plan) readDigest(info map[string]any) error {
	algo, err1 := text(info, "image_os_hash_algo")
	value, err2 := text(info, "image_os_hash_value")
	checksum, err3 := text(info, "image_checksum")
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	switch {
	case value != "":
		return p.setDigest("image_os_hash_value", algo, value)
	case checksum != "":
		return p.setDigest("image_checksum", algorithmOf(checksum), checksum)
	default:
		return nil
	}
}

// algorithmOf guesses the algorithm by the length of a digest in hex.
func algorithmOf(checksum string) string {
	if strings.Contains(checksum, "://") {
		return "URL"
	}
	for algo, size := range digestBytes {
		if len(checksum) == hex.EncodedLen(size) {
			return algo
		}
	}
	if len(checksum) == hex.EncodedLen(16) {
		return "md5"
	}
	return fmt.Sprintf("of %d characters", len(checksum))
}

// setDigest checks the digest of the named member.
func (p *Plan) setDigest(member, algo, value string) error {
	size, ok := digestBytes[strings.ToLower(algo)]
	if !ok {
		return fmt.Errorf("instance_info.%s: a digest %q is not supported; give the image's sha256 or sha512 in hex", member, algo)
	}
	if raw, err := hex.DecodeString(value); err != nil || len(raw) != size {
		return fmt.Errorf("instance_info.%s is not a %s digest in hex", member, algo)
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
	p.Ignition, p.Warning, err = ignition(drive["user_data"], hostname)
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
		if !ok || arg == "" || strings.ContainsFunc(arg, spaceOrControl) {
			return nil, fmt.Errorf("%s[%d] must be one kernel argument without spaces and control characters", where, i)
		}
		args = append(args, arg)
	}
	return args, nil
}

func spaceOrControl(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

const hostnameFile = "/etc/hostname"

// ignition completes the user's config by the host's present name, unless the
// user writes /etc/hostname or the host has no name. Without user data there is
// a minimal config.
func ignition(userData any, hostname string) (raw []byte, warning string, err error) {
	config := map[string]any{"ignition": map[string]any{"version": "3.0.0"}}
	if userData != nil && userData != "" {
		given, err := object(userData)
		if err != nil {
			return nil, "", errors.New("configdrive.user_data must be an Ignition config (JSON)")
		}
		config = given
	}
	if warning, err = checkIgnition(config); err != nil {
		return nil, "", err
	}
	addHostname(config, hostname)
	raw, err = encode(config)
	return raw, warning, err
}

// checkIgnition asks Ignition's own parser. It knows the versions up to its own;
// what it only warns about (a member that it does not know) is left to the first boot, but
// for rights that it drops: their loss is noticed by nobody then.
func checkIgnition(config map[string]any) (warning string, err error) {
	header, _ := config["ignition"].(map[string]any)
	version, _ := header["version"].(string)
	if !strings.HasPrefix(version, "3.") {
		return "", fmt.Errorf("configdrive.user_data: ignition.version %q is not 3.x", version)
	}
	raw, err := encode(config)
	if err != nil {
		return "", err
	}
	_, problems, err := v3_6.ParseCompatibleVersion(raw)
	switch {
	case err == nil:
		return dropped(problems), nil
	case problems.IsFatal():
		return "", fmt.Errorf("configdrive.user_data is no valid Ignition config: %s", firstFatal(problems))
	default:
		return "", fmt.Errorf("configdrive.user_data: ignition.version %q: %w; 3.0.0 to 3.6.0 are known", version, err)
	}
}

// dropped names the modes whose special bits Ignition takes from a config that is older
// than 3.6.0.
func dropped(problems report.Report) string {
	var modes []string
	for _, entry := range problems.Entries {
		if entry.Message == ignitionerrors.ErrModeSpecialBits.Error() {
			modes = append(modes, strings.TrimPrefix(entry.Context.String(), "$."))
		}
	}
	if len(modes) == 0 {
		return ""
	}
	return "Ignition drops the bits setuid, setgid and sticky of " + strings.Join(modes, ", ") + ": only configs of 3.6.0 have them"
}

// firstFatal is the problem for which the config is refused. Its place is left
// out: the text was written anew, and user data may hold secrets.
func firstFatal(problems report.Report) string {
	for _, entry := range problems.Entries {
		if entry.Kind.IsFatal() {
			path := strings.TrimPrefix(entry.Context.String(), "$.")
			if path == "" {
				return entry.Message
			}
			return path + ": " + entry.Message
		}
	}
	return "it cannot be read"
}

func encode(config map[string]any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(config); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// addHostname adds the file to a config that has passed its check.
func addHostname(config map[string]any, hostname string) {
	if hostname == "" {
		return
	}
	storage, _ := config["storage"].(map[string]any)
	if storage == nil {
		storage = map[string]any{}
	}
	files, _ := storage["files"].([]any)
	own := slices.ContainsFunc(files, func(f any) bool {
		file, _ := f.(map[string]any)
		return file["path"] == hostnameFile
	})
	if own {
		return
	}
	storage["files"] = append(files, map[string]any{
		"path": hostnameFile, "mode": 0o644, "overwrite": true,
		"contents": map[string]any{"source": "data:," + url.PathEscape(hostname)},
	})
	config["storage"] = storage
}

// Args is coreos-installer's command line for the plan.
func (p Plan) Args(disk, ignitionFile, imageURL string) []string {
	args := []string{"coreos-installer", "install", "--preserve-on-error", "--ignition-file", ignitionFile}
	for _, karg := range p.KernelArgs {
		args = append(args, "--append-karg="+karg) // one word: the argument may begin with a dash
	}
	if imageURL == "" {
		args = append(args, "--offline")
	} else {
		args = append(args, "--insecure", "--image-url", imageURL)
	}
	if p.CopyNetwork {
		args = append(args, "--copy-network")
	}
	return append(args, disk)
}
