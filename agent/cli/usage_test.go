package cli

import (
	"flag"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/manynames"
)

var update = flag.Bool("update", false, "write the golden files anew")

// names are those of the protocol's table of programs: callers rely on them.
var names = []string{
	"agent", "next_step_runner", "inventory", "free_addresses", "disk_speed_check", "logs_sender", "connectivity_check",
	"apivip_check", "dhcp_lease_allocate", "ntp_synchronizer", "container_image_availability", "domain_resolution", "installer",
}

func TestTheUsageOfEveryName(t *testing.T) {
	there := []string{}
	for _, p := range Programs() {
		there = append(there, p.Name)
	}
	NewWithT(t).Expect(there).To(ContainElements(names))
	manynames.Main(Main).Usages(t, BinaryName, Programs(), *update)
}

// TestExitCodes holds the codes of the protocol's table of programs.
func TestExitCodes(t *testing.T) {
	const env = "11111111-1111-4111-8111-111111111111"
	missing := filepath.Join(t.TempDir(), "missing.crt")
	for _, tc := range []struct {
		what string
		argv string
		code int
	}{
		{"agent without a URL", "agent --infra-env-id " + env, 1},
		{"agent without an infra-env", "agent --url http://127.0.0.1:1", 1},
		{"agent with a CA file that is not there", "agent --url http://127.0.0.1:1 --infra-env-id " + env + " --cacert " + missing, 1},
		{"agent with an older image's flag for the infra-env", "agent --url http://127.0.0.1:1 --cluster-id x", 1},
		{"next_step_runner without a host", "next_step_runner --url http://127.0.0.1:1 --infra-env-id " + env, 1},
		{"inventory with a bad flag", "inventory --output-max-size=many", 2},
		{"inventory", "inventory --dry-run=false", 0},
		{"free_addresses without a list", "free_addresses", 255},
		{"free_addresses with no network", `free_addresses ["192.0.2.1/24"]`, 255},
		{"free_addresses", `free_addresses --dry-run ["192.0.2.0/30"]`, 0},
		{"disk_speed_check without a path", "disk_speed_check {}", 255},
		{"disk_speed_check of no disk", `disk_speed_check {"path":"/dev/missing"}`, 255},
		{"logs_sender without a URL", "logs_sender --cluster-id c --host-id h", 2},
		{"logs_sender without a cluster", "logs_sender --url http://127.0.0.1:1 --host-id h", 2},
		{"logs_sender without a host", "logs_sender --url http://127.0.0.1:1 --cluster-id c", 2},
		{"logs_sender with nobody there", "logs_sender --url http://127.0.0.1:1 --cluster-id c --host-id h", 255},
		{"connectivity_check without an argument", "connectivity_check", 255},
		{"connectivity_check of bad JSON", "connectivity_check {", 255},
		{"connectivity_check", "connectivity_check --dry-run []", 0},
		{"apivip_check of a bad request", `apivip_check {"url":"nowhere"}`, 255},
		{"apivip_check", `apivip_check --dry-run {"url":"https://api.example:22623/config/worker"}`, 0},
		{"dhcp_lease_allocate of bad JSON", "dhcp_lease_allocate {", 255},
		{"ntp_synchronizer without an argument", "ntp_synchronizer", 1},
		{"ntp_synchronizer with two", "ntp_synchronizer {} {}", 1},
		{"ntp_synchronizer of bad JSON", "ntp_synchronizer {", 255},
		{"ntp_synchronizer", `ntp_synchronizer --dry-run {"ntp_source":"ntp.example"}`, 0},
		{"container_image_availability without a request", "container_image_availability", 1},
		{"container_image_availability of a flag as image", `container_image_availability --request={"images":["--rm"]}`, 255},
		{"container_image_availability", `container_image_availability --dry-run --request={"images":["a/b:c"]}`, 0},
		{"domain_resolution without a request", "domain_resolution", 1},
		{"domain_resolution of bad JSON", "domain_resolution --request={", 255},
		{"domain_resolution", `domain_resolution --request={"domains":[]}`, 0},
		{"installer without a host", "installer --url http://127.0.0.1:1 --infra-env-id " + env, 1},
		{"installer of nothing", "installer --dry-run --url http://127.0.0.1:1 --infra-env-id " + env + " --cluster-id " + env + " --host-id " + env, 1},
		{"no such name", "dance", 1},
	} {
		t.Run(tc.what, func(t *testing.T) {
			code, _, errs := call(t, append([]string{BinaryName}, strings.Fields(tc.argv)...)...)
			NewWithT(t).Expect(code).To(Equal(tc.code), errs)
		})
	}
}
