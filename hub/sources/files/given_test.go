package files_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/files"
)

// given are files of an object.
func given(from string, pairs ...string) func(*sources.Order) {
	return func(o *sources.Order) {
		for i := 0; i < len(pairs); i += 2 {
			o.Files = append(o.Files, sources.File{Name: pairs[i], From: from, Content: []byte(pairs[i+1])})
		}
	}
}

// TestFilesOfObjectsComeFirst: before the folder's, without a folder, and as the cluster's own.
func TestFilesOfObjectsComeFirst(t *testing.T) {
	g := NewWithT(t)
	o := order("worker", given("Secret site/roles", "worker.ign", motd("object-@{host.name}"), "kubeconfig-noingress", "kind: Config\n"))
	for _, s := range []files.Source{{}, folder(t, map[string]string{"CLUSTER/worker.ign": motd("folder"), "CLUSTER/kubeconfig-noingress": "other"})} {
		made, err := s.Make(t.Context(), o)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(made.Hosts["h"])).To(ContainSubstring("data:,object-node-0"))
		g.Expect(made.Credentials).To(HaveKeyWithValue("kubeconfig-noingress", []byte("kind: Config\n")))
		g.Expect(s.Ending(o)).To(Equal(sources.EndsInside))
	}
	_, err := files.Source{}.Make(t.Context(), order("worker", given("ConfigMap site/roles", "worker.ign", "{\n \"a\": \"@{cluster.api_vip}\"}")))
	g.Expect(err).To(MatchError(ContainSubstring("ConfigMap site/roles: worker.ign:2:8: variable cluster.api_vip has no value for host node-0")))
}

func TestCheck(t *testing.T) {
	for name, tc := range map[string]struct{ file, text, want string }{
		"a role's file":               {"worker.ign", motd("@{host.name} @@{x} @{cluster.api_vip}"), ""},
		"what is handed out":          {"metadata.json", "anything", ""},
		"credentials":                 {"kubeadmin-password", "a-b-c", ""},
		"a file of no role":           {"gpu.ign", "{}", "ConfigMap site/roles: gpu.ign: the source files knows no such file; want master.ign, worker.ign"},
		"a way out":                   {"../worker.ign", "{}", "knows no such file"},
		"nothing":                     {"worker.ign", "", "worker.ign: it is empty"},
		"a variable that there isn't": {"master.ign", "{\n\n\"a\": \"@{host.nam}\"}", `ConfigMap site/roles: master.ign:3:7: there is no variable "host.nam"`},
		"a variable without an end":   {"bootstrap.ign", `{"a": "@{host.name"}`, "bootstrap.ign:1:8: a variable without its }"},
		"a variable of no text":       {"worker.ign", `{"a": @{host.name}}`, "put it between quotes"},
		"no JSON":                     {"arbiter.ign", "{\n\"a\": \"@{host.name}\",}", "arbiter.ign:2:21: it is no JSON"},
		"JSON that ends early":        {"worker.ign", "{\n\"a\":", "worker.ign:2:"},
		"too much":                    {"worker.ign", strings.Repeat(" ", 33<<20), "larger than 32 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			err := files.Check(sources.File{Name: tc.file, From: "ConfigMap site/roles", Content: []byte(tc.text)})
			if tc.want == "" {
				NewWithT(t).Expect(err).NotTo(HaveOccurred())
				return
			}
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}
