// Package monitoring holds the rules for alerts and the dashboards of this folder against the metrics that Ironflow has.
package monitoring

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/test/needs"
)

const docs = "../../docs"

// rule is an alert.
type rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// prometheusRule is what is read of the resource.
type prometheusRule struct {
	Spec struct {
		Groups []struct {
			Rules []rule `json:"rules"`
		} `json:"groups"`
	} `json:"spec"`
}

func rules(g *WithT) []rule {
	raw, err := os.ReadFile("prometheus_rule.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	var r prometheusRule
	g.Expect(yaml.Unmarshal(raw, &r)).To(Succeed())
	g.Expect(r.Spec.Groups).To(HaveLen(1))
	return r.Spec.Groups[0].Rules
}

// dashboard is what is read of a dashboard.
type dashboard struct {
	UID    string `json:"uid"`
	Panels []struct {
		ID      int    `json:"id"`
		Title   string `json:"title"`
		Targets []struct {
			Expr         string `json:"expr"`
			LegendFormat string `json:"legendFormat"`
		} `json:"targets"`
	} `json:"panels"`
}

func dashboards(g *WithT) map[string]dashboard {
	files, err := filepath.Glob("grafana-*.json")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).To(HaveLen(2))
	all := map[string]dashboard{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		g.Expect(err).NotTo(HaveOccurred())
		var d dashboard
		g.Expect(json.Unmarshal(raw, &d)).To(Succeed(), file)
		all[file] = d
	}
	return all
}

// metrics are those of the documentation, which a test of the program keeps, with their labels.
func metrics(g *WithT) map[string][]string {
	raw, err := os.ReadFile(filepath.Join(docs, "metrics.md"))
	g.Expect(err).NotTo(HaveOccurred())
	row := regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\| (counter|gauge|histogram) \\| ([^|]*) \\|")
	all := map[string][]string{}
	for _, m := range row.FindAllStringSubmatch(string(raw), -1) {
		labels := strings.Split(m[3], ", ")
		if m[2] == "histogram" {
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				all[m[1]+suffix] = slices.Concat(labels, []string{"le"})
			}
			continue
		}
		all[m[1]] = labels
	}
	return all
}

var (
	metricName = regexp.MustCompile(`\b(?:ironflow|metal3)_[a-z0-9_]+`)
	grouping   = regexp.MustCompile(`by \(([a-z_, ]+)\)`)
	selector   = regexp.MustCompile(`([a-z_0-9]+)\{([a-z_]+)(?:=|!=|=~|!~)"`)
	legend     = regexp.MustCompile(`\{\{ *\$?(?:labels\.)?([a-z_]+) *\}\}`)
)

// inOrder holds an expression against the metrics: each exists, and has the labels that are asked for.
func inOrder(g *WithT, known map[string][]string, expr, where string) {
	names := metricName.FindAllString(expr, -1)
	g.Expect(names).NotTo(BeEmpty(), where)
	var labels []string
	for _, name := range names {
		g.Expect(known).To(HaveKey(name), where)
		labels = append(labels, known[name]...)
	}
	for _, by := range grouping.FindAllStringSubmatch(expr, -1) {
		for label := range strings.SplitSeq(by[1], ", ") {
			g.Expect(labels).To(ContainElement(label), where)
		}
	}
	for _, s := range selector.FindAllStringSubmatch(expr, -1) {
		g.Expect(known[s[1]]).To(ContainElement(s[2]), where)
	}
}

// TestEveryMetricExists, with the labels that rules and dashboards use.
func TestEveryMetricExists(t *testing.T) {
	g := NewWithT(t)
	known := metrics(g)
	g.Expect(len(known)).To(BeNumerically(">", 40))
	for _, r := range rules(g) {
		inOrder(g, known, r.Expr, r.Alert)
	}
	for file, d := range dashboards(g) {
		g.Expect(d.UID).NotTo(BeEmpty())
		ids := map[int]bool{}
		for _, p := range d.Panels {
			where := file + ": " + p.Title
			g.Expect(ids).NotTo(HaveKey(p.ID), where)
			ids[p.ID] = true
			g.Expect(p.Targets).NotTo(BeEmpty(), where)
			for _, target := range p.Targets {
				inOrder(g, known, target.Expr, where)
				for _, l := range legend.FindAllStringSubmatch(target.LegendFormat, -1) {
					g.Expect(target.Expr).To(MatchRegexp(`by \([^)]*\b`+l[1]+`\b`), "%s: the legend names a label that is summed away", where)
				}
			}
		}
	}
}

// TestNothingNeedsASeriesPerHost: those are off by default, and cost much with many hosts.
func TestNothingNeedsASeriesPerHost(t *testing.T) {
	g := NewWithT(t)
	var all []string
	for _, r := range rules(g) {
		all = append(all, r.Expr)
	}
	for _, d := range dashboards(g) {
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				all = append(all, target.Expr)
			}
		}
	}
	for _, expr := range all {
		g.Expect(expr).NotTo(MatchRegexp(`\b(host|namespace|name)\b`), expr)
	}
}

// TestEveryAlertSaysWhatToDo in a section of its own.
func TestEveryAlertSaysWhatToDo(t *testing.T) {
	g := NewWithT(t)
	raw, err := os.ReadFile(filepath.Join(docs, "alerts.md"))
	g.Expect(err).NotTo(HaveOccurred())
	var sections []string
	for line := range strings.Lines(string(raw)) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			sections = append(sections, strings.TrimSpace(title))
		}
	}
	var alerts []string
	for _, r := range rules(g) {
		alerts = append(alerts, r.Alert)
		g.Expect(r.Annotations).To(And(HaveKey("summary"), HaveKey("description"), HaveKeyWithValue("runbook_url", HaveSuffix("#"+strings.ToLower(r.Alert)))), r.Alert)
		g.Expect([]string{"critical", "warning", "info"}).To(ContainElement(r.Labels["severity"]), r.Alert)
	}
	slices.Sort(alerts)
	slices.Sort(sections)
	g.Expect(sections).To(Equal(alerts))
}

// TestEveryAlertHasACase in which it fires: one that never can says nothing when it should.
func TestEveryAlertHasACase(t *testing.T) {
	g := NewWithT(t)
	raw, err := os.ReadFile("testdata/rules_test.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	var file struct {
		Tests []struct {
			Cases []struct {
				Name string `json:"alertname"`
				Want []any  `json:"exp_alerts"`
			} `json:"alert_rule_test"`
		} `json:"tests"`
	}
	g.Expect(yaml.Unmarshal(raw, &file)).To(Succeed())
	var fire []string
	for _, test := range file.Tests {
		for _, c := range test.Cases {
			if len(c.Want) > 0 {
				fire = append(fire, c.Name)
			}
		}
	}
	for _, r := range rules(g) {
		g.Expect(fire).To(ContainElement(r.Alert))
	}
}

// TestRules has promtool read the rules, and fire them for series that are told: testdata/rules_test.yaml.
func TestRules(t *testing.T) {
	g := NewWithT(t)
	promtool := needs.Program(t, "promtool", "prometheus")
	raw, err := os.ReadFile("prometheus_rule.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	var resource struct {
		Spec map[string]any `json:"spec"`
	}
	g.Expect(yaml.Unmarshal(raw, &resource)).To(Succeed())
	plain, err := yaml.Marshal(resource.Spec)
	g.Expect(err).NotTo(HaveOccurred())
	cases, err := os.ReadFile("testdata/rules_test.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	dir := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(dir, "rules.yaml"), plain, 0o600)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(dir, "rules_test.yaml"), cases, 0o600)).To(Succeed())
	for _, args := range [][]string{{"check", "rules", "rules.yaml"}, {"test", "rules", "rules_test.yaml"}} {
		command := exec.CommandContext(t.Context(), promtool, args...)
		command.Dir = dir
		out, err := command.CombinedOutput()
		g.Expect(err).NotTo(HaveOccurred(), "%s", out)
	}
}
