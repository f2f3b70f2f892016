package install_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	id    = "11111111-1111-4111-8111-111111111111"
	image = "quay.example/ironflow/installer@sha256:0123456789abcdef"
)

func order() wire.InstallCmdRequest {
	return wire.InstallCmdRequest{
		ClusterID: id, InfraEnvID: id, HostID: id, Role: wire.HostRoleMaster, BootDevice: "/dev/disk/by-id/wwn-0x1",
		ControllerImage: image, InstallerImage: image,
	}
}

// disks is a host with two disks.
func disks(path string) (string, error) {
	switch path {
	case "/dev/disk/by-id/wwn-0x1", "/dev/sda":
		return "/dev/sda", nil
	case "/dev/sdb":
		return "/dev/sdb", nil
	default:
		return "", errors.New("no such disk: " + path)
	}
}

func arguments(t *testing.T, r wire.InstallCmdRequest) []string {
	t.Helper()
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return []string{string(raw)}
}

func TestOrders(t *testing.T) {
	text := func(s string) *string { return &s }
	for name, tc := range map[string]struct {
		change  func(r *wire.InstallCmdRequest)
		wantErr string
	}{
		"minimal":              {func(*wire.InstallCmdRequest) {}, ""},
		"worker":               {func(r *wire.InstallCmdRequest) { r.Role = wire.HostRoleWorker }, ""},
		"arbiter":              {func(r *wire.InstallCmdRequest) { r.Role = wire.HostRoleArbiter }, ""},
		"single node":          {func(r *wire.InstallCmdRequest) { r.Role, r.ControlPlaneCount = wire.HostRoleBootstrap, 1 }, ""},
		"undecided role":       {func(r *wire.InstallCmdRequest) { r.Role = wire.HostRoleAutoAssign }, "role"},
		"invented role":        {func(r *wire.InstallCmdRequest) { r.Role = "single-node" }, "role"},
		"no cluster":           {func(r *wire.InstallCmdRequest) { r.ClusterID = "" }, "cluster_id"},
		"odd host id":          {func(r *wire.InstallCmdRequest) { r.HostID = "urn:uuid:" + id }, "host_id"},
		"no images":            {func(r *wire.InstallCmdRequest) { r.InstallerImage, r.ControllerImage = "", "" }, ""},
		"not an image":         {func(r *wire.InstallCmdRequest) { r.InstallerImage = "a b" }, "installer_image"},
		"image with a flag":    {func(r *wire.InstallCmdRequest) { r.ControllerImage = "--privileged x" }, "controller_image"},
		"no disk":              {func(r *wire.InstallCmdRequest) { r.BootDevice = "" }, "boot_device"},
		"disk outside of /dev": {func(r *wire.InstallCmdRequest) { r.BootDevice = "/etc/passwd" }, "boot_device"},
		"disk by a detour":     {func(r *wire.InstallCmdRequest) { r.BootDevice = "/dev/../etc/passwd" }, "boot_device"},
		"missing disk":         {func(r *wire.InstallCmdRequest) { r.BootDevice = "/dev/sdz" }, "no such disk"},
		"another disk":         {func(r *wire.InstallCmdRequest) { r.DisksToFormat = []string{"/dev/sdb"} }, ""},
		"another missing disk": {func(r *wire.InstallCmdRequest) { r.DisksToFormat = []string{"/dev/sdb", "/dev/sdc"} }, "disks_to_format[1]"},
		"must-gather image":    {func(r *wire.InstallCmdRequest) { r.MustGatherImage = image }, ""},
		"must-gather map":      {func(r *wire.InstallCmdRequest) { r.MustGatherImage = `{"ocp":"` + image + `"}` }, ""},
		"must-gather odd key":  {func(r *wire.InstallCmdRequest) { r.MustGatherImage = `{"x":"` + image + `"}` }, `"x"`},
		"must-gather bad JSON": {func(r *wire.InstallCmdRequest) { r.MustGatherImage = `{"ocp":` }, "must_gather_image"},
		"proxy": {func(r *wire.InstallCmdRequest) {
			r.Proxy = &wire.Proxy{HTTPProxy: text("http://u:pw@p.example:3128"), NoProxy: text("a,.b,10.0.0.0/8")}
		}, ""},
		"proxy of another kind": {func(r *wire.InstallCmdRequest) { r.Proxy = &wire.Proxy{HTTPSProxy: text("ftp://u:pw@p")} }, "proxy.https_proxy"},
		"no_proxy with a quote": {func(r *wire.InstallCmdRequest) { r.Proxy = &wire.Proxy{NoProxy: text("a' ; reboot")} }, "no_proxy"},
		"arguments": {func(r *wire.InstallCmdRequest) {
			r.InstallerArgs = `["--append-karg","ip=52-54-00-00-00-01:dhcp","--copy-network","-n","--save-partlabel=data*"]`
		}, ""},
		"arguments, not a list":   {func(r *wire.InstallCmdRequest) { r.InstallerArgs = `--copy-network` }, "JSON list"},
		"forbidden argument":      {func(r *wire.InstallCmdRequest) { r.InstallerArgs = `["--insecure"]` }, `"--insecure" is not allowed`},
		"value without a flag":    {func(r *wire.InstallCmdRequest) { r.InstallerArgs = `["/dev/sdb"]` }, `"/dev/sdb" is not allowed`},
		"flag without a value":    {func(r *wire.InstallCmdRequest) { r.InstallerArgs = `["--append-karg"]` }, "needs a value"},
		"value of a switch":       {func(r *wire.InstallCmdRequest) { r.InstallerArgs = `["--copy-network=1"]` }, "takes no value"},
		"value with a backtick":   {func(r *wire.InstallCmdRequest) { r.InstallerArgs = "[\"--append-karg\",\"a=`id`\"]" }, "characters"},
		"value that is an option": {func(r *wire.InstallCmdRequest) { r.InstallerArgs = `["--append-karg","--insecure"]` }, "characters"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := order()
			tc.change(&r)
			job, err := install.Parse(arguments(t, r), disks)
			if tc.wantErr != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.wantErr)))
				g.Expect(err.Error()).NotTo(ContainSubstring("pw"), "no password of a proxy in an error")
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(job.Disk).To(Equal("/dev/sda"), "the link is followed to the kernel's name")
		})
	}
}

func TestEverythingWrongIsListed(t *testing.T) {
	g := NewWithT(t)
	_, err := install.Parse([]string{`{"controller_image":"a b","installer_image":"a b"}`}, disks)
	for _, member := range []string{"cluster_id", "infra_env_id", "host_id", "role", "boot_device", "controller_image", "installer_image"} {
		g.Expect(err).To(MatchError(ContainSubstring(member)))
	}
	_, err = install.Parse(nil, disks)
	g.Expect(err).To(MatchError(ContainSubstring("got 0 arguments")))
}

func TestSequences(t *testing.T) {
	for name, tc := range map[string]struct {
		role  wire.HostRole
		count int64
		want  string
	}{
		"bootstrap": {
			wire.HostRoleBootstrap, 3,
			"Starting installation, Installing, Writing image to disk, Copying registry data to disk, Waiting for control plane, Waiting for bootkube, Waiting for controller, Rebooting",
		},
		"master":      {wire.HostRoleMaster, 3, "Starting installation, Installing, Writing image to disk, Copying registry data to disk, Rebooting"},
		"arbiter":     {wire.HostRoleArbiter, 2, "Starting installation, Installing, Writing image to disk, Copying registry data to disk, Rebooting"},
		"worker":      {wire.HostRoleWorker, 3, "Starting installation, Installing, Writing image to disk, Waiting for control plane, Rebooting"},
		"single node": {wire.HostRoleBootstrap, 1, "Starting installation, Installing, Waiting for bootkube, Writing image to disk, Copying registry data to disk, Rebooting"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range install.Sequence(wire.InstallCmdRequest{Role: tc.role, ControlPlaneCount: tc.count}) {
				got = append(got, string(s))
			}
			NewWithT(t).Expect(strings.Join(got, ", ")).To(Equal(tc.want))
		})
	}
}

// FuzzParse: whatever a hub sends, an accepted order is one that is safe to carry out.
func FuzzParse(f *testing.F) {
	raw, _ := json.Marshal(order())
	f.Add(string(raw))
	f.Add(strings.Replace(string(raw), `"role"`, `"installer_args":"[\"--append-karg\",\"a=b\"]","role"`, 1))
	f.Add(`{"boot_device":"/dev/../../x"}`)
	f.Add(`[`)
	f.Fuzz(func(t *testing.T, text string) {
		job, err := install.Parse([]string{text}, disks)
		if err != nil {
			return
		}
		if job.Disk != "/dev/sda" && job.Disk != "/dev/sdb" {
			t.Errorf("accepted the disk %q", job.Disk)
		}
		if len(install.Sequence(job.Request)) == 0 {
			t.Errorf("accepted the role %q, which has no stages", job.Request.Role)
		}
		for _, arg := range job.Args {
			if strings.ContainsAny(arg, "`\x00\n") {
				t.Errorf("accepted the argument %q", arg)
			}
		}
	})
}
