package program

// What a hub has to be told about machines of tests.
const (
	// SmallHosts asks less of hosts than a release does: --hub-host-requirements, or HW_VALIDATOR_REQUIREMENTS.
	SmallHosts = `[{"version":"default","master":{"cpu_cores":1,"ram_mib":1024,"disk_size_gb":10},` +
		`"worker":{"cpu_cores":1,"ram_mib":1024,"disk_size_gb":10},"arbiter":{"cpu_cores":1,"ram_mib":1024,"disk_size_gb":10}}]`
	// DisabledChecks leaves out what nobody gives the hosts, the time, names and images of a registry, and what is found by
	// the link of a NIC, which theirs is not: --hub-disabled-host-validations, or DISABLED_HOST_VALIDATIONS.
	DisabledChecks = "ntp-synced,release-domain-name-resolved-correctly,container-images-available,dns-wildcard-not-configured,belongs-to-majority-group"
)
