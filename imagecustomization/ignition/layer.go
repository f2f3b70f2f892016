package ignition

import (
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/coreos/ignition/v2/config/v3_2/types"
)

// layer collects the parts of one config.
type layer struct {
	files []types.File
	units []types.Unit
	users []types.PasswdUser
}

func (l *layer) config() types.Config {
	return types.Config{
		Ignition: types.Ignition{Version: Version},
		Storage:  types.Storage{Files: l.files},
		Systemd:  types.Systemd{Units: l.units},
		Passwd:   types.Passwd{Users: l.users},
	}
}

// file adds a file that replaces whatever the live system has there.
func (l *layer) file(path string, mode int, content string) {
	l.files = append(l.files, types.File{
		Node:          types.Node{Path: path, Overwrite: new(true)},
		FileEmbedded1: types.FileEmbedded1{Mode: &mode, Contents: resource(content)},
	})
}

// appendTo adds text at the end of a file of the live system.
func (l *layer) appendTo(path, content string) {
	l.files = append(l.files, types.File{
		Node:          types.Node{Path: path},
		FileEmbedded1: types.FileEmbedded1{Append: []types.Resource{resource(content)}},
	})
}

func (l *layer) unit(name string, enabled bool, content string) {
	l.units = append(l.units, types.Unit{Name: name, Enabled: &enabled, Contents: &content})
}

// enable starts a unit that the live system has.
func (l *layer) enable(name string) {
	l.units = append(l.units, types.Unit{Name: name, Enabled: new(true)})
}

// resource holds content as a data URL. Text stays readable, because the archive
// around the config compresses it far better than base64.
func resource(content string) types.Resource {
	source := "data:;base64," + base64.StdEncoding.EncodeToString([]byte(content))
	if utf8.ValidString(content) {
		source = "data:," + url.PathEscape(content)
	}
	return types.Resource{Source: &source}
}

// lines joins lines and ends the last one.
func lines(all ...string) string { return strings.Join(all, "\n") + "\n" }

// environment renders an EnvironmentFile of systemd; empty values are left out.
func environment(values map[string]string) string {
	var out strings.Builder
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if value := values[key]; value != "" {
			out.WriteString(key + "=" + quoteEnvironment(value) + "\n")
		}
	}
	return out.String()
}

// quoteEnvironment quotes a value where systemd would read it as something else.
func quoteEnvironment(value string) string {
	if !strings.ContainsAny(value, " \t\"'\\$`#;") {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(value) + `"`
}

// escapeUnit makes text safe as a word of a unit's command line: systemd expands
// % and $.
func escapeUnit(text string) string {
	return strings.NewReplacer("%", "%%", "$", "$$").Replace(text)
}

// variables are the proxy settings in both spellings that programs look for.
func (p Proxy) variables() map[string]string {
	return map[string]string{
		"HTTP_PROXY": p.HTTP, "HTTPS_PROXY": p.HTTPS, "NO_PROXY": p.No,
		"http_proxy": p.HTTP, "https_proxy": p.HTTPS, "no_proxy": p.No,
	}
}
