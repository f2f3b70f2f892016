package probe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/lenient"
)

// mostSlots bounds how many slots of virtual media are read to find one for a CD.
const mostSlots = 4

// media finds the slot for a CD. Ironic looks at the manager only where the system
// has no link, and so does this.
func (p *probe) media() {
	link, holder := p.system.value.VirtualMedia, "system"
	if link.Path == "" {
		link, holder = p.manager.value.VirtualMedia, "manager"
	}
	slots := getList(p, link, true)
	if slots.path == "" && p.manager.path != "" && p.manager.err != nil {
		slots.path, slots.err = p.manager.path, p.manager.err
	}
	if !slots.read() {
		for _, name := range []string{VirtualMedia, VirtualMediaCD, VirtualMediaProtocols, VirtualMediaMethod, VirtualMediaInsert} {
			p.set(slots.missing(name, "VirtualMedia of system and manager"))
		}
		p.slot.path, p.slot.err = slots.path, slots.err
		return
	}
	all := links[slot](slots.value.members)
	order := inOrder(len(all))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(slotRank(all[a].path), slotRank(all[b].path)) })
	fill(p, all, order, p.budget.most(mostSlots), 0, func(f found[slot]) bool { return takesCD(f) == v1alpha1.Yes })
	p.set(judgeSlots(slots.path, holder, all, order)...)
	if chosen, ok := chosenSlot(all, order); ok {
		p.slot = chosen
		info := get[actionInfo](p, chosen.value.Actions.Insert.Info)
		p.report.MediaProtocols = protocols(chosen.value.Actions.Insert, info)
		p.set(judgeProtocols(chosen, info, p.report.MediaProtocols))
	}
}

// disc reports whether a slot is one for a CD.
func disc(s slot) bool { return contains(s.MediaTypes, "CD") || contains(s.MediaTypes, "DVD") }

// takesCD judges one slot.
func takesCD(f found[slot]) v1alpha1.CapabilityState {
	switch {
	case !f.read():
		return v1alpha1.Unknown
	case f.value.MediaTypes.Set && len(f.value.MediaTypes.Value) > 0 && !disc(f.value):
		return v1alpha1.No
	case !disc(f.value):
		return v1alpha1.Unknown
	case f.value.Actions.Insert.Target != "" || strings.Contains(strings.ToUpper(f.allow), "PATCH"):
		return v1alpha1.Yes
	case f.allow == "":
		return v1alpha1.Unknown
	}
	return v1alpha1.No
}

// chosenSlot is the first one for a CD, else the first that was read.
func chosenSlot(all []found[slot], order []int) (found[slot], bool) {
	for _, want := range []v1alpha1.CapabilityState{v1alpha1.Yes, v1alpha1.Unknown, v1alpha1.No} {
		for _, i := range order {
			if all[i].read() && takesCD(all[i]) == want {
				return all[i], true
			}
		}
	}
	return found[slot]{}, false
}

// judgeSlots are the verdicts on the slots, but for the protocols.
func judgeSlots(path, holder string, all []found[slot], order []int) []v1alpha1.Capability {
	if len(all) == 0 {
		none := at(path, "there is no slot")
		return []v1alpha1.Capability{
			no(VirtualMedia, none), no(VirtualMediaCD, none), no(VirtualMediaProtocols, none), no(VirtualMediaMethod, none), no(VirtualMediaInsert, none),
		}
	}
	out := []v1alpha1.Capability{yes(VirtualMedia, fmt.Sprintf("%d at the %s", len(all), holder), path)}
	f, ok := chosenSlot(all, order)
	if !ok {
		failed := all[order[0]]
		for _, name := range []string{VirtualMediaCD, VirtualMediaProtocols, VirtualMediaMethod, VirtualMediaInsert} {
			out = append(out, failed.missing(name, "the slot"))
		}
		return out
	}
	return append(out, judgeCD(f, all), judgeMethod(f), judgeInsert(f, all))
}

func judgeCD(f found[slot], all []found[slot]) v1alpha1.Capability {
	switch takesCD(f) {
	case v1alpha1.Yes:
		way := "InsertMedia"
		if f.value.Actions.Insert.Target == "" {
			way = "PATCH"
		}
		return yes(VirtualMediaCD, way, at(f.path, joined(f.value.MediaTypes.Value)))
	case v1alpha1.No:
		if i := slices.IndexFunc(all, func(other found[slot]) bool { return !other.read() }); i >= 0 {
			return unknown(VirtualMediaCD, "none of the slots that were read takes a CD; "+all[i].path+": "+why(all[i].err))
		}
		if disc(f.value) {
			return no(VirtualMediaCD, at(f.path, "there is neither InsertMedia nor PATCH"))
		}
		return no(VirtualMediaCD, "no slot has the media type CD or DVD")
	default:
		if !disc(f.value) {
			return unknown(VirtualMediaCD, at(f.path, "the media types are not said"))
		}
		return unknown(VirtualMediaCD, at(f.path, "there is no InsertMedia, and whether PATCH is allowed is not said"))
	}
}

func judgeMethod(f found[slot]) v1alpha1.Capability {
	var parts []string
	if f.value.TransferMethod != "" {
		parts = append(parts, string(f.value.TransferMethod))
	}
	if f.value.ConnectedVia != "" {
		parts = append(parts, "connected via "+string(f.value.ConnectedVia))
	}
	if protected := f.value.WriteProtected; protected.Set && !bool(protected.Value) {
		parts = append(parts, "writable")
	} else if protected.Set {
		parts = append(parts, "write-protected")
	}
	if f.value.VerifyCertificate {
		parts = append(parts, "can verify the image server's certificate")
	}
	if f.value.TransferMethod == "" && f.value.ConnectedVia == "" {
		c := unknown(VirtualMediaMethod, at(f.path, "TransferMethod and ConnectedVia are empty"))
		c.Detail = bounded(strings.Join(parts, ", "))
		return c
	}
	return yes(VirtualMediaMethod, strings.Join(parts, ", "), at(f.path, "TransferMethod, ConnectedVia, WriteProtected"))
}

// judgeInsert looks for a slot that holds an image.
func judgeInsert(f found[slot], all []found[slot]) v1alpha1.Capability {
	for _, other := range all {
		if other.read() && bool(other.value.Inserted) && other.value.Image.Text != "" {
			return yes(VirtualMediaInsert, "", at(other.path, "Inserted, Image"))
		}
	}
	if c := judgeCD(f, all); c.State == v1alpha1.No {
		return no(VirtualMediaInsert, c.Proof)
	}
	return unknown(VirtualMediaInsert, "only an insert proves it, and the probe makes none")
}

// protocols are the schemes that an image's URL may have, as services name them.
func protocols(insert action, info found[actionInfo]) []string {
	values := insert.Protocols.Value
	for _, parameter := range info.value.Parameters {
		if len(values) == 0 && parameter.Name == "TransferProtocolType" {
			values = parameter.AllowableValues
		}
	}
	return schemes(values)
}

// schemes are protocols as the schemes of URLs; what only the vendor knows is left out.
func schemes(values lenient.List[lenient.String]) []string {
	var out []string
	for _, value := range plain(values) {
		if value = strings.ToLower(value); value != "oem" {
			out = append(out, value)
		}
	}
	return distinct(out)
}

func judgeProtocols(f found[slot], info found[actionInfo], list []string) v1alpha1.Capability {
	switch {
	case len(list) > 0 && len(f.value.Actions.Insert.Protocols.Value) > 0:
		return yes(VirtualMediaProtocols, strings.Join(list, ", "), at(f.path, "TransferProtocolType@Redfish.AllowableValues"))
	case len(list) > 0:
		return yes(VirtualMediaProtocols, strings.Join(list, ", "), at(info.path, "TransferProtocolType"))
	case info.err != nil:
		return unknown(VirtualMediaProtocols, why(info.err))
	}
	return unknown(VirtualMediaProtocols, at(f.path, "InsertMedia does not say"))
}
