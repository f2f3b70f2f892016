package cli

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/imagecustomization/iso"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
)

// inspection is the output of "inspect".
type inspection struct {
	VolumeID string              `json:"volume_id"`
	Bytes    int64               `json:"bytes"`
	Ignition *inspectedArea      `json:"ignition,omitempty"`
	Kargs    *inspectedKargs     `json:"kargs,omitempty"`
	Features map[string]bool     `json:"features,omitempty"`
	Minimal  bool                `json:"can_be_minimal"`
	Because  string              `json:"not_minimal_because,omitempty"`
	Embedded map[string]int      `json:"embedded,omitempty"`
	Files    map[string][2]int64 `json:"files,omitempty"`
}

type inspectedArea struct {
	File     string `json:"file,omitempty"`
	Offset   int64  `json:"offset"`
	Length   int64  `json:"length"`
	Movable  bool   `json:"movable"`
	Pristine bool   `json:"pristine"`
}

type inspectedKargs struct {
	Source  string          `json:"source"`
	Default string          `json:"default"`
	Current string          `json:"current"`
	Areas   []inspectedKarg `json:"areas"`
}

type inspectedKarg struct {
	File     string `json:"file"`
	Offset   int64  `json:"offset"`
	Length   int64  `json:"length"`
	Capacity int    `json:"capacity"`
}

func inspectCommand() *cobra.Command {
	var files bool
	c := &cobra.Command{
		Use:   "inspect [--files] ISO",
		Short: "Show the layout of a live ISO as JSON",
		Long: "Shows where Ignition configs and kernel arguments can be embedded in a live ISO, what is embedded now, and whether the ISO can be made minimal. " +
			"The medium is read once for the last.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withMedium(args[0], func(m *medium) error {
				found, err := inspect(m, files)
				if err != nil {
					return err
				}
				out := json.NewEncoder(cmd.OutOrStdout())
				out.SetIndent("", "  ")
				out.SetEscapeHTML(false)
				return out.Encode(found)
			})
		},
	}
	c.Flags().BoolVar(&files, "files", false, "list all files with offset and length")
	return c
}

func inspect(m *medium, files bool) (*inspection, error) {
	l := m.Layout
	out := &inspection{VolumeID: l.VolumeID, Bytes: l.Size, Features: l.Features}
	if err := minimal(m); err != nil {
		out.Because = err.Error()
	}
	out.Minimal = out.Because == ""
	if area := l.Ignition; area != nil {
		out.Ignition = &inspectedArea{Offset: area.Offset, Length: area.Length, Movable: area.WholeFile}
		if area.File != nil {
			out.Ignition.File = area.File.Path
		}
		c, err := m.content()
		if err != nil {
			return nil, err
		}
		out.Ignition.Pristine = c.Empty()
		out.Embedded = map[string]int{}
		if len(c.Ignition) > 0 {
			out.Embedded["config.ign"] = len(c.Ignition)
		}
		for name, data := range c.Keyfiles {
			out.Embedded[name] = len(data)
		}
		for _, f := range c.Files {
			out.Embedded[f.Name] = len(f.Data)
		}
	}
	if k := l.Kargs; k != nil {
		current, err := k.Read(m)
		if err != nil {
			return nil, err
		}
		out.Kargs = &inspectedKargs{Source: k.Source, Default: k.Default, Current: current}
		for _, a := range k.Areas {
			out.Kargs.Areas = append(out.Kargs.Areas, inspectedKarg{a.Path, a.Offset, a.Length, a.Capacity()})
		}
	}
	if files {
		out.Files = map[string][2]int64{}
		for f := range l.Files() {
			out.Files[f.Path] = [2]int64{f.Offset, f.Size}
		}
	}
	return out, nil
}

// minimal tells why the untouched medium cannot be made minimal, by doing so.
func minimal(m *medium) error {
	untouched, err := overlay.Reset(m.Media)
	if err != nil {
		return err
	}
	layout, err := iso.Parse(untouched, untouched.Size())
	if err != nil {
		return err
	}
	_, err = overlay.Minimal(overlay.Media{Source: untouched, Layout: layout})
	return err
}

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
