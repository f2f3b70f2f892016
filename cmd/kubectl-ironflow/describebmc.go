package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ironflowv1 "github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/controllers/host/view/render"
)

// bmcNode is the host's BMC: how it is reached, what it is, how the machine's parts are, and what is wrong.
func bmcNode(ctx context.Context, cl client.Client, host *metal3v1.BareMetalHost, said *said) render.Node {
	if host.Spec.BMC.Address == "" {
		return render.Leaff("BMC: none; set spec.bmc")
	}
	n := render.Node{Title: "BMC: " + host.Spec.BMC.Address, Children: []render.Node{secretNode(ctx, cl, host)}}
	b := &ironflowv1.BMC{}
	if err := cl.Get(ctx, client.ObjectKeyFromObject(host), b); err != nil {
		n.Children = append(n.Children, unreadable("BMC", host.Name, err))
		return n
	}
	if r := b.Status.Report; r != nil {
		n.Children = append(n.Children, render.Leaf("is", strings.Join(strings.Fields(fmt.Sprintf("%s %s", r.Vendor, r.Model)), " ")), render.Leaf("firmware of the BMC", r.BMCVersion))
	}
	// The condition Ready repeats the first of the others that is False.
	ordered := slices.Clone(b.Status.Conditions)
	slices.SortStableFunc(ordered, func(x, y metav1.Condition) int { return ready(x) - ready(y) })
	n.Children = append(n.Children, troubles(ordered, said)...)
	for _, d := range b.Status.Health {
		if d.State != ironflowv1.HealthOK {
			n.Children = append(n.Children, render.Leaff("health: %s %s: %s", d.Domain, d.State, d.Message))
		}
	}
	if p := b.Status.Preflight; p != nil {
		for _, m := range p.Mismatches {
			n.Children = append(n.Children, render.Leaff("cannot work: %s %s: %s", m.Kind, m.Field, m.Message))
		}
	}
	return n
}

func ready(c metav1.Condition) int {
	if c.Type == ironflowv1.Ready {
		return 1
	}
	return 0
}

// troubles are the conditions that are not True and have something to say.
func troubles(conditions []metav1.Condition, said *said) (lines []render.Node) {
	for _, c := range conditions {
		if c.Status == metav1.ConditionTrue {
			continue
		}
		if message := said.once(c.Message); message != "" || c.Message == "" {
			lines = append(lines, conditionLine(c.Type, string(c.Status), c.Reason, message))
		}
	}
	return lines
}

// firmwareNode is the host's firmware: what is installed, and what is asked for and not done.
func firmwareNode(ctx context.Context, cl client.Client, key types.NamespacedName, said *said) render.Node {
	n := render.Node{Title: "firmware"}
	components := &metal3v1.HostFirmwareComponents{}
	if err := cl.Get(ctx, key, components); err != nil {
		n.Children = append(n.Children, unreadable("HostFirmwareComponents", key.Name, err))
	} else {
		for _, c := range components.Status.Components {
			n.Children = append(n.Children, render.Leaf(c.Component, c.CurrentVersion))
		}
		for _, u := range pending(components) {
			n.Children = append(n.Children, render.Leaff("asked for: %s of %s", u.Component, u.URL))
		}
		n.Children = append(n.Children, invalid(components.Status.Conditions, said)...)
	}
	settings := &metal3v1.HostFirmwareSettings{}
	if err := cl.Get(ctx, key, settings); err != nil {
		n.Children = append(n.Children, unreadable("HostFirmwareSettings", key.Name, err))
	} else {
		for _, name := range slices.Sorted(maps.Keys(settings.Spec.Settings)) {
			wanted, is := settings.Spec.Settings[name], settings.Status.Settings[name]
			if wanted.String() != is {
				n.Children = append(n.Children, render.Leaff("asked for: %s=%s, is %s", name, wanted.String(), is))
			}
		}
		n.Children = append(n.Children, invalid(settings.Status.Conditions, said)...)
	}
	if !slices.ContainsFunc(n.Children, func(c render.Node) bool { return c.Title != "" }) {
		return render.Node{}
	}
	return n
}

// pending are the updates that are not made yet.
func pending(c *metal3v1.HostFirmwareComponents) []metal3v1.FirmwareUpdate {
	return slices.DeleteFunc(slices.Clone(c.Spec.Updates), func(u metal3v1.FirmwareUpdate) bool { return slices.Contains(c.Status.Updates, u) })
}

// invalid says why a wish of firmware is not taken.
func invalid(conditions []metav1.Condition, said *said) (lines []render.Node) {
	for _, c := range conditions {
		if c.Type == string(metal3v1.FirmwareSettingsValid) && c.Status == metav1.ConditionFalse {
			lines = append(lines, conditionLine(c.Type, string(c.Status), c.Reason, said.once(c.Message)))
		}
	}
	return lines
}
