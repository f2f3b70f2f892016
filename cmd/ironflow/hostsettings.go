package main

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// decisions are the settings that decisions about hosts depend on, with or without
// a live image per host.
func (h hostSettings) decisions(buildImages bool) policy.Settings {
	return policy.Settings{
		Settings: nodespec.Settings{
			BuildImages: buildImages,
			DeployISO:   h.iso, DeployKernel: h.kernel, DeployRamdisk: h.ramdisk, ByArchitecture: h.byArch,
			DirectDeployPersistentBoot: h.directBoot, LiveISOPersistentBoot: h.liveISOBoot, ExternalURLv6: h.externalV6,
		},
		MaxAttempts: h.retries, NoProvisioningNetwork: h.noNetwork,
	}
}

// liveImagesForAll reports whether live images are named that no builder makes.
func (h hostSettings) liveImagesForAll() bool {
	return h.iso != "" || h.ramdisk != "" || len(h.byArch) > 0
}

// bootDevices are Ironic's values of force_persistent_boot_device.
var bootDevices = []string{"Default", "Always", "Never"}

// completeHosts refuses what Ironic would refuse for every host.
func (s *settings) completeHosts() error {
	for flag, value := range map[string]string{"direct-deploy-boot-device": s.hosts.directBoot, "live-iso-boot-device": s.hosts.liveISOBoot} {
		if value != "" && !slices.Contains(bootDevices, value) {
			return fmt.Errorf("--%s %q is none of %s", flag, value, strings.Join(bootDevices, ", "))
		}
	}
	if s.hosts.externalV6 == "" {
		return nil
	}
	if u, err := url.Parse(s.hosts.externalV6); err != nil || u.Host == "" {
		return fmt.Errorf("--ironic-external-url-v6 %q is not a URL such as http://[fd00::1]:6180", s.hosts.externalV6)
	}
	return nil
}

// completeLiveImages reads the addresses of live images of single architectures.
// A kernel without a ramdisk boots nothing.
func (s *settings) completeLiveImages() error {
	h := &s.hosts
	h.byArch = map[string]nodespec.LiveImageURLs{}
	for _, part := range []struct {
		flag, list, env string
		put             func(*nodespec.LiveImageURLs, string)
	}{
		{"deploy-iso-by-arch", h.isoByArch, "DEPLOY_ISO_URL_", func(u *nodespec.LiveImageURLs, url string) { u.ISO = url }},
		{"deploy-kernel-by-arch", h.kernelByArch, "DEPLOY_KERNEL_URL_", func(u *nodespec.LiveImageURLs, url string) { u.Kernel = url }},
		{"deploy-ramdisk-by-arch", h.ramdiskByArch, "DEPLOY_RAMDISK_URL_", func(u *nodespec.LiveImageURLs, url string) { u.Ramdisk = url }},
	} {
		urls := byEnvironment(part.env)
		for entry := range strings.SplitSeq(part.list, ",") {
			if entry = strings.TrimSpace(entry); entry == "" {
				continue
			}
			architecture, address, found := strings.Cut(entry, ":")
			if !found || !strings.Contains(address, "://") {
				return fmt.Errorf("--%s: %q is not ARCHITECTURE:URL, such as aarch64:https://images.example/live.iso", part.flag, entry)
			}
			urls[architecture] = address
		}
		for architecture, address := range urls {
			u := h.byArch[architecture]
			part.put(&u, address)
			h.byArch[architecture] = u
		}
	}
	return h.completePairs()
}

// completePairs refuses kernels and ramdisks that are alone, for all hosts or for
// those of an architecture.
func (h *hostSettings) completePairs() error {
	const together = "belong together: set both or neither"
	if (h.kernel == "") != (h.ramdisk == "") {
		return fmt.Errorf("--deploy-kernel-url and --deploy-ramdisk-url %s", together)
	}
	for architecture, u := range h.byArch {
		if (u.Kernel == "") != (u.Ramdisk == "") && h.kernel == "" {
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
