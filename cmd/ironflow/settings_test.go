package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/pflag"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/controllers/parts"
	"github.com/ironflow/ironflow/test/pages"
)

var update = flag.Bool("update", false, "rewrite the documentation tables")

// TestDocumentationHasEverySetting by topic, with its names everywhere and the parts that have it.
func TestDocumentationHasEverySetting(t *testing.T) {
	var s v1alpha1.IronflowConfiguration
	var want strings.Builder
	for _, group := range topics.All(&s) {
		fmt.Fprintf(&want, "\n### %s\n\n%s", group.Title, markdown(&s, group.Rows))
	}
	want.WriteString("\n")
	generated("configuration.md").Hold(t, "settings", want.String())
}

// generated are the tables of a page that come of the program.
func generated(page string) pages.Generated {
	return pages.Generated{Root: "../..", Page: page, Package: "./cmd/ironflow", Update: *update}
}

// markdown is a table of settings as the documentation shows it.
func markdown(s *v1alpha1.IronflowConfiguration, rows []settings.Row) string {
	var text strings.Builder
	text.WriteString("| flag | environment | default | file | parts | meaning |\n|---|---|---|---|---|---|\n")
	names := topics.Schema(s).Names()
	quoted := func(name string) string {
		if name == "" {
			return ""
		}
		return "`" + name + "`"
	}
	for _, r := range rows {
		fmt.Fprintf(&text, "| `--%s` | `%s` | %s | %s | %s | %s |\n", r.Flag, r.Env, quoted(r.Default), quoted(names[r.Flag]), strings.Join(partsWith(r.Flag), ", "), r.Usage)
	}
	return text.String()
}

// partsWith are the parts that can run apart and have that setting; "all" if each does.
func partsWith(flag string) (with []string) {
	tables := map[string][]settings.Group{}
	for _, c := range processes[1:] {
		tables[c.Use] = c.Flags(new(parts.Program))
	}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		if len(settings.Only(tables[name], flag)) > 0 {
			with = append(with, name)
		}
	}
	if len(with) == len(tables) {
		return []string{"all"}
	}
	return with
}

// TestEverySettingIsAField of the configuration, but for secrets, and every field is a setting.
func TestEverySettingIsAField(t *testing.T) {
	g := NewWithT(t)
	var s v1alpha1.IronflowConfiguration
	names := topics.Schema(&s).Names()
	var without []string
	for _, row := range settings.Rows(topics.All(&s)) {
		if names[row.Flag] == "" {
			without = append(without, row.Flag)
		}
	}
	g.Expect(without).To(ConsistOf("ironic-agent-pull-secret", "hub-auth-private-key"))
	var fields []string
	members := reflect.TypeOf(s)
	for i := range members.NumField() {
		topic, _, _ := strings.Cut(members.Field(i).Tag.Get("json"), ",")
		for k := range members.Field(i).Type.NumField() {
			if field, _, _ := strings.Cut(members.Field(i).Type.Field(k).Tag.Get("json"), ","); topic != "" && field != "-" {
				fields = append(fields, topic+"."+field)
			}
		}
	}
	g.Expect(slices.Collect(maps.Values(names))).To(ConsistOf(fields))
}

// TestAFileSetsTheProgram, and what is wrong in it is said before anything starts.
func TestAFileSetsTheProgram(t *testing.T) {
	for name, tc := range map[string]struct{ fields, want string }{
		"a field that there is not": {"hub: {publishUrl: x}", "ironflow.yaml:3: there is no hub.publishUrl: did you mean hub.publishURL?"},
		"a secret":                  {"liveSystem: {ironic-agent-pull-secret: e30=}", "set IRONIC_AGENT_PULL_SECRET, or name the file that has it"},
		"what cannot work":          {"hub: {publishURL: hub.example}\nironic: {endpoint: https://ironic.example}\nimages: {baseImage: x}", `--hub-publish-url "hub.example" is not a URL`},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "ironflow.yaml")
			NewWithT(t).Expect(os.WriteFile(file, []byte("apiVersion: "+v1alpha1.APIVersion+"\nkind: "+v1alpha1.Kind+"\n"+tc.fields+"\n"), 0o600)).To(Succeed())
			c := newCommand()
			c.SetArgs([]string{"run", "--config", file})
			NewWithT(t).Expect(c.ExecuteContext(t.Context())).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

func TestAFlagWinsOverTheEnvironment(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("IRONIC_ENDPOINT", "https://environment.example:6385")
	t.Setenv("IRONIC_CLIENT_TIMEOUT", "7")
	for _, tc := range []struct {
		args []string
		want string
	}{
		{nil, "https://environment.example:6385"},
		{[]string{"--ironic-endpoint", "https://flag.example:6385"}, "https://flag.example:6385"},
	} {
		var s v1alpha1.IronflowConfiguration
		flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
		settings.Bind(flags, topics.All(&s))
		g.Expect(flags.Parse(tc.args)).To(Succeed())
		g.Expect(s.Ironic.Endpoint).To(Equal(tc.want))
		g.Expect(s.Ironic.Timeout.Duration.String()).To(Equal("7s"), "plain numbers are seconds, as elsewhere")
	}
}

// defaults are the settings where nothing is set but the folder, for a hub without
// authentication.
func defaults(dir string) v1alpha1.IronflowConfiguration {
	var s v1alpha1.IronflowConfiguration
	settings.Bind(pflag.NewFlagSet("run", pflag.ContinueOnError), topics.All(&s))
	s.Store.DataDir, s.Hub.Auth = dir, "none"
	return s
}

func TestDefaultsCanBeRead(t *testing.T) {
	var s v1alpha1.IronflowConfiguration
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	settings.Bind(flags, topics.All(&s))
	for _, row := range settings.Rows(topics.All(&s)) {
		f := flags.Lookup(row.Flag)
		NewWithT(t).Expect(f.DefValue).To(Equal(row.Default), row.Flag)
	}
}

func TestAnEnvironmentThatCannotBeReadIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		env, value string
		args       []string
		want       string
	}{
		"a number":                    {"BMO_CONCURRENCY", "many", nil, `$BMO_CONCURRENCY is "many", which is no number: set it to a value such as 0, or give --concurrency`},
		"a truth value":               {"IRONFLOW_HOSTCLAIMS", "perhaps", nil, "is no truth value"},
		"a duration":                  {"IRONIC_CLIENT_TIMEOUT", "soon", nil, "is no duration: set it to a value such as 30s"},
		"a flag in its place":         {"BMO_CONCURRENCY", "many", []string{"--concurrency=5"}, ""},
		"nothing is the default":      {"IRONFLOW_HOSTCLAIMS", "", nil, ""},
		"a number is so many seconds": {"IRONIC_CLIENT_TIMEOUT", "7", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			t.Setenv(tc.env, tc.value)
			for _, command := range newProcessCommands()[:2] {
				g.Expect(command.ParseFlags(tc.args)).To(Succeed())
				err := command.PreRunE(command, nil)
				if tc.want == "" {
					g.Expect(err).NotTo(HaveOccurred())
				} else {
					g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
				}
			}
		})
	}
}

func TestWhatCannotWorkIsRefusedAtOnce(t *testing.T) {
	good := []string{"--ironic-endpoint=https://ironic.example:6385", "--base-image=/images/live.iso"}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no Ironic":                        {[]string{"--base-image=x"}, "set --ironic-endpoint or IRONIC_ENDPOINT"},
		"no base image":                    {[]string{"--ironic-endpoint=https://ironic.example"}, "set --base-image or DEPLOY_ISO"},
		"not a URL":                        {append(good, "--hub-publish-url=hub.example"), "--hub-publish-url"},
		"a password to see":                {append(good, "--database=postgres://hub:secret@db.example/hub"), "its address holds a password"},
		"no such database":                 {append(good, "--database=mysql://hub@db.example/hub"), "--database: "},
		"files with credentials":           {append(good, "--files=s3://key:secret@bucket"), "holds credentials"},
		"files somewhere else":             {append(good, "--files=https://bucket.example"), "neither s3://BUCKET/PREFIX nor a folder"},
		"files without credentials":        {append(good, "--files=s3://bucket", "--files-credentials-file=/none"), "--files: credentials"},
		"nmstatectl as a switch":           {append(good, "--live-nmstatectl=true"), "neither auto, always nor never"},
		"an unknown auth":                  {append(good, "--hub-auth=magic"), "none of token, local and none"},
		"keys that are missing":            {append(good, "--hub-auth=local"), "--hub-auth=local needs the private key"},
		"all that is needed":               {good, ""},
		"a validation that does not exist": {append(good, "--hub-disabled-host-validations=connected,no-such"), `no host validation "no-such"`},
		"requirements that are no JSON":    {append(good, "--hub-host-requirements=x"), "--hub-host-requirements"},
		"no such stage":                    {append(good, "--hub-stage-timeouts=Dancing=1h"), `"Dancing": there is no such stage; want one of ["Configuring"`},
		"no limit of a stage":              {append(good, "--hub-stage-timeouts=Rebooting"), "want STAGE=DURATION"},
		"no patience at all":               {append(good, "--hub-silence=0s"), "--hub-silence 0s: want more than 0"},
		"no room for logs":                 {append(good, "--hub-log-limit=0"), "--hub-log-limit 0"},
		"a system that nobody writes":      {append(good, "--hub-coreos-image=quay.example/os:1"), "--hub-coreos-image quay.example/os:1: Ironflow's own installer"},
		"a system for our own installer":   {append(good, "--hub-coreos-image=quay.example/os:1", "--hub-installer-image=quay.example/ironflow-agent:1"), "--hub-installer-image"},
		"a system for another installer":   {append(good, "--hub-coreos-image=quay.example/os:1", "--hub-installer-image=quay.example/installer:1"), ""},
		"an installer of no registry":      {append(good, "--hub-installer-image=installer:1"), `installer image: "installer:1" is no full image reference`},
		"a controller of no registry":      {append(good, "--hub-controller-image=ironflow/ironflow-agent:latest"), "controller image: "},
		"a program of no registry":         {append(good, "--hub-cluster-image=ironflow-cluster:v1"), "cluster image: "},
		"an agent of no registry":          {append(good, "--hub-agent-version=agent:1"), `--hub-agent-version: "agent:1" is no full image reference`},
		"a level of logs that is none":     {append(good, "--log-level=loud"), `--log-level "loud" is none of debug, info, warn and error`},
		"a limit below zero":               {append(good, "--limit-hosts=-3"), "--limit-hosts is -3: write 0 or more"},
		"a time below zero":                {append(good, "--bmc-health-every=-1m"), "--bmc-health-every is -1m0s: write 0 or more"},
		"a lease below zero":               {append(good, "--lease-duration-seconds=-1"), "--lease-duration-seconds"},
		"no version of TLS":                {append(good, "--tls-min-version=TLS9"), `--tls-min-version "TLS9" is neither TLS12 nor TLS13`},
		"no address to listen on":          {append(good, "--images-addr=8080"), `--images-addr "8080" is no address to listen on: write HOST:PORT, or :PORT`},
		"no listener":                      {append(good, "--images-tls-addr=0", "--metrics-addr=0"), ""},
		"no source of Ignition":            {append(good, "--hub-ignition-source=thin-air"), "--hub-ignition-source"},
		"a source that is not set up":      {append(good, "--hub-ignition-source=kubernetes"), "--hub-ignition-source kubernetes needs --hub-kubernetes"},
		"a source without its program":     {append(good, "--hub-ignition-source=openshift-install"), "needs --hub-openshift-install"},
		"no way to look releases up":       {append(good, "--hub-release-lookup=sometimes"), `--hub-release-lookup "sometimes" is none of`},
		"two that are wrong, the first":    {append(good, "--log-level=loud", "--limit-hosts=-3"), "--log-level"},
		"two that are wrong, the second":   {append(good, "--log-level=loud", "--limit-hosts=-3"), "--limit-hosts"},
		"limits of stages":                 {append(good, "--hub-stage-timeouts=Rebooting=1h, Applying olm manifests=0"), ""},
		"validations that are not run":     {append(good, "--hub-disabled-host-validations=ntp-synced,mtu-valid", "--hub-disabled-cluster-validations=ntp-server-configured"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var s v1alpha1.IronflowConfiguration
			flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
			settings.Bind(flags, topics.All(&s))
			g.Expect(flags.Parse(tc.args)).To(Succeed())
			err := processOf("run").Check(&s)
			if tc.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}
