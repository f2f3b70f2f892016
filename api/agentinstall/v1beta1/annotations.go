package v1beta1

import (
	"slices"
	"strings"
)

// Families of addresses, as the annotation ip-family of an InfraEnv names them.
const (
	IPv4 = "v4"
	IPv6 = "v6"
)

// IPFamilies reads that annotation: v4, v6, or both with a comma between them. It is empty for
// any other text, which says nothing.
func IPFamilies(text string) []string {
	out := KeyList(text)
	if slices.ContainsFunc(out, func(family string) bool { return family != IPv4 && family != IPv6 }) {
		return nil
	}
	return out
}

// KeyList reads a list with commas, such as that of the annotation propagate-node-labels: its
// texts, sorted, each once.
func KeyList(text string) []string {
	var out []string
	for key := range strings.SplitSeq(text, ",") {
		if key = strings.TrimSpace(key); key != "" {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
