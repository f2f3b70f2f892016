package bios

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/bmc/lenient"
)

// Source is a BMC that is read, such as bmc/client's Client.
type Source interface {
	// Get reads a resource into a value; an error is about the resource as a whole.
	Get(ctx context.Context, path string, into any) error
	// Members are the paths of a collection's members, at most limit.
	Members(ctx context.Context, path string, limit int) (paths []string, complete bool, err error)
}

// Where says which parts of a BMC to read, in the words of its report. Empty ones are found.
type Where struct {
	// System is the path of the system.
	System string
	// RegistryPath is the path of the attribute registry or of the file that leads to it.
	RegistryPath string
}

const (
	registries    = "/redfish/v1/Registries"
	maxRegistries = 200
)

// ErrNoSettings says that the machine has no BIOS settings.
var ErrNoSettings = errors.New("the system has no BIOS settings")

// Read reads the settings and their registry. A registry that is missing or cannot be
// read is nil, with an error beside the settings.
func Read(ctx context.Context, bmc Source, where Where) (*Settings, *Registry, error) {
	settings, err := readSettings(ctx, bmc, where.System)
	if err != nil {
		return nil, nil, err
	}
	registry, err := readRegistry(ctx, bmc, where.RegistryPath, settings.Registry)
	if err != nil {
		return settings, nil, fmt.Errorf("read the registry of the BIOS settings: %w", err)
	}
	return settings, registry, nil
}

func readSettings(ctx context.Context, bmc Source, systemPath string) (*Settings, error) {
	var system struct {
		Bios lenient.Link
	}
	if err := bmc.Get(ctx, systemPath, &system); err != nil {
		return nil, fmt.Errorf("read the system: %w", err)
	}
	if system.Bios.Path == "" {
		return nil, ErrNoSettings
	}
	var current, pending json.RawMessage
	if err := bmc.Get(ctx, system.Bios.Path, &current); err != nil {
		return nil, fmt.Errorf("read the BIOS settings: %w", err)
	}
	wire, err := parseBIOS(current)
	if err != nil {
		return nil, err
	}
	if at := wire.Settings.Value.Object.Path; at != "" {
		if err := bmc.Get(ctx, at, &pending); err != nil {
			pending = nil // some BMCs have it only while something is pending
		}
	}
	settings, err := ParseSettings(current, pending)
	if settings == nil {
		return nil, err
	}
	return settings, nil
}

// readRegistry reads a registry from where it is known to be, else from the BMC's list.
func readRegistry(ctx context.Context, bmc Source, at, name string) (*Registry, error) {
	if at == "" {
		members, _, err := bmc.Members(ctx, registries, maxRegistries)
		if err != nil {
			return nil, err
		}
		if at = choose(members, name); at == "" {
			return nil, fmt.Errorf("none of %d registries is called %q", len(members), name)
		}
	}
	var raw json.RawMessage
	if err := bmc.Get(ctx, at, &raw); err != nil {
		return nil, err
	}
	registry, err := ParseRegistry(raw)
	if !errors.Is(err, ErrNoRegistry) {
		return registry, err
	}
	if at = location(raw); at == "" {
		return nil, fmt.Errorf("%s names no place of the registry", at)
	}
	if err := bmc.Get(ctx, at, &raw); err != nil {
		return nil, err
	}
	return ParseRegistry(raw)
}

// choose picks a registry: the one with the name, else one that has another version of
// it. Where the BIOS gives no name, it is the one for BIOS attributes; else that may be
// another machine's.
func choose(members []string, name string) string {
	base := func(at string) string { return path.Base(strings.TrimRight(at, "/")) }
	unversioned := func(name string) string {
		stem, _, _ := strings.Cut(name, ".")
		return stem
	}
	for _, fits := range []func(string) bool{
		func(at string) bool { return name != "" && strings.EqualFold(base(at), name) },
		func(at string) bool { return name != "" && strings.EqualFold(unversioned(base(at)), unversioned(name)) },
		func(at string) bool {
			return name == "" && strings.HasPrefix(strings.ToLower(base(at)), "biosattributeregistry")
		},
	} {
		if i := slices.IndexFunc(members, fits); i >= 0 {
			return members[i]
		}
	}
	return ""
}

// location is where a registry's file is: the English one, else the first.
func location(raw []byte) string {
	var file struct {
		Location lenient.List[struct {
			Language lenient.String
			URI      lenient.Link `json:"Uri"`
		}]
	}
	if err := json.Unmarshal(raw, &file); err != nil && !lenient.OnlyTypes(err) {
		return ""
	}
	first := ""
	for _, l := range file.Location {
		if l.URI.Path == "" {
			continue
		}
		if strings.HasPrefix(strings.ToLower(string(l.Language)), "en") {
			return l.URI.Path
		}
		if first == "" {
			first = l.URI.Path
		}
	}
	return first
}
