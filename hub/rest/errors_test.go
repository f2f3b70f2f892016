package rest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
)

// TestErrorModel: what is refused, with its code and why, in the protocol's form.
func TestErrorModel(t *testing.T) {
	f := newFixture(t)
	for name, tc := range map[string]struct {
		method, path, body string
		code               int
		reason             string
	}{
		"unknown path":           {"GET", "/nothing", "", 404, "was not found"},
		"path outside":           {"GET", "/../../etc/passwd", "", 404, "was not found"},
		"unknown cluster":        {"GET", "/clusters/" + uuid.NewString(), "", 404, "there is no cluster"},
		"id that is none":        {"GET", "/clusters/1%2F2", "", 400, "is not a UUID"},
		"id in another spelling": {"GET", "/clusters/%7B" + uuid.NewString() + "%7D", "", 400, "is not a UUID"},
		"method not allowed":     {"PUT", "/clusters", "", 405, "not allowed"},
		"missing name":           {"POST", "/infra-envs", `{"pull_secret":"{}"}`, 400, "name is required"},
		"pull secret":            {"POST", "/infra-envs", `{"name":"a","pull_secret":"hunter2"}`, 400, "pull_secret: want JSON"},
		"odd flag":               {"GET", "/clusters?with_hosts=perhaps", "", 400, "neither true nor false"},
		"odd number":             {"GET", "/events?limit=-1", "", 400, "not a number"},
		"state":                  {"POST", "/clusters/CLUSTER/actions/install", "", 409, "not ready"},
		"cluster in work":        {"PATCH", "/clusters/CLUSTER", "{}", 409, "cannot change"},
		"day-1 host":             {"POST", "/infra-envs/ENV/hosts/HOST/actions/install", "", 409, "install the cluster"},
		"bind without a cluster": {"POST", "/infra-envs/ENV/hosts/HOST/actions/bind", "{}", 400, "cluster_id is required"},
		"bind to no cluster":     {"POST", "/infra-envs/ENV/hosts/HOST/actions/bind", `{"cluster_id":"` + uuid.NewString() + `"}`, 400, "there is no cluster"},
		"hosts of no cluster":    {"GET", "/clusters/" + uuid.NewString() + "/hosts", "", 404, "there is no cluster"},
		"events of no host":      {"GET", "/events?host_ids=" + f.host.HostID + ",levitate", "", 400, `host_ids "levitate" is not a UUID`},
		"releases by no flag":    {"GET", "/openshift-versions?only_latest=maybe", "", 400, "neither true nor false"},
		"features of no release": {"GET", "/support-levels/features", "", 400, "openshift_version"},
		"no bundle":              {"GET", "/operators/bundles/levitate", "", 404, "levitate"},
		"no operator":            {"GET", "/supported-operators/levitate", "", 404, "levitate"},
		"validations in words":   {"PUT", "/clusters/CLUSTER/ignored-validations", `{"host-validation-ids":"connected"}`, 400, "want JSON lists of ids"},
		"no validation to reset": {"PATCH", "/infra-envs/ENV/hosts/HOST/actions/reset-validation/levitate", "", 400, "levitate"},
		"kubeconfig too early":   {"GET", "/clusters/CLUSTER/downloads/credentials?file_name=kubeconfig", "", 409, "is installing; kubeconfig is not handed out then"},
		"login too early":        {"GET", "/clusters/CLUSTER/credentials", "", 409, "is installing"},
		"no credentials":         {"GET", "/clusters/CLUSTER/downloads/credentials", "", 400, "want kubeconfig"},
		"a file outside":         {"GET", "/clusters/CLUSTER/downloads/files?file_name=../kubeconfig", "", 400, "want one of"},
		"a signed file outside":  {"GET", "/clusters/CLUSTER/downloads/files-presigned?file_name=../kubeconfig", "", 400, "want one of"},
		"a signed manifest":      {"GET", "/clusters/CLUSTER/downloads/files-presigned?file_name=manifests&additional_name=manifests/../x.yaml", "", 404, "has no manifest"},
		"a manifest outside":     {"GET", "/clusters/CLUSTER/manifests/files?file_name=..%2F..%2Fkubeconfig", "", 404, "has no manifest"},
		"manifest too late":      {"POST", "/clusters/CLUSTER/manifests", `{"file_name":"a.yaml","content":"YTogYgo="}`, 400, "cannot change while it is installing"},
		"overrides too late":     {"PATCH", "/clusters/CLUSTER/install-config", `"{}"`, 400, "cannot change: it is installing"},
		"more hosts too early":   {"POST", "/clusters/CLUSTER/actions/allow-add-hosts", "", 409, "not possible in this state"},
		"host in work":           {"PATCH", "/infra-envs/ENV/hosts/HOST", `{"host_role":"worker"}`, 400, "cannot change while it is"},
		"arguments too late":     {"PATCH", "/infra-envs/ENV/hosts/HOST/installer-args", `{"args":[]}`, 409, "cannot change while it is"},
		"infra-env of nothing":   {"POST", "/infra-envs", `{"name":"a","pull_secret":"{\"auths\":{}}","cluster_id":"` + uuid.NewString() + `"}`, 404, "there is no cluster"},
		"infra-env with hosts":   {"DELETE", "/infra-envs/ENV", "", 400, "still has 1 hosts"},
		"installer argument":     {"PATCH", "/infra-envs/ENV/hosts/HOST/installer-args", `{"args":["--rm","-rf"]}`, 400, "not allowed"},
		"installer value":        {"PATCH", "/infra-envs/ENV/hosts/HOST/installer-args", `{"args":["--append-karg","a b` + "`" + `"]}`, 400, "characters"},
		"ignition":               {"PATCH", "/infra-envs/ENV/hosts/HOST/ignition", `{"config":"{}"}`, 400, "config"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			path := strings.NewReplacer("CLUSTER", f.cluster, "ENV", f.env, "HOST", f.host.HostID).Replace(tc.path)
			var e wire.Error
			code, raw := f.User().Send(t, tc.method, path, "application/json", strings.NewReader(tc.body), nil)
			g.Expect(code).To(Equal(tc.code), raw)
			g.Expect(jsonInto(raw, &e)).To(Succeed())
			g.Expect(e.Kind).To(Equal("Error"))
			g.Expect(e.Code).To(Equal(fmt.Sprint(tc.code)))
			g.Expect(e.ID).To(Equal(int64(tc.code)))
			g.Expect(e.Reason).To(ContainSubstring(tc.reason))
			g.Expect(raw).NotTo(ContainSubstring("hunter2"))
		})
	}
}
