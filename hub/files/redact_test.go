package files

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestManifestsForPeopleAreRedacted(t *testing.T) {
	const plain = "# the site's own\nkind: ConfigMap\ndata: {a: \"1\"}\n"
	for name, tc := range map[string]struct{ content, want string }{
		"without Secrets":     {plain, plain},
		"JSON":                {`{"kind":"Secret","metadata":{"name":"a"},"data":{"token":"aHVudGVyMg=="}}`, "---\ndata:\n  token: '[redacted]'\nkind: Secret\nmetadata:\n  name: a\n"},
		"among others":        {plain + "---\nkind: Secret\nstringData: {token: hunter2}\n", "---\ndata:\n  a: \"1\"\nkind: ConfigMap\n---\nkind: Secret\nstringData:\n  token: '[redacted]'\n"},
		"in a list":           {"kind: List\nitems:\n- kind: Secret\n  data: {token: aHVudGVyMg==}\n", "---\nitems:\n- data:\n    token: '[redacted]'\n  kind: Secret\nkind: List\n"},
		"a patch":             {"- op: add\n  path: /a\n", "- op: add\n  path: /a\n"},
		"a Secret of no form": {"kind: Secret\ndata: hunter2\n", "---\ndata: '[redacted]'\nkind: Secret\n"},
		"what nobody reads":   {"kind: Secret\n\tdata: hunter2", "[redacted]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(redacted(tc.content)).To(Equal(tc.want))
		})
	}
}
