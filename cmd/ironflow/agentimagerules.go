package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/agent/agentbased/client"
	"github.com/ironflow/ironflow/agent/agentbased/image"
	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/nearest"
	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/clusters"
	"github.com/ironflow/ironflow/hub/configured"
	"github.com/ironflow/ironflow/hub/input"
	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
)

// hubRules are those by which the hub of an image judges what its client asks for.
func hubRules(asked client.Asked, hosts []wire.HostUpdateParams) (out []image.Refused) {
	if asked.Cluster != nil {
		out = append(out, refusedOf("cluster", 0, clusters.Problems(*asked.Cluster, asked.Overrides, operators.Builtin()))...)
	}
	if asked.InfraEnv != nil {
		out = append(out, refusedOf("infra-env", 0, input.InfraEnvProblems(asked.InfraEnv))...)
	}
	for i := range hosts {
		out = append(out, refusedOf("host", i, input.HostProblems(&hosts[i]))...)
	}
	return out
}

func refusedOf(of string, host int, problems []error) (out []image.Refused) {
	for _, problem := range problems {
		if e, is := errors.AsType[*apierror.Error](problem); is && e.Field != "" {
			out = append(out, image.Refused{Object: input.Object(of, e.Field), Text: e.Reason[len(e.Field):], Host: host})
		}
	}
	return out
}

// ofProcesses are variables that every program reads, and the file of settings.
var ofProcesses = []string{
	settings.ConfigEnv,
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "GOMEMLIMIT", "GOMAXPROCS", "GOGC", "GODEBUG", "SSL_CERT_FILE", "SSL_CERT_DIR", "TZ", "TMPDIR",
}

// hubSettings are what a hub of an image would not take of its settings. Files that they name are
// those of the hosts, which nobody looks at here.
func hubSettings(values map[string]string) (bad []image.BadSetting) {
	var n nodeZero
	table := n.table()
	unknown, err := settings.Take(table, values)
	var names []string
	for _, row := range settings.Rows(table) {
		names = append(names, row.Env)
	}
	for _, name := range unknown {
		if slices.Contains(ofProcesses, strings.ToUpper(name)) {
			continue
		}
		text := fmt.Sprintf("sets %.80s, which is no setting of the hub: take it away", name)
		if meant, changes := nearest.Name(name, names); changes <= 3 {
			text = fmt.Sprintf("sets %.80s, which is no setting of the hub: did you mean %s?", name, meant)
		}
		bad = append(bad, image.BadSetting{Text: text, Unused: true})
	}
	if err == nil {
		work := n.hub.Work(&n.IronflowConfiguration)
		work.OperatorsFile, work.ClusterImage = "", "" // of the hosts; told with the source
		err = errors.Join(configured.Validations(n.HubValidations).Apply(&service.Options{}), work.Check())
	}
	for line := range strings.Lines(errorText(err)) {
		bad = append(bad, image.BadSetting{Text: "cannot be used: " + strings.TrimSpace(line)})
	}
	return bad
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
