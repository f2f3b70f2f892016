package ironic

import (
	"context"
	"net/http"
	"time"
)

// LogicalDisk is one volume of a RAID target.
type LogicalDisk struct {
	SizeGiB       int // 0: as large as possible
	Level         string
	Name          string
	Root          bool
	DiskType      string // "hdd", "ssd" or empty
	NumberOfDisks int
	Controller    string
	PhysicalDisks []any // names, or hint objects for software RAID
}

// BIOSSetting is one firmware setting with its schema.
type BIOSSetting struct {
	Name            string
	Value           string
	AttributeType   string // "Enumeration", "String", "Integer", "Boolean", "Password" or empty
	AllowableValues []string
	LowerBound      *int
	UpperBound      *int
	MinLength       *int
	MaxLength       *int
	ReadOnly        *bool
	Unique          *bool
	ResetRequired   *bool
}

// FirmwareComponent is one updatable part of the machine and its versions.
type FirmwareComponent struct {
	Component          string
	InitialVersion     string
	CurrentVersion     string
	LastVersionFlashed string
	UpdatedAt          time.Time
}

// SetRAID sets the RAID target that the step raid.create_configuration builds.
// No disks mean an empty target.
func (g *Gateway) SetRAID(ctx context.Context, uuid string, disks []LogicalDisk) error {
	return g.do(ctx, call{
		op: "set RAID target", node: uuid, method: http.MethodPut, path: nodePath(uuid, "states", "raid"), body: RAIDTarget(disks),
	})
}

// RAIDTarget is the target of a RAID configuration as a node shows it.
func RAIDTarget(disks []LogicalDisk) map[string]any {
	wire := make([]map[string]any, 0, len(disks))
	for _, d := range disks {
		wire = append(wire, d.wire())
	}
	return map[string]any{"logical_disks": wire}
}

// SameRAIDTarget reports whether a node's target_raid_config asks for these disks.
func SameRAIDTarget(have map[string]any, disks []LogicalDisk) bool {
	var p patches
	return p.same(have["logical_disks"], RAIDTarget(disks)["logical_disks"]) && p.err == nil
}

func (d LogicalDisk) wire() map[string]any {
	m := map[string]any{"raid_level": d.Level, "size_gb": "MAX"}
	if d.SizeGiB > 0 {
		m["size_gb"] = d.SizeGiB
	}
	texts := map[string]string{"volume_name": d.Name, "disk_type": d.DiskType, "controller": d.Controller}
	for key, value := range texts {
		if value != "" {
			m[key] = value
		}
	}
	if d.Root {
		m["is_root_volume"] = true
	}
	if d.NumberOfDisks > 0 {
		m["number_of_physical_disks"] = d.NumberOfDisks
	}
	if len(d.PhysicalDisks) > 0 {
		m["physical_disks"] = d.PhysicalDisks
	}
	return m
}

// BIOS reads the node's firmware settings with their schema, as Ironic cached
// them; they are empty before they were first read from the machine.
func (g *Gateway) BIOS(ctx context.Context, uuid string) ([]BIOSSetting, error) {
	var answer struct {
		Settings []struct {
			Name            string   `json:"name"`
			Value           *string  `json:"value"`
			AttributeType   string   `json:"attribute_type"`
			AllowableValues []string `json:"allowable_values"`
			LowerBound      *int     `json:"lower_bound"`
			UpperBound      *int     `json:"upper_bound"`
			MinLength       *int     `json:"min_length"`
			MaxLength       *int     `json:"max_length"`
			ReadOnly        *bool    `json:"read_only"`
			Unique          *bool    `json:"unique"`
			ResetRequired   *bool    `json:"reset_required"`
		} `json:"bios"`
	}
	if err := g.get(ctx, "get BIOS settings", uuid, nodePath(uuid, "bios")+"?detail=True", &answer); err != nil {
		return nil, err
	}
	settings := make([]BIOSSetting, 0, len(answer.Settings))
	for _, s := range answer.Settings {
		b := BIOSSetting{
			Name: s.Name, AttributeType: s.AttributeType, AllowableValues: s.AllowableValues,
			LowerBound: s.LowerBound, UpperBound: s.UpperBound, MinLength: s.MinLength, MaxLength: s.MaxLength,
			ReadOnly: s.ReadOnly, Unique: s.Unique, ResetRequired: s.ResetRequired,
		}
		if s.Value != nil {
			b.Value = *s.Value
		}
		settings = append(settings, b)
	}
	return settings, nil
}

// Firmware reads the versions of the node's firmware components, as Ironic
// cached them.
func (g *Gateway) Firmware(ctx context.Context, uuid string) ([]FirmwareComponent, error) {
	var answer struct {
		Components []struct {
			Component          string    `json:"component"`
			InitialVersion     string    `json:"initial_version"`
			CurrentVersion     string    `json:"current_version"`
			LastVersionFlashed string    `json:"last_version_flashed"`
			CreatedAt          time.Time `json:"created_at"`
			UpdatedAt          time.Time `json:"updated_at"`
		} `json:"firmware"`
	}
	if err := g.get(ctx, "get firmware components", uuid, nodePath(uuid, "firmware"), &answer); err != nil {
		return nil, err
	}
	components := make([]FirmwareComponent, 0, len(answer.Components))
	for _, c := range answer.Components {
		if c.UpdatedAt.IsZero() {
			c.UpdatedAt = c.CreatedAt
		}
		components = append(components, FirmwareComponent{
			Component: c.Component, InitialVersion: c.InitialVersion, CurrentVersion: c.CurrentVersion,
			LastVersionFlashed: c.LastVersionFlashed, UpdatedAt: c.UpdatedAt,
		})
	}
	return components, nil
}

// ApplyBIOSStep is the clean or service step that sets firmware settings.
// Values are texts, or numbers for integers.
func ApplyBIOSStep(settings map[string]any) Step {
	return Step{Interface: "bios", Name: "apply_configuration", Args: map[string]any{"settings": namedValues(settings)}}
}
