// Package networkcheck looks at the network descriptions of a fleet, as they lie in a
// folder, and says which way each would take: translated, left to nmstatectl in the live
// system, or refused. It takes nmstate documents, OpenStack's network data, and the
// manifests that hold them: Secrets, NMStateConfigs, and the files of installers that
// they are made of. It reads only. The main function is [Folder].
package networkcheck

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/imagecustomization/network"
)

// Result is what becomes of one description.
type Result struct {
	// Name is the file, with the object in it.
	Name string
	// Way is one of the ways of package network.
	Way string
	// Fields says what is not translated or wrong, with the paths of the fields; empty
	// for what is translated.
	Fields string
}

// ErrNothing means that a folder holds no description of a network.
var ErrNothing = errors.New("no description of a network")

// Folder looks at all YAML and JSON files of a folder and those below it. A file that
// describes no network is left out.
func Folder(dir string, live network.Live) ([]Result, error) {
	c := &check{live: live, owners: map[card]string{}}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)) {
			return err
		}
		raw, regular, err := read(root, path)
		switch {
		case err != nil:
			c.add(path, network.Settings{}, err)
		case regular:
			c.file(path, raw)
		}
		return nil
	})
	err = errors.Join(err, root.Close())
	if err == nil && len(c.results) == 0 {
		err = fmt.Errorf("%w in %s: it holds nmstate documents, network_data.json, or manifests with them", ErrNothing, dir)
	}
	return c.results, err
}

// maxFile is the size of the largest file that is read: many manifests, and no disk image.
const maxFile = 64 << 20

// read reads a file; regular is false for a pipe and the like, which are left out.
func read(root *os.Root, path string) (raw []byte, regular bool, err error) {
	info, err := root.Stat(path)
	switch {
	case err != nil:
		return nil, false, err
	case !info.Mode().IsRegular():
		return nil, false, nil
	case info.Size() > maxFile:
		return nil, false, fmt.Errorf("has %d bytes, and at most %d are read", info.Size(), maxFile)
	}
	raw, err = root.ReadFile(path)
	return raw, true, err
}

// check collects results.
type check struct {
	live    network.Live
	results []Result
	// owners are who has a card, within what one builder sees.
	owners map[card]string
}

// add notes what became of one description.
func (c *check) add(name string, s network.Settings, err error) {
	r := Result{Name: strings.ToValidUTF8(strings.Map(printable, name), "?"), Way: network.WayRefused}
	switch {
	case err != nil:
		r.Fields = fields(err)
	case s.Left != nil:
		r.Way, r.Fields = s.Way(), fields(s.Left)
	default:
		r.Way = s.Way()
	}
	c.results = append(c.results, r)
}

// printable replaces what would be an order to the terminal that a name is shown on.
func printable(c rune) rune {
	if unicode.IsControl(c) {
		return unicode.ReplacementChar
	}
	return c
}

// fields puts an error on one line.
func fields(err error) string {
	text := strings.TrimPrefix(err.Error(), network.ErrUnsupported.Error()+": ")
	return strings.Map(printable, strings.ReplaceAll(text, "\n", "; "))
}

// file looks at the documents of a file.
func (c *check) file(name string, raw []byte) {
	documents := split(raw)
	for n, document := range documents {
		at := name
		if len(documents) > 1 {
			at = fmt.Sprintf("%s, document %d", name, n+1)
		}
		var m map[string]any
		if err := yaml.Unmarshal(document, &m); err != nil {
			c.add(at, network.Settings{}, fmt.Errorf("not a mapping in YAML or JSON: %w", err))
			continue
		}
		c.document(at, document, m)
	}
}

// split takes the documents of a YAML file apart; empty ones are left out.
func split(raw []byte) (documents [][]byte) {
	var now []string
	end := func() {
		if text := strings.Join(now, ""); strings.TrimSpace(text) != "" {
			documents = append(documents, []byte(text))
		}
		now = nil
	}
	for line := range strings.Lines(string(raw)) {
		if rest, is := strings.CutPrefix(line, "---"); is && (strings.TrimSpace(rest) == "" || rest[0] == ' ') {
			end()
			line = strings.TrimLeft(rest, " ")
		}
		now = append(now, line)
	}
	end()
	return documents
}

// document looks at one document.
func (c *check) document(name string, raw []byte, m map[string]any) {
	switch {
	case has(m, "kind") && has(m, "apiVersion"):
		c.manifest(named(name, m), m)
	case has(m, "hosts"):
		c.agentConfig(name, m) // an agent-config.yaml may come without a kind
	case has(m, "links", "networks"):
		s, err := network.TranslateNetworkData(raw)
		c.add(name, s, err)
	case has(m, "interfaces", "routes", "route-rules", "dns-resolver", "hostname", "ovs-db", "ovn"):
		s, err := c.live.Translate(raw, nil)
		c.add(name, s, err)
	}
}

// named adds the name of the object to that of its file.
func named(file string, m map[string]any) string {
	metadata, _ := m["metadata"].(map[string]any)
	if object := text(metadata, "name"); object != "" {
		return file + ", " + text(m, "kind") + " " + object
	}
	return file
}

func text(m map[string]any, key string) string {
	value, _ := m[key].(string)
	return value
}

// has tells whether one of the members is there.
func has(m map[string]any, keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { _, there := m[key]; return there })
}
