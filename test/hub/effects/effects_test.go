package effects_test

import (
	"cmp"
	"flag"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/protocol"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/effects"
	"github.com/ironflow/ironflow/test/pages"
)

var update = flag.Bool("update", false, "write the generated parts of the page")

// TestEverySettingHasARow: what a client can write is in the models of the protocol.
func TestEverySettingHasARow(t *testing.T) {
	g := NewWithT(t)
	written := map[string]bool{}
	for of, models := range map[effects.Of][]any{
		effects.Cluster:  {wire.ClusterCreateParams{}, wire.V2ClusterUpdateParams{}},
		effects.Host:     {wire.HostUpdateParams{}},
		effects.InfraEnv: {wire.InfraEnvCreateParams{}, wire.InfraEnvUpdateParams{}},
	} {
		for _, model := range models {
			for field := range fields(model) {
				name, _, _ := strings.Cut(field, ",")
				written[string(of)+" "+name] = true
			}
		}
	}
	rows := map[string]bool{}
	for _, s := range effects.Settings {
		row := string(s.Of) + " " + s.Name
		g.Expect(rows).NotTo(HaveKey(row), "one row each")
		g.Expect(s.Does).To(BeElementOf(effects.Acts, effects.Refuses, effects.Stores), row)
		g.Expect(s.Plain).NotTo(Equal(s.Does), "%s: only what differs", row)
		g.Expect(s.How).NotTo(BeEmpty(), row)
		rows[row] = true
	}
	g.Expect(rows).To(Equal(written))
}

// TestTheSourceKubernetesHasRows for what it does otherwise than other clusters without a release.
func TestTheSourceKubernetesHasRows(t *testing.T) {
	g := NewWithT(t)
	others := map[string]effects.Does{}
	for _, s := range effects.Settings {
		others[string(s.Of)+" "+s.Name] = cmp.Or(s.Plain, s.Does)
	}
	rows := map[string]bool{}
	for _, s := range effects.Kubernetes {
		row := string(s.Of) + " " + s.Name
		g.Expect(rows).NotTo(HaveKey(row), "one row each")
		g.Expect(others).To(HaveKey(row), "it is a setting")
		g.Expect(s.Does).To(BeElementOf(effects.Acts, effects.Refuses, effects.Stores), row)
		g.Expect(s.How).NotTo(BeEmpty(), row)
		rows[row] = true
	}
}

// fields are the tags of a model's members.
func fields(model any) map[string]bool {
	out := map[string]bool{}
	for _, f := range reflect.VisibleFields(reflect.TypeOf(model)) {
		out[f.Tag.Get("json")] = true
	}
	return out
}

// TestEveryOperationHasARow: all that are not asked with GET may change something.
func TestEveryOperationHasARow(t *testing.T) {
	g := NewWithT(t)
	var want, rows []string
	all, err := protocol.Operations()
	g.Expect(err).NotTo(HaveOccurred())
	for _, o := range all {
		if o.Method != http.MethodGet {
			want = append(want, o.ID)
		}
	}
	for _, o := range effects.Operations {
		g.Expect(o.Does).To(BeElementOf(effects.Acts, effects.Refuses, effects.Stores), o.ID)
		g.Expect(o.How).NotTo(BeEmpty(), o.ID)
		rows = append(rows, o.ID)
	}
	g.Expect(rows).To(Equal(want))
}

// TestDocumentationIsCurrent, and each test that the tables name exists.
func TestDocumentationIsCurrent(t *testing.T) {
	for name, table := range map[string]struct {
		text       string
		rows, keys int
	}{
		"settings": {settings(), len(effects.Settings), 2}, "operations": {operations(), len(effects.Operations), 1},
		"kubernetes": {kubernetes(), len(effects.Kubernetes), 2},
	} {
		NewWithT(t).Expect(pages.Tests(t, "../../..", table.text)).To(Equal(table.rows))
		pages.Generated{Root: "../../..", Page: "effects.md", Package: "./test/hub/effects", Update: *update}.Hold(t, name, pages.WithoutTests(table.text))
		pages.Generated{Root: "../../..", Page: "hub-proofs.md", Package: "./test/hub/effects", Update: *update}.Hold(t, name, pages.OnlyTests(table.text, table.keys))
	}
}

func settings() string {
	var b strings.Builder
	b.WriteString("| of | setting | the hub | without a release | effect | test |\n|---|---|---|---|---|---|\n")
	for _, s := range effects.Settings {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | `%s` |\n", s.Of, s.Name, s.Does, s.Plain, s.How, s.Test)
	}
	return b.String()
}

func kubernetes() string {
	var b strings.Builder
	b.WriteString("| of | setting | the hub | effect | test |\n|---|---|---|---|---|\n")
	for _, s := range effects.Kubernetes {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | `%s` |\n", s.Of, s.Name, s.Does, s.How, s.Test)
	}
	return b.String()
}

func operations() string {
	var b strings.Builder
	b.WriteString("| operation | the hub | effect | test |\n|---|---|---|---|\n")
	for _, o := range effects.Operations {
		fmt.Fprintf(&b, "| %s | %s | %s | `%s` |\n", o.ID, o.Does, o.How, o.Test)
	}
	return b.String()
}
