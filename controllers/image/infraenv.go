package image

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ironflow/ironflow/api/kernelargs"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
)

// OfInfraEnv is the image that clients of the hub's REST API download: one for all
// hosts of an infra-env, in which the agent starts by itself. Live is what is known of
// its live system. Hosts whose static network nobody can do are what it lacks, as a
// [LeftOutError]. Errors wrap [images.ErrBadSpec].
func OfInfraEnv(env wire.InfraEnv, agent ignition.Agent, parts service.ImageParts, live network.Live) (images.Spec, error) {
	static, err := networkOfAll(env, live)
	if err != nil {
		return images.Spec{}, err
	}
	kargs, err := kernelArguments(env.KernelArguments)
	if err != nil {
		return images.Spec{}, err
	}
	host := discovery(env, agent, parts)
	host.Nmstate = static.later
	config, err := ignition.Build(host)
	if err != nil {
		return images.Spec{}, fmt.Errorf("%w: %w", images.ErrBadSpec, err)
	}
	return images.Spec{Ignition: config, Kargs: kargs, InitrdFiles: static.files, Lacks: static.lacks}, nil
}

// discovery is the configuration of that image.
func discovery(env wire.InfraEnv, agent ignition.Agent, parts service.ImageParts) ignition.HostConfig {
	c := ignition.HostConfig{
		Agent: &agent, PullSecret: ignition.Secret(parts.PullSecret), Registries: parts.Registries,
		CABundle: env.AdditionalTrustBundle, Override: []byte(env.IgnitionConfigOverride),
	}
	for line := range strings.Lines(env.SSHAuthorizedKey) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			c.SSHKeys = append(c.SSHKeys, line)
		}
	}
	for source := range strings.SplitSeq(env.NTPSources+","+env.AdditionalNTPSources, ",") {
		if source = strings.TrimSpace(source); source != "" {
			c.NTPServers = append(c.NTPServers, source)
		}
	}
	if p := env.Proxy; p != nil {
		c.Proxy = ignition.Proxy{HTTP: value(p.HTTPProxy), HTTPS: value(p.HTTPSProxy), No: value(p.NoProxy)}
	}
	return c
}

// kernelArguments reads the infra-env's changes of the kernel's command line,
// a JSON list in a string, and keeps their order.
func kernelArguments(text *string) (edit overlay.KargsEdit, err error) {
	if value(text) == "" {
		return edit, nil
	}
	var arguments wire.KernelArguments
	if err := json.Unmarshal([]byte(*text), &arguments); err != nil {
		return edit, fmt.Errorf("%w: kernel arguments: %w", images.ErrBadSpec, err)
	}
	for i, a := range arguments {
		if err := kernelargs.Refused(a.Operation, a.Value); err != nil {
			return overlay.KargsEdit{}, fmt.Errorf("%w: kernel arguments: [%d]: %w", images.ErrBadSpec, i, err)
		}
		edit.Operations = append(edit.Operations, overlay.KargsOperation{Operation: a.Operation, Value: a.Value})
	}
	return edit, nil
}

// value is the text behind a pointer, "" for none.
func value(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
