package admission

import (
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
)

// Rule is one thing that a kind's objects must hold to.
type Rule struct {
	// Name identifies the rule in tests and in the documentation.
	Name string
	// Holds is CEL that is true for an object that keeps the rule; "self" stands for
	// the object. Empty for a rule about changes.
	Holds string
	// Create is CEL that is true for a new object that may be created so; it may become so later. One that
	// comes with a finalizer was there before, and is restored or moved.
	Create string
	// Change is CEL over object and oldObject that is true for an update that keeps
	// the rule. Empty for a rule about objects.
	Change string
	// Where is CEL that gives the members which break the rule, ahead of the message; empty where that says it.
	Where string
	// Message is what the user reads: what is wrong, where, what to do.
	Message string
	// Rest says what CEL cannot judge and who does; empty for nothing.
	Rest string
}

// expression is the rule as the API server evaluates it: what was wrong before
// may stay.
func (r Rule) expression() string {
	switch {
	case r.Change != "":
		return "oldObject == null || (" + r.Change + ")"
	case r.Create != "":
		return "oldObject != null || object.metadata.?finalizers.orValue([]).size() > 0 || (" + about("object", r.Create) + ")"
	}
	return "(" + about("object", r.Holds) + ") || (oldObject != null && !(" + about("oldObject", r.Holds) + "))"
}

// message is what the API server says, with the members that break the rule; empty for the message as it is.
func (r Rule) message() string {
	if r.Where == "" {
		return ""
	}
	return r.Where + " + " + raw(" "+r.Message)
}

// about puts an object's name in for self.
func about(object, expression string) string {
	return strings.ReplaceAll(expression, "self.", object+".")
}

// Kind is one kind with its rules.
type Kind struct {
	// Group and Version of the API; empty for metal3.io/v1alpha1.
	Group, Version string
	// Resource is the plural name.
	Resource string
	// Kind is the name in objects.
	Kind string
	// Rules are checked in this order; the first that is broken is told.
	Rules []Rule
}

// Kinds returns every kind that has rules.
func Kinds() []Kind {
	return []Kind{
		{Resource: "baremetalhosts", Kind: "BareMetalHost", Rules: hostRules()},
		{Resource: "bmceventsubscriptions", Kind: "BMCEventSubscription", Rules: subscriptionRules()},
		{Resource: "dataimages", Kind: "DataImage", Rules: dataImageRules()},
		{Resource: "hostfirmwarecomponents", Kind: "HostFirmwareComponents", Rules: firmwareRules()},
		{Resource: "hostclaims", Kind: "HostClaim", Rules: claimRules()},
		{Group: agentv1.GroupVersion.Group, Version: agentv1.GroupVersion.Version, Resource: "nmstateconfigs", Kind: "NMStateConfig", Rules: networkRules()},
		{Group: agentv1.GroupVersion.Group, Version: agentv1.GroupVersion.Version, Resource: "infraenvs", Kind: "InfraEnv", Rules: environmentRules()},
		{Group: agentv1.GroupVersion.Group, Version: agentv1.GroupVersion.Version, Resource: "agents", Kind: "Agent", Rules: agentRules()},
		{Group: agentv1.GroupVersion.Group, Version: agentv1.GroupVersion.Version, Resource: "agentclassifications", Kind: "AgentClassification", Rules: classificationRules()},
		{Group: hiveextv1.GroupVersion.Group, Version: hiveextv1.GroupVersion.Version, Resource: "agentclusterinstalls", Kind: "AgentClusterInstall", Rules: installRules()},
	}
}

// value reads a field by its path and gives a value for one that is absent.
func value(path, absent string) string {
	return "self.?" + strings.ReplaceAll(path, ".", ".?") + ".orValue(" + absent + ")"
}

// str reads a text, empty when absent.
func str(path string) string { return value(path, `""`) }

// list reads a list, empty when absent or null.
func list(path string) string {
	return "(" + value(path, "null") + " == null ? [] : " + value(path, "[]") + ")"
}

// annotation reads an annotation, with a value for an absent one.
func annotation(key, absent string) string {
	return `self.metadata.?annotations[?"` + key + `"].orValue("` + absent + `")`
}

// matches asks whether a text matches a regular expression (RE2).
func matches(text, pattern string) string {
	return text + ".matches(" + raw(pattern) + ")"
}

// raw is a CEL text without escapes. No pattern here holds a quote.
func raw(text string) string { return "r'" + text + "'" }

// either joins alternatives.
func either(expressions ...string) string { return strings.Join(expressions, " || ") }

// alternatives lists texts as alternatives of a regular expression.
func alternatives[T ~string](list ...T) string {
	parts := make([]string, len(list))
	for i, s := range list {
		parts[i] = string(s)
	}
	return strings.Join(parts, "|")
}

// Values of the status, as an annotation may restore them.
var (
	operationalStates = alternatives(
		metal3.OperationalStatusOK, metal3.OperationalStatusDiscovered, metal3.OperationalStatusError,
		metal3.OperationalStatusDelayed, metal3.OperationalStatusDetached, metal3.OperationalStatusServicing)
	errorTypes = alternatives(
		metal3.ProvisionedRegistrationError, metal3.RegistrationError, metal3.InspectionError, metal3.PreparationError,
		metal3.ProvisioningError, metal3.PowerManagementError, metal3.ServicingError)
)
