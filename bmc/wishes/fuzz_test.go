package wishes_test

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/preflight"
	"github.com/ironflow/ironflow/bmc/wishes"
)

// FuzzOf makes wishes of whatever objects hold: users write them, and the API's schema
// lets much through.
func FuzzOf(f *testing.F) {
	f.Add(
		[]byte(host),
		[]byte(`{metadata: {name: node-1}, spec: {settings: {Cores: 8, Turbo: "On"}}}`),
		[]byte(`{metadata: {name: node-1}, spec: {updates: [{component: bmc, url: "https://192.0.2.9/bmc_1.2.3.bin"}]}}`),
	)
	f.Add(
		[]byte(`{spec: {bmc: {address: "redfish-uefihttp://[::1]"}, image: {url: "%zz", format: live-iso}, raid: {hardwareRAIDVolumes: [], softwareRAIDVolumes: [{}]}}}`),
		[]byte(`{spec: {settings: {"": ""}}}`),
		[]byte(`{spec: {updates: [{url: ":"}, {}]}}`),
	)
	f.Add([]byte(`{spec: {bmc: {address: ""}, firmware: {}, raid: {}}}`), []byte(`{}`), []byte(`{}`))
	f.Fuzz(func(t *testing.T, rawHost, rawSettings, rawComponents []byte) {
		var o wishes.Objects
		o.Host, o.Settings, o.Components = &metal3.BareMetalHost{}, &metal3.HostFirmwareSettings{}, &metal3.HostFirmwareComponents{}
		if yaml.Unmarshal(rawHost, o.Host) != nil || yaml.Unmarshal(rawSettings, o.Settings) != nil || yaml.Unmarshal(rawComponents, o.Components) != nil {
			return
		}
		w, err := wishes.Of(o)
		if err != nil {
			return
		}
		if preflight.Digest(w) == "" {
			t.Fatal("wishes without a digest would pass for others")
		}
		if again, err := wishes.Of(o); err != nil || preflight.Digest(again) != preflight.Digest(w) {
			t.Fatalf("the same objects are other wishes: %+v, %+v: %v", w, again, err)
		}
		if n := len(preflight.Check(w, &v1alpha1.BMCReport{}, nil, nil)); n > 64 {
			t.Fatalf("%d mismatches", n)
		}
	})
}
