package image

import (
	"fmt"
	"slices"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/api/kernelargs"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/mirrors"
	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
)

// Reasons of conditions that belong to the producer contract.
const (
	ReasonSuccess            = "ImageSuccess"
	ReasonConfigurationError = "ConfigurationError"
	ReasonMissingNetworkData = "MissingNetworkData"
	ReasonBuildInvalid       = "ImageBuildInvalid"
	ReasonBuildFailed        = "ImageBuildFailed"
)

// Input is everything that decides what a host's image holds.
type Input struct {
	// Image is the object to produce; never nil.
	Image *metal3v1.PreprovisioningImage
	// Labelled tells that the image belongs to an InfraEnv, InfraEnv is that one or nil when it does not exist.
	Labelled bool
	InfraEnv *agentv1.InfraEnv
	// PullSecret is the content of the environment's pull secret.
	PullSecret string
	// Mirrors are the environment's registry mirrors.
	Mirrors mirrors.Mirrors
	// Host is the BareMetalHost of the same name, nil when there is none.
	Host *metal3v1.BareMetalHost
	// Architectures are those that there is a base image for.
	Architectures []string
	// NetworkData is the content of the named Secret; Missing tells that the Secret does not exist.
	NetworkData        map[string][]byte
	NetworkDataMissing bool
	// NMState is the host's network among those of its InfraEnv, nil for none.
	NMState *agentv1.NMStateConfig
	// NMStates is how many its InfraEnv selects, OtherNMStates are the names of those that
	// hold a card of the host beside NMState.
	NMStates      int
	OtherNMStates []string
	// Live is what is known of the live system, whose nmstatectl takes what we cannot
	// translate.
	Live network.Live
}

// Verdict is what to do about the image. Exactly one of Refused and Build is set.
type Verdict struct {
	// Refused says why there can be no image now.
	Refused *Refusal
	// Build says what to build.
	Build *Request
}

// Refusal is a reason for not building.
type Refusal struct {
	// Reason and Message go to the conditions.
	Reason, Message string
	// Error tells that a person has to act; otherwise something else has to happen first.
	Error bool
}

// Request says what to build.
type Request struct {
	// Architecture and Format of the image; Version picks the base, empty the newest.
	Architecture, Version string
	Format                metal3v1.ImageFormat
	// Agent tells that the host agent rides along.
	Agent bool
	// Deadlines of the deploy step.
	Deadlines hostfile.StepDeadlines
	// Hostname is the name of a host that gets none from the network.
	Hostname string
	// MACs are the cards that the host may boot from over the network.
	MACs []string
	// Network is the host's network, the zero value for none.
	Network network.Settings
	// Without says which network the host has not, and what to do; empty for nothing.
	Without string
	// Kargs edits the kernel's command line.
	Kargs overlay.KargsEdit
	// Reason goes to the Ready condition once the image can be downloaded.
	Reason string
}

// Decide returns the verdict for one image.
func Decide(in Input) Verdict {
	for _, check := range checks {
		if refusal := check(in); refusal != nil {
			return Verdict{Refused: refusal}
		}
	}
	deadlines, err := hostfile.ParseStepDeadlines(annotation(in.Host, names.StepDeadlines))
	if err != nil {
		return refuse(ReasonConfigurationError, "annotation %s: %v", names.StepDeadlines, err)
	}
	settings, err := networkOf(in)
	if err != nil {
		return refuse(ReasonBuildInvalid, "%s: %v", networkSource(in), err)
	}
	r := &Request{
		Architecture: in.Image.Spec.Architecture,
		Format:       format(in.Image.Spec.AcceptFormats),
		Agent:        in.Labelled,
		Deadlines:    deadlines,
		Hostname:     in.Image.Name,
		Network:      settings,
		Without:      without(in),
		Reason:       ReasonSuccess,
	}
	if in.Host != nil && in.Host.Spec.BootMACAddress != "" {
		r.MACs = []string{in.Host.Spec.BootMACAddress}
	}
	if in.Labelled {
		r.Reason = agentv1.ReasonInfraEnvAvailable
		if r.Kargs, err = kargsOf(in.InfraEnv.Spec.KernelArguments); err != nil {
			return refuse(ReasonConfigurationError, "InfraEnv %s: spec.kernelArguments%v", in.InfraEnv.Name, err)
		}
		r.Version = in.InfraEnv.Spec.OSImageVersion
	}
	return Verdict{Build: r}
}

// kargsOf are the environment's changes of the kernel's command line, in their order.
func kargsOf(arguments []agentv1.KernelArgument) (edit overlay.KargsEdit, err error) {
	for i, a := range arguments {
		if err := kernelargs.Refused(a.Operation, a.Value); err != nil {
			return overlay.KargsEdit{}, fmt.Errorf("[%d].value: %w", i, err)
		}
		edit.Operations = append(edit.Operations, overlay.KargsOperation(a))
	}
	return edit, nil
}

// networkOf reads the host's network data; none when it has none. What cannot be
// translated is left to the live system where that is able to.
func networkOf(in Input) (network.Settings, error) {
	switch {
	case in.Image.Spec.NetworkDataName != "":
		return in.Live.FromSecret(in.NetworkData)
	case in.NMState != nil:
		return NetworkOfNMState(in.Live, in.NMState)
	default:
		return network.Settings{}, nil
	}
}

// networkSource names the object that the host's network is described in.
func networkSource(in Input) string {
	if in.Image.Spec.NetworkDataName == "" && in.NMState != nil {
		return "NMStateConfig " + in.NMState.Name
	}
	return "Secret " + in.Image.Spec.NetworkDataName
}

// checks are asked in this order; the first refusal counts.
var checks = []func(Input) *Refusal{
	formatOffered,
	architectureOffered,
	infraEnvExists,
	infraEnvFits,
	infraEnvReady,
	networkDataThere,
}

// offered are the formats that can be built.
var offered = []metal3v1.ImageFormat{metal3v1.ImageFormatISO, metal3v1.ImageFormatInitRD}

// format returns the first of the accepted formats that is offered, "" for none.
func format(accepted []metal3v1.ImageFormat) metal3v1.ImageFormat {
	for _, f := range accepted {
		if slices.Contains(offered, f) {
			return f
		}
	}
	return ""
}

func formatOffered(in Input) *Refusal {
	if format(in.Image.Spec.AcceptFormats) != "" {
		return nil
	}
	reason := ReasonConfigurationError
	if in.Labelled {
		reason = agentv1.ReasonUnsupportedImageFormat
	}
	return &Refusal{Reason: reason, Error: true, Message: fmt.Sprintf(
		"No acceptable image format supported: the host accepts %v, offered are %v", in.Image.Spec.AcceptFormats, offered)}
}

func architectureOffered(in Input) *Refusal {
	if slices.Contains(in.Architectures, in.Image.Spec.Architecture) {
		return nil
	}
	return &Refusal{Reason: ReasonConfigurationError, Error: true, Message: fmt.Sprintf(
		"Architecture not supported: %q; there are base images for %v, add one to the folder of --base-image", in.Image.Spec.Architecture, in.Architectures)}
}

func infraEnvExists(in Input) *Refusal {
	if !in.Labelled || in.InfraEnv != nil && in.InfraEnv.DeletionTimestamp.IsZero() {
		return nil
	}
	name := in.Image.Labels[names.InfraEnvLabel]
	return &Refusal{Reason: agentv1.ReasonInfraEnvNotAvailable, Message: fmt.Sprintf(
		"InfraEnv %s/%s does not exist or is being deleted; create it or correct the label of the host", in.Image.Namespace, name)}
}

func infraEnvFits(in Input) *Refusal {
	if !in.Labelled || normalArch(in.InfraEnv.Spec.CpuArchitecture) == normalArch(in.Image.Spec.Architecture) {
		return nil
	}
	return &Refusal{Reason: agentv1.ReasonInfraEnvArchMismatch, Error: true, Message: fmt.Sprintf(
		"InfraEnv %s is for %s, the host is %s; use an InfraEnv of the host's architecture",
		in.InfraEnv.Name, in.InfraEnv.Spec.CpuArchitecture, in.Image.Spec.Architecture)}
}

func infraEnvReady(in Input) *Refusal {
	if !in.Labelled {
		return nil
	}
	created := agentv1.FindCondition(in.InfraEnv.Status.Conditions, agentv1.ConditionImageCreated)
	switch {
	case created == nil:
		return &Refusal{Reason: agentv1.ReasonWaitingForInfraEnvImageToBeMade, Message: fmt.Sprintf("InfraEnv %s is not registered in the hub yet", in.InfraEnv.Name)}
	case created.Status != "True":
		return &Refusal{Reason: created.Reason, Message: created.Message, Error: created.Reason == agentv1.ReasonImageCreationError}
	default:
		return nil
	}
}

func networkDataThere(in Input) *Refusal {
	if !in.NetworkDataMissing {
		return nil
	}
	return &Refusal{Reason: ReasonMissingNetworkData, Error: true, Message: fmt.Sprintf(
		"NetworkData secret not found: create Secret %s/%s", in.Image.Namespace, in.Image.Spec.NetworkDataName)}
}

func refuse(reason, format string, args ...any) Verdict {
	return Verdict{Refused: &Refusal{Reason: reason, Message: fmt.Sprintf(format, args...), Error: true}}
}

// normalArch folds the two names of 64-bit ARM; no name means the default of the schema.
func normalArch(arch string) string {
	switch arch {
	case "":
		return "x86_64"
	case "arm64":
		return "aarch64"
	}
	return arch
}

func annotation(obj metav1.Object, key string) string {
	if host, ok := obj.(*metal3v1.BareMetalHost); !ok || host == nil {
		return ""
	}
	return obj.GetAnnotations()[key]
}
