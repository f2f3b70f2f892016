package configimage

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/agent/agentbased/client"
	"github.com/ironflow/ironflow/agent/agentbased/hostsettings"
	"github.com/ironflow/ironflow/agent/agentbased/hubcalls"
	"github.com/ironflow/ironflow/agent/agentbased/lead"
	"github.com/ironflow/ironflow/agent/agentbased/manifests"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/hubclient"
)

// A host takes one config image. What its programs would stumble over later is looked for
// before it counts: afterwards, nothing but another disk would help.

// settings tells what is wrong with single files.
func (c Contents) settings() (wrong []error) {
	for _, f := range c.Files {
		err := hostsettings.Check(f.Path, f.Data)
		switch {
		case err != nil:
		case f.Path == places.PasswordHash:
			_, err = passwordHash(f.Data)
		case strings.HasSuffix(f.Path, ".env"):
			err = environment(f)
		}
		if err != nil {
			wrong = append(wrong, err)
		}
	}
	return wrong
}

func environment(f File) error {
	values, err := places.ParseEnv(string(f.Data))
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	var wrong []error
	if f.Path == places.RendezvousHost {
		if _, err := places.Rendezvous(values[places.NodeZeroIP]); err != nil {
			wrong = append(wrong, fmt.Errorf("%s in %s: %w", places.NodeZeroIP, f.Path, err))
		}
	}
	if url := values[places.ServiceBaseURL]; url != "" {
		if err := hubclient.CheckURL(url); err != nil {
			wrong = append(wrong, fmt.Errorf("%s in %s: %w", places.ServiceBaseURL, f.Path, err))
		}
	}
	if id := values[places.InfraEnvID]; id != "" && uuid.Validate(id) != nil {
		wrong = append(wrong, fmt.Errorf("%s: %s is %.100q: want a UUID", f.Path, places.InfraEnvID, id))
	}
	if err := lead.CheckRequired(values); err != nil {
		wrong = append(wrong, fmt.Errorf("%s: %w", f.Path, err))
	}
	return errors.Join(wrong...)
}

// hub tells that nobody says where the hub will be: neither the archive nor what the appliance has.
func (l Loader) hub(c Contents) error {
	values, err := places.Settings(l.Dir)
	if err == nil && values[places.ServiceBaseURL] != "" {
		return nil
	}
	for _, f := range c.Files {
		if !strings.HasSuffix(f.Path, ".env") {
			continue
		}
		if values, err := places.ParseEnv(string(f.Data)); err == nil && values[places.ServiceBaseURL] != "" {
			return nil
		}
	}
	return hubcalls.ErrNoURL
}

// hash is the form of a password's hash in /etc/shadow; the last one opens nothing.
var hash = regexp.MustCompile(`^(\$[!-9;-~]{1,255}|[!*][!-9;-~]{0,255})$`)

func passwordHash(raw []byte) (string, error) {
	value := strings.TrimSpace(string(raw))
	if !hash.MatchString(value) {
		return "", fmt.Errorf("%s holds no hash of a password as /etc/shadow has it", places.PasswordHash)
	}
	return value, nil
}

// mostProblems is how many problems of manifests are told: the screen has 24 lines.
const mostProblems = 4

// manifests reads those that are unpacked as the client will. Parts that the archive has not
// are the appliance's own, and are not looked at.
func (l Loader) manifests(s *Store, c Contents) error {
	there := func(file string) string {
		if slices.ContainsFunc(c.Files, func(f File) bool { return f.Path == file || strings.HasPrefix(f.Path, file+"/") }) {
			return file
		}
		return ""
	}
	in := func(name string) string { return there(places.Manifests + "/" + name) }
	_, _, err := manifests.Read(manifests.Files{
		Root:              s.unpacked(),
		ClusterDeployment: in("cluster-deployment.yaml"), AgentClusterInstall: in("agent-cluster-install.yaml"), ClusterImageSet: in("cluster-image-set.yaml"),
		InfraEnv: in("infraenv.yaml"), PullSecret: in("pull-secret.yaml"), NMStateConfig: in("nmstateconfig.yaml"), Operators: in("operators.yaml"),
		ExtraManifests: there(places.ExtraManifests), HostConfig: there(places.HostConfig),
	}, manifests.Options{Lenient: l.lenient(c)})
	told, is := errors.AsType[*manifests.Error](err)
	if !is {
		return err
	}
	var lines []string
	for i, p := range told.Problems {
		if i == mostProblems {
			lines = append(lines, fmt.Sprintf("and %d more", len(told.Problems)-i))
			break
		}
		lines = append(lines, p.String())
	}
	return errors.New(strings.Join(lines, "\n"))
}

// lenient tells what the client will be told: by the archive, or by what the appliance has.
func (l Loader) lenient(c Contents) bool {
	values, err := places.Settings(l.Dir)
	said := err == nil && values[client.LenientEnv] == "true"
	for _, f := range c.Files {
		if !strings.HasSuffix(f.Path, ".env") {
			continue
		}
		if values, err := places.ParseEnv(string(f.Data)); err == nil {
			if text, given := values[client.LenientEnv]; given {
				said = text == "true"
			}
		}
	}
	return said
}
