package clusters

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v2"

	"github.com/ironflow/ironflow/hub/wire"
)

// maxManifest bounds a manifest, in bytes.
const maxManifest = 1 << 20

// manifestFolders are where manifests lie: those that the installer makes its own from,
// and those that are applied to the cluster.
var manifestFolders = []string{wire.ManifestFolderManifests, wire.ManifestFolderOpenshift}

// errBadManifest is what all errors about a name or a text are.
var errBadManifest = errors.New("manifest")

func badManifest(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errBadManifest, fmt.Errorf(format, args...))
}

var manifestName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,250}\.(json|ya?ml(\.patch_?[a-zA-Z0-9_]*)?)$`)

// checkManifestName refuses names that are no file of a folder: *.yaml, *.yml, *.json and
// patches *.yaml.patch*.
func checkManifestName(folder, name string) error {
	if !slices.Contains(manifestFolders, folder) {
		return badManifest("folder %.40q: want manifests or openshift", folder)
	}
	if !manifestName.MatchString(name) || name != path.Base(name) || strings.HasPrefix(name, ".") {
		return badManifest("file_name %.80q: want a name such as config.yaml, config.json or config.yaml.patch_1, without folders", name)
	}
	return nil
}

// decodeManifest reads a manifest that was sent in base64 and refuses what nobody can
// apply: no documents, documents that are no objects, broken YAML or JSON.
func decodeManifest(name, encoded string) ([]byte, error) {
	if base64.StdEncoding.DecodedLen(len(encoded)) > maxManifest+3 {
		return nil, badManifest("%s is larger than %d bytes", name, maxManifest)
	}
	content, err := base64.StdEncoding.DecodeString(encoded)
	switch {
	case err != nil:
		return nil, badManifest("the content of %s is not base64: %w", name, err)
	case len(content) > maxManifest:
		return nil, badManifest("%s is larger than %d bytes", name, maxManifest)
	case !utf8.Valid(content) || bytes.ContainsRune(content, 0):
		return nil, badManifest("%s is no text", name)
	}
	if err := checkManifestText(name, content); err != nil {
		return nil, badManifest("%s: %w", name, err)
	}
	return content, nil
}

func checkManifestText(name string, content []byte) error {
	if strings.HasSuffix(name, ".json") {
		var object map[string]any
		if err := json.Unmarshal(content, &object); err != nil {
			return fmt.Errorf("it is no JSON object: %w", err)
		}
		return nil
	}
	documents := 0
	patch := strings.Contains(name, ".patch")
	for decoder := yaml.NewDecoder(bytes.NewReader(content)); ; {
		var document any
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("it is no YAML: %w", err)
		}
		if document == nil {
			continue // nothing between two lines of dashes
		}
		_, list := document.([]any)
		if _, object := document.(map[any]any); !object && (!patch || !list) {
			return fmt.Errorf("document %d is no object", documents+1)
		}
		documents++
	}
	if documents == 0 {
		return errors.New("it has no document")
	}
	return nil
}
