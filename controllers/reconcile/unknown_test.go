package reconcile_test

import (
	"encoding/json"
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/reconcile"
)

// newer is a status of a version of the API with more members, at the top and further down.
const newer = `{"errorCount":1,"provisioningFailCount":2,"lastAttemptedImage":{"url":"http://a"},
	"provisioning":{"state":"available","raid":{"softwareRAIDVolumes":[{"level":"1"},{"level":"1","rootVolume":true}]}}}`

func TestMembersThatTheTypeLacks(t *testing.T) {
	for name, c := range map[string]struct {
		raw, refused string
		want         reconcile.Unknown
		lacking      int // that are not found in the document itself
	}{
		"none": {raw: `{"errorCount":1,"provisioning":{"state":"available"}}`, want: reconcile.Unknown{}},
		"at any depth": {
			raw:  newer,
			want: reconcile.Unknown{"provisioningFailCount": 2.0, "lastAttemptedImage": map[string]any{"url": "http://a"}, "provisioning.raid.softwareRAIDVolumes[1].rootVolume": true},
		},
		"another spelling":   {raw: `{"ErrorCount":1}`, want: reconcile.Unknown{"ErrorCount": 1.0}},
		"no JSON":            {raw: `OK`, refused: "invalid character"},
		"text behind it":     {raw: `{} {}`, refused: "after top-level value"},
		"there twice":        {raw: `{"errorCount":1,"errorCount":2}`, refused: "duplicate field"},
		"not of its type":    {raw: `{"errorCount":"one"}`, refused: "cannot unmarshal"},
		"a name with a dot":  {raw: `{"a.b":1}`, want: reconcile.Unknown{"a.b": nil}, lacking: 1},
		"a key with a quote": {raw: `{"a\"b":1}`, want: reconcile.Unknown{`a"b`: 1.0}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := reconcile.DecodeKnown([]byte(c.raw), &metal3.BareMetalHostStatus{})
			if c.refused != "" {
				g.Expect(err).To(MatchError(ContainSubstring(c.refused)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(c.want))
			var document any
			g.Expect(json.Unmarshal([]byte(c.raw), &document)).To(Succeed())
			g.Expect(got.Lacking(document)).To(HaveLen(c.lacking))
			g.Expect(got.Lacking(map[string]any{})).To(HaveLen(len(c.want)))
		})
	}
}

// TestSaverSendsWhatTheTypeLacks: once, with the status that it belongs to.
func TestSaverSendsWhatTheTypeLacks(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t, newHost(nil))
	h := &host{}
	g.Expect(b.client.Get(t.Context(), client.ObjectKeyFromObject(newHost(nil)), h)).To(Succeed())
	saver := reconcile.NewSaver(b.client, h)
	saver.Whole = true
	var err error
	saver.Also, err = reconcile.DecodeKnown([]byte(newer), &h.Status)
	g.Expect(err).NotTo(HaveOccurred())
	saver.Also = saver.Also.Without("provisioning")
	g.Expect(saver.Status(t.Context(), h)).To(BeTrue())
	g.Expect(b.statuses[0]).To(And(ContainSubstring(`"provisioningFailCount":2`), ContainSubstring(`"lastAttemptedImage":{"url":"http://a"}`),
		ContainSubstring(`"errorCount":1`), Not(ContainSubstring("rootVolume"))))
	h.Status.ErrorCount = 2
	g.Expect(saver.Status(t.Context(), h)).To(BeTrue())
	g.Expect(b.statuses[1]).NotTo(ContainSubstring("provisioningFailCount"))

	h.Status.HardwareProfile = "unknown"
	g.Expect(saver.Status(t.Context(), h)).To(BeTrue())
	h.Status.HardwareProfile = ""
	saver.Also = reconcile.Unknown{"provisioning.raid.softwareRAIDVolumes[1].rootVolume": true, "a.b": nil}
	g.Expect(saver.Status(t.Context(), h)).To(BeTrue())
	g.Expect(b.statuses[3]).To(And(ContainSubstring(`"hardwareProfile":null`), ContainSubstring(`[{"level":"1"},{"level":"1","rootVolume":true}]`)))
}
