package lead

import (
	"fmt"
	"os"
	"strconv"

	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/api/hostfile"
)

// Names of settings that say how many hosts there will be.
const (
	requiredMasters  = "REQUIRED_MASTER_NODES"
	requiredWorkers  = "REQUIRED_WORKER_NODES"
	requiredArbiters = "REQUIRED_ARBITER_NODES"
)

// required says how many hosts the cluster has: by the settings, or else by its manifest.
func required(dir hostfile.Dir, settings map[string]string) (Required, error) {
	if settings[requiredMasters] == "" {
		return fromManifest(dir)
	}
	return numbers(settings)
}

// CheckRequired tells what is wrong with what settings say of how many hosts the cluster has; nothing
// where they leave that to its manifest.
func CheckRequired(settings map[string]string) error {
	if settings[requiredMasters] == "" {
		return nil
	}
	_, err := numbers(settings)
	return err
}

// numbers are those that the settings say.
func numbers(settings map[string]string) (r Required, err error) {
	for name, n := range map[string]*int{requiredMasters: &r.Masters, requiredWorkers: &r.Workers, requiredArbiters: &r.Arbiters} {
		if settings[name] == "" {
			continue
		}
		if *n, err = strconv.Atoi(settings[name]); err != nil || *n < 0 {
			return r, fmt.Errorf("%s %q: want a number of hosts", name, settings[name])
		}
	}
	return r, r.check(requiredMasters)
}

func fromManifest(dir hostfile.Dir) (Required, error) {
	raw, err := os.ReadFile(dir.Path(places.AgentClusterInstall))
	if err != nil {
		return Required{}, fmt.Errorf("how many hosts the cluster has: neither %s is set, nor can %s be read: %w", requiredMasters, places.AgentClusterInstall, err)
	}
	var manifest struct {
		Spec struct {
			ProvisionRequirements struct {
				ControlPlaneAgents int `json:"controlPlaneAgents"`
				WorkerAgents       int `json:"workerAgents"`
				ArbiterAgents      int `json:"arbiterAgents"`
			} `json:"provisionRequirements"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(raw, &manifest); err != nil {
		return Required{}, fmt.Errorf("%s: %w", places.AgentClusterInstall, err)
	}
	p := manifest.Spec.ProvisionRequirements
	r := Required{Masters: p.ControlPlaneAgents, Workers: p.WorkerAgents, Arbiters: p.ArbiterAgents}
	return r, r.check(places.AgentClusterInstall + ": spec.provisionRequirements.controlPlaneAgents")
}

func (r Required) check(where string) error {
	if r.Masters < 1 || r.Workers < 0 || r.Arbiters < 0 {
		return fmt.Errorf("%s: a cluster has at least one host of the control plane, and none has fewer than no hosts", where)
	}
	return nil
}
