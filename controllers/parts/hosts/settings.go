package hosts

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/controllers/host/capacity"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// Decisions are the settings that decisions about hosts depend on.
func (p *Part) Decisions() policy.Settings {
	h, d := p.Settings.Hosts, p.Settings.DeployImages
	return policy.Settings{
		Settings: nodespec.Settings{
			BuildImages: !p.Alone || d.BuildPreprovisioningImages,
			DeployISO:   d.ISOURL, DeployKernel: d.KernelURL, DeployRamdisk: d.RamdiskURL, ByArchitecture: p.byArch,
			DirectDeployPersistentBoot: h.DirectDeployBootDevice, LiveISOPersistentBoot: h.LiveISOBootDevice, ExternalURLv6: p.Settings.Ironic.ExternalURLv6,
		},
		MaxAttempts: h.MaxProvisioningRetries, NoProvisioningNetwork: h.ProvisioningNetworkDisabled,
	}
}

// limits are how many hosts may be worked on at once.
func (p *Part) limits() capacity.Limits {
	h := p.Settings.Hosts
	return capacity.Limits{Total: h.Limit, Network: h.LimitNetworkBoot, Ironic: h.LimitPerIronic, Domain: h.LimitPerFailureDomain}
}

// LiveImagesForAll reports whether live images are named that no builder makes.
func (p *Part) LiveImagesForAll() bool {
	d := p.Settings.DeployImages
	return d.ISOURL != "" || d.RamdiskURL != "" || len(p.byArch) > 0
}

// bootDevices are Ironic's values of force_persistent_boot_device.
var bootDevices = []string{"Default", "Always", "Never"}

// checkHosts refuses what Ironic would refuse for every host.
func (p *Part) checkHosts() error {
	s := p.Settings
	for flag, value := range map[string]string{"direct-deploy-boot-device": s.Hosts.DirectDeployBootDevice, "live-iso-boot-device": s.Hosts.LiveISOBootDevice} {
		if value != "" && !slices.Contains(bootDevices, value) {
			return fmt.Errorf("--%s %q is none of %s", flag, value, strings.Join(bootDevices, ", "))
		}
	}
	if s.Ironic.ExternalURLv6 == "" {
		return nil
	}
	if u, err := url.Parse(s.Ironic.ExternalURLv6); err != nil || u.Host == "" {
		return fmt.Errorf("--ironic-external-url-v6 %q is not a URL such as http://[fd00::1]:6180", s.Ironic.ExternalURLv6)
	}
	return nil
}

// readLiveImages reads the addresses of live images of single architectures.
// A kernel without a ramdisk boots nothing.
func (p *Part) readLiveImages() error {
	d := p.Settings.DeployImages
	p.byArch = map[string]nodespec.LiveImageURLs{}
	for _, part := range []struct {
		flag, env string
		list      []string
		put       func(*nodespec.LiveImageURLs, string)
	}{
		{"deploy-iso-by-arch", "DEPLOY_ISO_URL_", d.ISOByArch, func(u *nodespec.LiveImageURLs, url string) { u.ISO = url }},
		{"deploy-kernel-by-arch", "DEPLOY_KERNEL_URL_", d.KernelByArch, func(u *nodespec.LiveImageURLs, url string) { u.Kernel = url }},
		{"deploy-ramdisk-by-arch", "DEPLOY_RAMDISK_URL_", d.RamdiskByArch, func(u *nodespec.LiveImageURLs, url string) { u.Ramdisk = url }},
	} {
		urls := byEnvironment(part.env)
		for _, entry := range part.list {
			architecture, address, found := strings.Cut(entry, ":")
			if !found || !strings.Contains(address, "://") {
				return fmt.Errorf("--%s: %q is not ARCHITECTURE:URL, such as aarch64:https://images.example/live.iso", part.flag, entry)
			}
			urls[architecture] = address
		}
		for architecture, address := range urls {
			u := p.byArch[architecture]
			part.put(&u, address)
			p.byArch[architecture] = u
		}
	}
	return p.checkPairs()
}

// checkPairs refuses kernels and ramdisks that are alone, for all hosts or for
// those of an architecture.
func (p *Part) checkPairs() error {
	d := p.Settings.DeployImages
	const together = "belong together: set both or neither"
	if (d.KernelURL == "") != (d.RamdiskURL == "") {
		return fmt.Errorf("--deploy-kernel-url and --deploy-ramdisk-url %s", together)
	}
	for architecture, u := range p.byArch {
		if (u.Kernel == "") != (u.Ramdisk == "") && d.KernelURL == "" {
			return fmt.Errorf("kernel and ramdisk of architecture %s %s", architecture, together)
		}
	}
	return nil
}

// byEnvironment collects variables that end in an architecture, as the existing
// operator has them: DEPLOY_ISO_URL_AARCH64 is that of aarch64.
func byEnvironment(prefix string) map[string]string {
	urls := map[string]string{}
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if architecture, found := strings.CutPrefix(name, prefix); found && architecture != "" && value != "" {
			urls[strings.ToLower(architecture)] = value
		}
	}
	return urls
}
