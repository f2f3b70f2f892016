package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestTheLastLineIsTheFigures(t *testing.T) {
	g := NewWithT(t)
	r := &report{hosts: 10, stages: []measurement{
		{
			name: stageAvailable, took: 12340 * time.Millisecond, cpu: time.Second, peak: 50 << 20, kube: map[string]int{"create events": 50, "patch secrets": 10},
			ironic: map[string]int{"POST /v1/nodes": 10},
		},
		{name: stageProvisioned, took: 10 * time.Second, cpu: 5 * time.Second, peak: 60 << 20},
		{name: stageRest, took: 30 * time.Second, ironic: map[string]int{"GET /v1/nodes": 1}},
		{name: stageDeleted, took: 8 * time.Second, peak: 70 << 20, react: figures{Reactions: map[string]reactions{"": {Count: 40, P99: 0.987}, "inspect": {Count: 10, P50: 0.1, P99: 0.2, Max: 0.25}}}},
	}}
	var out bytes.Buffer
	g.Expect(r.print(&out)).To(Succeed())
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var last map[string]float64
	g.Expect(json.Unmarshal([]byte(lines[len(lines)-1]), &last)).To(Succeed())
	g.Expect(last).To(Equal(map[string]float64{
		"hosts": 10, "available_s": 12.3, "provisioned_s": 10, "deleted_s": 8, "kube_per_host": 6, "ironic_per_host": 1,
		"rest_ironic_per_min": 2, "cpu_s": 1, "peak_mib": 70, "reaction_p99_s": 0.99,
	}))
	g.Expect(out.String()).To(ContainSubstring("5.00 a host  create events"))
	g.Expect(out.String()).To(MatchRegexp(`inspect +10 +0\.10 +0\.20 +0\.25`))
	g.Expect(out.String()).To(MatchRegexp(`all +40 `))
}

func TestFiguresStandBesideTheirLimits(t *testing.T) {
	g := NewWithT(t)
	shown := func(r result) string {
		var out bytes.Buffer
		g.Expect(printLimits(&out, r)).To(Succeed())
		return out.String()
	}
	g.Expect(shown(result{Hosts: 1000, AvailableS: 80, ProvisionedS: 50.1})).To(And(
		MatchRegexp(`available_s +80 +80 +\n`), MatchRegexp(`provisioned_s +50\.1 +50 +OVER`), MatchRegexp(`reaction_p99_s +0 +2 `)))
	g.Expect(shown(result{Hosts: 10_000, PeakMiB: 601})).To(And(MatchRegexp(`peak_mib +601 +600 +OVER`), Not(ContainSubstring("available_s"))))
	g.Expect(shown(result{Hosts: 7, PeakMiB: 601})).NotTo(ContainSubstring("peak_mib"))
}

// TestThePageHasTheLimits holds docs/scale.md to the table.
func TestThePageHasTheLimits(t *testing.T) {
	g := NewWithT(t)
	page, err := os.ReadFile("../../../docs/scale.md")
	g.Expect(err).NotTo(HaveOccurred())
	cell := func(most float64) string {
		if most == 0 {
			return " |"
		}
		return " " + strconv.FormatFloat(most, 'g', -1, 64) + " |"
	}
	rows, keys := "", []string{"hosts"}
	for _, l := range limits {
		rows += "| " + l.key + " | " + l.is + " |" + cell(l.with1k) + cell(l.with10k) + "\n"
		keys = append(keys, l.key)
	}
	g.Expect(string(page)).To(ContainSubstring(rows))
	line, err := json.Marshal(result{})
	g.Expect(err).NotTo(HaveOccurred())
	for _, key := range keys {
		g.Expect(string(line)).To(ContainSubstring(`"` + key + `":`))
	}
	g.Expect(strings.Count(string(line), ":")).To(Equal(len(keys)), "each key of the last line is explained")
}

func TestTheAuditLogIsCounted(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "audit.log")
	line := func(user, verb, resource, sub string, code string) string {
		return `{"verb":"` + verb + `","user":{"username":"` + user + `"},"objectRef":{"resource":"` + resource + `","subresource":"` + sub + `"},"responseStatus":{"code":` + code + "}}\n"
	}
	text := line(controllerUser, "patch", "baremetalhosts", "status", "200") + line("lab-admin", "create", "baremetalhosts", "", "201") +
		line(controllerUser, "watch", "baremetalhosts", "", "200") + line(controllerUser, "update", "leases", "", "200") +
		line(controllerUser, "patch", "baremetalhosts", "status", "409")
	half := line(controllerUser, "create", "events", "", "201")
	g.Expect(os.WriteFile(file, []byte(text+half[:20]), 0o600)).To(Succeed())
	a := &auditLog{file: file, user: controllerUser, counts: map[string]int{}}
	g.Expect(a.take()).To(Succeed())
	g.Expect(a.counts).To(Equal(map[string]int{"patch baremetalhosts/status": 1, "patch baremetalhosts/status (409)": 1}))
	g.Expect(os.WriteFile(file, []byte(text+half), 0o600)).To(Succeed())
	g.Expect(a.take()).To(Succeed())
	g.Expect(a.counts).To(HaveKeyWithValue("create events", 1), "the line that was being written counts later")
}
