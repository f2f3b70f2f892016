package model

import (
	"cmp"
	"maps"
	"strconv"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// edit changes a host as a user does.
func (w *World) edit(about string, change func(h *metal3.BareMetalHost)) {
	w.later(moment)
	key := named(about)
	before := w.host(key)
	after := before.DeepCopy()
	change(after)
	if !sameJSON(before.Spec, after.Spec) {
		after.Generation++
	}
	obj := objectKey{"BareMetalHost", key}
	w.replace(obj, after)
	w.before[key] = before
	w.wakeFor(obj, before, after)
	w.hear(key, before, after)
}

// hear takes down what a user's change asks for.
func (w *World) hear(key types.NamespacedName, before, after *metal3.BareMetalHost) {
	a, m := w.asked[key], w.machineOf(after)
	wasOff, isOff := keptOff(before), keptOff(after)
	switch {
	case isOff:
		a.Off = true
	case wasOff && m.On:
		a.Off, a.Restarts = false, a.Restarts+1 // it may have been asked for already
	case wasOff:
		a.Off = false
	}
	if more := reboots(after) - reboots(before); more > 0 {
		a.Restarts += more
		a.Inspections += len(policy.ForcedReboots(after)) // one under way is begun anew
	}
	if _, was := before.Annotations[names.Detached]; was {
		a.Inspections++ // one that was cut off is made again
	}
	if _, was := before.Annotations[names.Inspect]; !was {
		if _, is := after.Annotations[names.Inspect]; is {
			a.Inspections++
			a.Inspect = !nodespec.InUse(after)
		}
	}
	a.Destroy = a.Destroy || m.installed() && !sameJSON(before.Spec, after.Spec) && differs(after, m.Disk) || declaredOther(before, after, m.Disk)
	a.Forgotten = a.Forgotten || attachedAsNew(before, after) && !w.active(systemOf(after))
	w.asked[key] = a
	if after.Spec.ExternallyProvisioned && !before.Spec.ExternallyProvisioned {
		w.set(systemOf(after), func(m *machine) { m.Nobodys = false })
	}
}

// declaredOther reports another wish for a machine that somebody else has installed. Its
// user has said first what is on it, by a wish without externallyProvisioned.
func declaredOther(before, after *metal3.BareMetalHost, disk string) bool {
	said := wishOf(before)
	return disk == outside && !before.Spec.ExternallyProvisioned && said != "" && differs(after, said)
}

// attachedAsNew reports that a detached host is attached of which no status is left: where
// no node tells what its machine runs either, nobody can tell it from a new host.
func attachedAsNew(before, after *metal3.BareMetalHost) bool {
	_, was := before.Annotations[names.Detached]
	_, is := after.Annotations[names.Detached]
	return was && !is && after.Status.Provisioning.State == policy.StateNone
}

// keptOff reports whether a host's machine is asked to be off for as long as that stands.
func keptOff(h *metal3.BareMetalHost) bool {
	for key := range h.Annotations {
		if strings.HasPrefix(key, names.Reboot+"/") {
			return true
		}
	}
	return !h.Spec.Online
}

// named is the host of a name.
func named(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "lab", Name: name}
}

// annotate is the two moves that put an annotation on a host and take it off.
func annotate(what, key, value string) []move {
	has := func(w *World, about string) bool { _, is := w.host(named(about)).Annotations[key]; return is }
	return []move{
		{
			user, "annotation " + what + " on", "", func(w *World, about string) bool { return !has(w, about) },
			func(w *World, about string) {
				w.edit(about, func(h *metal3.BareMetalHost) {
					h.Annotations = maps.Clone(h.Annotations)
					if h.Annotations == nil {
						h.Annotations = map[string]string{}
					}
					h.Annotations[key] = cmp.Or(value, "")
				})
			},
		},
		{
			user, "annotation " + what + " off", "", has,
			func(w *World, about string) {
				w.edit(about, func(h *metal3.BareMetalHost) { delete(h.Annotations, key) })
			},
		},
	}
}

// set is the move that gives a spec a value, unless it has it.
func set(what string, change func(s *metal3.BareMetalHostSpec)) move {
	return move{
		user, what, "", func(w *World, about string) bool {
			spec := w.host(named(about)).Spec.DeepCopy()
			change(spec)
			return !sameJSON(spec, w.host(named(about)).Spec)
		},
		func(w *World, about string) {
			w.edit(about, func(h *metal3.BareMetalHost) { change(&h.Spec) })
		},
	}
}

// image is an image of a wish.
func image(name string) *metal3.Image {
	if name == "" {
		return nil
	}
	return &metal3.Image{URL: "http://images/" + name, Checksum: "sum-" + name, ChecksumType: metal3.SHA256}
}

// hostMoves happen to a host. They are filled in by init, which joins them.
var hostMoves []move

func init() {
	hostMoves = []move{
		set("image A for", func(s *metal3.BareMetalHostSpec) { s.Image = image("A") }),
		set("image B for", func(s *metal3.BareMetalHostSpec) { s.Image = image("B") }),
		set("no image for", func(s *metal3.BareMetalHostSpec) { s.Image = nil }),
		set("method M for", func(s *metal3.BareMetalHostSpec) { s.CustomDeploy = &metal3.CustomDeploy{Method: "M"} }),
		set("no method for", func(s *metal3.BareMetalHostSpec) { s.CustomDeploy = nil }),
		set("online", func(s *metal3.BareMetalHostSpec) { s.Online = true }),
		set("offline", func(s *metal3.BareMetalHostSpec) { s.Online = false }),
		set("no power-off for", func(s *metal3.BareMetalHostSpec) { s.DisablePowerOff = true }),
		set("no cleaning for", func(s *metal3.BareMetalHostSpec) { s.AutomatedCleaningMode = metal3.CleaningModeDisabled }),
		set("not externally provisioned", func(s *metal3.BareMetalHostSpec) { s.ExternallyProvisioned = false }),
		{
			user, "delete", "", func(w *World, about string) bool { return w.host(named(about)).DeletionTimestamp == nil },
			func(w *World, about string) {
				w.later(moment)
				key := named(about)
				a := w.asked[key]
				a.Destroy, a.Off = true, true
				w.asked[key] = a
				if len(w.host(key).Finalizers) == 0 {
					w.abandon(systemOf(w.host(key))) // nobody can hold it
				}
				w.remove(objectKey{"BareMetalHost", key})
				w.woken[key] = true
			},
		},
		{
			user, "another password in the Secret of", "", always,
			func(w *World, about string) { w.secret(about, "other") },
		},
		{
			user, "an empty password in the Secret of", "", always,
			func(w *World, about string) { w.secret(about, "") },
		},
		{
			user, "the right password in the Secret of", "", always,
			func(w *World, about string) { w.secret(about, "right") },
		},
		{
			user, "a label on the Secret of", "", always,
			func(w *World, about string) {
				w.later(moment)
				w.changeSecret(about, func(s *corev1.Secret) { s.Labels = with(s.Labels, "some", strconv.Itoa(len(s.Labels["some"]))) })
			},
		},
		{
			user, "retry", "", always,
			func(w *World, about string) {
				w.edit(about, func(h *metal3.BareMetalHost) {
					h.Annotations = with(h.Annotations, names.Retry, h.Annotations[names.Retry]+"i")
				})
			},
		},
	}
	for _, a := range [][3]string{
		{"reboot", names.Reboot, ""},
		{"hard forced reboot", names.Reboot, `{"mode":"hard","force":true}`},
		{"reboot by a client", names.Reboot + "/client", ""},
		{"inspect", names.Inspect, ""},
		{"paused", names.Paused, ""},
		{"hold", names.Hold, ""},
		{"detached", names.Detached, ""},
		{"detached by force", names.Detached, `{"force":true}`},
		{"other", "somebody/else", "x"},
	} {
		hostMoves = append(hostMoves, annotate(a[0], a[1], a[2])...)
	}
	hostMoves = append(hostMoves, copies...)
}

func with(m map[string]string, key, value string) map[string]string {
	if m = maps.Clone(m); m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

// abandon has nobody look after a machine's nodes any more.
func (w *World) abandon(address string) {
	for _, id := range sortedKeys(w.nodes) {
		if w.nodes[id].address == address {
			w.change(id, func(n *node) { n.abandoned = true })
		}
	}
}

// secret changes the password in a host's Secret.
func (w *World) secret(about, password string) {
	w.later(moment)
	w.changeSecret(about, func(s *corev1.Secret) {
		s.Data = map[string][]byte{"username": []byte("admin"), "password": []byte(password)}
	})
}

func (w *World) changeSecret(about string, change func(*corev1.Secret)) {
	key := objectKey{"Secret", named(w.host(named(about)).Spec.BMC.CredentialsName)}
	before, is := w.objects[key].(*corev1.Secret)
	if !is {
		return
	}
	after := before.DeepCopy()
	change(after)
	w.replace(key, after)
	w.wakeFor(key, before, after)
}
