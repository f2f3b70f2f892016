package input

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// Host is what people write of a host; members that are not given are nil.
type Host = wire.HostUpdateParams

// CheckHost refuses the first change of a host that breaks a rule.
func CheckHost(p *Host) error { return first(hostRules, nil, p) }

// CheckArguments refuses arguments that the installer does not take of users.
func CheckArguments(args []string) error {
	return first(argumentRules, nil, &wire.InstallerArgsParams{Args: args})
}

// CheckIgnition refuses what is merged into no host's Ignition; empty removes it.
func CheckIgnition(config string) error {
	return first(ignitionRules, nil, &wire.HostIgnitionParams{Config: config})
}

// agent is the Kubernetes object.
const agent = "Agent "

var roles = []string{
	wire.HostUpdateParamsHostRoleAutoAssign, wire.HostUpdateParamsHostRoleMaster, wire.HostUpdateParamsHostRoleArbiter, wire.HostUpdateParamsHostRoleWorker,
}

var hostRules = []Rule[Host]{
	{
		Fields: []Field{{"host_name", agent + "spec.hostname"}},
		Want:   "lower-case letters, digits, dots and dashes, 63 at most, no label with a dash at its ends, and no name that every host has, such as localhost",
		Write:  "`master-0` or `master-0.example.com`", Good: `{"host_name":"master-0.example.com"}`, Bad: `{"host_name":"master-"}`, check: hostName,
	},
	{
		Fields: []Field{{"host_role", agent + "spec.role"}}, Want: "one that can be asked for", Write: "`auto-assign`, `master`, `arbiter` or `worker`",
		Good: `{"host_role":"worker"}`, Bad: `{"host_role":"bootstrap"}`, check: func(p *Host) error {
			if p.HostRole != nil && !slices.Contains(roles, *p.HostRole) {
				return apierror.Value("host_role", *p.HostRole, "want auto-assign, master, arbiter or worker")
			}
			return nil
		},
	},
	{
		Fields: []Field{{"machine_config_pool_name", agent + "spec.machineConfigPool"}}, Want: "a name of RFC 1123", Write: "`worker`",
		Good: `{"machine_config_pool_name":"infra"}`, Bad: `{"machine_config_pool_name":"Infra Nodes"}`, check: pool,
	},
	{
		Fields: []Field{{"node_labels", agent + "spec.nodeLabels"}}, Want: "keys and values that Kubernetes takes as labels", Write: "`{\"key\":\"example.com/rack\",\"value\":\"r1\"}`",
		Good: `{"node_labels":[{"key":"node-role.kubernetes.io/infra","value":""}]}`, Bad: `{"node_labels":[{"key":"rack number","value":"1"}]}`, check: labels,
	},
	{
		Fields: []Field{{"disks_selected_config", agent + "spec.installation_disk_id"}}, Want: "disks by their id, at most one of them to install to",
		Write: "the `id` of a disk of the inventory",
		Good:  `{"disks_selected_config":[{"id":"/dev/disk/by-id/wwn-0x5000c500a1b2c3d4","role":"install"}]}`, Bad: `{"disks_selected_config":[{"id":"","role":"install"}]}`, check: disks,
	},
	{
		Fields: []Field{{"disks_skip_formatting", ""}}, Want: "disks by their id", Write: "the `id` of a disk of the inventory",
		Good: `{"disks_skip_formatting":[{"disk_id":"/dev/sdb","skip_formatting":true}]}`, Bad: `{"disks_skip_formatting":[{"disk_id":"/dev/sda,/dev/sdb","skip_formatting":true}]}`, check: kept,
	},
	{
		Fields: []Field{{"ignition_endpoint_token", agent + "spec.ignitionEndpointTokenReference"}, {"ignition_endpoint_http_headers", agent + "spec.ignitionEndpointHTTPHeaders"}},
		Want:   "one line; headers of HTTP", Write: "`{\"key\":\"X-Site\",\"value\":\"edge\"}`", Good: `{"ignition_endpoint_token":"t"}`, Bad: `{"ignition_endpoint_http_headers":[{"key":"X Site","value":"edge"}]}`, check: headers,
	},
}

var argumentRules = []Rule[wire.InstallerArgsParams]{{
	Fields: []Field{{"args", agent + "spec.installerArgs"}}, Want: "flags of coreos-installer that users may give, each with its value where it has one; values of letters, digits and the signs of paths, arguments and globs",
	Write: "`[\"--append-karg\",\"console=ttyS0\"]`", Good: `{"args":["--append-karg","ip=[fd2e::1]::[fd2e::ff]:64:h:ens3:none","--save-partlabel","data*"]}`, Bad: `{"args":["--append-karg","a&&b"]}`, check: arguments,
}}

var ignitionRules = []Rule[wire.HostIgnitionParams]{{
	Fields: []Field{{"config", agent + "spec.ignitionConfigOverrides"}}, Want: "Ignition of version 3 in JSON; empty removes it", Write: "`{\"ignition\":{\"version\":\"3.2.0\"}}`",
	Good: `{"config":"{\"ignition\":{\"version\":\"3.1.0\"}}"}`, Bad: `{"config":"{\"ignition\":{\"version\":\"2.2.0\"}}"}`, check: func(p *wire.HostIgnitionParams) error {
		if p.Config != "" && !json.Valid([]byte(p.Config)) {
			return apierror.Field("config", "want JSON")
		}
		return ignitionOf("config", p.Config)
	},
}}

func hostName(p *Host) error {
	if p.HostName != nil && !validations.ValidHostname(*p.HostName) {
		return apierror.Value("host_name", *p.HostName, "want lower-case letters, digits, dots and dashes, 63 at most, and no name that every host has")
	}
	return nil
}

// subdomain is a name of an object of Kubernetes, labelName the part of a label's key
// behind its prefix, and a label's value.
var (
	subdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	labelName = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)
)

func pool(p *Host) error {
	if name := wire.Value(p.MachineConfigPoolName); name != "" && (!subdomain.MatchString(name) || len(name) > maxName) {
		return apierror.Value("machine_config_pool_name", name, "want lower-case letters, digits, dots and dashes, such as worker")
	}
	return nil
}

// labels refuses what no node could be labelled with: the kubelet would not start.
func labels(p *Host) error {
	for i, l := range p.NodeLabels {
		prefix, name, found := strings.Cut(l.Key, "/")
		if !found {
			prefix, name = "", l.Key
		}
		if !labelName.MatchString(name) || len(name) > maxLabel || found && (!subdomain.MatchString(prefix) || len(prefix) > maxName) {
			return apierror.Value(fmt.Sprintf("node_labels[%d].key", i), l.Key, "want a label's key, such as rack or example.com/rack")
		}
		if l.Value != "" && (!labelName.MatchString(l.Value) || len(l.Value) > maxLabel) {
			return apierror.Value(fmt.Sprintf("node_labels[%d].value", i), l.Value, "want at most %d letters, digits, dots, dashes and underscores, a letter or digit at both ends", maxLabel)
		}
	}
	return nil
}

func disks(p *Host) error {
	chosen := ""
	for i, d := range p.DisksSelectedConfig {
		member := fmt.Sprintf("disks_selected_config[%d].id", i)
		switch {
		case d.ID == "":
			return apierror.Missing(member, "want the id of a disk of the inventory")
		case d.Role != wire.DiskRoleInstall:
		case chosen != "" && chosen != d.ID:
			return apierror.Value(member, d.ID, "%s is to be installed to already: want one disk", chosen)
		default:
			chosen = d.ID
		}
	}
	return nil
}

// kept refuses ids that a list with commas cannot hold.
func kept(p *Host) error {
	for i, d := range p.DisksSkipFormatting {
		if d.DiskID == "" || strings.Contains(d.DiskID, ",") {
			return apierror.Value(fmt.Sprintf("disks_skip_formatting[%d].disk_id", i), d.DiskID, "want the id of one disk of the inventory")
		}
	}
	return nil
}

// headers refuses what opens no Ignition; tokens and values are secrets.
func headers(p *Host) error {
	if strings.ContainsAny(wire.Value(p.IgnitionEndpointToken), "\r\n") {
		return apierror.Field("ignition_endpoint_token", "want one line")
	}
	for i, h := range p.IgnitionEndpointHTTPHeaders {
		if !isToken(h.Key) || strings.ContainsAny(h.Value, "\r\n") {
			return apierror.Value(fmt.Sprintf("ignition_endpoint_http_headers[%d]", i), h.Key, "is no header of HTTP: want a name without blanks, and a value of one line")
		}
	}
	return nil
}

// isToken tells that a header can be named so.
func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 127 || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// flags are the installer arguments that a user may give; those of alone have no value.
var (
	flags = []string{
		"--append-karg", "--delete-karg", "-n", "--copy-network", "--network-dir", "--save-partlabel", "--save-partindex", "--image-url", "--image-file",
	}
	alone = []string{"-n", "--copy-network"}
)

var valueForm = regexp.MustCompile(`^[A-Za-z0-9@!#$%*()_+-=//.,";':{}\[\]]+$`)

// arguments refuses what the installer would refuse on the host, hours later: another flag, a flag without its value and a value without a flag.
func arguments(p *wire.InstallerArgsParams) error {
	open := ""
	for i, a := range p.Args {
		member := fmt.Sprintf("args[%d]", i)
		flag := strings.HasPrefix(a, "-")
		switch {
		case flag && !slices.Contains(flags, a):
			return apierror.Value(member, a, "is not allowed: want one of %s", strings.Join(flags, ", "))
		case flag && open != "":
			return apierror.Value(member, a, "want the value of %s before it", open)
		case flag:
			open = a
			if slices.Contains(alone, a) {
				open = ""
			}
		case !valueForm.MatchString(a):
			return apierror.Value(member, a, "holds characters that are not allowed: want letters, digits and the signs of paths, arguments and globs")
		case open == "":
			return apierror.Value(member, a, "is the value of no flag: want one before it, such as --append-karg")
		default:
			open = ""
		}
	}
	if open != "" {
		return apierror.Value(fmt.Sprintf("args[%d]", len(p.Args)-1), open, "want its value after it")
	}
	return nil
}
