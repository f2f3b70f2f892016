package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// TestBMCCheckAsksSizes: an image that is too large for the BMC is refused where its
// server may be asked for its size, and nothing is asked otherwise.
func TestBMCCheckAsksSizes(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Content-Length", fmt.Sprint(2<<20))
	}))
	t.Cleanup(server.Close)
	report := filepath.Join(t.TempDir(), "report.json")
	g := NewWithT(t)
	g.Expect(os.WriteFile(report, []byte(`{"address": "https://192.0.2.1", "maxImageBytes": 1048576, "capabilities": [{"name": "SimpleUpdate", "state": "Yes"}]}`), 0o600)).To(Succeed())
	objects := `
apiVersion: metal3.io/v1alpha1
kind: BareMetalHost
metadata: {name: node-1}
spec: {online: true, bmc: {address: "redfish://192.0.2.1", credentialsName: x}}
---
apiVersion: metal3.io/v1alpha1
kind: HostFirmwareComponents
metadata: {name: node-1}
spec: {updates: [{component: bmc, url: "` + server.URL + `/bmc.bin"}]}
`
	_, _, err := command(t, objects, "bmc", "check", "-f", "-", "--report", report)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(asked).To(BeZero())
	out, _, err := command(t, objects, "bmc", "check", "-f", "-", "--report", report, "--ask-sizes")
	g.Expect(err).To(MatchError("1 mismatch, on 1 of 1 hosts"))
	g.Expect(out).To(ContainSubstring("spec.updates[0].url  UpdateSize  The image has 2 MiB, and the BMC takes 1 MiB"))
	g.Expect(asked).To(Equal(1))
}
