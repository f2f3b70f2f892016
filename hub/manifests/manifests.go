// Package manifests checks what users add to a cluster's manifests: names,
// folders and contents. It keeps none; see hub/clusters.
package manifests

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v2"

	"github.com/ironflow/ironflow/hub/wire"
)

// MaxContent bounds a manifest, in bytes.
const MaxContent = 1 << 20

// Folders are where manifests lie: those that the installer makes its own from,
// and those that are applied to the cluster.
var Folders = []string{wire.ManifestFolderManifests, wire.ManifestFolderOpenshift}

// ErrBadManifest is what all errors of this package are.
var ErrBadManifest = errors.New("manifest")

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrBadManifest, fmt.Errorf(format, args...))
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,250}\.(json|ya?ml(\.patch_?[a-zA-Z0-9_]*)?)$`)

// CheckName refuses names that are no file of a folder: *.yaml, *.yml, *.json and
// patches *.yaml.patch*.
func CheckName(folder, name string) error {
	if folder != Folders[0] && folder != Folders[1] {
		return bad("folder %.40q: want manifests or openshift", folder)
	}
	if !nameForm.MatchString(name) || name != path.Base(name) || strings.HasPrefix(name, ".") {
		return bad("file_name %.80q: want a name such as config.yaml, config.json or config.yaml.patch_1, without folders", name)
	}
	return nil
}

// Decode reads a manifest that was sent in base64 and refuses what nobody can
// apply: no documents, documents that are no objects, broken YAML or JSON.
func Decode(name, encoded string) ([]byte, error) {
	if base64.StdEncoding.DecodedLen(len(encoded)) > MaxContent+3 {
		return nil, bad("%s is larger than %d bytes", name, MaxContent)
	}
	content, err := base64.StdEncoding.DecodeString(encoded)
	switch {
	case err != nil:
		return nil, bad("the content of %s is not base64: %w", name, err)
	case len(content) > MaxContent:
		return nil, bad("%s is larger than %d bytes", name, MaxContent)
	case !utf8.Valid(content) || bytes.ContainsRune(content, 0):
		return nil, bad("%s is no text", name)
	}
	if err := check(name, content); err != nil {
		return nil, bad("%s: %w", name, err)
	}
	return content, nil
}

func check(name string, content []byte) error {
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

// File is the name of the stored file with a manifest of a cluster.
func File(folder, name string) string { return "manifests/" + folder + "/" + name }
