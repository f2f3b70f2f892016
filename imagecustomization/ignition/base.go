package ignition

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/coreos/ignition/v2/config/v3_2/types"

	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
)

// Files of the live system that its programs are told of.
const (
	// RegistriesPath is [HostConfig.Registries], CABundlePath is [HostConfig.CABundle].
	RegistriesPath = "/etc/containers/registries.conf"
	CABundlePath   = "/etc/pki/ca-trust/source/anchors/ca.crt"

	authFile = "/etc/authfile.json"
)

// base is the first layer: the live system's settings and the host agent.
func (c HostConfig) base() *layer {
	l := &layer{}
	c.network(l)
	c.storage(l)
	if c.Registries != "" {
		l.file(RegistriesPath, 0o644, c.Registries)
	}
	if c.CABundle != "" {
		l.file(CABundlePath, 0o644, c.CABundle)
	}
	if c.PullSecret != "" {
		l.file(authFile, 0o600, string(c.PullSecret))
	}
	if len(c.NTPServers) > 0 {
		var servers strings.Builder
		for _, s := range c.NTPServers {
			servers.WriteString("server " + s + " iburst\n")
		}
		l.appendTo("/etc/chrony.conf", "\n"+servers.String())
	}
	if len(c.SSHKeys) > 0 {
		user := types.PasswdUser{Name: "core"}
		for _, key := range c.SSHKeys {
			user.SSHAuthorizedKeys = append(user.SSHAuthorizedKeys, types.SSHAuthorizedKey(strings.TrimSpace(key)))
		}
		l.users = append(l.users, user)
	}
	if c.Agent != nil {
		c.agent(l)
	}
	for _, f := range c.Files {
		l.file(f.Path, f.Mode, string(f.Data))
	}
	for _, u := range c.Units {
		l.unit(u.Name, u.Enabled, u.Content)
	}
	return l
}

// network keeps the host's identity stable between live and installed system.
func (c HostConfig) network(l *layer) {
	l.file("/etc/NetworkManager/conf.d/clientid.conf", 0o644, lines(
		"# The same DHCPv6 identity in the live and in the installed system.",
		"[connection]",
		"ipv6.dhcp-duid=ll",
		"ipv6.dhcp-iaid=mac",
	))
	l.file("/etc/NetworkManager/dispatcher.d/01-hostname", 0o744, lines(
		"#!/bin/bash",
		"# Takes the host name that DHCPv6 offers while the host has none of its own.",
		`if [[ "$DHCP6_FQDN_FQDN" == *.* && "$(hostname)" =~ ^localhost ]]; then`,
		`    hostnamectl set-hostname --static --transient "$DHCP6_FQDN_FQDN"`,
		"fi",
	))
	if c.Hostname != "" {
		l.file("/etc/hostname", 0o644, c.Hostname+"\n")
	}
	c.nmstate(l)
	for _, name := range slices.Sorted(maps.Keys(c.Keyfiles)) {
		file := strings.TrimSuffix(name, ".nmconnection") + ".nmconnection"
		l.file("/etc/NetworkManager/system-connections/"+file, 0o600, string(c.Keyfiles[name]))
	}
}

// agent adds the host agent: its unit, its secrets and the step's deadlines.
func (c HostConfig) agent(l *layer) {
	a := c.Agent
	proxy := a.Proxy
	if proxy.Empty() {
		proxy = c.Proxy
	}
	values := proxy.variables()
	values["PULL_SECRET_TOKEN"] = string(a.Token)
	l.file(hostfile.AgentEnv, 0o600, environment(values))
	if a.CA != "" {
		l.file(hostfile.HubCA, 0o644, a.CA)
	}
	if a.Deadlines != (hostfile.StepDeadlines{}) {
		raw, err := json.Marshal(a.Deadlines)
		if err != nil {
			panic(err) //nolint:forbidigo // a struct of integers
		}
		l.file(hostfile.Deadlines, 0o644, string(raw)+"\n")
	}
	if a.Image != "" {
		l.file(pullAgentScript, 0o755, c.pullScript(a.ImageInsecure))
	}
	// With IPA in the image the deploy step starts the agent; without, it starts itself.
	l.unit(hostfile.AgentUnit, c.IPA == nil, a.unit(c.IPA != nil))
}

const (
	// startTime bounds the start of an agent that the stock plugin waits for, and of
	// a foreign one with the pull of its image.
	startTime = "600"
	// stopTime is less than the 30 s in which a cancelled agent must be gone. Ours
	// needs 10 s.
	stopTime = "25"
)

// unit renders agent.service, for an image with or without IPA.
func (a *Agent) unit(withIPA bool) string {
	unit := []string{
		"[Unit]",
		"Description=Ironflow host agent",
		"Wants=network-online.target",
		"After=network-online.target",
		"# The deploy step counts restarts itself.",
		"StartLimitIntervalSec=0",
	}
	if a.Gate {
		unit = append(unit,
			"# Only a running deploy step opens the gate.",
			"ConditionPathExists="+hostfile.Gate)
	}
	unit = append(unit, "", "[Service]", "TimeoutStopSec="+stopTime, "RestartSec=3", "EnvironmentFile="+hostfile.AgentEnv)
	if a.Image != "" {
		unit = append(unit, a.foreignService()...)
	} else {
		unit = append(unit, a.ownService(withIPA)...)
	}
	return lines(append(unit, "", "[Install]", "WantedBy=multi-user.target")...)
}

// ownService runs the agent that rides in the image. Its exit codes decide
// between "start again" and "failed for good", so that systemd, the deploy step
// and Ironic agree. Only our deploy step reads the reason file; for the stock
// plugin, which takes a unit that is deactivating for one that is done, there must
// be nothing between the agent's end and the unit's.
//
// The start ends with the registration. How long the hub may be away is the
// deploy step's deadline; where nobody waits, the agent goes on for ever.
func (a *Agent) ownService(withIPA bool) []string {
	start := "infinity"
	if withIPA && !a.Gate {
		start = startTime
	}
	service := []string{
		"TimeoutStartSec=" + start,
		"Type=notify",
		"NotifyAccess=all",
		"Restart=on-failure",
		"RestartPreventExitStatus=" + strconv.Itoa(exitcode.AgentFailed) + " " + strconv.Itoa(exitcode.AgentCancelled),
		"ExecStart=" + hostfile.AgentBinary + " agent " + a.arguments(),
	}
	if a.Gate {
		service = append(service, "ExecStopPost="+hostfile.AgentBinary+" write-reason")
	}
	return service
}

// Where the agent of a container image is, and where it runs from.
const (
	imageAgent      = "/usr/bin/agent"
	foreignAgent    = "/usr/local/bin/agent"
	pullAgentScript = "/usr/local/bin/ironflow-pull-agent"
)

// foreignService runs the agent of a container image, which tells neither systemd
// nor the deploy step how it ended.
func (a *Agent) foreignService() []string {
	image := escapeUnit(a.Image)
	return []string{
		"TimeoutStartSec=" + startTime,
		"Type=simple",
		"Restart=always",
		"ExecStartPre=" + pullAgentScript + " " + image,
		"ExecStartPre=/usr/bin/podman run --rm --privileged " + bind("/usr/local/bin", "/hostbin") + " --entrypoint=/usr/bin/cp " + image + " " + imageAgent + " /hostbin/",
		"ExecStart=" + foreignAgent + " " + a.arguments(),
	}
}

// arguments are those of either agent.
func (a *Agent) arguments() string {
	words := []string{
		"--url", escapeUnit(a.URL),
		"--infra-env-id", escapeUnit(a.InfraEnvID),
		"--agent-version", escapeUnit(a.Version),
		"--insecure=false",
	}
	if a.CA != "" {
		words = append(words, "--cacert", hostfile.HubCA)
	}
	return strings.Join(words, " ")
}
