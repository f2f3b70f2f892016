package simulator

import (
	"fmt"
	"maps"
	"path"
	"time"
)

// effects are what steps change on a machine, by name; a text is why one failed.
// Steps that are not here change nothing.
var effects = map[string]func(*node, Step) string{
	"raid.delete_configuration": deleteVolumes,
	"raid.create_configuration": createVolumes,
	"bios.apply_configuration":  applySettings,
	"firmware.update":           updateFirmware,
}

// effect carries a step out on the machine, and counts it.
func (s *Server) effect(n *node, step Step) string {
	name := step.Interface + "." + step.Step
	if text := s.failures[name]; text != "" {
		return fmt.Sprintf("Step %s failed on node %s. %s", name, n.uuid, text)
	}
	s.steps[name]++
	if change, ok := effects[name]; ok {
		if problem := change(n, step); problem != "" {
			return fmt.Sprintf("Step %s failed on node %s. %s", name, n.uuid, problem)
		}
	}
	return ""
}

// FailStep makes a step, "interface.step", fail with a text from now on; an empty
// text lets it succeed again.
func (s *Server) FailStep(name, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures[name] = text
}

// Steps returns how often each step was carried out on any machine, by
// "interface.step".
func (s *Server) Steps() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.steps)
}

func deleteVolumes(n *node, _ Step) string {
	n.raidConfig = nil
	return ""
}

func createVolumes(n *node, _ Step) string {
	target, _ := n.targetRAID["logical_disks"].([]any)
	if len(target) == 0 {
		return "Node has no target RAID configuration."
	}
	n.raidConfig = map[string]any{"logical_disks": clone(target), "last_updated": timeText(time.Now())}
	return ""
}

// settingsOf reads the argument "settings" of a step.
func settingsOf(step Step) []map[string]any {
	list, _ := step.Args["settings"].([]any)
	var settings []map[string]any
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			settings = append(settings, m)
		}
	}
	return settings
}

func applySettings(n *node, step Step) string {
	for _, wanted := range settingsOf(step) {
		setting := entry(n.bios, "name", wanted["name"])
		if setting == nil {
			return fmt.Sprintf("BIOS setting %v is not supported.", wanted["name"])
		}
		setting["value"] = fmt.Sprint(wanted["value"])
	}
	return ""
}

func updateFirmware(n *node, step Step) string {
	for _, wanted := range settingsOf(step) {
		component := entry(n.firmware, "component", wanted["component"])
		if component == nil {
			return fmt.Sprintf("Firmware component %v is not supported.", wanted["component"])
		}
		version := path.Base(fmt.Sprint(wanted["url"]))
		component["current_version"], component["last_version_flashed"] = version, version
		component["updated_at"] = timeText(time.Now())
	}
	return ""
}

// entry finds the object that has a value under a key; nil for none.
func entry(list []map[string]any, key string, value any) map[string]any {
	for _, item := range list {
		if item[key] == value {
			return item
		}
	}
	return nil
}
