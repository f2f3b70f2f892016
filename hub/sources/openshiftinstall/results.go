package openshiftinstall

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/hub/ignition"
	"github.com/ironflow/ironflow/hub/sources"
)

// maxResult bounds a file that the program made, in bytes.
const maxResult = 32 << 20

// inPlaceFile is the Ignition of the live system of a host that brings itself up.
const inPlaceFile = "bootstrap-in-place-for-live-iso.ign"

// anotherProgram is what can be done about results that are not what they should be.
const anotherProgram = "check that the program is the openshift-install of the cluster's release, and that the state folder is not full; then install again"

// result is one file that the program makes.
type result struct {
	// file is where the program puts it, name what clients call it.
	file, name string
	check      func([]byte) error
	credential bool
}

// handedHash is the certificate that is none: who made the password before has handed in its
// hash, and the program then leaves the file of the password empty.
const handedHash = "kubeadmin-password.hash"

func expected(j *job) []result {
	password := checkPassword
	if _, handed := j.certificates[handedHash]; handed {
		password = func([]byte) error { return nil }
	}
	all := []result{
		{"metadata.json", "metadata.json", checkMetadata, false},
		{"auth/kubeconfig", "kubeconfig-noingress", checkKubeconfig, true},
		{"auth/kubeadmin-password", "kubeadmin-password", password, true},
	}
	if j.inPlace {
		return append(all, result{inPlaceFile, "bootstrap.ign", checkIgnition, false})
	}
	roles := []string{"bootstrap.ign", "master.ign", "worker.ign"}
	if j.arbiters {
		roles = append(roles, "arbiter.ign")
	}
	for _, name := range roles {
		all = append(all, result{name, name, checkIgnition, false})
	}
	return all
}

// results reads what the program made. Half of it is nothing: all problems are said.
func results(dir *folder, j *job) (*sources.Made, error) {
	made := &sources.Made{Files: map[string][]byte{"install-config.yaml": j.config}, Credentials: map[string][]byte{}}
	var problems []string
	for _, want := range expected(j) {
		raw, err := read(dir, path.Join(assetsFolder, want.file))
		if err == nil {
			err = want.check(raw)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			problems = append(problems, want.file+" is missing")
		case err != nil:
			problems = append(problems, want.file+": "+readable(j.secrets.clean(err.Error())))
		case want.credential:
			made.Credentials[want.name] = raw
		default:
			made.Files[want.name] = raw
		}
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("openshift-install said that it was done, but %s; %s", strings.Join(problems, ", "), anotherProgram)
	}
	if j.inPlace {
		if err := placeholders(made); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// placeholders are the role files of a host that brings itself up: the bootstrap makes
// the real one there, and merges the host's into it. They have its version.
func placeholders(made *sources.Made) error {
	var head struct {
		Ignition struct {
			Version string `json:"version"`
		} `json:"ignition"`
	}
	if err := json.Unmarshal(made.Files["bootstrap.ign"], &head); err != nil {
		return fmt.Errorf("bootstrap.ign: %w", err)
	}
	empty, err := json.Marshal(map[string]any{"ignition": head.Ignition})
	if err != nil {
		return fmt.Errorf("bootstrap.ign: %w", err)
	}
	made.Files["master.ign"], made.Files["worker.ign"] = empty, empty
	return nil
}

func read(dir *folder, name string) ([]byte, error) {
	info, err := dir.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("it is no file (%s)", info.Mode())
	case info.Size() > maxResult:
		return nil, fmt.Errorf("it is larger than %d MiB", maxResult>>20)
	}
	file, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(file, maxResult+1))
	return raw, errors.Join(err, file.Close())
}

func checkIgnition(raw []byte) error {
	if len(raw) == 0 {
		return errors.New("it is empty")
	}
	if err := ignition.Valid(string(raw)); err != nil {
		return fmt.Errorf("it is no Ignition: %w", err)
	}
	return nil
}

func checkMetadata(raw []byte) error {
	var m struct {
		ClusterID string `json:"clusterID"`
		InfraID   string `json:"infraID"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return fmt.Errorf("it is no JSON object: %w", err)
	}
	if m.ClusterID == "" || m.InfraID == "" {
		return errors.New("it has no clusterID or no infraID")
	}
	return nil
}

func checkKubeconfig(raw []byte) error {
	var k struct {
		Clusters []struct {
			Cluster struct {
				Server string `json:"server"`
			} `json:"cluster"`
		} `json:"clusters"`
		Users []any `json:"users"`
	}
	if yaml.Unmarshal(raw, &k) != nil || len(k.Clusters) == 0 || k.Clusters[0].Cluster.Server == "" || len(k.Users) == 0 {
		return errors.New("it is no kubeconfig with a server and a user") // what YAML says may quote a key
	}
	return nil
}

func checkPassword(raw []byte) error {
	if strings.TrimSpace(string(raw)) == "" {
		return errors.New("it is empty")
	}
	return nil
}
