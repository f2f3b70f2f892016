package lab

import (
	"context"
	"embed"
	"fmt"
	"os"
	"strings"

	"github.com/ironflow/ironflow/test/lab/prereq"
)

// Environment variables that choose another release than the lab's own, such as
// 1.30.14 and 24.0.0. Everything else stays: etcd, kubectl, the controllers and
// the BMCs are those that the lab has with its own releases.
const (
	// EnvKubernetes is the release of kube-apiserver: any that the Go module proxy has.
	EnvKubernetes = "IRONFLOW_LAB_KUBERNETES"
	// EnvIronic is the release of Ironic: one with a list ironic/requirements-RELEASE.txt.
	EnvIronic = "IRONFLOW_LAB_IRONIC"
)

// otherIronics are the pinned packages of Ironic's other releases.
//
//go:embed ironic/requirements-*.txt
var otherIronics embed.FS

// otherIronicPythons run all of them: their libraries are of their time.
var otherIronicPythons = []string{"3.11", "3.12"}

// otherIronic is the release of Ironic that the environment asks for with its pinned
// packages, empty for the lab's own.
func otherIronic() (release string, packages []byte, err error) {
	release = os.Getenv(EnvIronic)
	if release == "" || strings.Contains(string(ironicRequirements), "\nironic=="+release+" ") {
		return "", nil, nil
	}
	packages, err = otherIronics.ReadFile("ironic/requirements-" + release + ".txt")
	if err != nil {
		return "", nil, fmt.Errorf("%s is %q, and the lab has no list of packages for that: set it to one of %s, or add test/lab/ironic/requirements-%s.txt",
			EnvIronic, release, strings.Join(otherIronicReleases(), ", "), release)
	}
	return release, packages, nil
}

// otherIronicReleases are those that the lab has lists for.
func otherIronicReleases() []string {
	files, _ := otherIronics.ReadDir("ironic") // it is embedded
	releases := make([]string, 0, len(files))
	for _, file := range files {
		releases = append(releases, strings.TrimSuffix(strings.TrimPrefix(file.Name(), "requirements-"), ".txt"))
	}
	return releases
}

// runsOtherIronics says whether the machine's Python is one for older releases.
func runsOtherIronics(ctx context.Context, release string) error {
	python, err := prereq.FindPython(ctx, prereq.Local())
	if err != nil {
		return err
	}
	for _, version := range otherIronicPythons {
		if strings.HasPrefix(python.Version, version+".") {
			return nil
		}
	}
	return fmt.Errorf("%s is Python %s, and Ironic %s is installed for Python %s only: set %s to the path of such an interpreter",
		python.Path, python.Version, release, strings.Join(otherIronicPythons, " and "), prereq.EnvPython)
}
