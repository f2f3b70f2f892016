package coreos

import (
	"context"
	"fmt"
	"strings"

	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
	"github.com/ironflow/ironflow/customdeploy/step"
	"github.com/ironflow/ironflow/customdeploy/writable"
)

// skipMember is where Ironic keeps what nobody may touch; a software RAID is named
// by its volume name, disks by hints.
const (
	skipMember = "skip_block_devices"
	volumeName = "volume_name"
)

// Skip is what the node says nobody may touch.
type Skip struct {
	Disks   []Hints
	Volumes []string
}

func (p *Plan) readSkip(node step.Node) error {
	raw, ok := node.Properties[skipMember]
	if !ok || raw == nil {
		return nil
	}
	entries, ok := raw.([]any)
	if !ok {
		return fmt.Errorf("properties.%s must be a list", skipMember)
	}
	for i, entry := range entries {
		hints, ok := entry.(map[string]any)
		if !ok || len(hints) == 0 {
			return fmt.Errorf("properties.%s[%d] must be an object of hints", skipMember, i)
		}
		if volume, ok := hints[volumeName]; ok {
			name, isText := volume.(string)
			if !isText || name == "" || len(hints) > 1 {
				return fmt.Errorf("properties.%s[%d]: %s must be a text and stand alone", skipMember, i, volumeName)
			}
			p.Skip.Volumes = append(p.Skip.Volumes, name)
			continue
		}
		if err := Hints(hints).Check(); err != nil {
			return fmt.Errorf("properties.%s[%d]: %w", skipMember, i, err)
		}
		p.Skip.Disks = append(p.Skip.Disks, hints)
	}
	return nil
}

// keep tells the host which disks and arrays must stay as they are: what the node
// skips, the arrays that lie on it, those in use and, where arrays are kept, all of them.
func (p Plan) keep(ctx context.Context, run hostexec.Exec, host *writable.Host, disks []blockdev.Disk, keepArrays bool) error {
	for _, d := range disks {
		for _, hints := range p.Skip.Disks {
			if hints.fits(d) {
				host.Keep(d.Path, fmt.Sprintf("the node's %s has %s", skipMember, hints))
				for _, twin := range host.Twins(d.Path) {
					host.Keep(twin, fmt.Sprintf("it is the same disk as %s, and the node's %s has %s", d.Path, skipMember, hints))
				}
			}
		}
	}
	for _, array := range raidsOf(host.Tree).arrays {
		why := ""
		for _, disk := range array.on {
			if on := host.Kept(disk); on != "" {
				why = "it lies on " + disk + ", where " + on
			}
		}
		if why == "" && keepArrays {
			why = "the node's automated_clean is off"
		}
		if why == "" && len(p.Skip.Volumes) > 0 {
			name, err := volumeOf(ctx, run, array.path)
			if err != nil {
				return err
			}
			for _, volume := range p.Skip.Volumes {
				if volume == name {
					why = fmt.Sprintf("the node's %s has %s=%s", skipMember, volumeName, name)
				}
			}
		}
		if used := host.InUse(array.path); why == "" && used != nil {
			why = used.Error()
		}
		if why != "" && host.Kept(array.path) == "" {
			host.Keep(array.path, why)
		}
	}
	return nil
}

// volumeOf is the name that the array was made with. mdadm puts the name of the host
// before it.
func volumeOf(ctx context.Context, run hostexec.Exec, array string) (string, error) {
	out, err := hostexec.Output(ctx, run, "mdadm", "--detail", "--export", array)
	if err != nil {
		return "", fmt.Errorf("the volume name of %s, which %s asks for: %w", array, skipMember, err)
	}
	for line := range strings.Lines(out) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "MD_NAME="); ok {
			return name[strings.LastIndex(name, ":")+1:], nil
		}
	}
	return "", nil
}
