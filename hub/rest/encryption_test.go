package rest_test

import (
	"net/http"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// TestEncryptionThatIsAskedForIsDone: a cluster that asks for encrypted disks gets them, on the hosts that it asks for.
func TestEncryptionThatIsAskedForIsDone(t *testing.T) {
	for name, tc := range map[string]struct {
		on   string
		want OmegaMatcher
	}{
		"all":          {"all", And(ContainSubstring(`"luks":[{"clevis":{"tpm2":true},"device":"/dev/disk/by-partlabel/root"`), ContainSubstring("/etc/hostname"))},
		"its role":     {"masters,workers", ContainSubstring(`"tpm2":true`)},
		"another role": {"workers", Not(ContainSubstring("luks"))},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			hub := testhub.Start(t, testhub.Options{IgnitionDir: testhub.RoleFiles(t)})
			s := singleNode(t)
			h := s.hosts[0]
			h.disk = &wire.DiskSpeedCheckResponse{Path: "/dev/disk/by-path/pci-0000:00:03.0", IoSyncDuration: 1}
			h.images = &wire.ContainerImageAvailabilityResponse{Images: []wire.ContainerImageAvailability{
				{Name: s.cluster.OcpReleaseImage, Result: wire.ContainerImageAvailabilityResultSuccess},
			}}
			s.cluster.DiskEncryption = &wire.DiskEncryption{EnableOn: &tc.on, Mode: new("tpmv2")}
			h.inventory.TPMVersion = wire.InventoryTPMVersion20
			p := s.play(t, hub)
			code, raw := p.user.Do(t, http.MethodPost, "/clusters/"+p.cluster+"/actions/install", nil, nil)
			g.Expect(code).To(Equal(http.StatusAccepted), raw)
			g.Eventually(func() string {
				c, _ := p.readCluster(t)
				return c.Status
			}, time.Minute, "20ms").Should(Equal(wire.ClusterStatusInstalling), hub.Timeline(t))
			code, raw = p.agentOf(t, hub, 0).Do(t, http.MethodGet, "/infra-env/"+p.hosts[0].InfraEnvID+"/hosts/"+p.hosts[0].HostID+"/downloads/ignition", nil, nil)
			g.Expect(code).To(Equal(http.StatusOK), raw)
			g.Expect(raw).To(tc.want)
		})
	}
}

// TestEncryptionThatCannotBeDoneIsRefused when it is asked for, with the member that is wrong.
func TestEncryptionThatCannotBeDoneIsRefused(t *testing.T) {
	c := newClient(t, testhub.Start(t, testhub.Options{}).User())
	path := "/clusters/" + c.read("POST", "/clusters", `{"name":"edge","openshift_version":"4.20.1","pull_secret":"{\"auths\":{}}"}`, 201)["id"].(string)
	for encryption, want := range map[string]string{
		`{"enable_on":"all","mode":"tang"}`:                                           "disk_encryption.tang_servers: not a JSON list",
		`{"enable_on":"all","mode":"tpmv2","tang_servers":"[]"}`:                      "disk_encryption.tang_servers are for mode tang",
		`{"enable_on":"all","mode":"tang","tang_servers":"[{\"url\":\"http://t\"}]"}`: "server 1 has no thumbprint",
	} {
		NewWithT(t).Expect(c.do("PATCH", path, `{"disk_encryption":`+encryption+`}`, 400)).To(ContainSubstring(want))
	}
	c.do("PATCH", path, `{"disk_encryption":{"enable_on":"none","mode":"tpmv2"}}`, 201)
	c.do("PATCH", path, `{"disk_encryption":{"enable_on":"masters,workers","mode":"tpmv2"}}`, 201)
	c.do("PATCH", path, `{"disk_encryption":{"enable_on":"all","mode":"tang","tang_servers":"[{\"url\":\"http://tang.example\",\"thumbprint\":\"t\"}]"}}`, 201)
}

// TestHostsWhoseDisksCannotBeEncrypted are insufficient, with the reason, before anything is written.
func TestHostsWhoseDisksCannotBeEncrypted(t *testing.T) {
	bonded := func(s *scene) { s.hosts[0].inventory.Interfaces[0].Type = "bond" }
	byTPM := func(s *scene) {
		s.cluster.DiskEncryption = &wire.DiskEncryption{EnableOn: new("masters"), Mode: new("tpmv2")}
		s.hosts[0].inventory.TPMVersion = wire.InventoryTPMVersion20
	}
	for name, tc := range map[string]struct {
		change       func(*scene)
		status, want string
	}{
		"all is well":   {func(*scene) {}, "success", "All Tang servers answer"},
		"a mainframe":   {func(s *scene) { s.hosts[0].inventory.CPU.Architecture = "s390x" }, "failure", "s390x"},
		"several paths": {func(s *scene) { installTo(s.hosts[0].inventory).DriveType = wire.DriveTypeMultipath }, "failure", "multipath"},
		"a bond alone":  {bonded, "failure", "bond or VLAN"},
		"a TPM needs no network": {func(s *scene) {
			bonded(s)
			byTPM(s)
		}, "success", "TPM 2.0"},
		"no TPM": {func(s *scene) {
			byTPM(s)
			s.hosts[0].inventory.TPMVersion = wire.InventoryTPMVersionNone
		}, "failure", "needs a TPM 2.0"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := encrypted(t)
			tc.change(s)
			p := s.play(t, testhub.Start(t, testhub.Options{}))
			_, checks := p.host(t, 0)
			check := checks["disk-encryption-requirements-satisfied"]
			g.Expect(check).To(And(HaveField("Status", tc.status), HaveField("Message", ContainSubstring(tc.want))))
		})
	}
}

// TestEncryptionIsAManifestOfEachRole: hosts that join the cluster by themselves later on are
// encrypted by it. Whoever asks sees what the hub adds to the installation.
func TestEncryptionIsAManifestOfEachRole(t *testing.T) {
	c := newClient(t, withInstaller(t, operators.Table{}).User())
	path := "/clusters/" + c.read("POST", "/clusters", `{"name":"edge","openshift_version":"4.20.1","pull_secret":"{\"auths\":{}}",
		"ignition_source":"openshift-install","disk_encryption":{"enable_on":"all","mode":"tpmv2"}}`, 201)["id"].(string)
	manifests := path + "/manifests"
	c.Expect(c.do("GET", manifests, "", 200)).To(MatchJSON(`[]`), "they are not a user's")
	c.Expect(c.do("GET", manifests+"?include_system_generated=true", "", 200)).To(MatchJSON(`[
		{"folder":"openshift","file_name":"99-openshift-master-disk-encryption.yaml","manifest_source":"system"},
		{"folder":"openshift","file_name":"99-openshift-worker-disk-encryption.yaml","manifest_source":"system"}]`))
	file := manifests + "/files?folder=openshift&file_name=99-openshift-master-disk-encryption.yaml"
	c.Expect(c.do("GET", file, "", 200)).To(MatchYAML(`{"apiVersion":"machineconfiguration.openshift.io/v1","kind":"MachineConfig",
		"metadata":{"name":"99-master-disk-encryption","labels":{"machineconfiguration.openshift.io/role":"master"}},
		"spec":{"config":{"ignition":{"version":"3.2.0"},"storage":{
			"filesystems":[{"device":"/dev/mapper/root","format":"xfs","label":"root","wipeFilesystem":true}],
			"luks":[{"name":"root","label":"luks-root","device":"/dev/disk/by-partlabel/root","clevis":{"tpm2":true},"wipeVolume":true}]}}}}`))
	c.Expect(c.do("GET", path+"/downloads/files-presigned?file_name=manifests&additional_name=openshift/99-openshift-worker-disk-encryption.yaml", "", 200)).To(ContainSubstring("url"))

	c.do("PATCH", path, `{"disk_encryption":{"enable_on":"masters,arbiters","mode":"tang","tang_servers":"[{\"url\":\"http://tang.example\",\"thumbprint\":\"abc\"}]"}}`, 201)
	c.Expect(c.do("GET", manifests+"?include_system_generated=true", "", 200)).To(And(ContainSubstring("-master-"), ContainSubstring("-arbiter-"), Not(ContainSubstring("-worker-"))))
	c.Expect(c.do("GET", file, "", 200)).To(And(
		ContainSubstring("url: http://tang.example"), ContainSubstring("thumbprint: abc"), ContainSubstring("kernelArguments:\n  - rd.neednet=1")), "they are asked at each start")
	c.do("POST", manifests, `{"folder":"openshift","file_name":"99-openshift-master-disk-encryption.yaml","content":"`+encoded("kind: Mine\n")+`"}`, 201)
	c.Expect(c.do("GET", file, "", 200)).To(Equal("kind: Mine\n"), "a user's own takes its place")
	c.do("PATCH", path, `{"disk_encryption":{"enable_on":"none"}}`, 201)
	c.Expect(c.do("GET", manifests+"?include_system_generated=true", "", 200)).NotTo(ContainSubstring("system"))
}
