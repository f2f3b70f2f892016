package main

import (
	"errors"

	"github.com/ironflow/ironflow/agent/agentbased/client"
	"github.com/ironflow/ironflow/agent/agentbased/image"
	"github.com/ironflow/ironflow/hub/clusters"
	"github.com/ironflow/ironflow/hub/input"
	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/refusal"
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
		if e, is := errors.AsType[*refusal.Error](problem); is && e.Field != "" {
			out = append(out, image.Refused{Object: input.Object(of, e.Field), Text: e.Reason[len(e.Field):], Host: host})
		}
	}
	return out
}
