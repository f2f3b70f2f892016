package install

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/agent/imageref"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// Job is a checked order.
type Job struct {
	Request wire.InstallCmdRequest
	// Disk is the device that will be written, by its kernel name: /dev/sda.
	Disk string
	// Format are the other devices that are cleaned, by their kernel names.
	Format []string
	// Args are the extra arguments for coreos-installer.
	Args []string
}

// Resolve finds the device behind a path below /dev, and fails when there is none.
type Resolve func(path string) (device string, err error)

// valueForm is the protocol's pattern for values of installer arguments.
var valueForm = regexp.MustCompile(`^[A-Za-z0-9@!#$%*()_+-=//.,";':{}\[\]]+$`)

// argFlags are the allowed installer arguments and whether a value follows.
var argFlags = map[string]bool{
	"--append-karg": true, "--delete-karg": true, "-n": false, "--copy-network": false, "--network-dir": true,
	"--save-partlabel": true, "--save-partindex": true, "--image-url": true, "--image-file": true,
}

// gatherKeys are the keys of a must-gather map.
var gatherKeys = []string{"ocp", "cnv", "lso", "ocs", "odf"}

// Parse checks the arguments of an install step completely before anything
// runs. The error lists everything that is wrong.
func Parse(args []string, resolve Resolve) (Job, error) {
	request, err := steps.Decode[wire.InstallCmdRequest](args)
	if err != nil {
		return Job{}, err
	}
	job := Job{Request: request}
	errs := []error{
		checkID("cluster_id", request.ClusterID), checkID("infra_env_id", request.InfraEnvID), checkID("host_id", request.HostID),
		checkRole(request.Role),
		checkImage("controller_image", request.ControllerImage, false), checkImage("installer_image", request.InstallerImage, false),
		checkImage("mco_image", request.McoImage, false), checkImage("coreos_image", request.CoreosImage, false),
		checkMustGather(request.MustGatherImage), checkProxy(request.Proxy),
	}
	disk, err := checkDevice("boot_device", request.BootDevice, resolve)
	job.Disk = disk
	errs = append(errs, err)
	for i, other := range request.DisksToFormat {
		device, err := checkDevice(fmt.Sprintf("disks_to_format[%d]", i), other, resolve)
		job.Format = append(job.Format, device)
		errs = append(errs, err)
	}
	job.Args, err = checkArgs(request.InstallerArgs)
	return job, errors.Join(append(errs, err)...)
}

func checkID(name, id string) error {
	if _, err := uuid.Parse(id); err != nil || len(id) != 36 {
		return fmt.Errorf("%s %q is not a UUID", name, id)
	}
	return nil
}

func checkRole(role wire.HostRole) error {
	if _, ok := sequences[role]; !ok || role == singleNode {
		return fmt.Errorf("role %q is not bootstrap, master, arbiter or worker", role)
	}
	return nil
}

func checkImage(name, image string, required bool) error {
	if image == "" && !required {
		return nil
	}
	if !imageref.Valid(image) {
		return fmt.Errorf("%s %q is not an image reference", name, image)
	}
	return nil
}

func checkMustGather(text string) error {
	if !strings.HasPrefix(text, "{") {
		return checkImage("must_gather_image", text, false)
	}
	var images map[string]string
	if err := json.Unmarshal([]byte(text), &images); err != nil {
		return fmt.Errorf("must_gather_image is no image and no JSON map: %w", err)
	}
	for key, image := range images {
		if !slices.Contains(gatherKeys, key) {
			return fmt.Errorf("must_gather_image: key %q is not one of %v", key, gatherKeys)
		}
		if err := checkImage("must_gather_image."+key, image, true); err != nil {
			return err
		}
	}
	return nil
}

func checkDevice(name, device string, resolve Resolve) (string, error) {
	if !strings.HasPrefix(device, "/dev/") || path.Clean(device) != device {
		return "", fmt.Errorf("%s %q is not a path below /dev", name, device)
	}
	found, err := resolve(device)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return found, nil
}

func checkProxy(p *wire.Proxy) error {
	if p == nil {
		return nil
	}
	for name, value := range map[string]*string{"http_proxy": p.HTTPProxy, "https_proxy": p.HTTPSProxy} {
		if value == nil || *value == "" {
			continue
		}
		if u, err := url.Parse(*value); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return fmt.Errorf("proxy.%s is not an http(s) URL", name) // not quoted: it may hold a password
		}
	}
	if p.NoProxy != nil && strings.ContainsAny(*p.NoProxy, " \t\r\n;'\"`$") {
		return errors.New("proxy.no_proxy is not a comma separated list of hosts and networks")
	}
	return nil
}

// checkArgs reads the JSON list in a string and lets only known flags through.
func checkArgs(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	var args []string
	if err := json.Unmarshal([]byte(text), &args); err != nil {
		return nil, fmt.Errorf("installer_args is not a JSON list of strings: %w", err)
	}
	for i := 0; i < len(args); i++ {
		flag, value, joined := strings.Cut(args[i], "=")
		takes, known := argFlags[flag]
		switch {
		case !known:
			return nil, fmt.Errorf("installer_args: %q is not allowed", args[i])
		case !takes && joined:
			return nil, fmt.Errorf("installer_args: %s takes no value", flag)
		case !takes:
			continue
		case !joined:
			if i++; i >= len(args) {
				return nil, fmt.Errorf("installer_args: %s needs a value", flag)
			}
			value = args[i]
		}
		if !valueForm.MatchString(value) || strings.HasPrefix(value, "--") {
			return nil, fmt.Errorf("installer_args: the value %q of %s has characters that are not allowed", value, flag)
		}
	}
	return args, nil
}
