package hosts

import (
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/pflag"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/parts"
)

// TestTheEnvironmentOfBaremetalOperator takes its variables, in the words that it
// has for them.
func TestTheEnvironmentOfBaremetalOperator(t *testing.T) {
	for name, c := range map[string]struct {
		environment map[string]string
		want        policy.Settings
		says        string
	}{
		"nothing": {want: policy.Settings{Settings: nodespec.Settings{DirectDeployPersistentBoot: "Default", LiveISOPersistentBoot: "Default"}}},
		"boot devices": {
			environment: map[string]string{"DIRECT_DEPLOY_FORCE_PERSISTENT_BOOT_DEVICE": "Always", "LIVE_ISO_FORCE_PERSISTENT_BOOT_DEVICE": "Never"},
			want:        policy.Settings{Settings: nodespec.Settings{DirectDeployPersistentBoot: "Always", LiveISOPersistentBoot: "Never"}},
		},
		"an unknown boot device": {environment: map[string]string{"LIVE_ISO_FORCE_PERSISTENT_BOOT_DEVICE": "Sometimes"}, says: "none of Default, Always, Never"},
		"networks": {
			environment: map[string]string{"PROVISIONING_NETWORK_DISABLED": "true", "IRONIC_EXTERNAL_URL_V6": "http://[fd00::1]:6180"},
			want: policy.Settings{NoProvisioningNetwork: true, Settings: nodespec.Settings{
				DirectDeployPersistentBoot: "Default", LiveISOPersistentBoot: "Default", ExternalURLv6: "http://[fd00::1]:6180",
			}},
		},
		"no URL": {environment: map[string]string{"IRONIC_EXTERNAL_URL_V6": "fd00::1"}, says: "--ironic-external-url-v6"},
		"live images": {
			environment: map[string]string{"DEPLOY_ISO_URL": "http://x/a.iso", "DEPLOY_KERNEL_URL": "http://x/k", "DEPLOY_RAMDISK_URL": "http://x/r"},
			want: policy.Settings{Settings: nodespec.Settings{
				DirectDeployPersistentBoot: "Default", LiveISOPersistentBoot: "Default",
				DeployISO: "http://x/a.iso", DeployKernel: "http://x/k", DeployRamdisk: "http://x/r",
			}},
		},
		"live images by architecture": {
			environment: map[string]string{
				"DEPLOY_ISO_BY_ARCH": "x86_64:http://x/x.iso, aarch64:http://x:81/a.iso", "DEPLOY_KERNEL_URL_AARCH64": "http://x/k", "DEPLOY_RAMDISK_URL_AARCH64": "http://x/r",
			},
			want: policy.Settings{Settings: nodespec.Settings{
				DirectDeployPersistentBoot: "Default", LiveISOPersistentBoot: "Default",
				ByArchitecture: map[string]nodespec.LiveImageURLs{
					"x86_64": {ISO: "http://x/x.iso"}, "aarch64": {ISO: "http://x:81/a.iso", Kernel: "http://x/k", Ramdisk: "http://x/r"},
				},
			}},
		},
		"an architecture without a URL":    {environment: map[string]string{"DEPLOY_ISO_BY_ARCH": "http://x/x.iso"}, says: "is not ARCHITECTURE:URL"},
		"a kernel without a ramdisk":       {environment: map[string]string{"DEPLOY_KERNEL_URL": "http://x/k"}, says: "belong together"},
		"a lone kernel of an architecture": {environment: map[string]string{"DEPLOY_KERNEL_URL_AARCH64": "http://x/k"}, says: "aarch64 belong together"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			t.Setenv("IRONIC_ENDPOINT", "https://ironic.example")
			for key, value := range c.environment {
				t.Setenv(key, value)
			}
			hosts := &Part{Program: new(parts.Program), Alone: true}
			flags := pflag.NewFlagSet("controllers", pflag.ContinueOnError)
			settings.Bind(flags, hosts.Flags())
			g.Expect(flags.Parse(nil)).To(Succeed())
			err := hosts.Check()
			if c.says != "" {
				g.Expect(err).To(MatchError(ContainSubstring(c.says)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			got := hosts.Decisions()
			if len(got.ByArchitecture) == 0 {
				got.ByArchitecture = nil
			}
			got.MaxAttempts = 0 // has a test of its own
			g.Expect(got).To(Equal(c.want))
		})
	}
}
