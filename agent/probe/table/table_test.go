package table_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/probe/table"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	id1 = "11111111-1111-4111-8111-111111111111"
	id2 = "22222222-2222-4222-8222-222222222222"
)

func env(dry bool) probe.Env {
	return probe.Env{
		DryRun: dry,
		Interfaces: func(context.Context) ([]wire.Interface, error) {
			return []wire.Interface{{Name: "eth0", Ipv4Addresses: []string{"192.0.2.10/24"}, Ipv6Addresses: []string{"2001:db8::10/64"}}}, nil
		},
		Device: func(path string) (string, error) {
			if path != "/dev/sda" {
				return "", errors.New("no such disk")
			}
			return path, nil
		},
	}
}

func run(t *testing.T, dry bool, kind wire.StepType, args ...string) steps.Result {
	t.Helper()
	return table.Checks(env(dry))[kind].Run(t.Context(), args)
}

func TestDryRunAnswersAsASoundHost(t *testing.T) {
	for name, tc := range map[string]struct {
		kind wire.StepType
		args []string
		want string
	}{
		"connectivity": {
			wire.StepTypeConnectivityCheck,
			[]string{`[{"host_id":"` + id2 + `","nics":[
				{"name":"eth0","mac":"52:54:00:00:00:0B","ip_addresses":["192.0.2.11","2001:db8::11"]},
				{"name":"eth1","mac":"52:54:00:00:00:0c","ip_addresses":["198.51.100.1"]}]},
			 {"host_id":"` + id1 + `","nics":null}]`},
			`{"remote_hosts":[{"host_id":"` + id1 + `","l2_connectivity":[],"l3_connectivity":[],"mtu_report":[]},
			 {"host_id":"` + id2 + `",
			  "l2_connectivity":[{"outgoing_ip_address":"192.0.2.10","outgoing_nic":"eth0","remote_ip_address":"192.0.2.11","remote_mac":"52:54:00:00:00:0b","successful":true},
			   {"outgoing_nic":"eth0","remote_ip_address":"2001:db8::11","remote_mac":"52:54:00:00:00:0b","successful":true}],
			  "l3_connectivity":[{"average_rtt_ms":0.3,"remote_ip_address":"192.0.2.11","successful":true},
			   {"average_rtt_ms":0.3,"remote_ip_address":"198.51.100.1","successful":true},
			   {"average_rtt_ms":0.3,"remote_ip_address":"2001:db8::11","successful":true}],
			  "mtu_report":[]}]}`,
		},
		"time sources": {
			wire.StepTypeNTPSynchronizer,
			[]string{`{"ntp_source":"ntp1.example,192.0.2.1"}`},
			`{"ntp_sources":[{"source_name":"ntp1.example","source_state":"synced"},{"source_name":"192.0.2.1","source_state":"synced"}]}`,
		},
		"names": {
			wire.StepTypeDomainResolution,
			[]string{`{"domains":[{"domain_name":"api.c.example"},{"domain_name":"validateNoWildcardDNS.c.example."}]}`},
			`{"resolutions":[{"cnames":null,"domain_name":"api.c.example","ipv4_addresses":["192.0.2.10"],"ipv6_addresses":[]},
			 {"cnames":null,"domain_name":"validateNoWildcardDNS.c.example.","ipv4_addresses":[],"ipv6_addresses":[]}]}`,
		},
		"free addresses": {
			wire.StepTypeFreeNetworkAddresses,
			[]string{`["192.0.2.0/30"]`},
			`[{"free_addresses":["192.0.2.0","192.0.2.1","192.0.2.2","192.0.2.3"],"network":"192.0.2.0/30"}]`,
		},
		"virtual addresses": {
			wire.StepTypeVerifyVIPs,
			[]string{`[{"vip":"192.0.2.5","vip_type":"api"}]`},
			`[{"verification":"succeeded","vip":"192.0.2.5","vip_type":"api"}]`,
		},
		"images": {
			wire.StepTypeContainerImageAvailability,
			[]string{`{"images":["quay.example/a/b:v1"],"timeout":960}`},
			`{"images":[{"download_rate":100,"name":"quay.example/a/b:v1","result":"success","size_bytes":400000000,"time":10}]}`,
		},
		"disk speed": {wire.StepTypeInstallationDiskSpeedCheck, []string{`{"path":"/dev/sda"}`, "480.00"}, `{"io_sync_duration":1,"path":"/dev/sda"}`},
		"API": {
			wire.StepTypeAPIVIPConnectivityCheck,
			[]string{`{"url":"https://api.c.example:22623/config/worker"}`},
			`{"ignition":"{\"ignition\":{\"version\":\"3.2.0\"}}","is_success":true,"url":"https://api.c.example:22623/config/worker"}`,
		},
		"Tang": {
			wire.StepTypeTangConnectivityCheck,
			[]string{`{"tang_servers":"[{\"url\":\"http://tang.example\",\"thumbprint\":\"T\"}]"}`},
			`{"is_success":true,"tang_server_response":[{"signatures":null,"tang_url":"http://tang.example"}]}`,
		},
		"upgrade": {wire.StepTypeUpgradeAgent, []string{`{"agent_image":"quay.example/a/agent:v2"}`}, `{"agent_image":"quay.example/a/agent:v2","result":"success"}`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			result := run(t, true, tc.kind, tc.args...)
			g.Expect(result.Exit).To(BeZero(), result.Error)
			g.Expect(result.Output).To(MatchJSON(tc.want))
			g.Expect(run(t, true, tc.kind, tc.args...).Output).To(Equal(result.Output), "unchanged results stay equal")
		})
	}
}

func TestHostileArguments(t *testing.T) {
	for name, tc := range map[string]struct {
		kind wire.StepType
		args []string
		want string
	}{
		"no argument":              {wire.StepTypeConnectivityCheck, nil, "got 0 arguments"},
		"two arguments":            {wire.StepTypeVerifyVIPs, []string{"[]", "[]"}, "got 2 arguments"},
		"connectivity: odd id":     {wire.StepTypeConnectivityCheck, []string{`[{"host_id":"x"}]`}, "not a UUID"},
		"connectivity: odd MAC":    {wire.StepTypeConnectivityCheck, []string{`[{"host_id":"` + id1 + `","nics":[{"mac":"x"}]}]`}, "not a MAC"},
		"connectivity: name":       {wire.StepTypeConnectivityCheck, []string{`[{"host_id":"` + id1 + `","nics":[{"ip_addresses":["host.example"]}]}]`}, "not an address"},
		"no time source":           {wire.StepTypeNTPSynchronizer, []string{`{}`}, "ntp_source is missing"},
		"no domains":               {wire.StepTypeDomainResolution, []string{`{}`}, "domains is missing"},
		"no host id":               {wire.StepTypeConnectivityCheck, []string{`[{}]`}, "not a UUID"},
		"no VIP type":              {wire.StepTypeVerifyVIPs, []string{`[{"vip":"192.0.2.1"}]`}, "neither api nor ingress"},
		"no path":                  {wire.StepTypeInstallationDiskSpeedCheck, []string{`{}`}, "not below /dev"},
		"no URL":                   {wire.StepTypeAPIVIPConnectivityCheck, []string{`{}`}, "not an http(s) URL"},
		"no Tang servers":          {wire.StepTypeTangConnectivityCheck, []string{`{}`}, "JSON list"},
		"no interface":             {wire.StepTypeDHCPLeaseAllocate, []string{`{"api_vip_mac":"00:1a:4a:00:00:01","ingress_vip_mac":"00:1a:4a:00:00:02"}`}, "not the name of an interface"},
		"no folder for artifacts":  {wire.StepTypeDownloadBootArtifacts, []string{`{"kernel_url":"http://a/k","initrd_url":"http://a/i","rootfs_url":"http://a/r"}`}, "not the path of a folder"},
		"no folder to reboot":      {wire.StepTypeRebootForReclaim, []string{`{}`}, "not the path of a folder"},
		"no agent image":           {wire.StepTypeUpgradeAgent, []string{`{}`}, "not an image"},
		"time source with a flag":  {wire.StepTypeNTPSynchronizer, []string{`{"ntp_source":"-oProxyCommand=x"}`}, "neither an address"},
		"time source with a shell": {wire.StepTypeNTPSynchronizer, []string{`{"ntp_source":"a;reboot"}`}, "neither an address"},
		"domain with a newline":    {wire.StepTypeDomainResolution, []string{`{"domains":[{"domain_name":"a\nb"}]}`}, "not a domain name"},
		"empty domain":             {wire.StepTypeDomainResolution, []string{`{"domains":[{"domain_name":""}]}`}, "not a domain name"},
		"large network":            {wire.StepTypeFreeNetworkAddresses, []string{`["10.0.0.0/8"]`}, "/22 or smaller"},
		"not in network form":      {wire.StepTypeFreeNetworkAddresses, []string{`["192.0.2.1/24"]`}, "/22 or smaller"},
		"IPv6 network":             {wire.StepTypeFreeNetworkAddresses, []string{`["2001:db8::/120"]`}, "/22 or smaller"},
		"no networks":              {wire.StepTypeFreeNetworkAddresses, []string{`[]`}, "want 1 to 64"},
		"VIP of no kind":           {wire.StepTypeVerifyVIPs, []string{`[{"vip":"192.0.2.1","vip_type":"other"}]`}, "neither api nor ingress"},
		"VIP that is a name":       {wire.StepTypeVerifyVIPs, []string{`[{"vip":"vip.example","vip_type":"api"}]`}, "not an address"},
		"image with a flag":        {wire.StepTypeContainerImageAvailability, []string{`{"images":["--tls-verify=false x"]}`}, "not an image"},
		"no images":                {wire.StepTypeContainerImageAvailability, []string{`{"images":[]}`}, "want 1 to 32"},
		"disk outside of /dev":     {wire.StepTypeInstallationDiskSpeedCheck, []string{`{"path":"/etc/passwd"}`, "480.00"}, "not below /dev"},
		"disk by a detour":         {wire.StepTypeInstallationDiskSpeedCheck, []string{`{"path":"/dev/../etc/passwd"}`, "480.00"}, "not below /dev"},
		"missing disk":             {wire.StepTypeInstallationDiskSpeedCheck, []string{`{"path":"/dev/sdz"}`, "480.00"}, "no such disk"},
		"endless limit":            {wire.StepTypeInstallationDiskSpeedCheck, []string{`{"path":"/dev/sda"}`, "+Inf"}, "time limit"},
		"API of another protocol":  {wire.StepTypeAPIVIPConnectivityCheck, []string{`{"url":"file:///etc/passwd"}`}, "not an http(s) URL"},
		"Tang, not JSON in JSON":   {wire.StepTypeTangConnectivityCheck, []string{`{"tang_servers":"http://x"}`}, "JSON list"},
		"agent image with a flag":  {wire.StepTypeUpgradeAgent, []string{`{"agent_image":"--rm"}`}, "not an image"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for _, dry := range []bool{true, false} {
				result := run(t, dry, tc.kind, tc.args...)
				g.Expect(result.Exit).To(Equal(int64(steps.ExitBad)))
				g.Expect(result.Error).To(ContainSubstring(tc.want))
				g.Expect(result.Output).To(BeEmpty())
			}
		})
	}
}

func TestNamesAreReallyResolved(t *testing.T) {
	g := NewWithT(t)
	result := run(t, false, wire.StepTypeDomainResolution, `{"domains":[{"domain_name":"localhost"}]}`)
	g.Expect(result.Exit).To(BeZero())
	var out wire.DomainResolutionResponse
	g.Expect(json.Unmarshal([]byte(result.Output), &out)).To(Succeed())
	g.Expect(out.Resolutions).To(HaveLen(1))
	g.Expect(append(out.Resolutions[0].Ipv4Addresses, out.Resolutions[0].Ipv6Addresses...)).NotTo(BeEmpty())
}

// FuzzSteps: no argument of a hub makes a check crash or answer out of its model.
func FuzzSteps(f *testing.F) {
	f.Add(`[{"host_id":"` + id1 + `","nics":[{"mac":"","ip_addresses":["::1"]}]}]`)
	f.Add(`{"domains":[{"domain_name":"a"}]}`)
	f.Add(`["192.0.2.0/24"]`)
	f.Add(`{"tang_servers":"[]","url":"http://a","path":"/dev/sda","images":["a/b"],"agent_image":"a/b","ntp_source":"a"}`)
	f.Fuzz(func(t *testing.T, text string) {
		for kind, runner := range table.Checks(env(true)) {
			result := runner.Run(t.Context(), []string{text})
			if result.Exit == 0 && !json.Valid([]byte(result.Output)) {
				t.Errorf("%s: output is not JSON: %q", kind, result.Output)
			}
			if result.Exit != 0 && result.Error == "" {
				t.Errorf("%s: failed without a reason", kind)
			}
		}
	})
}
