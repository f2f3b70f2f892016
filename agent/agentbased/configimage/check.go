package configimage

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/api/hostfile"
)

// List says which files a config image brings: files that must be there, and folders, with
// a slash at the end, that may be empty.
type List []string

// DefaultList is for images without a list of their own.
var DefaultList = List{
	places.RendezvousHost,
	places.Manifests + "/agent-cluster-install.yaml",
	places.Manifests + "/cluster-deployment.yaml",
	places.ClusterImageSet,
	places.Manifests + "/infraenv.yaml",
	places.Manifests + "/pull-secret.yaml",
	places.Manifests + "/", places.ExtraManifests + "/", places.Networks + "/", places.Hostnames + "/",
	places.HostConfig + "/", places.ServiceSettings + "/", "/opt/agent/tls/", "/usr/local/share/start-cluster/", hostfile.ConfigDir + "/",
}

// ParseList reads a list. A name without a slash at its end is a folder if its last part
// has no dot, as in lists of older images; /etc/issue is a file all the same.
func ParseList(text string) (List, error) {
	if strings.TrimSpace(text) == "" {
		return DefaultList, nil
	}
	var l List
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		if word == "" {
			continue
		}
		clean := path.Clean(word)
		if !path.IsAbs(word) || clean != strings.TrimSuffix(word, "/") {
			return nil, fmt.Errorf("%s: %q is no plain absolute path", places.ConfigFilesEnv, word)
		}
		if clean != "/etc/issue" && (strings.HasSuffix(word, "/") || !strings.Contains(path.Base(clean), ".")) {
			clean += "/"
		}
		l = append(l, clean)
	}
	return l, nil
}

// missing are the files of the list that are not there.
func (l List) missing(files []File) (missing []string) {
	for _, want := range l {
		if !strings.HasSuffix(want, "/") && !slices.ContainsFunc(files, func(f File) bool { return f.Path == want }) {
			missing = append(missing, want)
		}
	}
	return missing
}

// others are the files that the list does not have.
func (l List) others(files []File) (others []string) {
	for _, f := range files {
		if !slices.ContainsFunc(l, func(want string) bool {
			return f.Path == want || (strings.HasSuffix(want, "/") && strings.HasPrefix(f.Path, want))
		}) {
			others = append(others, f.Path)
		}
	}
	return others
}

// Check says everything that is wrong with the contents for a host whose cluster image set
// is given. nil is fine.
func (c Contents) Check(l List, hostImageSet []byte) error {
	var wrong []error
	if err := c.sameRelease(hostImageSet); err != nil {
		wrong = append(wrong, err)
	}
	if missing := l.missing(c.Files); len(missing) > 0 {
		wrong = append(wrong, fmt.Errorf("files are missing: %s", strings.Join(missing, ", ")))
	}
	wrong = append(wrong, c.settings()...)
	if others := l.others(c.Files); len(others) > 0 {
		wrong = append(wrong, fmt.Errorf("files that are no settings of this appliance: %s", strings.Join(others, ", ")))
	}
	return errors.Join(wrong...)
}

// sameRelease compares the release of the archive with that of the host.
func (c Contents) sameRelease(hostImageSet []byte) error {
	here, err := release(hostImageSet)
	if err != nil {
		return fmt.Errorf("this host's %s: %w", places.ClusterImageSet, err)
	}
	i := slices.IndexFunc(c.Files, func(f File) bool { return f.Path == places.ClusterImageSet })
	if i < 0 {
		return fmt.Errorf("it does not say which release it is for: %s is missing; this host has the release %s", places.ClusterImageSet, here)
	}
	there, err := release(c.Files[i].Data)
	switch {
	case err != nil:
		return fmt.Errorf("its %s: %w", places.ClusterImageSet, err)
	case there != here:
		return fmt.Errorf("it is for the release %s, this host has the release %s", there, here)
	}
	return nil
}

func release(raw []byte) (string, error) {
	var set struct {
		Spec struct {
			ReleaseImage string `json:"releaseImage"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(raw, &set); err != nil {
		return "", fmt.Errorf("it is no YAML: %w", err)
	}
	if set.Spec.ReleaseImage == "" {
		return "", errors.New("it has no spec.releaseImage")
	}
	return set.Spec.ReleaseImage, nil
}

// sum names a list of files with their contents.
func sum(files []File) string {
	h := sha256.New()
	add := func(raw []byte) {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(raw)))
		h.Write(size[:])
		h.Write(raw)
	}
	for _, f := range files {
		add([]byte(f.Path))
		add(binary.BigEndian.AppendUint32(nil, f.Mode))
		add(f.Data)
	}
	return hex.EncodeToString(h.Sum(nil))
}
