package admission

import (
	"strconv"

	"github.com/ironflow/ironflow/api/names"
)

// member is a condition on every JSON member of that name in a text: its value
// must be one of the alternatives. CEL reads no JSON, so this is by shape.
func member(text, name, oneOf string) string {
	found := `"` + name + `"\s*:\s*`
	return text + ".findAll(" + raw(found+`"[^"]*"`) + ").all(m, m.matches(" + raw(`^`+found+`"(?:`+oneOf+`)?"$`) + "))"
}

// rebootRule is about the annotations that ask for a reboot.
func rebootRule() Rule {
	v := "self.metadata.annotations[k]"
	return Rule{
		Name: "reboot annotation",
		Holds: "self.metadata.?annotations.orValue({}).all(k, !(k == " + strconv.Quote(names.Reboot) + " || k.startsWith(" +
			strconv.Quote(names.RebootPrefix) + ")) || " + v + ` == "" || ` + matches(v, jsonObject) + " && " + member(v, "mode", "hard|soft") + ")",
		Message: "an annotation " + names.Reboot + " has a value that cannot be read: " +
			`leave it empty, or write JSON such as {"mode":"hard"} or {"mode":"soft","force":true}`,
		Rest: "JSON that is broken inside its braces: event `InvalidAnnotationValue`, a soft reboot is done",
	}
}

// annotationRules are about the other annotations of a host.
func annotationRules() []Rule {
	status, details := annotation(names.Status, ""), annotation(names.HardwareDetails, "")
	return []Rule{
		{
			Name: "status annotation",
			Holds: either(status+` == ""`, matches(status, jsonObject)+" && "+
				member(status, "operationalStatus", operationalStates)+" && "+member(status, "errorType", errorTypes)),
			Message: "the annotation " + names.Status + " is not a host's status as JSON, or names an operationalStatus or errorType that is not known: " +
				"copy status from the host that was saved, or remove the annotation",
			Rest: "JSON that cannot be read, unknown states: the host is left alone and shows `StatusAnnotationUnreadable`",
		},
		{
			Name:  "inspect annotation",
			Holds: inspect + ` in ["", "disabled"]`,
			Message: "the annotation " + names.Inspect + " must be empty, which inspects the host again, or disabled: " +
				"correct or remove it",
		},
		{
			Name:  "inspection mode",
			Holds: either(inspect+` != "disabled"`, str("spec.inspectionMode")+` in ["", "disabled"]`),
			Message: "spec.inspectionMode asks for an inspection and the annotation " + names.Inspect + " disables it: " +
				"remove the annotation, or set spec.inspectionMode to disabled",
		},
		{
			Name:  "hardware details annotation",
			Holds: either(details+` == ""`, uninspected+" && "+matches(details, jsonObject)),
			Message: "the annotation " + names.HardwareDetails + " needs JSON as its value and a host that is not inspected: " +
				"set spec.inspectionMode to disabled, or remove the annotation",
			Rest: "JSON that cannot be read and unknown members: event `InvalidAnnotationValue`, the annotation is dropped",
		},
	}
}
