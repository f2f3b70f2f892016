package metrics_test

import (
	"errors"
	"flag"
	"io"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/metrics"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/pages"
)

var update = flag.Bool("update", false, "write the generated parts of the pages")

// scrape are the lines of an answer without help.
func scrape(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	raw, err := io.ReadAll(answer.Result().Body)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return string(raw)
}

// TestKnownNames: those of the protocol, one row each.
func TestKnownNames(t *testing.T) {
	g := NewWithT(t)
	var names []string
	for _, row := range metrics.Table {
		names = append(names, row.Name)
		g.Expect(row.Help == "").To(Equal(row.Not != ""), "%s is explained, or said to be missing", row.Name)
	}
	g.Expect(names).To(ConsistOf(strings.Fields(`cluster_creations cluster_installation_started cluster_installation_seconds operation_duration_miliseconds
		host_installation_phase_seconds cluster_hosts cluster_host_cores cluster_host_ram_gb cluster_host_disk_gb cluster_host_nic_gb cluster_host_disk_sync_duration_ms
		cluster_image_pull_status host_validation_is_in_failed_status_on_cluster_deletion host_validation_failed_after_success_before_installation
		cluster_validation_is_in_failed_status_on_cluster_deletion cluster_validation_failed_after_success_before_installation
		filesystem_usage_percentage monitored_hosts_duration_ms monitored_clusters_duration_ms monitored_hosts_cycle_duration_ms
		monitored_clusters_cycle_duration_ms release_cache release_cache_eviction cluster_blacklisted_events_total blacklisted_clusters_current urlauth_scope_checks_total`)))
}

// TestWhatIsStoredIsCounted, once for each unit that was stored.
func TestWhatIsStoredIsCounted(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	records, err := store.OpenSQLite(ctx, filepath.Join(t.TempDir(), "hub.sqlite"))
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = records.Close() })
	m := metrics.New(func() (float64, error) { return 12.5, nil })
	s := m.Counted(records)
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	id, env, host := "c", "e", "h"
	c := &store.Cluster{API: wire.Cluster{ID: id, OpenshiftVersion: "4.20.1", InstallStartedAt: wire.At(at), ValidationsInfo: `{"network":[{"id":"dns-domain-defined","status":"failure"}]}`}}
	h := &store.Host{API: wire.Host{
		ID: host, InfraEnvID: env, ClusterID: &id, Role: wire.HostRoleMaster, InstallationDiskID: "/dev/disk/by-id/wwn-1",
		Inventory: `{"cpu":{"count":8},"memory":{"physical_bytes":34359738368},"disks":[{"id":"/dev/disk/by-id/wwn-1","size_bytes":240000000000}],"interfaces":[{"speed_mbps":25000}]}`,
		DisksInfo: `{"/dev/sda":{"disk_speed":{"tested":true,"speed_ms":3}}}`, ValidationsInfo: `{"hardware":[{"id":"has-min-memory","status":"failure"},{"id":"connected","status":"success"}]}`,
	}}
	ofCluster := func(name, props string, after time.Duration) {
		t.Helper()
		g.Expect(s.Commit(ctx, &store.Unit{Clusters: []*store.Cluster{c}, Events: []wire.Event{{Name: name, ClusterID: &id, Props: props, EventTime: wire.At(at.Add(after))}}})).To(Succeed())
	}
	ofHost := func(name, props string, after time.Duration) {
		t.Helper()
		g.Expect(s.Commit(
			ctx,
			&store.Unit{Hosts: []*store.Host{h}, Events: []wire.Event{{Name: name, ClusterID: &id, HostID: &host, InfraEnvID: &env, Props: props, EventTime: wire.At(at.Add(after))}}},
		)).To(Succeed())
	}
	stage := func(name wire.HostStage, after time.Duration) {
		t.Helper()
		h.API.Progress = &wire.HostProgressInfo{CurrentStage: name, StageStartedAt: wire.At(at.Add(after))}
		ofHost("host_install_progress_updated", `{}`, after)
	}
	g.Expect(s.Commit(ctx, &store.Unit{InfraEnvs: []*store.InfraEnv{{API: wire.InfraEnv{ID: env}}}})).To(Succeed())
	ofCluster("cluster_registration_succeeded", `{}`, 0)
	ofCluster("cluster_validation_failed", `{"validation_id":"dns-domain-defined"}`, 0)
	ofCluster("cluster_prepare_installation_started", `{}`, 0)
	ofHost("host_validation_failed", `{"validation_id":"has-min-memory"}`, 0)
	ofHost("image_status_updated", `{"result":"success"}`, 0)
	ofHost("image_status_updated", `{"result":"dancing"}`, 0)
	ofHost("host_status_updated", `{"src_status":"preparing-for-installation","new_status":"preparing-successful"}`, 0)
	stage(wire.HostStageInstalling, time.Minute)
	stage(wire.HostStageWritingImageToDisk, 90*time.Second)
	stage(wire.HostStageDone, 10*time.Minute)
	ofHost("host_status_updated", `{"src_status":"installing-in-progress","new_status":"installed"}`, 10*time.Minute)
	ofHost("host_status_updated", `{"src_status":"installed","new_status":"resetting-pending-user-action"}`, 11*time.Minute)
	ofCluster("cluster_installation_completed", `{}`, 20*time.Minute)
	refused := &store.Unit{Clusters: []*store.Cluster{{API: wire.Cluster{ID: id}}}, Events: []wire.Event{{Name: "cluster_registration_succeeded", ClusterID: &id}}}
	g.Expect(s.Commit(ctx, refused)).To(MatchError(store.ErrConflict), "what was not stored did not happen")
	g.Expect(s.Commit(ctx, &store.Unit{Gone: []store.Ref{h.Ref(), c.Ref()}})).To(Succeed())
	m.Looked(store.KindHost, 3*time.Millisecond)
	m.Looked(store.KindCluster, 40*time.Millisecond)
	m.Operation("v2GetNextSteps", 7*time.Millisecond)

	lines := strings.Split(scrape(t, m), "\n")
	for _, want := range []string{
		`cluster_creations{openshiftVersion="4.20.1"} 1`,
		`cluster_installation_started{openshiftVersion="4.20.1"} 1`,
		`cluster_installation_seconds_sum{openshiftVersion="4.20.1",result="success"} 1200`,
		`operation_duration_miliseconds_sum{operation="v2GetNextSteps"} 7`,
		`host_installation_phase_seconds_sum{phase="Installing",result="success"} 30`,
		`host_installation_phase_seconds_sum{phase="Writing image to disk",result="success"} 510`,
		`cluster_hosts{result="success",role="master"} 1`,
		`cluster_host_cores_sum{result="success",role="master"} 8`,
		`cluster_host_ram_gb_sum{result="success",role="master"} 32`,
		`cluster_host_disk_gb_sum{result="success",role="master"} 240`,
		`cluster_host_nic_gb_sum{result="success",role="master"} 25`,
		`cluster_host_disk_sync_duration_ms_sum 3`,
		`cluster_image_pull_status{result="success"} 1`,
		`cluster_image_pull_status{result="failure"} 1`,
		`host_validation_failed_after_success_before_installation{hostValidationType="has-min-memory"} 1`,
		`cluster_validation_failed_after_success_before_installation{clusterValidationType="dns-domain-defined"} 1`,
		`host_validation_is_in_failed_status_on_cluster_deletion{hostValidationType="has-min-memory"} 1`,
		`cluster_validation_is_in_failed_status_on_cluster_deletion{clusterValidationType="dns-domain-defined"} 1`,
		`filesystem_usage_percentage 12.5`,
		`monitored_hosts_duration_ms_sum 3`,
		`monitored_clusters_duration_ms_sum 40`,
	} {
		g.Expect(lines).To(ContainElement("service_assisted_installer_"+want), strings.Join(lines, "\n"))
	}
}

// TestAStageThatFails is one that ended so, and a host that goes leaves nothing behind.
func TestAStageThatFails(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	records, err := store.OpenSQLite(ctx, filepath.Join(t.TempDir(), "hub.sqlite"))
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = records.Close() })
	m := metrics.New(func() (float64, error) { return 0, errors.New("no folder") })
	s := m.Counted(records)
	at, env, host := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC), "e", "h"
	g.Expect(s.Commit(ctx, &store.Unit{InfraEnvs: []*store.InfraEnv{{API: wire.InfraEnv{ID: env}}}})).To(Succeed())
	h := &store.Host{API: wire.Host{ID: host, InfraEnvID: env, Bootstrap: true, Progress: &wire.HostProgressInfo{CurrentStage: wire.HostStageInstalling, StageStartedAt: wire.At(at)}}}
	for after, e := range []wire.Event{
		{Name: "host_install_progress_updated"},
		{Name: "host_status_updated", Props: `{"src_status":"installing-in-progress","new_status":"error"}`},
		{Name: "host_status_updated", Props: `{"src_status":"known","new_status":"disconnected"}`},
	} {
		e.HostID, e.InfraEnvID, e.EventTime = &host, &env, wire.At(at.Add(time.Duration(after)*time.Minute))
		g.Expect(s.Commit(ctx, &store.Unit{Hosts: []*store.Host{h}, Events: []wire.Event{e}})).To(Succeed())
	}
	g.Expect(scrape(t, m)).To(And(
		ContainSubstring(`host_installation_phase_seconds_sum{phase="Installing",result="failed"} 60`),
		ContainSubstring(`cluster_hosts{result="failed",role="bootstrap"} 1`), ContainSubstring("filesystem_usage_percentage -1"),
	))
}

// TestKnownNamesAreInTheManual holds docs/hub.md against the table.
func TestKnownNamesAreInTheManual(t *testing.T) {
	var table strings.Builder
	table.WriteString("| name | labels | what it is |\n|---|---|---|\n")
	for _, row := range metrics.Table {
		text := row.Help
		if row.Not != "" {
			text = "not there: " + row.Not
		}
		table.WriteString("| `" + row.Name + "` | " + strings.Join(row.Labels, ", ") + " | " + text + " |\n")
	}
	pages.Generated{Root: "../..", Page: "hub.md", Package: "./hub/metrics", Update: *update}.Hold(t, "known names", table.String())
}
