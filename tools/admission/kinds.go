package admission

// fetched matches the addresses that a BMC or Ironic fetches a file from.
const fetched = `^(?i:https?|ftp|gopher)://[^\s/?#]+(?:[/?#]\S*)?$`

func subscriptionRules() []Rule {
	return []Rule{
		{
			Name: "host name", Holds: str("spec.hostName") + ` != ""`,
			Message: "spec.hostName is empty: name the BareMetalHost whose BMC is to send its events",
		},
		{
			Name: "destination", Holds: matches(str("spec.destination"), `^[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#]+/\S*$`),
			Message: "spec.destination is not a URL with a path: write it like https://events.example/path, or with a / behind the host",
		},
		{
			Name: "headers secret", Holds: ownNamespace("spec.httpHeadersRef.namespace"),
			Message: "spec.httpHeadersRef must name a Secret of the object's own namespace: copy the Secret there",
		},
		{
			Name: "spec change", Change: "object.spec == oldObject.spec",
			Message: "spec cannot be changed, since a BMC's subscription cannot: delete the object and create another",
		},
	}
}

func dataImageRules() []Rule {
	return []Rule{{
		Name: "data image URL", Holds: matches(str("spec.url"), fetched),
		Message: "spec.url is not a URL of type http, https, ftp or gopher: give the full address of the image",
	}}
}

func firmwareRules() []Rule {
	return []Rule{{
		Name: "update URL", Holds: list("spec.updates") + ".all(u, " + matches(`u.?url.orValue("")`, fetched) + ")",
		Message: "a url in spec.updates is not of type http, https, ftp or gopher: give the full address of the firmware",
	}}
}

// Label keys and values as Kubernetes takes them.
const (
	labelName  = `[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?`
	labelKey   = `^(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?/)?` + labelName + `$`
	labelValue = `^(?:` + labelName + `)?$`
)

func claimRules() []Rule {
	labels, count := value("spec.hostSelector.matchLabels", "{}"), "e.?values.orValue([]).size()"
	takes := func(number string, operators string) string {
		return "e.operator.lowerAscii() in " + operators + " && " + count + number
	}
	expression := matches("e.key", labelKey) + " && (" + either(
		takes(" > 0", `["in", "notin"]`), takes(" == 1", `["=", "==", "!=", "gt", "lt"]`), takes(" == 0", `["exists", "!"]`),
	) + ") && e.?values.orValue([]).all(v, " + matches("v", labelValue) + ")"
	rules := []Rule{{
		Name: "selector",
		Holds: labels + ".all(k, " + matches("k", labelKey) + " && " + matches(labels+"[k]", labelValue) + ") && " +
			list("spec.hostSelector.matchExpressions") + ".all(e, " + expression + ")",
		Message: "spec.hostSelector is no valid label selector: keys and values must be label names, and an operator must be " +
			"in or notin with values, =, ==, !=, gt or lt with one, exists or ! with none",
	}}
	return append(append(rules, imageRules()...), rebootRule())
}
