package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/client"
	"github.com/ironflow/ironflow/agent/agentbased/hostconfig"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

// hosts is a hub with hosts that change from one listing to the next.
type hosts struct {
	client.Hub

	// listings follow each other; the last one stays.
	listings [][]wire.Host
	// refuse is the reason with which changes are refused.
	refuse string
	calls  []string
	asked  []time.Time
}

func (h *hosts) Do(_ context.Context, r hubclient.Request) error {
	if r.Method == http.MethodPatch {
		raw, err := json.Marshal(r.In)
		h.calls = append(h.calls, fmt.Sprintf("%s %s %d %s", r.Method, r.Path, r.Want, raw))
		if h.refuse != "" {
			return &hubclient.StatusError{Method: r.Method, Path: r.Path, Code: http.StatusBadRequest, Reason: h.refuse}
		}
		return err
	}
	h.asked = append(h.asked, time.Now())
	now := h.listings[0]
	if len(h.listings) > 1 {
		h.listings = h.listings[1:]
	}
	raw, err := json.Marshal(now)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, r.Out)
}

// machine is a host with two disks.
func machine(name, mac string, change func(*wire.Host)) wire.Host {
	inventory := wire.Inventory{
		Hostname:   name,
		Interfaces: []wire.Interface{{MACAddress: strings.ToUpper(mac)}},
		Disks: []wire.Disk{
			{ID: "/dev/disk/by-id/wwn-1", Path: "/dev/sda", DriveType: wire.DriveTypeSsd, SizeBytes: 240 << 30, Model: "Example 240", InstallationEligibility: wire.DiskInstallationEligibility{Eligible: true}},
			{ID: "/dev/disk/by-id/wwn-2", Path: "/dev/sdb", DriveType: wire.DriveTypeHdd, SizeBytes: 4000 << 30, InstallationEligibility: wire.DiskInstallationEligibility{Eligible: true}},
		},
	}
	raw, _ := json.Marshal(inventory)
	h := wire.Host{ID: name, Status: wire.HostStatusKnown, Inventory: string(raw), SuggestedRole: wire.HostRoleWorker, InstallationDiskID: "/dev/disk/by-id/wwn-2"}
	if change != nil {
		change(&h)
	}
	return h
}

// configurer is a client of that hub on a host with the folders of testdata/whole.
func configurer(t *testing.T, hub client.Hub, root string, env map[string]string) *client.Client {
	t.Helper()
	settings := client.FromEnv(func(name string) string {
		if name == "INFRA_ENV_ID" && env[name] == "" {
			return envID
		}
		return env[name]
	}, hostfile.Dir{Root: root})
	return &client.Client{Settings: settings, Hub: hub, Dir: hostfile.Dir{Root: root}, Log: slog.New(slog.DiscardHandler)}
}

const (
	masterMAC, workerMAC = "02:00:00:00:00:a1", "02:00:00:00:00:02"
	fencing              = `,"fencing_credentials":{"address":"redfish+https://192.0.2.201/redfish/v1/Systems/1","certificate_verification":"Disabled","password":"0000","username":"admin"}`
)

func patch(host, body string) string {
	return "PATCH /infra-envs/" + envID + "/hosts/" + host + " 201 " + body
}

// update is the body of a change of disk and role, as the protocol has it.
func update(disks, rest string) string {
	return `{"disks_selected_config":` + disks + `,"disks_skip_formatting":null` + rest + `,"ignition_endpoint_http_headers":null,"node_labels":null}`
}

func TestHostsAreConfiguredAsTheyCome(t *testing.T) {
	root := host(t)
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		master, worker := machine("master-0", masterMAC, nil), machine("worker-0", workerMAC, nil)
		young := machine("master-0", masterMAC, func(h *wire.Host) { h.Inventory = "" })
		configured := machine("master-0", masterMAC, func(h *wire.Host) {
			h.Role, h.InstallationDiskID = wire.HostRoleMaster, "/dev/disk/by-id/wwn-1"
			h.FencingCredentials = `{"address":"redfish+https://192.0.2.201/redfish/v1/Systems/1","certificate_verification":"Disabled","password":"0000","username":"admin"}`
		})
		hub := &hosts{listings: [][]wire.Host{{}, {young}, {master}, {configured}, {configured}, {configured}, {configured, worker}}}
		began := time.Now()
		done := make(chan error, 1)
		go func() { done <- configurer(t, hub, root, nil).Run(t.Context(), "configure") }()
		synctest.Wait()
		failures := client.FailuresFile
		g.Expect(read(t, root, failures)).To(Equal("master-0: no host with MAC address 02:00:00:00:00:01 or 02:00:00:00:00:a1 has sent its inventory yet\n" +
			"worker-0: no host with MAC address 02:00:00:00:00:02 has sent its inventory yet\n" +
			"master-0: no host that the fencing credentials are of has sent its inventory yet\n"))
		<-time.After(10 * time.Second)
		synctest.Wait()
		g.Expect(read(t, root, failures)).To(Equal("worker-0: no host with MAC address 02:00:00:00:00:02 has sent its inventory yet\n"))
		g.Expect(<-done).To(Succeed())
		g.Expect(filepath.Join(root, failures)).NotTo(BeAnExistingFile())
		g.Expect(hub.calls).To(Equal([]string{
			patch("master-0", update(`[{"id":"/dev/disk/by-id/wwn-1","role":"install"}]`, fencing+`,"host_role":"master"`)),
		}), "once, and nothing for a host that has it")
		var at []time.Duration
		for _, a := range hub.asked {
			at = append(at, a.Sub(began)/time.Second)
		}
		g.Expect(at).To(Equal([]time.Duration{0, 1, 3, 7, 15, 31, 61}), "from 1 s, doubling, to 30 s")
	})
}

func TestWhatKeepsAHostFromBeingConfigured(t *testing.T) {
	for name, tc := range map[string]struct {
		hints  string
		change func(*wire.Host)
		refuse string
		calls  []string
		want   string
	}{
		"no disk fits": {
			hints: "model: Nothing\n", calls: []string{patch("master-0", update(`[{"id":"/dev/not-found-by-hints","role":"install"}]`, fencing+`,"host_role":"master"`))},
			want: "master-0: no disk fits the root device hints of /etc/assisted/hostconfig/master-0; its disks: /dev/sda (SSD, 257 GB, Example 240), /dev/sdb (HDD, 4294 GB)\n",
		},
		"no disk fits, and that has been said": {
			hints: "model: Nothing\n", change: func(h *wire.Host) {
				h.InstallationDiskID, h.Role = "/dev/not-found-by-hints", wire.HostRoleMaster
				h.FencingCredentials = `{"address":"redfish+https://192.0.2.201/redfish/v1/Systems/1",` +
					`"certificate_verification":"Disabled","password":"0000","username":"admin"}`
			},
			want: "master-0: no disk fits the root device hints of /etc/assisted/hostconfig/master-0; its disks: /dev/sda",
		},
		"the hub refuses": {
			hints: "deviceName: /dev/sda\n", refuse: "host cannot change while it is installing",
			calls: []string{patch("master-0", update(`[{"id":"/dev/disk/by-id/wwn-1","role":"install"}]`, fencing+`,"host_role":"master"`))},
			want:  "master-0: role master and installation disk /dev/disk/by-id/wwn-1 and fencing credentials cannot be set: hub answered 400 Bad Request to PATCH",
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := host(t)
			g := NewWithT(t)
			g.Expect(os.WriteFile(filepath.Join(root, "etc/assisted/hostconfig/master-0/root-device-hints.yaml"), []byte(tc.hints), 0o600)).To(Succeed())
			g.Expect(os.RemoveAll(filepath.Join(root, "etc/assisted/hostconfig/worker-0"))).To(Succeed())
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				hub := &hosts{listings: [][]wire.Host{{machine("master-0", masterMAC, tc.change)}}, refuse: tc.refuse}
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- configurer(t, hub, root, nil).Run(ctx, "configure") }()
				synctest.Wait()
				text := read(t, root, client.FailuresFile)
				g.Expect(text).To(HavePrefix(tc.want))
				g.Expect(strings.Count(text, "\n")).To(Equal(1), "a line for a host")
				g.Expect(text).NotTo(ContainSubstring("0000"))
				if tc.calls == nil {
					g.Expect(hub.calls).To(BeEmpty())
				} else {
					g.Expect(hub.calls).To(Equal(tc.calls))
				}
				cancel()
				g.Expect(<-done).To(MatchError(context.Canceled))
			})
		})
	}
}

// What the hub has chosen itself, it chooses anew when another host or disk appears: so it is asked for all the same.
func TestWhatTheHubHappensToHaveChosenIsAskedFor(t *testing.T) {
	const asked = `[{"id":"/dev/disk/by-id/wwn-1","role":"install"}]`
	whole := patch("master-0", update(asked, fencing+`,"host_role":"master"`))
	chosen := func(h *wire.Host) {
		h.SuggestedRole, h.InstallationDiskID = wire.HostRoleMaster, "/dev/disk/by-id/wwn-1"
	}
	has := func(h *wire.Host) {
		chosen(h)
		h.Role = wire.HostRoleMaster
		h.FencingCredentials = `{"address":"redfish+https://192.0.2.201/redfish/v1/Systems/1","certificate_verification":"Disabled","password":"0000","username":"admin"}`
	}
	status := func(status string) func(*wire.Host) {
		return func(h *wire.Host) { has(h); h.Status = status }
	}
	anew := func(h *wire.Host) { has(h); h.CreatedAt = time.Unix(1, 0) }
	for name, tc := range map[string]struct {
		listings []func(*wire.Host)
		calls    []string
	}{
		"the hub's own choice":                       {[]func(*wire.Host){chosen, has, has}, []string{whole}},
		"a client that starts again":                 {[]func(*wire.Host){has, has}, []string{patch("master-0", update(asked, ""))}},
		"a host that was removed and has come again": {[]func(*wire.Host){has, anew, anew}, []string{patch("master-0", update(asked, "")), patch("master-0", update(asked, ""))}},
		"the installation has begun":                 {[]func(*wire.Host){status(wire.HostStatusInstalling), status(wire.HostStatusInstallingInProgress)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			root := host(t)
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				hub := &hosts{}
				for _, change := range tc.listings { // the other host has not come, so the client goes on
					hub.listings = append(hub.listings, []wire.Host{machine("master-0", masterMAC, change)})
				}
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()
				g.Expect(configurer(t, hub, root, nil).Run(ctx, "configure")).To(MatchError(context.DeadlineExceeded))
				g.Expect(hub.calls).To(Equal(tc.calls))
			})
		})
	}
}

// A host that registers once all are configured gets what is said of it, and what somebody has changed of the others stays.
func TestAHostThatRegistersAgainIsConfiguredAgain(t *testing.T) {
	root := host(t)
	g := NewWithT(t)
	g.Expect(os.RemoveAll(filepath.Join(root, "etc/assisted/hostconfig/fencing-credentials.yaml"))).To(Succeed())
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		const asked = `[{"id":"/dev/disk/by-id/wwn-1","role":"install"}]`
		changedByAPerson := func(h *wire.Host) { h.Role, h.InstallationDiskID = wire.HostRoleWorker, "/dev/disk/by-id/wwn-2" }
		again := machine("master-0", masterMAC, func(h *wire.Host) { h.CreatedAt = time.Unix(1, 0) })
		installing := machine("master-0", masterMAC, func(h *wire.Host) { h.CreatedAt, h.Status = time.Unix(2, 0), wire.HostStatusInstalling })
		worker := machine("worker-0", workerMAC, nil)
		hub := &hosts{listings: [][]wire.Host{{machine("master-0", masterMAC, nil), worker}}}
		c := configurer(t, hub, root, map[string]string{"HOST_CONFIG_WATCH": "true"})
		ready := false
		c.Ready = func() { ready = true }
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx, "configure") }()
		has := func(h wire.Host) bool {
			applied, err := hostconfig.Read(hostfile.Dir{Root: root})
			g.Expect(err).NotTo(HaveOccurred())
			return len(applied.Missing([]wire.Host{h})) == 0
		}
		next := func(listing ...wire.Host) {
			hub.listings = [][]wire.Host{listing}
			<-time.After(6 * time.Second)
			synctest.Wait()
		}
		synctest.Wait()
		g.Expect(ready).To(BeTrue())
		whole := patch("master-0", update(asked, `,"host_role":"master"`))
		g.Expect(hub.calls).To(Equal([]string{whole}))
		next(machine("master-0", masterMAC, changedByAPerson), worker)
		g.Expect(hub.calls).To(HaveLen(1), "a person wants it so")
		next(worker)
		g.Expect(read(t, root, client.FailuresFile)).To(ContainSubstring("master-0: no host with MAC address"), "it was removed")
		g.Expect(has(again)).To(BeFalse())
		next(again, worker)
		g.Expect(hub.calls).To(Equal([]string{whole, whole}))
		g.Expect(has(again)).To(BeTrue())
		g.Expect(filepath.Join(root, client.FailuresFile)).NotTo(BeAnExistingFile())
		next(installing)
		g.Expect(hub.calls).To(HaveLen(2), "nothing is changed of a host that is being installed")
		g.Expect(filepath.Join(root, client.FailuresFile)).NotTo(BeAnExistingFile(), "nobody is waited for any more")
		stop()
		g.Expect(<-ended).To(Succeed(), "the unit is stopped")
	})
}

// A host that is added cares for itself alone.
func TestAddedHostsConfigureThemselves(t *testing.T) {
	g := NewWithT(t)
	root := host(t)
	hub := &hosts{listings: [][]wire.Host{{machine("worker-0", workerMAC, nil), machine("master-0", masterMAC, nil)}}}
	c := configurer(t, hub, root, map[string]string{"WORKFLOW_TYPE": "addnodes"})
	c.OwnMACs = func() ([]string, error) { return []string{workerMAC}, nil }
	g.Expect(os.WriteFile(filepath.Join(root, "etc/assisted/hostconfig/worker-0/role"), []byte("arbiter\n"), 0o600)).To(Succeed())
	g.Expect(os.Remove(filepath.Join(root, "etc/assisted/hostconfig/fencing-credentials.yaml"))).To(Succeed())
	g.Expect(c.Run(t.Context(), "configure")).To(Succeed())
	g.Expect(hub.calls).To(Equal([]string{patch("worker-0", update("null", `,"host_role":"arbiter"`))}))
}

func TestSettingsThatCannotWork(t *testing.T) {
	for name, tc := range map[string]struct {
		subcommand string
		env        map[string]string
		want       string
	}{
		"no infra-env":      {"configure", map[string]string{"INFRA_ENV_ID": "x"}, `INFRA_ENV_ID is "x": want a UUID`},
		"no such workflow":  {"configure", map[string]string{"WORKFLOW_TYPE": "day2"}, `WORKFLOW_TYPE is "day2": want install or addnodes`},
		"nothing to import": {"importCluster", nil, "CLUSTER_ID is not set: want a UUID\nusage: CLUSTER_NAME is not set: want the running cluster's name\nusage: CLUSTER_API_VIP_DNS_NAME is not set"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			err := configurer(t, &hosts{}, t.TempDir(), tc.env).Run(t.Context(), tc.subcommand)
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
			g.Expect(err).To(MatchError(client.ErrUsage))
		})
	}
}
