package nodespec

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/ironic"
)

func TestInstance(t *testing.T) {
	liveISO := "live-iso"
	raw := "raw"
	for name, c := range map[string]struct {
		image  *metal3.Image
		custom *metal3.CustomDeploy
		info   ironic.Fields
		deploy string
	}{
		"image with a typed checksum": {
			&metal3.Image{URL: "u", Checksum: "c", ChecksumType: metal3.SHA256, DiskFormat: &raw}, nil,
			ironic.Fields{keyImageSource: "u", keyHashAlgo: "sha256", keyHashValue: "c", keyDiskFormat: "raw", keyChecksum: ironic.Remove, keyBootISO: ironic.Remove},
			"",
		},
		"image with any checksum": {
			&metal3.Image{URL: "u", Checksum: "c", ChecksumType: metal3.AutoChecksum}, nil,
			ironic.Fields{keyImageSource: "u", keyHashAlgo: ironic.Remove, keyChecksum: "c"},
			"",
		},
		"live ISO": {
			&metal3.Image{URL: "u", DiskFormat: &liveISO}, nil,
			ironic.Fields{keyBootISO: "u", keyImageSource: ironic.Remove, keyChecksum: ironic.Remove},
			deployRamdisk,
		},
		"custom method": {
			nil, &metal3.CustomDeploy{Method: "m"},
			ironic.Fields{keyImageSource: ironic.Remove, keyBootISO: ironic.Remove},
			deployCustom,
		},
		"custom method with an image": {
			&metal3.Image{URL: "u", Checksum: "c"}, &metal3.CustomDeploy{Method: "m"},
			ironic.Fields{keyImageSource: "u", keyChecksum: "c"},
			deployCustom,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "a", UID: "uid-a"}}
			d := ironic.Desired{DriverInfo: ironic.Fields{}, Extra: ironic.Fields{}}
			desiredInstance(h, Settings{}, WishOf(c.image, c.custom), &d)
			for key, value := range c.info {
				g.Expect(d.InstanceInfo).To(HaveKeyWithValue(key, value))
			}
			g.Expect(d.Interfaces.Deploy).To(Equal(c.deploy))
			g.Expect(*d.InstanceUUID).To(Equal("uid-a"))
			g.Expect(d.DriverInfo).To(HaveKeyWithValue(keyPersistent, "Default"))
		})
	}
}

func TestPersistentBootDevice(t *testing.T) {
	s := Settings{DirectDeployPersistentBoot: "Never", LiveISOPersistentBoot: "Always"}
	for name, c := range map[string]struct {
		settings Settings
		image    *metal3.Image
		custom   *metal3.CustomDeploy
		want     string
	}{
		"nothing set":   {image: &metal3.Image{URL: "http://x"}, want: "Default"},
		"image":         {settings: s, image: &metal3.Image{URL: "http://x"}, want: "Never"},
		"custom method": {settings: s, custom: &metal3.CustomDeploy{Method: "install"}, want: "Never"},
		"live ISO":      {settings: s, image: &metal3.Image{URL: "http://x", DiskFormat: new("live-iso")}, want: "Always"},
	} {
		t.Run(name, func(t *testing.T) {
			d := ironic.Desired{DriverInfo: ironic.Fields{}, Extra: ironic.Fields{}}
			desiredInstance(&metal3.BareMetalHost{}, c.settings, WishOf(c.image, c.custom), &d)
			NewWithT(t).Expect(d.DriverInfo).To(HaveKeyWithValue(keyPersistent, c.want))
		})
	}
}
