package rest_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/operators"
)

// TestMastersThatTakeWorkloadsAreAManifest: the installer's own scheduler lets workloads on masters only where there are no workers.
func TestMastersThatTakeWorkloadsAreAManifest(t *testing.T) {
	c := newClient(t, withInstaller(t, operators.Table{}).User())
	path := "/clusters/" + c.read("POST", "/clusters", `{"name":"edge","openshift_version":"4.20.1","pull_secret":"{\"auths\":{}}",
		"ignition_source":"openshift-install","schedulable_masters":true}`, 201)["id"].(string)
	manifests := path + "/manifests"
	c.Expect(c.do("GET", manifests+"?include_system_generated=true", "", 200)).To(MatchJSON(`[
		{"folder":"manifests","file_name":"cluster-scheduler-02-config.yml","manifest_source":"system"}]`))
	c.Expect(c.do("GET", manifests+"/files?folder=manifests&file_name=cluster-scheduler-02-config.yml", "", 200)).To(MatchYAML(
		`{"apiVersion":"config.openshift.io/v1","kind":"Scheduler","metadata":{"name":"cluster"},"spec":{"mastersSchedulable":true,"policy":{"name":""}},"status":{}}`))
	c.do("PATCH", path, `{"schedulable_masters":false}`, 201)
	c.Expect(c.do("GET", manifests+"?include_system_generated=true", "", 200)).To(MatchJSON(`[]`))
}
