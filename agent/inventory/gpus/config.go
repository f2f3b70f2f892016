package gpus

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v2"
)

// Config tells which PCI functions are accelerators; each entry is hex digits
// in lower case with one space between.
type Config struct {
	// Classes are classes with subclass: "0302".
	Classes []string `yaml:"classes"`
	// Vendors are classes of one vendor: "0302 10de".
	Vendors []string `yaml:"vendors"`
	// Models are single models: "1200 1da3 1020".
	Models []string `yaml:"models"`
}

// Defaults are display, 3D and other display controllers, and processing
// accelerators.
func Defaults() Config { return Config{Classes: []string{"0300", "0302", "0380", "1200"}} }

// maxConfig bounds a configuration file, bytes.
const maxConfig = 1 << 20

// entry matches one to three groups of four hex digits.
var entry = regexp.MustCompile(`^[0-9a-f]{4}( [0-9a-f]{4}){0,2}$`)

// ParseConfig reads a configuration file (YAML); it replaces the defaults.
func ParseConfig(raw []byte) (Config, error) {
	var c Config
	if len(raw) > maxConfig {
		return c, fmt.Errorf("GPU configuration: %d bytes are more than %d", len(raw), maxConfig)
	}
	if err := yaml.UnmarshalStrict(raw, &c); err != nil {
		return c, fmt.Errorf("GPU configuration: %w", err)
	}
	for _, list := range []struct {
		name    string
		entries []string
		groups  int
	}{{"classes", c.Classes, 1}, {"vendors", c.Vendors, 2}, {"models", c.Models, 3}} {
		for i, text := range list.entries {
			text = strings.Join(strings.Fields(strings.ToLower(text)), " ")
			if !entry.MatchString(text) || strings.Count(text, " ") != list.groups-1 {
				return c, fmt.Errorf("GPU configuration: %s: %q: want %d times four hex digits, such as %q", list.name, list.entries[i], list.groups, "1200 1da3 1020"[:5*list.groups-1])
			}
			list.entries[i] = text
		}
	}
	return c, nil
}

// LoadConfig reads the configuration file; without one, [Defaults] hold.
func LoadConfig(path string) (Config, error) {
	if path == "" {
		return Defaults(), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return Config{}, fmt.Errorf("GPU configuration: %w", err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return Config{}, fmt.Errorf("GPU configuration: %w", err)
	}
	return ParseConfig(raw)
}

// wants goes from the most general to the most special.
func (c Config) wants(class, vendor, device string) bool {
	return slices.Contains(c.Classes, class) ||
		slices.Contains(c.Vendors, class+" "+vendor) ||
		slices.Contains(c.Models, class+" "+vendor+" "+device)
}
