package image

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/ironflow/ironflow/agent/agentbased/places"
)

// ClusterFile says whose the keys beside it are: an environment file with the cluster's name and,
// as far as they are known, its domain and its id.
const ClusterFile = authFolder + "/agent-image.cluster"

// Names in [ClusterFile] beside [clusterName] and [clusterID].
const baseDomain = "BASE_DOMAIN"

// owner is the cluster of the plan, in the names of [ClusterFile].
func (p *Plan) owner() map[string]string {
	if p.joins != nil {
		return map[string]string{clusterName: p.joins.name, clusterID: p.joins.id}
	}
	d := p.Set.ClusterDeployment.Spec
	return map[string]string{clusterName: d.ClusterName, baseDomain: d.BaseDomain}
}

// CheckFolder refuses an output folder whose keys are another cluster's: its administrator would be
// this one's. A folder of an earlier program, which does not say whose it is, is taken once, and
// says so from then on. A factory image has no keys.
func (p *Plan) CheckFolder(out string) error {
	_, err := p.owned(out)
	return err
}

// owned is what [ClusterFile] is to have: what is known already stays.
func (p *Plan) owned(out string) (map[string]string, error) {
	if p.Set == nil {
		return nil, nil
	}
	file := filepath.Join(out, ClusterFile)
	known := map[string]string{}
	raw, err := os.ReadFile(file)
	if err == nil {
		known, err = places.ParseEnv(string(raw))
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	mine := p.owner()
	for name, value := range known {
		if own, is := mine[name]; is && own != value {
			return nil, fmt.Errorf("the keys in %s are of %s, and the input describes %s, whose hosts and administrators must not share them: "+
				"give each cluster an output folder of its own (--output-dir), or take that folder away if nobody needs its keys any more",
				filepath.Join(out, authFolder), clusterOf(known), clusterOf(mine))
		}
	}
	maps.Copy(known, mine)
	return known, nil
}

// clusterOf names a cluster for people.
func clusterOf(owner map[string]string) string {
	text := "cluster " + owner[clusterName]
	if domain := owner[baseDomain]; domain != "" {
		text += "." + domain
	}
	if id := owner[clusterID]; id != "" {
		text += " (" + id + ")"
	}
	return text
}
