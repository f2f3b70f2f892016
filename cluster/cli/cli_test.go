package cli_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/cluster/cli"
	"github.com/ironflow/ironflow/cluster/csr"
	"github.com/ironflow/ironflow/cluster/manifests"
	"github.com/ironflow/ironflow/cluster/metrics"
	"github.com/ironflow/ironflow/cluster/settings"
	"github.com/ironflow/ironflow/test/pages"
)

var update = flag.Bool("update", false, "rewrite the tables of docs/cluster.md")

func TestDocumentationHasTheTables(t *testing.T) {
	page := pages.Generated{Root: "../..", Page: "cluster.md", Package: "./cluster/cli", Update: *update}
	var text strings.Builder
	text.WriteString("| flag | environment | default | meaning |\n|---|---|---|---|\n")
	for _, r := range new(settings.Settings).Table() {
		value := ""
		switch v := r.Value.(type) {
		case *string:
			value = *v
		case *bool:
			value = fmt.Sprint(*v)
		case *uint:
			value = fmt.Sprint(*v)
		case *time.Duration:
			value = v.String()
		}
		if value != "" {
			value = "`" + value + "`"
		}
		usage := r.Usage
		if r.Manifests {
			usage = "`manifests` alone: " + usage
		}
		fmt.Fprintf(&text, "| `--%s` | `%s` | %s | %s |\n", r.Flag, r.Env, value, usage)
	}
	page.Hold(t, "settings", text.String())

	text.Reset()
	text.WriteString("| code | outcome | means |\n|---|---|---|\n")
	for _, e := range cli.Ends {
		fmt.Fprintf(&text, "| %d | %s | %s |\n", e.Code, e.Outcome, e.Means)
	}
	page.Hold(t, "exit codes", text.String())

	text.Reset()
	text.WriteString("| word | client | serving | rule |\n|---|---|---|---|\n")
	for _, r := range csr.Rules() {
		mark := func(signer string) string {
			if r.Signer == "" || r.Signer == signer {
				return "x"
			}
			return ""
		}
		fmt.Fprintf(&text, "| `%s` | %s | %s | %s |\n", r.Reason, mark(csr.Client), mark(csr.Serving), r.Says)
	}
	page.Hold(t, "rules", text.String())

	text.Reset()
	text.WriteString("| where | kinds | verbs | only | why |\n|---|---|---|---|---|\n")
	for _, r := range manifests.Rights(manifests.Settings{OpenShift: true, HubLeaves: true}) {
		where, why := "cluster", r.Why
		if r.Namespace != "" {
			where = "`" + r.Namespace + "`"
		}
		for _, rule := range r.Rules {
			kinds := strings.Join(rule.Resources, ", ")
			if group := strings.Join(rule.APIGroups, ", "); group != "" {
				kinds += " of " + group
			}
			fmt.Fprintf(&text, "| %s | %s | %s | %s | %s |\n", where, kinds, strings.Join(rule.Verbs, ", "), strings.Join(rule.ResourceNames, ", "), why)
			why = ""
		}
	}
	page.Hold(t, "rights", text.String())

	text.Reset()
	text.WriteString("| metric | type | labels | is |\n|---|---|---|---|\n")
	for _, r := range metrics.Table {
		fmt.Fprintf(&text, "| `%s` | %s | %s | %s |\n", r.Name, r.Kind, r.Labels, r.Help)
	}
	page.Hold(t, "metrics", text.String())
}

const id = "33333333-3333-4333-8333-333333333333"

func run(t *testing.T, args ...string) (int, string, string) {
	t.Helper()
	var out, errs bytes.Buffer
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	code := cli.Main(ctx, args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestSettingsThatCannotBeUsed(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"nothing":         {nil, "--hub-url (INVENTORY_URL)"},
		"no id":           {[]string{"--hub-url", "https://hub.example"}, "--cluster-id (CLUSTER_ID)"},
		"unknown flag":    {[]string{"--nonsense"}, "flag provided but not defined"},
		"an argument":     {[]string{"--hub-url", "https://hub.example", "--cluster-id", id, "x"}, `argument "x"`},
		"no kubeconfig":   {[]string{"--hub-url", "https://hub.example", "--cluster-id", id, "--kubeconfig", missing}, "kubeconfig " + missing},
		"not in a pod":    {[]string{"--hub-url", "https://hub.example", "--cluster-id", id}, "run as a pod"},
		"a URL with user": {[]string{"--hub-url", "https://a:b@hub.example", "--cluster-id", id}, "--hub-url"},
		"no image":        {[]string{"manifests", "--hub-url", "https://hub.example", "--cluster-id", id}, `image ""`},
		"no registry":     {[]string{"manifests", "--hub-url", "https://hub.example", "--cluster-id", id, "--image", "ironflow/ironflow-cluster:1"}, "full reference"},
		"no tag":          {[]string{"manifests", "--hub-url", "https://hub.example", "--cluster-id", id, "--image", "registry.example/a"}, "full reference"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			code, out, errs := run(t, tc.args...)
			g.Expect(code).To(Equal(cli.BadSettings))
			g.Expect(out).To(BeEmpty())
			g.Expect(errs).To(ContainSubstring(tc.want))
		})
	}
}

func TestManifestsArePrinted(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(dir, "token"), []byte("very-secret"), 0o600)).To(Succeed())
	args := []string{"manifests", "--hub-url", "https://hub.example:8090", "--cluster-id", id, "--image", "registry.example:5000/ironflow-cluster:v1", "--token-file", filepath.Join(dir, "token")}
	code, out, errs := run(t, append(args, "--stay")...)
	g.Expect(code).To(Equal(cli.Over), errs)
	for _, want := range []string{
		"kind: Namespace", "kind: ServiceAccount", "kind: ClusterRole\n", "kind: Secret", "kind: Deployment",
		"image: registry.example:5000/ironflow-cluster:v1", "token: very-secret",
	} {
		g.Expect(out).To(ContainSubstring(want))
	}
	g.Expect(strings.Count(out, "very-secret")).To(Equal(1), "in the Secret alone")
	g.Expect(out).NotTo(ContainSubstring("openshift-config-managed"))
	_, out, _ = run(t, append(args, "--openshift")...)
	g.Expect(out).To(And(ContainSubstring("kind: Job"), ContainSubstring("openshift-config-managed")))
	again, twice, _ := run(t, append(args, "--openshift")...)
	g.Expect(again).To(Equal(cli.Over))
	g.Expect(twice).To(Equal(out), "the same settings give the same bytes")
}
