package agentlabels

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/hub/wire"
)

// Labels of what an inventory says; other tools select by them.
const (
	HasNonRotationalDisk = names.InventoryPrefix + "storage-hasnonrotationaldisk"
	CPUArchitecture      = names.InventoryPrefix + "cpu-architecture"
	CPUVirtEnabled       = names.InventoryPrefix + "cpu-virtenabled"
	HostManufacturer     = names.InventoryPrefix + "host-manufacturer"
	HostProductName      = names.InventoryPrefix + "host-productname"
	HostIsVirtual        = names.InventoryPrefix + "host-isvirtual"
)

// inventoryVersion is that of the set of labels.
const inventoryVersion = "0.1"

// errorPrefix begins the value of a label whose query failed.
const errorPrefix = "QUERYERROR-"

// ours tells that a label is written by this package alone.
func ours(key string) bool {
	return strings.HasPrefix(key, names.InventoryPrefix) || strings.HasPrefix(key, names.ClassificationPrefix) || key == names.AgentClusterNamespace
}

// labelsOf are all of our labels of an Agent. Of classifications with one key the first by
// name that fits counts, so that two never take turns.
func labelsOf(ctx context.Context, agent *agentv1.Agent, classifications []agentv1.AgentClassification) (map[string]string, error) {
	labels := map[string]string{}
	if ref := clusterOf(agent); ref.Name != "" {
		labels[names.AgentClusterNamespace] = ref.Namespace
	}
	if agent.Status.Inventory.ReportTime == nil {
		return labels, nil // nothing is known of the machine
	}
	describe(labels, &agent.Status.Inventory)
	inventory, err := document(&agent.Status.Inventory)
	if err != nil {
		return nil, fmt.Errorf("inventory of Agent %s: %w", agent.Name, err)
	}
	sorted := slices.SortedFunc(slices.Values(classifications), func(a, b agentv1.AgentClassification) int { return strings.Compare(a.Name, b.Name) })
	for i := range sorted {
		c := &sorted[i]
		key, value, err := labelOf(c)
		if err != nil || labels[key] != "" && !strings.HasPrefix(labels[key], errorPrefix) {
			continue // the classification's own condition says so
		}
		switch fits, err := matches(ctx, c.Spec.Query, inventory); {
		case fits:
			labels[key] = value
		case err != nil && labels[key] == "":
			labels[key] = errorValue(value)
		}
	}
	return labels, nil
}

// labelOf is the label of a classification. The error says what no label can be.
func labelOf(c *agentv1.AgentClassification) (key, value string, err error) {
	key, value = names.ClassificationPrefix+c.Spec.LabelKey, c.Spec.LabelValue
	if wrong := validation.IsQualifiedName(key); len(wrong) > 0 {
		return "", "", fmt.Errorf("spec.labelKey %q is none: %s", c.Spec.LabelKey, strings.Join(wrong, "; "))
	}
	if wrong := validation.IsValidLabelValue(value); len(wrong) > 0 || value == "" {
		return "", "", fmt.Errorf("spec.labelValue %q is none: %s", value, strings.Join(append(wrong, "want letters, digits, dashes, dots and underscores"), "; "))
	}
	return key, value, nil
}

// errorValue is the label's value where the query failed, cut to what a label may have.
func errorValue(value string) string {
	cut := errorPrefix + value
	return strings.TrimRight(cut[:min(len(cut), validation.LabelValueMaxLength)], "-_.")
}

// describe adds what the inventory says.
func describe(labels map[string]string, inventory *agentv1.HostInventory) {
	labels[HasNonRotationalDisk] = strconv.FormatBool(slices.ContainsFunc(inventory.Disks, func(d agentv1.HostDisk) bool {
		return strings.EqualFold(d.DriveType, string(wire.DriveTypeSsd))
	}))
	labels[CPUArchitecture] = plain(inventory.Cpu.Architecture)
	labels[CPUVirtEnabled] = strconv.FormatBool(slices.ContainsFunc(inventory.Cpu.Flags, func(f string) bool { return f == "vmx" || f == "svm" }))
	labels[HostManufacturer] = plain(inventory.SystemVendor.Manufacturer)
	labels[HostProductName] = plain(inventory.SystemVendor.ProductName)
	labels[HostIsVirtual] = strconv.FormatBool(inventory.SystemVendor.Virtual)
}

var noLabel = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// plain is a text of the firmware as a label's value: "PowerEdge R640" becomes PowerEdgeR640.
func plain(text string) string {
	clean := strings.Trim(noLabel.ReplaceAllString(text, ""), "-_.")
	return strings.TrimRight(clean[:min(len(clean), validation.LabelValueMaxLength)], "-_.")
}
