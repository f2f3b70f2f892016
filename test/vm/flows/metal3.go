package flows

import (
	"cmp"
	"strconv"
	"time"

	"github.com/ironflow/ironflow/test/lab"
)

// metal3 are the settings of Ironic in Metal3's image that matter for a machine:
// https://github.com/metal3-io/ironic-image, ironic-config/ironic.conf.j2. A ramdisk
// stays on between inspection, cleaning and deployment (fast track), cleaning erases
// what disks hold of partitions and file systems, the power is compared every minute,
// and failures are in no history. An inspection may take as long as inspection says,
// or Ironic's own half an hour.
func metal3(inspection time.Duration) *lab.IronicOptions {
	return &lab.IronicOptions{Overrides: map[string]map[string]string{
		"agent": {"deploy_logs_collect": "always", "max_command_attempts": "30"},
		"conductor": {
			"automated_clean": "true", "node_history": "false", "power_state_change_timeout": "120",
			"sync_power_state_interval": "60", "power_failure_recovery_interval": "300",
			"deploy_callback_timeout": "4800",
			"inspect_wait_timeout":    strconv.Itoa(int(cmp.Or(inspection, 30*time.Minute).Seconds())),
		},
		"deploy":    {"fast_track": "true", "erase_devices_metadata_priority": "10", "erase_devices_priority": "0"},
		"inspector": {"power_off": "false", "add_ports": "all", "keep_ports": "present", "hooks": "$default_hooks,parse-lldp"},
	}}
}
