package rest_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// What hosts report before they are installed, in the forms in which existing agents report it.

// TestDisksWithoutAPath: existing agents may leave out how a disk is reached.
func TestDisksWithoutAPath(t *testing.T) {
	for name, tc := range map[string]struct {
		disk       wire.Disk
		path, boot string
	}{
		"only a name":      {wire.Disk{Name: "vdz"}, "/dev/vdz", "/dev/vdz"},
		"a name and an id": {wire.Disk{Name: "vdz", ID: "/dev/disk/by-id/wwn-0x5"}, "/dev/vdz", "/dev/disk/by-id/wwn-0x5"},
		"only an id":       {wire.Disk{ID: "/dev/disk/by-id/wwn-0x5"}, "/dev/disk/by-id/wwn-0x5", "/dev/disk/by-id/wwn-0x5"},
	} {
		t.Run(name, func(t *testing.T) {
			hub := testhub.Start(t, testhub.Options{IgnitionDir: testhub.RoleFiles(t)})
			s := singleNode(t)
			tc.disk.DriveType, tc.disk.SizeBytes = wire.DriveTypeSsd, 240e9
			s.hosts[0].inventory.Disks = []wire.Disk{tc.disk}
			p := s.play(t, hub)
			user := newClient(t, hub.User())
			host := "/infra-envs/" + p.hosts[0].InfraEnvID + "/hosts/" + p.hosts[0].HostID
			user.shows(user.do("GET", host, "", 200), `{"status":"known","installation_disk_path":"`+tc.path+`"}`)
			user.do("PATCH", host, `{"disks_selected_config":[{"id":"`+tc.boot+`","role":"install"}]}`, 201)
			user.do("POST", "/clusters/"+p.cluster+"/actions/install", "", 202)
			steps := p.agent(t, hub, 0).Poll(t, p.hosts[0]).Instructions
			user.Expect(steps).To(ContainElement(And(HaveField("StepType", wire.StepTypeInstallationDiskSpeedCheck), HaveField("Args", ContainElement(`{"path":"`+tc.boot+`"}`)))))
		})
	}
}

// reply posts a step's reply of the host n as it stands.
func (p *played) reply(t *testing.T, hub *testhub.Hub, n int, body string) {
	t.Helper()
	newClient(t, p.agent(t, hub, n)).do("POST", "/infra-envs/"+p.hosts[n].InfraEnvID+"/hosts/"+p.hosts[n].HostID+"/instructions", body, 204)
}

// TestADiskThatCannotBeMeasured: nobody waits for a result that has come already.
func TestADiskThatCannotBeMeasured(t *testing.T) {
	for name, body := range map[string]string{
		"out of time": `{"step_type":"installation-disk-speed-check","step_id":"installation-disk-speed-check-1","exit_code":124,"error":"timed out"}`,
		"all runs fail": `{"step_type":"installation-disk-speed-check","step_id":"installation-disk-speed-check-1","exit_code":-1,
			"output":"{\"io_sync_duration\":0,\"path\":\"/dev/disk/by-path/pci-0000:00:03.0\"}"}`,
		"no JSON": `{"step_type":"installation-disk-speed-check","step_id":"installation-disk-speed-check-1","exit_code":-1,"output":"fio: cannot open","error":"fio"}`,
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			hub := testhub.Start(t, testhub.Options{IgnitionDir: testhub.RoleFiles(t)})
			p := threeHosts(t).play(t, hub)
			user := newClient(t, hub.User())
			user.do("POST", "/clusters/"+p.cluster+"/actions/install", "", 202)
			p.reply(t, hub, 0, body)
			h, checks := p.host(t, 0)
			g.Expect(h.Status).To(Equal(wire.HostStatusInsufficient), h.StatusInfo)
			g.Expect(checks["sufficient-installation-disk-speed"].Status).To(Equal("failure"))
			g.Expect(checks["sufficient-installation-disk-speed"].Message).To(ContainSubstring("could not be measured"))
			c, _ := p.readCluster(t)
			g.Expect(c.Status).To(Equal(wire.ClusterStatusInsufficient), c.StatusInfo)
			for n := range 2 {
				h, _ = p.host(t, n+1)
				g.Expect(h.Status).To(Equal(wire.HostStatusKnown), h.StatusInfo)
			}
			user.do("PATCH", "/infra-envs/"+p.hosts[0].InfraEnvID+"/hosts/"+p.hosts[0].HostID+"/actions/reset-validation/sufficient-installation-disk-speed", "", 200)
			c, _ = p.readCluster(t)
			g.Expect(c.Status).To(Equal(wire.ClusterStatusReady), c.StatusInfo)
		})
	}
}

// images is the reply of an image check.
func images(t *testing.T, exit int, list string) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"step_type": "container-image-availability", "step_id": "container-image-availability-1", "exit_code": exit, "output": `{"images":[` + list + `]}`})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return string(raw)
}

func image(name, result string, size, seconds, rate float64) string {
	return fmt.Sprintf(`{"name":%q,"result":%q,"size_bytes":%g,"time":%g,"download_rate":%g}`, name, result, size, seconds, rate)
}

// TestResultsOfImages: an agent names what it has looked at; what it says last counts, with the figures of the first pull.
func TestResultsOfImages(t *testing.T) {
	for name, tc := range map[string]struct {
		replies []string
		want    string // of the image "a"
		status  string
		check   string
	}{
		"images that nobody asked for": {
			[]string{images(t, 0, image("a", "success", 4e8, 12.5, 32))},
			`{"name":"a","result":"success","size_bytes":4e8,"time":12.5,"download_rate":32}`,
			wire.HostStatusPreparingSuccessful, "success",
		},
		"again, and there already": {
			[]string{images(t, 0, image("a", "success", 4e8, 12.5, 32)), images(t, 0, `{"name":"a","result":"success"}`), images(t, 0, image("a", "success", 1, 2, 3))},
			`{"name":"a","result":"success","size_bytes":4e8,"time":12.5,"download_rate":32}`, wire.HostStatusPreparingSuccessful, "success",
		},
		"a failure after a success": {
			[]string{images(t, 0, image("a", "success", 4e8, 12.5, 32)), images(t, 2, image("a", "failure", 0, 0, 0))},
			`{"name":"a","result":"failure","size_bytes":4e8,"time":12.5,"download_rate":32}`, wire.HostStatusPreparingSuccessful, "failure",
		},
		"one of two fails": {
			[]string{images(t, 2, image("a", "success", 4e8, 12.5, 32)+","+image("b", "failure", 0, 0, 0))},
			`{"name":"a","result":"success","size_bytes":4e8,"time":12.5,"download_rate":32}`,
			wire.HostStatusPreparingFailed, "failure",
		},
		"too slow": {
			[]string{images(t, 0, image("a", "success", 4e8, 9e8, 0.0004))},
			`{"name":"a","result":"success","size_bytes":4e8,"time":9e8,"download_rate":0.0004}`,
			wire.HostStatusPreparingFailed, "failure",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			hub := testhub.Start(t, testhub.Options{IgnitionDir: testhub.RoleFiles(t)})
			p := threeHosts(t).play(t, hub)
			newClient(t, hub.User()).do("POST", "/clusters/"+p.cluster+"/actions/install", "", 202)
			p.reply(t, hub, 0, `{"step_type":"installation-disk-speed-check","step_id":"installation-disk-speed-check-1","output":"{\"io_sync_duration\":1,\"path\":\"/dev/disk/by-path/pci-0000:00:03.0\"}"}`)
			for _, reply := range tc.replies {
				p.reply(t, hub, 0, reply)
			}
			h, checks := p.host(t, 0)
			g.Expect(checks["container-images-available"].Status).To(Equal(tc.check), h.ImagesStatus)
			var all map[string]json.RawMessage
			g.Expect(jsonInto(h.ImagesStatus, &all)).To(Succeed())
			g.Expect(string(all["a"])).To(MatchJSON(tc.want))
			if tc.status == wire.HostStatusPreparingFailed { // its cluster is ready again, and it is known
				c, _ := p.readCluster(t)
				g.Expect(c.Status).To(Equal(wire.ClusterStatusReady), c.StatusInfo)
				g.Expect(hub.Timeline(t)).To(ContainSubstring(wire.HostStatusPreparingFailed))
				return
			}
			g.Expect(h.Status).To(Equal(tc.status), h.StatusInfo)
		})
	}
}

// TestClocksBeforeAnInventory: the poll tells the time, the reply of the time sources the rest.
func TestClocksBeforeAnInventory(t *testing.T) {
	hub := testhub.Start(t, testhub.Options{})
	user := newClient(t, hub.User())
	cluster := user.newCluster()
	env, agent := user.agentOf(hub, `,"cluster_id":"`+strings.TrimPrefix(cluster, "/clusters/")+`"`)
	host := env + "/hosts/" + aHost
	judged := func(want string) {
		t.Helper()
		_, checks := (&played{user: hub.User(), hosts: nil}).read(t, host)
		user.Expect(checks["time-synced-between-host-and-service"].Status + " " + checks["ntp-synced"].Status).To(Equal(want))
	}
	at := func(ahead time.Duration) { // the reply has the host judged
		agent.do("GET", host+"/instructions?timestamp="+strconv.FormatInt(time.Now().Add(ahead).Unix(), 10), "", 200)
		agent.do("POST", host+"/instructions", said(t, "domain-resolution", `{"resolutions":[{"domain_name":"`+ahead.String()+`"}]}`), 204)
	}
	agent.do("POST", env+"/hosts", `{"host_id":"`+aHost+`"}`, 201)
	judged("success pending")
	at(3 * time.Hour)
	judged("failure pending")
	at(0)
	agent.do("POST", host+"/instructions", said(t, "ntp-synchronizer", `{"ntp_sources":[{"source_name":"192.0.2.1","source_state":"unreachable"}]}`), 204)
	judged("success failure")
	agent.do("POST", host+"/instructions", said(t, "ntp-synchronizer", `{"ntp_sources":[{"source_name":"192.0.2.1","source_state":"synced"}]}`), 204)
	judged("success success")
}
