package verify_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/bios"
	"github.com/ironflow/ironflow/bmc/preflight"
	"github.com/ironflow/ironflow/bmc/verify"
)

// FuzzCompare compares whatever Ironic and a BMC report with whatever was asked for: it
// ends, says the same again, and each sentence is bounded.
func FuzzCompare(f *testing.F) {
	f.Add(
		[]byte(`{"Settings":{"Turbo":"On","Cores":"8"},"Volumes":[{"Level":"1+0","SizeGiB":100,"Count":4}],"Versions":{"bmc":"1.2.3","nic:x":"2"}}`),
		[]byte(`{"logical_disks":[{"raid_level":"1+0","size_gb":100,"physical_disks":["a"]},{"raid_level":1,"size_gb":"MAX"},7]}`),
		[]byte(`{"bmcVersion":"iLO 6 v1.57","capabilities":[{"name":"StorageDiscovered","state":"Yes"}],
			"storage":[{"id":"a","controllers":1,"volumes":[{"id":"v","raidType":"SpannedMirrors","capacityBytes":107374182400}]}],
			"firmware":[{"id":"x","version":"3"}]}`),
		[]byte(`{"Attributes":{"Turbo":"Off","Cores":8}}`),
	)
	f.Add([]byte(`{"Volumes":[]}`), []byte(`{"logical_disks":{}}`), []byte(`{"storage":[{"id":"","volumes":[{"id":"","capacityBytes":-1}]}]}`), []byte(`{}`))
	f.Fuzz(func(t *testing.T, rawWanted, rawIronic, rawReport, rawSettings []byte) {
		var wanted struct {
			Settings map[string]string
			Volumes  []preflight.Volume
			Versions map[string]string
		}
		var raidConfig map[string]any
		var report v1alpha1.BMCReport
		if json.Unmarshal(rawWanted, &wanted) != nil || json.Unmarshal(rawIronic, &raidConfig) != nil || json.Unmarshal(rawReport, &report) != nil {
			return
		}
		want := verify.Wanted{Settings: map[string]any{}, Volumes: wanted.Volumes, Versions: wanted.Versions}
		for name, value := range wanted.Settings {
			want.Settings[name] = value
		}
		settings, _ := bios.ParseSettings(rawSettings, nil)
		ironic := verify.Ironic{Settings: wanted.Settings, Volumes: verify.IronicVolumes(raidConfig), Versions: wanted.Versions}
		compare := func() []string {
			var said []string
			for _, d := range verify.Compare(want, ironic, verify.BMC{Report: &report, Settings: settings}) {
				said = append(said, d.String())
			}
			return said
		}
		first, second := compare(), compare()
		if len(first) != len(second) {
			t.Fatalf("%q, then %q", first, second)
		}
		for i := range first {
			if first[i] != second[i] {
				t.Fatalf("%q, then %q", first[i], second[i])
			}
			if !utf8.ValidString(first[i]) {
				t.Fatalf("%q is no text", first[i])
			}
		}
	})
}
