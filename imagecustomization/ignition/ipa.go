package ignition

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/ironflow/ironflow/api/hostfile"
)

const (
	ipaEnv = hostfile.ConfigDir + "/ipa.env"

	ironicPort     = "6385"
	inspectorPort  = "5050"
	inspectionPath = "/v1/continue"
)

// ipa is the second layer: ironic-python-agent's settings and unit.
func (c HostConfig) ipa() *layer {
	l := &layer{}
	l.file(hostfile.IPAConfig, 0o644, c.IPA.settings())
	if c.IPA.CA != "" {
		l.file(hostfile.IronicCA, 0o644, c.IPA.CA)
	}
	values := c.Proxy.variables()
	values["IPA_COREOS_IP_OPTIONS"] = c.IPA.IPOptions
	values["IPA_COREOS_COPY_NETWORK"] = fmt.Sprint(c.IPA.CopyNetwork)
	values["IPA_DEFAULT_HOSTNAME"] = c.IPA.DefaultHostname
	l.file(ipaEnv, 0o600, environment(values))
	l.file("/etc/issue.d/ipa.issue", 0o644, lines(
		`This machine (\n) is being provisioned by Ironic; do not log in unless something is wrong.`, ""))
	l.file("/etc/motd.d/ipa.motd", 0o644, lines(
		"This is a live system in memory. Useful commands:",
		"  journalctl -u "+hostfile.IPAUnit+" -u "+hostfile.AgentUnit,
		"  systemctl status "+hostfile.IPAUnit+" "+hostfile.AgentUnit))
	if len(c.IPA.Command) > 0 {
		l.unit(hostfile.IPAUnit, true, c.IPA.programUnit())
		return l
	}
	l.file(pullScript, 0o755, c.pullScript(c.IPA.ImageInsecure))
	l.unit(hostfile.IPAUnit, true, c.IPA.containerUnit())
	return l
}

// settings renders /etc/ironic-python-agent.conf.
func (p *IPA) settings() string {
	insecure := "False"
	if p.Insecure {
		insecure = "True"
	}
	out := []string{
		"[DEFAULT]",
		"api_url = " + strings.Join(withDefaults(p.APIURLs, ironicPort, ""), ","),
	}
	if len(p.InspectionURLs) > 0 {
		out = append(out, "inspection_callback_url = "+
			strings.Join(withDefaults(p.InspectionURLs, inspectorPort, inspectionPath), ","))
	}
	// Without a callback URL, IPA inspects only if collectors are named; then it
	// posts to Ironic itself. Images of IPA have the same value built in.
	out = append(out, "insecure = "+insecure, "inspection_collectors = default,logs")
	if p.CA != "" {
		out = append(out, "cafile = "+hostfile.IronicCA)
	}
	return lines(append(out, strings.TrimSpace("enable_vlan_interfaces = "+p.VLANInterfaces))...)
}

// withDefaults adds port and path where a URL has none. The URLs were validated.
func withDefaults(urls []string, port, path string) []string {
	var out []string
	for _, raw := range urls {
		u, err := url.Parse(strings.TrimSpace(raw))
		if err != nil {
			continue
		}
		if u.Port() == "" {
			u.Host = net.JoinHostPort(u.Hostname(), port)
		}
		u.Path = strings.TrimSuffix(u.Path, "/")
		if path != "" && !strings.HasSuffix(u.Path, path) {
			u.Path += path
		}
		out = append(out, u.String())
	}
	return out
}

// ipaUnit is what both ways to start IPA have in common; the unit's name is a
// name that other programs rely on.
func ipaUnit(service ...string) string {
	head := []string{
		"[Unit]",
		"Description=Ironic Python Agent",
		"Wants=network-online.target",
		"After=network-online.target",
		"StartLimitIntervalSec=0",
		"",
		"[Service]",
		"Restart=on-failure",
		"RestartSec=5",
		"TimeoutStartSec=0",
		"EnvironmentFile=" + ipaEnv,
	}
	return lines(append(append(head, service...), "", "[Install]", "WantedBy=multi-user.target")...)
}

// containerUnit runs IPA in a container that systemd follows through conmon.
func (p *IPA) containerUnit() string {
	const cid = "--cidfile=%t/%N.cid"
	run := []string{
		"ExecStart=/usr/bin/podman run --detach --rm --replace --name=ironic-agent",
		cid, "--cgroups=no-conmon --sdnotify=conmon --log-driver=passthrough",
		"--privileged --network=host --ipc=host --uts=host",
		bind(hostfile.IPAConfig, "/etc/ironic-python-agent/ignition.conf"),
		bind(hostfile.ConfigDir, hostfile.ConfigDir) + ",ro",
		bind("/dev", "/dev"), bind("/sys", "/sys"), bind("/run/udev", "/run/udev"),
		bind("/run/dbus/system_bus_socket", "/run/dbus/system_bus_socket"),
		bind("/", "/mnt/coreos"),
		"--env=IPA_COREOS_IP_OPTIONS --env=IPA_COREOS_COPY_NETWORK --env=IPA_DEFAULT_HOSTNAME",
		"--env=IRONFLOW_PROGRESS --env=IRONFLOW_SKIP_NIC_DRIVERS",
		"--env=HTTP_PROXY --env=HTTPS_PROXY --env=NO_PROXY",
		escapeUnit(p.Image),
	}
	return ipaUnit(
		"Type=notify",
		"NotifyAccess=all",
		"ExecStartPre="+pullScript+" "+escapeUnit(p.Image),
		"ExecStartPre=/usr/bin/rm -f %t/%N.cid",
		strings.Join(run, " "),
		"ExecStop=/usr/bin/podman stop --ignore "+cid,
		"ExecStopPost=/usr/bin/podman rm --force --ignore "+cid,
	)
}

// programUnit runs IPA as a program of the live system.
func (p *IPA) programUnit() string {
	var command []string
	for _, word := range p.Command {
		command = append(command, escapeUnit(word))
	}
	// Only IPA itself is told to stop: a deploy step that runs would take that for
	// a cancellation, and end the agent.
	return ipaUnit("Type=simple", "KillMode=mixed", "ExecStart="+strings.Join(command, " "))
}

func bind(src, dst string) string { return "--mount=type=bind,src=" + src + ",dst=" + dst }
