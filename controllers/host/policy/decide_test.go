package policy

import (
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/firmware"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/plan"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/ironic"
)

// noon is when all decisions of the tables are made.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// observed is a host in a phase with a node in a state, everything else in order.
func observed(state State, node ironic.ProvisionState) *Observed {
	ref := &corev1.SecretReference{Name: "bmc", Namespace: "lab"}
	seen := metal3.CredentialsStatus{Reference: ref, Version: "7"}
	updated := metav1.NewTime(noon.Add(-time.Hour))
	h := &metal3.BareMetalHost{
		ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "a", UID: "uid-a", Generation: 1, Finalizers: []string{names.HostFinalizer}},
		Spec: metal3.BareMetalHostSpec{Online: true, BMC: metal3.BMCDetails{
			Address: "redfish-virtualmedia://bmc/redfish/v1/Systems/1", CredentialsName: "bmc",
		}},
		Status: metal3.BareMetalHostStatus{
			OperationalStatus: metal3.OperationalStatusOK, LastUpdated: &updated, PoweredOn: true,
			GoodCredentials: seen, TriedCredentials: seen, HardwareProfile: "unknown",
			Provisioning: metal3.ProvisionStatus{State: state, ID: "node-a"},
		},
	}
	h.Status.Provisioning.RootDeviceHints = nodespec.RootHints(h)
	o := &Observed{
		Now: noon, Host: h, Kept: Kept{Looked: noon}, Firmware: plan.Firmware{Made: true},
		BMC:   nodespec.BMC{Secret: "bmc", Version: "7", Username: "admin", Password: "x", Access: nodespec.Access{Driver: "redfish", TakesISO: true}},
		Sight: nodeaction.JustRead(&ironic.Node{Row: ironic.Row{UUID: "node-a", Name: "lab~a", ProvisionState: node, PowerState: ironic.PowerOn, ProvisionUpdatedAt: noon}, Driver: "redfish"}),
	}
	applied := wanted(o)
	o.Applied = &applied
	return o
}

// known is the node as it was read.
func known(o *Observed) nodeaction.Known {
	n, _ := o.InFull()
	return n
}

// full is the whole node, to be changed.
func full(o *Observed) *ironic.Node { return known(o).Node() }

// cleanFailed has the node's cleaning have failed with a text, as Ironic shows it.
func cleanFailed(o *Observed, text string) {
	o.Node.ProvisionState, o.Node.LastError, o.Node.Maintenance, o.Node.Fault = ironic.StateCleanFailed, text, true, "clean failure"
	full(o).MaintenanceReason = text
}

// wanted is what the node shall look like.
func wanted(o *Observed) ironic.Desired { return desired(o, known(o)) }

// planOf is what is left to be done on the machine.
func planOf(o *Observed) plan.Plan { return o.plan(known(o)) }

// wantInstall asks for an installation.
func wantInstall(h *metal3.BareMetalHost) {
	h.Spec.CustomDeploy = &metal3.CustomDeploy{Method: names.StartAssistedInstall}
}

// stalled marks the host as failing since then.
func stalled(o *Observed, kind metal3.ErrorType, cause string, since time.Duration) {
	s := &o.Host.Status
	s.OperationalStatus, s.ErrorType, s.ErrorMessage, s.ErrorCount = metal3.OperationalStatusError, kind, "it broke", 1
	s.Conditions = []metav1.Condition{{
		Type: view.StalledCondition, Status: metav1.ConditionTrue, Reason: cause,
		LastTransitionTime: metav1.NewTime(noon.Add(-since)),
	}}
}

func TestDecide(t *testing.T) {
	reapplied := func(o *Observed) { applied := wanted(o); o.Applied = &applied }
	deleting := func(o *Observed) { now := metav1.NewTime(noon); o.Host.DeletionTimestamp = &now }
	image := func(o *Observed) { o.Host.Spec.Image = &metal3.Image{URL: "http://images/os.raw", Checksum: "abc"} }
	install := func(o *Observed) { wantInstall(o.Host); reapplied(o) }
	for name, c := range map[string]struct {
		state State
		node  ironic.ProvisionState
		given []func(*Observed)
		do    string           // name of the action, empty for none
		enter State            // "" stays
		err   metal3.ErrorType // "" none
		says  string           // part of the note or of the error message
	}{
		"new host gets its finalizer first": {state: "", given: []func(*Observed){func(o *Observed) { o.Host.Finalizers = nil }}, do: "add finalizer"},
		"new host with a BMC registers":     {state: "", enter: metal3.StateRegistering},
		"new host without a BMC":            {state: "", given: []func(*Observed){func(o *Observed) { o.Host.Spec.BMC = metal3.BMCDetails{} }}, enter: metal3.StateUnmanaged},
		"unmanaged waits":                   {state: metal3.StateUnmanaged, given: []func(*Observed){func(o *Observed) { o.Host.Spec.BMC = metal3.BMCDetails{} }}, says: "unmanaged"},
		"held host is left alone": {state: metal3.StateDeprovisioning, node: ironic.StateActive, given: []func(*Observed){func(o *Observed) {
			o.Host.Annotations = map[string]string{names.Hold: ""}
		}}, says: "on hold"},

		"registering looks the node up":          {state: metal3.StateRegistering, given: []func(*Observed){func(o *Observed) { o.Sight = nodeaction.Sight{} }}, do: "look up node"},
		"registering enrols a missing node":      {state: metal3.StateRegistering, given: []func(*Observed){func(o *Observed) { o.Sight = nodeaction.Missing() }}, do: "enrol node"},
		"registering verifies":                   {state: metal3.StateRegistering, node: ironic.StateEnroll, do: "ask for manage"},
		"registering waits for the verification": {state: metal3.StateRegistering, node: ironic.StateVerifying, says: "verifying the BMC credentials"},
		"registering reports a refusal": {state: metal3.StateRegistering, node: ironic.StateEnroll, given: []func(*Observed){func(o *Observed) {
			o.Node.LastError = "401"
		}}, err: metal3.RegistrationError, says: "401"},
		"registering: cut off by a restart": {state: metal3.StateRegistering, node: ironic.StateEnroll, given: []func(*Observed){func(o *Observed) {
			o.Node.LastError = "The verifying state can't be resumed by conductor x. Moving to fail state."
		}}, do: "ask for manage"},
		"registering keeps away while backing off": {state: metal3.StateRegistering, node: ironic.StateEnroll, given: []func(*Observed){func(o *Observed) {
			stalled(o, metal3.RegistrationError, "RegistrationError", 0)
		}}, says: "after a failure"},
		"registering tries again when due": {state: metal3.StateRegistering, node: ironic.StateEnroll, given: []func(*Observed){func(o *Observed) {
			stalled(o, metal3.RegistrationError, "RegistrationError", time.Hour)
			o.Node.LastError = "401"
		}}, do: "ask for manage"},
		"registering tries again when asked": {state: metal3.StateRegistering, node: ironic.StateEnroll, given: []func(*Observed){func(o *Observed) {
			stalled(o, metal3.RegistrationError, "RegistrationError", 0)
			o.Retry = true
			o.Node.LastError = "401"
		}}, do: "ask for manage"},
		"registering done": {state: metal3.StateRegistering, node: ironic.StateManageable, enter: metal3.StateInspecting},
		"registering done, external": {state: metal3.StateRegistering, node: ironic.StateManageable, given: []func(*Observed){func(o *Observed) {
			o.Host.Spec.ExternallyProvisioned = true
			reapplied(o)
		}}, do: "update node", enter: metal3.StateExternallyProvisioned}, // which knows it first
		"registering done, no inspection": {state: metal3.StateRegistering, node: ironic.StateManageable, given: []func(*Observed){func(o *Observed) {
			o.Host.Spec.InspectionMode = metal3.InspectionModeDisabled
			reapplied(o)
		}}, enter: metal3.StatePreparing},
		"missing Secret is an error once": {state: metal3.StateRegistering, given: []func(*Observed){func(o *Observed) {
			o.BMC = nodespec.BMC{Problem: "no Secret", Missing: true}
		}}, err: metal3.RegistrationError, says: "no Secret"},
		"mended credentials need no back-off": {state: metal3.StateRegistering, node: ironic.StateEnroll, given: []func(*Observed){func(o *Observed) {
			stalled(o, metal3.RegistrationError, causeCredentials, 0)
		}}, do: "ask for manage"},

		"a summary is not acted on": {state: metal3.StateInspecting, node: ironic.StateManageable, given: []func(*Observed){func(o *Observed) { o.Sight = o.Summary() }}, do: "read node"},
		"a summary is good to wait on": {state: metal3.StateInspecting, node: ironic.StateInspectWait, given: []func(*Observed){func(o *Observed) {
			o.Sight = o.Summary()
		}}, says: "inspecting the hardware"},
		"an old summary is looked at": {state: metal3.StateInspecting, node: ironic.StateInspectWait, given: []func(*Observed){func(o *Observed) {
			o.Sight = o.Summary()
			o.Looked = noon.Add(-time.Hour)
		}}, do: "read node"},
		"inspecting reads what there is": {state: metal3.StateInspecting, node: ironic.StateManageable, do: "read inventory"},
		"inspecting starts":              {state: metal3.StateInspecting, node: ironic.StateManageable, given: []func(*Observed){func(o *Observed) { o.NoInventory = true }}, do: "ask for inspect"},
		"inspecting again": {state: metal3.StateInspecting, node: ironic.StateManageable, given: []func(*Observed){func(o *Observed) {
			o.Host.Annotations = map[string]string{names.Inspect: ""}
			o.Inventory = &ironic.Inventory{}
		}}, do: "ask for inspect"},
		"inspecting saves": {state: metal3.StateInspecting, node: ironic.StateManageable, given: []func(*Observed){func(o *Observed) {
			o.Inventory = &ironic.Inventory{Hostname: "x"}
		}}, do: "save hardware data"},
		"inspecting done": {state: metal3.StateInspecting, node: ironic.StateManageable, given: []func(*Observed){func(o *Observed) {
			o.Inventory = &ironic.Inventory{Hostname: "x"}
			o.Hardware = nodespec.HardwareDetails(o.Inventory)
		}}, enter: metal3.StatePreparing},
		"inspecting needs the node free": {state: metal3.StateInspecting, node: ironic.StateAvailable, do: "ask for manage"},
		"inspection failed": {state: metal3.StateInspecting, node: ironic.StateInspectFailed, given: []func(*Observed){func(o *Observed) {
			o.Node.LastError = "timeout"
		}}, err: metal3.InspectionError, says: "timeout"},
		"inspection failed without a word": {state: metal3.StateInspecting, node: ironic.StateInspectFailed, do: "read failure"},
		"inspection was aborted": {state: metal3.StateInspecting, node: ironic.StateInspectFailed, given: []func(*Observed){func(o *Observed) {
			o.Node.LastError = "Inspection was aborted by request."
		}}, do: "ask for inspect"},
		"an error is over when it runs": {state: metal3.StateInspecting, node: ironic.StateInspectWait, given: []func(*Observed){func(o *Observed) {
			stalled(o, metal3.InspectionError, "InspectionError", 0)
		}}},
		"inspecting asks for its image": {state: metal3.StateInspecting, node: ironic.StateManageable, given: []func(*Observed){func(o *Observed) {
			o.Settings.BuildImages = true
		}}, do: "ask for live image"},
		"inspecting waits for its image": {state: metal3.StateInspecting, node: ironic.StateManageable, given: []func(*Observed){func(o *Observed) {
			o.Settings.BuildImages, o.Image = true, nodespec.LiveImage{Asked: true, Note: "queued"}
		}}, says: "building the live image: queued"},
		"inspecting reports a bad image": {state: metal3.StateInspecting, node: ironic.StateManageable, given: []func(*Observed){func(o *Observed) {
			o.Settings.BuildImages, o.Image = true, nodespec.LiveImage{Asked: true, Error: "no base"}
		}}, err: metal3.RegistrationError, says: "no base"},

		"preparing passes through": {state: metal3.StatePreparing, node: ironic.StateManageable, enter: metal3.StateAvailable},
		"available rests":          {state: metal3.StateAvailable, node: ironic.StateManageable},
		"available powers on": {state: metal3.StateAvailable, node: ironic.StateManageable, given: []func(*Observed){func(o *Observed) {
			o.Node.PowerState, o.Host.Status.PoweredOn = ironic.PowerOff, false
		}}, do: "ask for power on"},
		"available powers off": {state: metal3.StateAvailable, node: ironic.StateManageable, given: []func(*Observed){func(o *Observed) { o.Host.Spec.Online = false }}, do: "ask for power off"},
		"available, power asked": {state: metal3.StateAvailable, node: ironic.StateManageable, given: []func(*Observed){func(o *Observed) {
			o.Host.Spec.Online = false
			o.Node.TargetPowerState = ironic.PowerOff
		}}, says: "switching power"},
		"available, power failed": {state: metal3.StateAvailable, node: ironic.StateManageable, given: []func(*Observed){func(o *Observed) {
			o.Host.Spec.Online = false
			o.PowerAsked, o.Node.LastError = ironic.PowerOff, "BMC says no"
		}}, err: metal3.PowerManagementError, says: "BMC says no"},
		"available, wish": {state: metal3.StateAvailable, node: ironic.StateManageable, given: []func(*Observed){install}, enter: metal3.StateProvisioning},
		"available, wish, offline": {state: metal3.StateAvailable, node: ironic.StateManageable, given: []func(*Observed){install, func(o *Observed) {
			o.Host.Spec.Online = false
		}}, do: "ask for power off"},
		"available, hints changed": {state: metal3.StateAvailable, node: ironic.StateManageable, given: []func(*Observed){func(o *Observed) {
			o.Host.Spec.RootDeviceHints = &metal3.RootDeviceHints{Model: "x"}
		}}, enter: metal3.StatePreparing},
		"available, inspect again": {state: metal3.StateAvailable, node: ironic.StateManageable, given: []func(*Observed){func(o *Observed) {
			o.Host.Annotations = map[string]string{names.Inspect: ""}
		}}, enter: metal3.StateInspecting},
		"available, maintenance": {state: metal3.StateAvailable, node: ironic.StateManageable, given: []func(*Observed){install, func(o *Observed) {
			o.Node.Maintenance, full(o).MaintenanceReason = true, "fan"
		}}, says: "in maintenance: fan"},
		"available, power fault": {state: metal3.StateAvailable, node: ironic.StateManageable, given: []func(*Observed){install, func(o *Observed) {
			o.Node.Maintenance, o.Node.Fault = true, ironic.FaultPower
		}}, says: "power failure"},

		"provisioning cleans first":       {state: metal3.StateProvisioning, node: ironic.StateManageable, given: []func(*Observed){install}, do: "ask for provide"},
		"provisioning waits for cleaning": {state: metal3.StateProvisioning, node: ironic.StateCleanWait, given: []func(*Observed){install}, says: "cleaning"},
		"provisioning validates":          {state: metal3.StateProvisioning, node: ironic.StateAvailable, given: []func(*Observed){install}, do: "validate node"},
		"provisioning is not valid": {state: metal3.StateProvisioning, node: ironic.StateAvailable, given: []func(*Observed){install, func(o *Observed) {
			o.Unfit = &[]ironic.ValidationFailure{{Interface: "boot", Reason: "no ISO"}}
		}}, err: metal3.ProvisioningError, says: "host validation error: boot: no ISO"},
		"provisioning deploys": {state: metal3.StateProvisioning, node: ironic.StateAvailable, given: []func(*Observed){install, func(o *Observed) {
			o.Unfit = &[]ironic.ValidationFailure{}
		}}, do: "ask for active"},
		"provisioning reads the config drive": {state: metal3.StateProvisioning, node: ironic.StateAvailable, given: []func(*Observed){image, reapplied}, do: "read config drive"},
		"provisioning, user data missing": {state: metal3.StateProvisioning, node: ironic.StateAvailable, given: []func(*Observed){image, reapplied, func(o *Observed) {
			o.ConfigDrive = &nodespec.ConfigDrive{Problem: "no Secret u"}
		}}, err: metal3.ProvisioningError, says: "no Secret u"},
		"provisioning says the step": {state: metal3.StateProvisioning, node: ironic.StateDeployWait, given: []func(*Observed){install, func(o *Observed) {
			o.Node.DeployStep = ironic.Step{Interface: "deploy", Name: names.StartAssistedInstall}
		}}, says: names.StartAssistedInstall},
		"provisioning done, image broken meanwhile": {state: metal3.StateProvisioning, node: ironic.StateActive, given: []func(*Observed){func(o *Observed) {
			o.Settings.BuildImages, o.Image = true, nodespec.LiveImage{Asked: true, Error: "no base"}
		}, install}, enter: metal3.StateProvisioned},
		"provisioning done, other error meanwhile": {state: metal3.StateProvisioning, node: ironic.StateActive, given: []func(*Observed){install, func(o *Observed) {
			stalled(o, metal3.PowerManagementError, "PowerManagementError", time.Hour)
		}}, enter: metal3.StateProvisioned},
		"provisioning goes on after another error": {state: metal3.StateProvisioning, node: ironic.StateAvailable, given: []func(*Observed){install, func(o *Observed) {
			stalled(o, metal3.PowerManagementError, "PowerManagementError", time.Hour)
		}}, do: "validate node"},
		"provisioning done, wish gone": {state: metal3.StateProvisioning, node: ironic.StateActive, enter: metal3.StateDeprovisioning},
		"provisioning done":            {state: metal3.StateProvisioning, node: ironic.StateActive, given: []func(*Observed){install}, enter: metal3.StateProvisioned},
		"provisioning failed": {state: metal3.StateProvisioning, node: ironic.StateDeployFailed, given: []func(*Observed){install, func(o *Observed) {
			o.Node.LastError = "Deploy step deploy.start_assisted_install failed on node node-a. no disk"
		}}, err: metal3.ProvisioningError, says: "start_assisted_install failed: no disk"},
		"provisioning failed, image": {
			state: metal3.StateProvisioning, node: ironic.StateDeployFailed,
			given: []func(*Observed){image, func(o *Observed) { o.Node.LastError = "bad sum" }, reapplied},
			err:   metal3.ProvisioningError,
			says:  "Image provisioning failed (url: http://images/os.raw, checksum: abc): bad sum",
		},
		"provisioning failed without a word": {state: metal3.StateProvisioning, node: ironic.StateDeployFailed, given: []func(*Observed){install}, do: "read failure"},
		"provisioning failed, history": {state: metal3.StateProvisioning, node: ironic.StateDeployFailed, given: []func(*Observed){install, func(o *Observed) {
			s := "from the history"
			o.Failure = &s
		}}, err: metal3.ProvisioningError, says: "from the history"},
		"provisioning failed, still locked": {state: metal3.StateProvisioning, node: ironic.StateDeployFailed, given: []func(*Observed){install, func(o *Observed) {
			s := ""
			o.Failure, o.Node.Reservation = &s, "conductor-1"
		}}, says: "Ironic to end its handling of the failure"},
		"provisioning failed, nobody knows": {state: metal3.StateProvisioning, node: ironic.StateDeployFailed, given: []func(*Observed){install, func(o *Observed) {
			s := ""
			o.Failure = &s
		}}, err: metal3.ProvisioningError, says: "gives no reason"},
		"provisioning failed, the agent in mid installation": {state: metal3.StateProvisioning, node: ironic.StateDeployFailed, given: []func(*Observed){install, func(o *Observed) {
			s := ""
			o.Failure, o.Progress = &s, Progress{Stage: "Writing image to disk", Percent: 50}
		}}, err: metal3.ProvisioningError, says: `The agent had come to "Writing image to disk" and did not end: the machine was restarted during the installation`},
		"provisioning failed, the live image was never read": {state: metal3.StateProvisioning, node: ironic.StateDeployFailed, given: []func(*Observed){install, func(o *Observed) {
			s := ""
			o.Failure, o.Progress = &s, Progress{Stage: "BMC reads the live image", Percent: 20, Reading: true}
		}}, err: metal3.ProvisioningError, says: `gives no reason for state "deploy failed"`},
		"provisioning gives up a failed one": {state: metal3.StateProvisioning, node: ironic.StateDeployFailed, given: []func(*Observed){install, func(o *Observed) {
			stalled(o, metal3.ProvisioningError, "ProvisioningError", time.Hour)
		}}, enter: metal3.StateDeprovisioning},
		"provisioning, wish gone": {state: metal3.StateProvisioning, node: ironic.StateDeployWait, enter: metal3.StateDeprovisioning},
		"provisioning, cleaning failed": {state: metal3.StateProvisioning, node: ironic.StateCleanFailed, given: []func(*Observed){install, func(o *Observed) {
			cleanFailed(o, "no erase")
		}, reapplied}, err: metal3.ProvisioningError, says: "no erase"},
		"provisioning, cut off while cleaning": {state: metal3.StateProvisioning, node: ironic.StateCleanFailed, given: []func(*Observed){install, func(o *Observed) {
			cleanFailed(o, "state can't be resumed by conductor x")
		}, reapplied}, do: "unset maintenance"},

		"provisioned rests":       {state: metal3.StateProvisioned, node: ironic.StateActive, given: []func(*Observed){install, provisionedWithInstall}},
		"provisioned adopts":      {state: metal3.StateProvisioned, node: ironic.StateManageable, given: []func(*Observed){install, provisionedWithInstall, reapplied}, do: "ask for adopt"},
		"provisioned, wish gone":  {state: metal3.StateProvisioned, node: ironic.StateActive, given: []func(*Observed){provisionedWithInstall}, enter: metal3.StateDeprovisioning},
		"provisioned, other wish": {state: metal3.StateProvisioned, node: ironic.StateActive, given: []func(*Observed){image, provisionedWithInstall}, enter: metal3.StateDeprovisioning},
		"provisioned, detach": {state: metal3.StateProvisioned, node: ironic.StateActive, given: []func(*Observed){install, provisionedWithInstall, func(o *Observed) {
			o.Host.Annotations = map[string]string{names.Detached: ""}
		}}, do: "set maintenance"},
		"provisioned, detach, mark set": {state: metal3.StateProvisioned, node: ironic.StateActive, given: []func(*Observed){install, provisionedWithInstall, func(o *Observed) {
			o.Host.Annotations = map[string]string{names.Detached: ""}
			o.Node.Maintenance, o.Node.Machine = true, "bmc redfish bmc.test 443"
		}}}, // which machine it has is stored first
		"provisioned, detach, mark set, machine kept": {state: metal3.StateProvisioned, node: ironic.StateActive, given: []func(*Observed){install, provisionedWithInstall, func(o *Observed) {
			o.Host.Annotations = map[string]string{names.Detached: ""}
			o.Node.Maintenance, o.Node.Machine = true, "bmc redfish bmc.test 443"
		}, machineKept}, do: "remove node"},
		"provisioned, reboot soft": {
			state: metal3.StateProvisioned, node: ironic.StateActive,
			given: []func(*Observed){install, provisionedWithInstall, annotated(names.Reboot, ""), announced},
			do:    "ask for soft power off",
		},
		"provisioned, reboot hard": {
			state: metal3.StateProvisioned, node: ironic.StateActive,
			given: []func(*Observed){install, provisionedWithInstall, annotated(names.Reboot, `{"mode":"hard"}`), announced},
			do:    "ask for power off",
		},
		"provisioned, reboot, no soft": {
			state: metal3.StateProvisioned, node: ironic.StateActive,
			given: []func(*Observed){install, provisionedWithInstall, annotated(names.Reboot, ""), announced, func(o *Observed) { o.SoftRefused = true }},
			do:    "ask for power off",
		},
		"provisioned, off by a key": {state: metal3.StateProvisioned, node: ironic.StateActive, given: []func(*Observed){install, provisionedWithInstall, func(o *Observed) {
			o.Host.Annotations = map[string]string{names.Reboot + "/x": ""}
			o.Node.PowerState, o.Host.Status.PoweredOn = ironic.PowerOff, false
		}}},
		"external, flag dropped": {state: metal3.StateExternallyProvisioned, node: ironic.StateActive, enter: metal3.StateProvisioned},
		"external, inspection cut off": {state: metal3.StateExternallyProvisioned, node: ironic.StateInspectFailed, given: []func(*Observed){func(o *Observed) {
			o.Host.Spec.ExternallyProvisioned = true
		}}, do: "ask for manage"},
		"external, adoption failed": {state: metal3.StateExternallyProvisioned, node: ironic.StateAdoptFailed, given: []func(*Observed){func(o *Observed) {
			o.Host.Spec.ExternallyProvisioned = true
			o.Node.LastError = "no boot"
			reapplied(o)
		}}, err: metal3.ProvisionedRegistrationError, says: "no boot"},
		"deprovisioning tears down":       {state: metal3.StateDeprovisioning, node: ironic.StateActive, do: "ask for deleted"},
		"deprovisioning waits":            {state: metal3.StateDeprovisioning, node: ironic.StateDeleting, says: "tearing down"},
		"deprovisioning cleans lost node": {state: metal3.StateDeprovisioning, node: ironic.StateManageable, do: "ask for provide"},
		"deprovisioning done":             {state: metal3.StateDeprovisioning, node: ironic.StateAvailable, enter: metal3.StateAvailable},
		"deprovisioning done, deleting":   {state: metal3.StateDeprovisioning, node: ironic.StateAvailable, given: []func(*Observed){deleting}, enter: metal3.StatePoweringOffBeforeDelete},
		"deprovisioning failed": {state: metal3.StateDeprovisioning, node: ironic.StateError, given: []func(*Observed){func(o *Observed) {
			o.Node.LastError = "no power"
		}}, err: metal3.ProvisioningError, says: "no power"},
		"deprovisioning, deploying": {state: metal3.StateDeprovisioning, node: ironic.StateDeploying, says: "waiting to deprovision"},

		"deleting an available host":  {state: metal3.StateAvailable, node: ironic.StateManageable, given: []func(*Observed){deleting}, enter: metal3.StatePoweringOffBeforeDelete},
		"deleting a provisioned host": {state: metal3.StateProvisioned, node: ironic.StateActive, given: []func(*Observed){deleting}, enter: metal3.StateDeprovisioning},
		"deleting an external host":   {state: metal3.StateExternallyProvisioned, node: ironic.StateActive, given: []func(*Observed){deleting}, enter: metal3.StatePoweringOffBeforeDelete},
		"deleting a registering host": {state: metal3.StateRegistering, node: ironic.StateEnroll, given: []func(*Observed){deleting}, enter: StateDeleting},
		"deleting what is inspected":  {state: metal3.StateRegistering, node: ironic.StateInspectWait, given: []func(*Observed){deleting}, enter: metal3.StatePoweringOffBeforeDelete},
		"powering off":                {state: metal3.StatePoweringOffBeforeDelete, node: ironic.StateManageable, given: []func(*Observed){deleting}, do: "ask for power off"},
		"powered off": {state: metal3.StatePoweringOffBeforeDelete, node: ironic.StateManageable, given: []func(*Observed){deleting, func(o *Observed) {
			o.Node.PowerState = ironic.PowerOff
		}}, enter: StateDeleting},
		"deleting removes the node": {state: StateDeleting, node: ironic.StateManageable, given: []func(*Observed){deleting}, do: "remove node"},
		"deleting an active node":   {state: StateDeleting, node: ironic.StateActive, given: []func(*Observed){deleting}, do: "set maintenance"},
		"deleting releases":         {state: StateDeleting, given: []func(*Observed){deleting, func(o *Observed) { o.Sight = nodeaction.Missing() }}, do: "release host"},
		"deleting, delayed, detached": {state: metal3.StateProvisioned, given: []func(*Observed){deleting, func(o *Observed) {
			o.Host.Status.OperationalStatus = metal3.OperationalStatusDetached
			o.Host.Annotations = map[string]string{names.Detached: `{"deleteAction":"delay"}`}
		}}, says: "detached"},
		"deleting, detached": {state: metal3.StateProvisioned, given: []func(*Observed){deleting, func(o *Observed) {
			o.Host.Status.OperationalStatus = metal3.OperationalStatusDetached
			o.Host.Annotations = map[string]string{names.Detached: ""}
		}}, enter: StateDeleting},
		"deleting, to be detached": {state: metal3.StateProvisioned, node: ironic.StateActive, given: []func(*Observed){deleting, func(o *Observed) {
			o.Host.Annotations = map[string]string{names.Detached: `{"deleteAction":"delete"}`}
		}}, enter: StateDeleting},
		"deleting, no node, no Secret": {state: metal3.StateProvisioned, given: []func(*Observed){deleting, func(o *Observed) {
			o.Sight = nodeaction.Missing()
			o.BMC = nodespec.BMC{Problem: "gone"}
			o.Host.Status.Provisioning.State = metal3.StateDeprovisioning
		}}, enter: StateDeleting},
		"registering, unknown profile": {state: metal3.StateRegistering, node: ironic.StateManageable, given: []func(*Observed){func(o *Observed) {
			o.Host.Spec.HardwareProfile, o.Host.Status.HardwareProfile = "toaster", ""
		}}, err: metal3.RegistrationError, says: `"toaster" is not known`},
		"available, settings not judged": {state: metal3.StateAvailable, node: ironic.StateManageable, given: []func(*Observed){install, wishSetting("Bios", "Uefi"), func(o *Observed) {
			o.Firmware.Settings.Generation = 4
		}}, enter: metal3.StatePreparing},
		"available, updates not judged": {state: metal3.StateAvailable, node: ironic.StateManageable, given: []func(*Observed){install, func(o *Observed) {
			o.Firmware.Components = componentsOf(flash, flash)
			o.Firmware.Components.Generation = 4
		}}, enter: metal3.StatePreparing},
		"available, a machine without settings": {
			state: metal3.StateAvailable, node: ironic.StateManageable,
			given: []func(*Observed){install, wishSetting("Bios", "Uefi"), func(o *Observed) { o.Firmware.Settings.Status.Settings = nil }},
			enter: metal3.StateProvisioning,
		},
		"deleting by force, unreadable status": {state: "", given: []func(*Observed){deleting, func(o *Observed) {
			o.Host.Status.LastUpdated = nil
			o.Host.Annotations = map[string]string{names.Status: "{", names.ForceDelete: "a"}
		}}, do: "release host"},
		"deleting, unreadable status": {state: "", given: []func(*Observed){deleting, func(o *Observed) {
			o.Host.Status.LastUpdated = nil
			o.Host.Annotations = map[string]string{names.Status: "{"}
		}}, err: metal3.RegistrationError, says: "cannot be read"},
		"no Ironic to choose yet": {state: metal3.StateAvailable, given: []func(*Observed){func(o *Observed) { o.Ironic.Waiting = true }}, says: "choosing an Ironic"},
		"deleting, detached, no Ironic to choose yet": {state: metal3.StateProvisioned, given: []func(*Observed){deleting, func(o *Observed) {
			o.Ironic.Waiting = true
			o.Host.Status.OperationalStatus = metal3.OperationalStatusDetached
			o.Host.Annotations = map[string]string{names.Detached: ""}
		}}, enter: StateDeleting},
		"unknown state": {state: "sleeping", node: ironic.StateManageable, err: metal3.RegistrationError, says: "not known"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(c.state, c.node)
			for _, change := range c.given {
				change(o)
			}
			before := recorded(o).Host.DeepCopy()
			d := Decide(o)
			g.Expect(o.Host).To(Equal(before), "a decision changes nothing")
			did := ""
			if d.Do != nil {
				did = d.Do.Name()
			}
			g.Expect(did).To(Equal(c.do))
			if c.enter == "" {
				c.enter = o.State()
			}
			g.Expect(d.Status.Provisioning.State).To(Equal(c.enter))
			if c.err != "" {
				g.Expect(d.Status.ErrorType).To(Equal(c.err))
				g.Expect(d.Status.ErrorMessage).To(ContainSubstring(c.says))
				g.Expect(d.Status.ErrorCount).To(Equal(o.Host.Status.ErrorCount + 1))
				return
			}
			g.Expect(d.Wait.Message()).To(ContainSubstring(c.says))
		})
	}
}

// recorded has the host's metadata keep what is, or is to be, on its machine, as after the passes before.
func recorded(o *Observed) *Observed {
	wish := map[State]nodespec.Wish{metal3.StateProvisioning: nodespec.Wanted(o.Host), metal3.StateProvisioned: nodespec.Deployed(o.Host)}
	if w, deployed := wish[o.State()]; deployed {
		metav1.SetMetaDataAnnotation(&o.Host.ObjectMeta, names.Deployed, w.Digest())
	}
	firmware.Record(&o.Host.Status, o.Firmware.Components, o.Host.Generation, o.Now)
	return o
}

// provisionedWithInstall records that the assisted installation is on the machine.
func provisionedWithInstall(o *Observed) {
	o.Host.Status.Provisioning.CustomDeploy = &metal3.CustomDeploy{Method: names.StartAssistedInstall}
}

func TestBackOff(t *testing.T) {
	g := NewWithT(t)
	h := observed(metal3.StateAvailable, ironic.StateManageable).Host
	for n, bounds := range map[int][2]float64{1: {1, 2}, 2: {2, 4}, 3: {4, 8}, 9: {256, 512}, 20: {256, 512}} {
		g.Expect(backOff(h, n).Minutes()).To(And(BeNumerically(">=", bounds[0]), BeNumerically("<=", bounds[1])), "attempt %d", n)
		g.Expect(backOff(h, n)).To(Equal(backOff(h, n)), "a restart of the program does not move it")
	}
	other := h.DeepCopy()
	other.Name = "b"
	g.Expect(backOff(h, 5)).NotTo(Equal(backOff(other, 5)), "hosts are spread")
}
