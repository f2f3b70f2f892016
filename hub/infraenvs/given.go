package infraenvs

import (
	"encoding/json"

	"github.com/ironflow/ironflow/hub/input"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// given is what people have written of the infra-env. The pull secret is the one that they
// bring, empty for none: the record's own was checked when it came.
func given(env *store.InfraEnv, pullSecret string) *input.InfraEnv {
	a := &env.API
	out := &input.InfraEnv{
		Name: a.Name, PullSecret: pullSecret, CPUArchitecture: a.CPUArchitecture, OpenshiftVersion: a.OpenshiftVersion,
		SSHAuthorizedKey: &a.SSHAuthorizedKey, Proxy: a.Proxy, AdditionalNTPSources: &a.AdditionalNTPSources, NTPSources: &a.NTPSources,
		AdditionalTrustBundle: a.AdditionalTrustBundle, IgnitionConfigOverride: a.IgnitionConfigOverride,
		NetworkDiscoveryDelaySeconds: a.NetworkDiscoveryDelaySeconds,
	}
	// The record has lists as JSON in text, which the hub itself has written.
	_ = json.Unmarshal([]byte(a.StaticNetworkConfig), &out.StaticNetworkConfig)
	_ = json.Unmarshal([]byte(wire.Value(a.KernelArguments)), &out.KernelArguments)
	return out
}

// checkGiven refuses settings that mean nothing, before they are stored.
func checkGiven(env *store.InfraEnv, pullSecret string, fresh bool, before store.InfraEnv) error {
	if fresh {
		return input.CheckInfraEnv(nil, given(env, pullSecret))
	}
	if env.PullSecret == before.PullSecret {
		pullSecret = "" // what was taken once is no reason to refuse other changes
	}
	return input.CheckInfraEnv(given(&before, ""), given(env, pullSecret))
}
