package ignition

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	ignitionerrors "github.com/coreos/ignition/v2/config/shared/errors"
	"github.com/coreos/ignition/v2/config/v3_2/types"
	"github.com/coreos/ignition/v2/config/v3_6"
	"sigs.k8s.io/yaml"
)

// Where the live system's coreos-installer.service looks, and what it is handed.
const (
	installerDir = "/etc/coreos/installer.d"
	destIgnition = "/etc/coreos/dest.ign"
	hookDir      = "/usr/local/bin"
)

// File is a file of the user, by its name.
type File struct {
	// Name is a plain file name.
	Name string
	// Data is the content.
	Data []byte
}

// check asks Ignition's own parser what is wrong with a config.
func (f File) check() error {
	if _, rpt, err := v3_6.ParseCompatibleVersion(f.Data); err != nil {
		return fmt.Errorf("%w: Ignition config %s: %w", ErrInvalid, f.Name, reportError(rpt, err))
	}
	return nil
}

// CheckConfig says what is wrong with a config that is embedded as it is; nil for nothing.
// Of a version that is not known here the live system is the judge, which may be newer.
// Errors name the file and wrap [ErrInvalid].
func CheckConfig(f File) error {
	if _, _, err := v3_6.ParseCompatibleVersion(f.Data); errors.Is(err, ignitionerrors.ErrUnknownVersion) {
		return nil
	}
	return f.check()
}

// Unattended describes a live system that installs itself without a hub, by the
// installer that CoreOS media start when they are told what to install. The zero
// value is a live system that does nothing of its own.
type Unattended struct {
	// Live are Ignition configs that are merged into the live system's.
	Live []File
	// Dest are Ignition configs of the installed system, merged in this order.
	Dest []File
	// CAs are PEM certificates by which both systems fetch what their configs name.
	CAs []File
	// DestDevice is the disk that is installed to, without a question.
	DestDevice string
	// AppendKargs and DeleteKargs change the installed system's kernel arguments.
	AppendKargs, DeleteKargs []string
	// Consoles are consoles of the installed system's kernel and boot loader, e.g.
	// "ttyS0,115200n8".
	Consoles []string
	// PreInstall and PostInstall are programs that run around the installer.
	PreInstall, PostInstall []File
	// Configs are further configs of the installer (YAML).
	Configs []File
	// CopyNetwork carries the live system's keyfiles to the installed system.
	CopyNetwork bool
}

// Installs tells whether the installer starts by itself.
func (u Unattended) Installs() bool {
	return len(u.Dest) > 0 || len(u.Configs) > 0 || u.DestDevice != "" || len(u.AppendKargs)+len(u.DeleteKargs)+len(u.Consoles) > 0
}

// Directives are the directives of the installer's configs that are used, sorted.
// Media say which they know.
func (u Unattended) Directives() ([]string, error) {
	var names []string
	configs, err := u.installerConfigs()
	if err != nil {
		return nil, err
	}
	for _, c := range configs {
		var directives map[string]any
		if err := yaml.Unmarshal(c.Data, &directives); err != nil {
			return nil, fmt.Errorf("%w: installer config %s: %w", ErrInvalid, c.Name, err)
		}
		for name := range directives {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// hookName is what may become part of a unit's name and of a command line.
var hookName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// BuildUnattended renders the config of the live system; nothing for the zero
// value. Errors name the file at fault and wrap [ErrInvalid].
func BuildUnattended(u Unattended) ([]byte, error) {
	l := &layer{}
	configs, err := u.installerConfigs()
	if err != nil {
		return nil, err
	}
	for i, c := range configs {
		l.file(fmt.Sprintf("%s/%04d-%s", installerDir, i, c.Name), 0o600, string(c.Data))
	}
	if len(u.Dest) > 0 {
		dest, err := wrapped(&layer{}, u.Dest, u.CAs)
		if err != nil {
			return nil, err
		}
		l.file(destIgnition, 0o600, string(dest))
	}
	if err := u.hooks(l); err != nil {
		return nil, err
	}
	if len(l.files) == 0 && len(u.Live) == 0 && len(u.CAs) == 0 {
		return nil, nil
	}
	return wrapped(l, u.Live, u.CAs)
}

// hooks adds the programs that run before and after the installer. One that fails
// ends the installation.
func (u Unattended) hooks(l *layer) error {
	for _, kind := range []struct {
		name, title, order, requiredBy string
		programs                       []File
	}{
		{"pre", "Before", "After=coreos-installer-pre.target\nBefore=coreos-installer.service", "coreos-installer.service", u.PreInstall},
		{"post", "After", "After=coreos-installer.service\nBefore=coreos-installer.target", "coreos-installer.target", u.PostInstall},
	} {
		seen := map[string]bool{}
		for _, p := range kind.programs {
			if !hookName.MatchString(p.Name) || seen[p.Name] {
				return fmt.Errorf("%w: %s-install program %q: the name must be made of letters, digits, '.', '_' and '-', and be there once", ErrInvalid, kind.name, p.Name)
			}
			seen[p.Name] = true
			name := kind.name + "-install-" + p.Name
			l.file(hookDir+"/"+name, 0o700, string(p.Data))
			l.unit(name+".service", true, lines(
				"[Unit]",
				"Description="+kind.title+" the installation: "+p.Name,
				kind.order,
				"",
				"[Service]",
				"Type=oneshot",
				"RemainAfterExit=yes",
				"ExecStart="+hookDir+"/"+name,
				"StandardOutput=kmsg+console",
				"StandardError=kmsg+console",
				"",
				"[Install]",
				"RequiredBy="+kind.requiredBy,
			))
		}
	}
	return nil
}

// ownConfig is the part of the installer's config that the fields make.
type ownConfig struct {
	DestDevice   string   `json:"dest-device,omitempty"`
	IgnitionFile string   `json:"ignition-file,omitempty"`
	AppendKargs  []string `json:"append-karg,omitempty"`
	DeleteKargs  []string `json:"delete-karg,omitempty"`
	Consoles     []string `json:"console,omitempty"`
	CopyNetwork  bool     `json:"copy-network,omitempty"`
}

// installerConfigs are the user's configs and, last, the one of the fields.
func (u Unattended) installerConfigs() ([]File, error) {
	var all []File
	for _, c := range u.Configs {
		var directives map[string]any
		if err := yaml.Unmarshal(c.Data, &directives); err != nil {
			return nil, fmt.Errorf("%w: installer config %s: %w", ErrInvalid, c.Name, err)
		}
		if err := checkConsoles(directives); err != nil {
			return nil, fmt.Errorf("installer config %s: %w", c.Name, err)
		}
		// The installer reads files of this suffix only.
		all = append(all, File{Name: strings.TrimSuffix(c.Name, ".yaml") + ".yaml", Data: c.Data})
	}
	if !u.Installs() {
		return all, nil
	}
	if err := u.checkFields(); err != nil {
		return nil, err
	}
	own := ownConfig{
		DestDevice: u.DestDevice, AppendKargs: u.AppendKargs, DeleteKargs: u.DeleteKargs, Consoles: u.Consoles, CopyNetwork: u.CopyNetwork,
	}
	if len(u.Dest) > 0 {
		own.IgnitionFile = destIgnition
	}
	raw, err := yaml.Marshal(own)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(string(raw)) == "{}" {
		return all, nil
	}
	return append(all, File{Name: "customize.yaml", Data: raw}), nil
}

// checkFields refuses what the installer would fail at, hours later and on the machine, or
// would write into the boot loader's configuration as another line.
func (u Unattended) checkFields() error {
	if u.DestDevice != "" && !strings.HasPrefix(u.DestDevice, "/") {
		return fmt.Errorf("%w: disk to install to: %q is no path of a device, such as /dev/sda", ErrInvalid, u.DestDevice)
	}
	for _, arg := range slices.Concat(u.AppendKargs, u.DeleteKargs) {
		if arg == "" || strings.ContainsFunc(arg, unicode.IsControl) {
			return fmt.Errorf("%w: kernel argument of the installed system: %q is empty or holds a control character", ErrInvalid, arg)
		}
	}
	for _, console := range u.Consoles {
		if err := CheckConsole(console); err != nil {
			return err
		}
	}
	return nil
}

// wrapped is a config that merges others, each in its own version. A single one
// without anything beside it is left as it is.
func wrapped(l *layer, configs, cas []File) ([]byte, error) {
	for _, c := range configs {
		if err := c.check(); err != nil {
			return nil, err
		}
	}
	if len(configs) == 1 && len(cas) == 0 && len(l.files) == 0 {
		return configs[0].Data, nil
	}
	out := l.config()
	for _, c := range configs {
		source := "data:;base64," + base64.StdEncoding.EncodeToString(c.Data)
		out.Ignition.Config.Merge = append(out.Ignition.Config.Merge, types.Resource{Source: &source})
	}
	for _, ca := range cas {
		var p problems
		if p.pem(ca.Name, string(ca.Data)); len(p) > 0 {
			return nil, fmt.Errorf("%w: CA %w", ErrInvalid, errors.Join(p...))
		}
		out.Ignition.Security.TLS.CertificateAuthorities = append(out.Ignition.Security.TLS.CertificateAuthorities, resource(string(ca.Data)))
	}
	return json.Marshal(out)
}
