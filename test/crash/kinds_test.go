package crash

import (
	"slices"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
)

// kind is one way through all phases.
type kind struct {
	name   string
	stages []stage
	phases []string
	// steps are those that the machine is to carry out in the whole life, each that
	// often; what is not named here is not counted.
	steps times
}

// kinds are the lives that hosts are taken through: together every phase, and
// each direction between them.
var kinds = slices.Concat(usual, working, interrupted)

// usual are lives in which nothing but hosts is wished for.
var usual = []kind{
	{
		name: "assisted",
		stages: []stage{
			{Wish: wish("register", times{AskEnrol: 1, "manage": 1, "inspect": 1, "power on": 1}), do: create(nil), done: resting(metal3.StateAvailable)},
			{Wish: wish("provision", times{"provide": 1, "active": 1}), do: edit(install), done: resting(metal3.StateProvisioned)},
			{Wish: wish("reboot", times{"soft power off": 1, "power on": 1}), do: edit(annotate(names.Reboot, "")), done: obeyed(metal3.StateProvisioned, names.Reboot)},
			{Wish: wish("detach", times{AskRemove: 1}), do: edit(annotate(names.Detached, "")), done: detached},
			{Wish: wish("attach", times{AskEnrol: 1, "manage": 1, "adopt": 1, "power on": 1}), do: edit(attach), done: resting(metal3.StateProvisioned)},
			{Wish: wish("deprovision", times{"deleted": 1, "power on": 1}), do: edit(uninstall), done: resting(metal3.StateAvailable)},
			{Wish: wish("provision again", times{"active": 1}), do: edit(install), done: resting(metal3.StateProvisioned)},
			{Wish: wish("deprovision again", times{"deleted": 1, "power on": 1}), do: edit(uninstall), done: resting(metal3.StateAvailable)},
			{Wish: wish("detach when available", times{AskRemove: 1}), do: edit(annotate(names.Detached, "")), done: detached},
			{Wish: wish("attach when available", times{AskEnrol: 1, "manage": 1, "power on": 1}), do: edit(attach), done: resting(metal3.StateAvailable)},
			{Wish: wish("inspect again", times{"inspect": 1}), do: edit(annotate(names.Inspect, "")), done: obeyed(metal3.StateAvailable, names.Inspect)},
			{Wish: wish("delete", times{"power off": 1, AskRemove: 1}), do: remove, done: gone},
		},
		phases: []string{
			"registering", "inspecting", "(preparing)", "available", "provisioning", "provisioned", "deprovisioning", "available",
			"provisioning", "provisioned", "deprovisioning", "available", "inspecting", "(preparing)", "available",
			"(powering off before delete)", "deleting",
		},
	},
	{
		name: "externally provisioned",
		stages: []stage{
			{Wish: wish("register", times{AskEnrol: 1, "manage": 1, "adopt": 1, "power on": 1}), do: create(external), done: resting(metal3.StateExternallyProvisioned)},
			{Wish: wish("take over", times{"deleted": 1, "power on": 1}), do: edit(takeOver), done: resting(metal3.StateAvailable)},
			{Wish: wish("give back", times{"manage": 1, "adopt": 1}), do: edit(external), done: resting(metal3.StateExternallyProvisioned)},
			{Wish: wish("delete", times{"power off": 1, AskRemove: 1}), do: remove, done: gone},
		},
		phases: []string{
			"registering", "externally provisioned", "(provisioned)", "deprovisioning", "available", "externally provisioned",
			"(powering off before delete)", "deleting",
		},
	},
	{
		name: "deleted while provisioned",
		stages: []stage{
			{Wish: wish("provision", times{AskEnrol: 1, "manage": 1, "provide": 1, "active": 1}), do: create(uninspected), done: resting(metal3.StateProvisioned)},
			{Wish: wish("delete", times{"deleted": 1, AskRemove: 1}), do: remove, done: gone},
		},
		phases: []string{
			"registering", "(preparing)", "(available)", "provisioning", "provisioned", "deprovisioning", "(powering off before delete)", "deleting",
		},
	},
}

// Steps of machines.
const (
	deleteVolumes = "raid.delete_configuration"
	createVolumes = "raid.create_configuration"
	applySettings = "bios.apply_configuration"
	updateBIOS    = "firmware.update"
)

// Values of the reboot annotation.
const (
	hard   = `{"mode": "hard"}`
	forced = `{"force": true}`
)

// working are lives in which the machine itself is changed.
var working = []kind{
	{
		name: "prepared",
		stages: []stage{
			{
				Wish: wish("prepare", times{AskEnrol: 1, "manage": 1, AskRAID: 1, "clean": 1, "power on": 1}), do: all(wishFirmware(8, firstFlash), create(mirrored)),
				done: carriedOut(metal3.StateAvailable, updateBIOS, 1),
			},
			{Wish: wish("update", times{"clean": 1}), do: wishUpdate(secondFlash), done: carriedOut(metal3.StateAvailable, updateBIOS, 2)},
			{Wish: wish("provision", times{"provide": 1, "active": 1}), do: edit(install), done: resting(metal3.StateProvisioned)},
			{Wish: wish("deprovision", times{"deleted": 1, "power on": 1}), do: edit(uninstall), done: resting(metal3.StateAvailable)},
			{Wish: wish("no volumes", times{"manage": 1, "clean": 1}), do: edit(unmirrored), done: carriedOut(metal3.StateAvailable, deleteVolumes, 2)},
			{Wish: wish("delete", times{"power off": 1, AskRemove: 1}), do: remove, done: gone},
		},
		phases: []string{
			"registering", "preparing", "available", "preparing", "available", "provisioning", "provisioned", "deprovisioning", "available",
			"preparing", "available", "(powering off before delete)", "deleting",
		},
		steps: times{deleteVolumes: 2, createVolumes: 1, applySettings: 1, updateBIOS: 2},
	},
	{
		name: "serviced",
		stages: []stage{
			{Wish: wish("provision", times{AskEnrol: 1, "manage": 1, "provide": 1, "active": 1}), do: all(allowService, wishFirmware(0), create(uninspected)), done: resting(metal3.StateProvisioned)},
			{
				Wish: wish("service", times{"soft power off": 1, "service": 1}),
				do:   all(wishCores(8), wishUpdate(firstFlash), edit(annotate(names.Reboot, ""))), done: carriedOut(metal3.StateProvisioned, updateBIOS, 1),
			},
			{Wish: wish("reboot", times{"power off": 1, "power on": 1}), do: edit(annotate(names.Reboot, hard)), done: obeyed(metal3.StateProvisioned, names.Reboot)},
			{Wish: wish("service again", times{"soft power off": 1, "service": 1}), do: all(hold("service wait"), wishUpdate(secondFlash), edit(annotate(names.Reboot, ""))), done: at("service wait")},
			{Wish: wish("delete in service", times{"deleted": 1, AskRemove: 1}), do: all(hold(""), remove), done: gone},
		},
		phases: []string{"registering", "(preparing)", "(available)", "provisioning", "provisioned", "deprovisioning", "(powering off before delete)", "deleting"},
		steps:  times{applySettings: 1, updateBIOS: 1},
	},
	{
		name: "image with config drive",
		stages: []stage{
			{Wish: wish("provision", times{AskEnrol: 1, "manage": 1, "provide": 1, "active": 1}), do: all(makeDrive, create(image(firstImage))), done: serving(firstImage, true)},
			{Wish: wish("another image", times{"deleted": 1, "active": 1}), do: edit(image(secondImage)), done: serving(secondImage, true)},
			{Wish: wish("live ISO", times{"deleted": 1, "active": 1}), do: edit(live), done: serving(liveISO, false)},
			{Wish: wish("delete", times{"deleted": 1, AskRemove: 1}), do: remove, done: gone},
		},
		phases: []string{
			"registering", "(preparing)", "(available)", "provisioning", "provisioned", "deprovisioning", "(available)", "provisioning", "provisioned",
			"deprovisioning", "(available)", "provisioning", "provisioned", "deprovisioning", "(powering off before delete)", "deleting",
		},
	},
	{
		name: "never switched off",
		stages: []stage{
			{Wish: wish("provision", times{AskEnrol: 1, "manage": 1, "provide": 1, "active": 1}), do: create(neverOff), done: resting(metal3.StateProvisioned)},
			{Wish: wish("reboot", times{"soft rebooting": 1}), do: edit(annotate(names.Reboot, "")), done: obeyed(metal3.StateProvisioned, names.Reboot)},
			{Wish: wish("hard reboot", times{"rebooting": 1}), do: edit(annotate(names.Reboot, hard)), done: obeyed(metal3.StateProvisioned, names.Reboot)},
			{Wish: wish("delete", times{"deleted": 1, AskRemove: 1}), do: remove, done: gone},
		},
		phases: []string{"registering", "(preparing)", "(available)", "provisioning", "provisioned", "deprovisioning", "(powering off before delete)", "deleting"},
	},
}

// interrupted are lives in which something fails, or the wish changes in the
// middle of the work.
var interrupted = []kind{
	{
		name: "started over",
		stages: []stage{
			{Wish: wish("inspect", times{AskEnrol: 1, "manage": 1, "inspect": 1}), do: all(hold("inspect wait"), create(nil)), done: at("inspect wait")},
			{
				Wish: wish("reboot in inspection", times{"abort": 1, "inspect": 1, "power on": 1}),
				do:   all(hold(""), edit(annotate(names.Reboot, forced))), done: obeyed(metal3.StateAvailable, names.Reboot),
			},
			{Wish: wish("provision", times{"provide": 1, "active": 1}), do: all(hold("wait call-back"), edit(install)), done: at("wait call-back")},
			{
				Wish: during(wish("reboot in deployment", times{"deleted": 1, "active": 1}), "deleted", "provisioning"),
				do:   all(hold(""), edit(annotate(names.Reboot, forced))), done: obeyed(metal3.StateProvisioned, names.Reboot),
			},
			{Wish: wish("delete", times{"deleted": 1, AskRemove: 1}), do: remove, done: gone},
		},
		phases: []string{
			"registering", "inspecting", "(preparing)", "available", "provisioning", "provisioned", "deprovisioning", "(powering off before delete)", "deleting",
		},
	},
	{
		name: "failed and tried again",
		stages: []stage{
			{
				Wish: wish("prepare", times{AskEnrol: 1, "manage": 1, "clean": 1}), do: all(failStep(applySettings, "no such setting"), wishFirmware(8), create(uninspectedIdle)),
				done: failed(metal3.PreparationError, "clean failed"), fails: metal3.PreparationError,
			},
			{
				Wish: wish("prepare again", times{"manage": 1, "clean": 1, "power on": 1}), do: all(failStep(applySettings, ""), edit(annotate(names.Retry, "1"))),
				done: carriedOut(metal3.StateAvailable, applySettings, 1),
			},
			{
				Wish: wish("provision", times{"provide": 1, "active": 1}), do: all(breakDown, edit(install)),
				done: failed(metal3.ProvisioningError, "deploy failed"), fails: metal3.ProvisioningError,
			},
			{Wish: wish("provision again", times{"deleted": 1, "active": 1}), do: all(mend, edit(annotate(names.Retry, "2"))), done: resting(metal3.StateProvisioned)},
			{Wish: wish("delete", times{"deleted": 1, AskRemove: 1}), do: remove, done: gone},
		},
		phases: []string{
			"registering", "preparing", "available", "provisioning", "deprovisioning", "(available)", "provisioning", "provisioned", "deprovisioning",
			"(powering off before delete)", "deleting",
		},
		steps: times{applySettings: 1},
	},
	{
		name: "deleted while inspecting",
		stages: []stage{
			{Wish: wish("inspect", times{AskEnrol: 1, "manage": 1, "inspect": 1}), do: all(hold("inspect wait"), create(nil)), done: at("inspect wait")},
			{Wish: wish("delete", times{"abort": 1, "manage": 1, AskRemove: 1}), do: all(hold(""), remove), done: gone},
		},
		// Killed right after it was asked for, the inspection is ended without having
		// been stored as a phase.
		phases: []string{"registering", "(inspecting)", "(powering off before delete)", "deleting"},
	},
	{
		name: "deleted while preparing",
		stages: []stage{
			{Wish: wish("prepare", times{AskEnrol: 1, "manage": 1, AskRAID: 1, "clean": 1}), do: all(hold("clean wait"), create(mirrored)), done: at("clean wait")},
			{Wish: wish("delete", times{"abort": 1, AskRemove: 1}), do: all(hold(""), remove), done: gone},
		},
		phases: []string{"registering", "preparing", "(powering off before delete)", "deleting"},
		steps:  times{createVolumes: 0},
	},
	{
		name: "deleted while provisioning",
		stages: []stage{
			{Wish: wish("provision", times{AskEnrol: 1, "manage": 1, "provide": 1, "active": 1}), do: all(hold("wait call-back"), create(uninspected)), done: at("wait call-back")},
			{Wish: wish("delete", times{"deleted": 1, AskRemove: 1}), do: all(hold(""), remove), done: gone},
		},
		phases: []string{"registering", "(preparing)", "(available)", "provisioning", "deprovisioning", "(powering off before delete)", "deleting"},
	},
}
