package rest_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/users"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// people are the users of a hub, each with the token "a-token-of-NAME".
func people(t *testing.T) users.List {
	t.Helper()
	path := filepath.Join(t.TempDir(), "users")
	g := NewWithT(t)
	g.Expect(os.WriteFile(path, []byte("anna,admin,a-token-of-anna--\nbert,read-only-admin,a-token-of-bert--\ncleo,user,a-token-of-cleo--\ndora,user,a-token-of-dora--\n"), 0o600)).To(Succeed())
	list, err := users.Load(path)
	g.Expect(err).NotTo(HaveOccurred())
	return list
}

// person is a user of that name.
func (f *fixture) person(name string) *testhub.Caller {
	return f.User().With("Authorization", "Bearer a-token-of-"+name+"--")
}

// TestAUserHasWhatItHasMade: what another has does not exist for it, in lists neither, and
// nothing of its own can be made part of it.
func TestAUserHasWhatItHasMade(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t)
	cleo, dora := f.madeBy(t, f.person("cleo"), "edge"), f.madeBy(t, f.person("dora"), "core")
	user := f.person("cleo")
	var clusters wire.ClusterList
	code, raw := user.Do(t, "GET", "/clusters", nil, &clusters)
	g.Expect(code).To(Equal(200), raw)
	g.Expect(clusters).To(ConsistOf(And(HaveField("ID", cleo.cluster), HaveField("UserName", "cleo"))))
	var envs wire.InfraEnvList
	code, raw = user.Do(t, "GET", "/infra-envs", nil, &envs)
	g.Expect(code).To(Equal(200), raw)
	g.Expect(envs).To(ConsistOf(And(HaveField("ID", cleo.env), HaveField("UserName", "cleo"))))
	for what, call := range map[string]struct {
		method, path string
		body         any
		want         int
	}{
		"events of all":             {"GET", "/events", nil, 400},
		"events of another":         {"GET", "/events?cluster_id=" + dora.cluster, nil, 404},
		"events of another's":       {"GET", "/events?cluster_id=" + cleo.cluster + "&infra_env_id=" + dora.env, nil, 404},
		"its events":                {"GET", "/events?cluster_id=" + cleo.cluster, nil, 200},
		"a host for another":        {"POST", "/infra-envs/" + cleo.env + "/hosts/" + cleo.host.HostID + "/actions/bind", wire.BindHostParams{ClusterID: dora.cluster}, 404},
		"an infra-env of another's": {"POST", "/infra-envs", wire.InfraEnvCreateParams{Name: "x", PullSecret: pullSecret, ClusterID: &dora.cluster}, 404},
		"another's cluster":         {"DELETE", "/clusters/" + dora.cluster, nil, 404},
		"one that nobody has made":  {"GET", "/clusters/" + f.cluster, nil, 404},
		"its own":                   {"GET", "/clusters/" + cleo.cluster, nil, 200},
	} {
		code, raw := user.Do(t, call.method, call.path, call.body, nil)
		g.Expect(code).To(Equal(call.want), "%s: %s", what, raw)
	}
	for name, want := range map[string]int{"anna": 3, "bert": 3} {
		code, raw := f.person(name).Do(t, "GET", "/clusters", nil, &clusters)
		g.Expect(code).To(Equal(200), raw)
		g.Expect(clusters).To(HaveLen(want), "%s sees all", name)
	}
	code, raw = f.person("bert").Do(t, "DELETE", "/clusters/"+cleo.cluster, nil, nil)
	g.Expect(code).To(Equal(403), raw)
	g.Expect(raw).To(ContainSubstring("user bert has the role read-only-admin, which does not open this operation"))
	for _, path := range []string{"/downloads/credentials?file_name=kubeconfig", "/downloads/files?file_name=kubeconfig", "/downloads/files-presigned?file_name=kubeconfig", "/credentials"} {
		code, raw = f.person("bert").Do(t, "GET", "/clusters/"+f.cluster+path, nil, nil)
		g.Expect(code).To(Equal(403), "%s opens a cluster: %s", path, raw)
	}
	g.Expect(fmt.Sprint(people(t))).NotTo(ContainSubstring("a-token-of"), "only digests are kept")
}

// TestAUserSeesItsOwnRemovedCluster alone, as it does in the list.
func TestAUserSeesItsOwnRemovedCluster(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t)
	own := f.madeBy(t, f.person("cleo"), "seven")
	code, raw := f.person("cleo").Do(t, http.MethodDelete, "/clusters/"+own.cluster, nil, nil)
	g.Expect(code).To(Equal(http.StatusNoContent), raw)
	for who, want := range map[string]int{"cleo": http.StatusOK, "anna": http.StatusOK, "dora": http.StatusNotFound} {
		code, raw = f.person(who).With("get_unregistered_clusters", "true").Do(t, http.MethodGet, "/clusters/"+own.cluster, nil, nil)
		g.Expect(code).To(Equal(want), "%s: %s", who, raw)
	}
}
