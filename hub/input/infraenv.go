package input

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/ironflow/ironflow/api/kernelargs"
	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/ignition"
	"github.com/ironflow/ironflow/hub/staticnetwork"
	"github.com/ironflow/ironflow/hub/wire"
)

// InfraEnv is what people write of an infra-env.
type InfraEnv = wire.InfraEnvCreateParams

// CheckInfraEnv refuses the first setting of an infra-env that breaks a rule and did not
// before the change; nil before is of a new one.
func CheckInfraEnv(before, now *InfraEnv) error { return first(infraEnvRules, before, now) }

// environment is the Kubernetes object.
const environment = "InfraEnv "

// argumentForm is one kernel argument, as the protocol has it; quotes hold blanks together.
var argumentForm = regexp.MustCompile(`^([^ \t\n\r"]+|"[^"]*")+$`)

// exampleBundle is a certificate as JSON has it.
const exampleBundle = `-----BEGIN CERTIFICATE-----\nMIIBNDCB56ADAgECAhRNFw1bMXcGYfvdsg+bb8OMv7k46TAFBgMrZXAwDzENMAsG\nA1UEAwwEc2l0ZTAgFw0yNjExMjgyMjE2NTNaGA8yMTI2MTEwNDIyMTY1M1owDzEN\nMAsGA1UEAwwEc2l0ZTAqMAUGAytlcAMhALR1QpkpjrIdZWbXZDML6J2uOrmjd9VF\naUVJsOakVds7o1MwUTAdBgNVHQ4EFgQUOnGWFFPO7nsbimlZWObWjOlcjTAwHwYD\nVR0jBBgwFoAUOnGWFFPO7nsbimlZWObWjOlcjTAwDwYDVR0TAQH/BAUwAwEB/zAF\nBgMrZXADQQBQm/1tSjQE4NJF5zHl9KLK64+wmXV8yfmZUac0832dyDqAd7oHCCbr\ni/80HfJwD6rGu98xVyMl2NhOEuIE8IcA\n-----END CERTIFICATE-----\n`

var infraEnvRules = []Rule[InfraEnv]{
	{
		Fields: []Field{{"name", environment + "metadata.name"}}, Want: "letters, digits, signs and blanks of any script, on one line; 1 to 253 characters",
		Write: "`edge`", Good: `{"name":"Edge, row 7"}`, Bad: `{"name":"edge\nrow 7"}`, check: infraEnvName,
	},
	{
		Fields: []Field{{"pull_secret", environment + "spec.pullSecretRef"}}, Want: "as that of a cluster", Write: "`{\"auths\":{\"registry.example\":{\"auth\":\"dXNlcjpub3RoaW5n\"}}}`",
		Good: `{"pull_secret":"{\"auths\":{}}"}`, Bad: `{"pull_secret":"secret"}`, check: func(e *InfraEnv) error {
			if e.PullSecret == "" {
				return nil
			}
			return pullSecret(e.PullSecret)
		},
	},
	{
		Fields: []Field{{"cpu_architecture", environment + "spec.cpuArchitecture"}}, Want: "one of the protocol's", Write: "`x86_64`, `aarch64`, `arm64`, `ppc64le` or `s390x`",
		Good: `{"cpu_architecture":"arm64"}`, Bad: `{"cpu_architecture":"riscy"}`,
		check: func(e *InfraEnv) error { return oneOf("cpu_architecture", e.CPUArchitecture, architectures[:5]) },
	},
	{
		Fields: []Field{{"openshift_version", environment + "spec.osImageVersion"}}, Want: "numbers with dots between them: a release's, or a base medium's own", Write: "`4.20` or `9.6.20251015-1`",
		Good: `{"openshift_version":"9.6.20251015-1"}`, Bad: `{"openshift_version":"4.latest"}`, check: func(e *InfraEnv) error {
			if v := e.OpenshiftVersion; v != "" && !mediumForm.MatchString(v) {
				return apierror.Value("openshift_version", v, "want a release's number, such as 4.20, or that of a base medium")
			}
			return nil
		},
	},
	{
		Fields: []Field{{"ssh_authorized_key", environment + "spec.sshAuthorizedKey"}}, Want: "public keys that decode, one a line", Write: "the line of `~/.ssh/id_ed25519.pub`",
		Good: `{"ssh_authorized_key":"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me"}`,
		Bad:  `{"ssh_authorized_key":"me"}`, check: func(e *InfraEnv) error { return sshKeys("ssh_authorized_key", wire.Value(e.SSHAuthorizedKey)) },
	},
	{
		Fields: []Field{
			{"proxy.http_proxy", environment + "spec.proxy.httpProxy"}, {"proxy.https_proxy", environment + "spec.proxy.httpsProxy"}, {"proxy.no_proxy", environment + "spec.proxy.noProxy"},
		},
		Want: "as those of a cluster", Write: "`http://proxy.example:3128`; `.example.com,192.0.2.0/24`", Good: `{"proxy":{"http_proxy":"http://p.example:3128","no_proxy":"*"}}`,
		Bad: `{"proxy":{"http_proxy":"p.example:3128"}}`, check: func(e *InfraEnv) error {
			if e.Proxy == nil {
				return nil
			}
			return proxies("proxy.", *e.Proxy)
		},
	},
	{
		Fields: []Field{{"additional_ntp_sources", environment + "spec.additionalNTPSources"}, {"ntp_sources", environment + "spec.ntpSources"}},
		Want:   "names or addresses with a comma between them, without blanks", Write: "`clock.example,192.0.2.1`", Good: `{"additional_ntp_sources":"clock.example"}`,
		Bad: `{"additional_ntp_sources":"clock.example;192.0.2.1"}`, check: func(e *InfraEnv) error {
			if err := timeServers("additional_ntp_sources", wire.Value(e.AdditionalNTPSources)); err != nil {
				return err
			}
			return timeServers("ntp_sources", wire.Value(e.NTPSources))
		},
	},
	{
		Fields: []Field{{"additional_trust_bundle", environment + "spec.additionalTrustBundle"}}, Want: "certificates in PEM, at most 65535 bytes",
		Write: "blocks from `-----BEGIN CERTIFICATE-----` on", Good: `{"additional_trust_bundle":"` + exampleBundle + `"}`, Bad: `{"additional_trust_bundle":"-----BEGIN PRIVATE KEY-----"}`,
		check: func(e *InfraEnv) error { return trustBundle("additional_trust_bundle", e.AdditionalTrustBundle) },
	},
	{
		Fields: []Field{{"kernel_arguments", environment + "spec.kernelArguments"}},
		Want:   "the operation append, replace (KEY=OLD=NEW) or delete, with one argument, in quotes where it has blanks; none that steers CoreOS' own installer",
		Write:  "`{\"operation\":\"append\",\"value\":\"console=ttyS0\"}`", Good: `{"kernel_arguments":[{"operation":"append","value":"a=\"b c\""}]}`,
		Bad: `{"kernel_arguments":[{"operation":"append","value":"a b"}]}`, check: kernelArguments,
	},
	{
		Fields: []Field{{"ignition_config_override", environment + "spec.ignitionConfigOverride"}}, Want: "Ignition of version 3", Write: "`{\"ignition\":{\"version\":\"3.2.0\"}}`",
		Good: `{"ignition_config_override":"{\"ignition\":{\"version\":\"3.1.0\"}}"}`, Bad: `{"ignition_config_override":"{\"ignition\":{\"version\":\"2.2.0\"}}"}`,
		check: func(e *InfraEnv) error { return ignitionOf("ignition_config_override", e.IgnitionConfigOverride) },
	},
	{
		Fields: []Field{{"static_network_config", "NMStateConfig spec"}},
		Want:   "for each host a document of nmstate, and a map that tells one card of it at least; each card of one host only; a card of the document that is not found by its name or address is in the map",
		Write:  "the card's MAC address and its name in the document",
		Good:   `{"static_network_config":[{"network_yaml":"interfaces: [{name: nic1, type: ethernet, state: up, ipv4: {enabled: true, dhcp: true}}]","mac_interface_map":[{"mac_address":"52:54:00:00:00:01","logical_nic_name":"nic1"}]}]}`,
		Bad:    `{"static_network_config":[{"network_yaml":"interfaces: [{name: nic2, type: ethernet, state: up, ipv4: {enabled: true, dhcp: true}}]","mac_interface_map":[{"mac_address":"52:54:00:00:00:01","logical_nic_name":"nic1"}]}]}`,
		check: func(e *InfraEnv) error {
			if err := staticnetwork.Check(e.StaticNetworkConfig); err != nil {
				return &apierror.Error{Code: http.StatusBadRequest, Reason: err.Error(), Field: "static_network_config"}
			}
			return nil
		},
	},
	{
		Fields: []Field{{"network_discovery_delay_seconds", environment + "spec.networkDiscoveryDelaySeconds"}}, Want: "a number of seconds from 0 on", Write: "`30`",
		Good: `{"network_discovery_delay_seconds":30}`, Bad: `{"network_discovery_delay_seconds":-1}`, check: func(e *InfraEnv) error {
			if s := e.NetworkDiscoveryDelaySeconds; s != nil && *s < 0 {
				return apierror.Field("network_discovery_delay_seconds", "%d: want a number from 0 on", *s)
			}
			return nil
		},
	},
}

// kernelArguments refuses what no image could be built with, and what none may have.
func kernelArguments(e *InfraEnv) error {
	for i, a := range e.KernelArguments {
		member := fmt.Sprintf("kernel_arguments[%d].", i)
		switch a.Operation {
		case wire.KernelArgumentOperationAppend, wire.KernelArgumentOperationDelete:
		case wire.KernelArgumentOperationReplace:
			if strings.Count(a.Value, "=") < 2 {
				return apierror.Value(member+"value", a.Value, "want KEY=OLD=NEW for the operation replace")
			}
		default:
			return apierror.Value(member+"operation", a.Operation, "want append, replace or delete")
		}
		if a.Value == "" {
			return apierror.Missing(member+"value", "name the argument")
		}
		if !argumentForm.MatchString(a.Value) {
			return apierror.Value(member+"value", a.Value, `want one argument, in quotes where it has blanks: a="b c"`)
		}
		if err := kernelargs.Refused(a.Operation, a.Value); err != nil {
			return apierror.Field(member+"value", "%v", err)
		}
	}
	return nil
}

// ignitionOf refuses what no version of Ignition that is installed reads.
func ignitionOf(member, config string) error {
	if err := ignition.Valid(config); err != nil {
		return apierror.Field(member, `%v: want {"ignition":{"version":"3.2.0"}}, or another version from 3.0.0 on, in JSON`, err)
	}
	return nil
}
