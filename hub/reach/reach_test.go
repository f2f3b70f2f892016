package reach

import (
	"testing"

	. "github.com/onsi/gomega"
)

// TestUnreachable has addresses that only the cluster reaches, and others that look
// like them.
func TestUnreachable(t *testing.T) {
	environment := []string{"IRONFLOW_SERVICE_HOST=10.96.7.7", "SIXTH_SERVICE_HOST=FD00:96::7", "UNSET_SERVICE_HOST=", "HOST=192.0.2.10", "KUBERNETES_SERVICE_HOST=192.0.2.1"}
	const resolver = "nameserver 10.96.0.10\nsearch ironflow-system.svc.corp.internal SVC.corp.internal. corp.internal\noptions ndots:5\n"
	const named, service = "only pods of the cluster resolve", "the address of a Service"
	for name, tc := range map[string]struct{ address, want string }{
		"a Service":                            {"https://ironflow.ironflow-system.svc:8090", named},
		"a Service by its full name":           {"http://ironflow.ironflow-system.svc.cluster.local:8080/x", named},
		"below the cluster's own domain":       {"http://ironflow.ironflow-system.SVC.corp.internal.:8080", named},
		"a pod":                                {"https://10-0-0-7.default.pod.cluster.local", named},
		"a cluster IP":                         {"http://10.96.7.7:8080", service},
		"a cluster IP of version 6":            {"http://[fd00:96::7]:8080", service},
		"the same, spelled in full":            {"http://[fd00:0096:0:0:0:0:0:0007]:8080", service},
		"an address":                           {"http://192.0.2.10:8080", ""},
		"an address of version 6":              {"http://[2001:db8::7]:8080", ""},
		"an address of one link":               {"http://[fe80::7%25eth0]:8080", ""},
		"a port of a node":                     {"https://node-1.example:30090", ""},
		"a node of a cluster by its domain":    {"https://node-1.cluster.local:30090", ""},
		"a node by the cluster's own domain":   {"https://node-1.corp.internal:30090", ""},
		"a site's own domain of that name":     {"https://ironflow.rack.svc.example:8090", ""},
		"the address that API servers share":   {"https://192.0.2.1:8090", ""},
		"a name":                               {"https://ironflow.example", ""},
		"a name that begins as a Service's":    {"https://svc.example", ""},
		"a name that ends nearly like one":     {"https://mysvc", ""},
		"this machine":                         {"https://127.0.0.1:8090", ""},
		"a placeholder, which is judged apart": {"https://address-to-set.invalid:8090", ""},
		"nothing":                              {"", ""},
		"no URL":                               {"http://[", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			why := read(environment, resolver).Unreachable(tc.address)
			if tc.want == "" {
				g.Expect(why).To(BeEmpty())
			} else {
				g.Expect(why).To(ContainSubstring(tc.want))
			}
		})
	}
}

// TestOutsideOfAnyCluster nothing is known but the names that every cluster has.
func TestOutsideOfAnyCluster(t *testing.T) {
	g := NewWithT(t)
	nowhere := read(nil, "nameserver 192.0.2.53\nsearch corp.internal\n")
	g.Expect(nowhere.Unreachable("http://ironflow.ironflow-system.svc:8080")).NotTo(BeEmpty())
	g.Expect(nowhere.Unreachable("http://ironflow.ironflow-system.svc.corp.internal:8080")).To(BeEmpty())
	g.Expect(nowhere.Unreachable("http://10.96.7.7:8080")).To(BeEmpty())
}

// TestUnset has what stands in manifests where a site's address belongs.
func TestUnset(t *testing.T) {
	g := NewWithT(t)
	for address, want := range map[string]bool{
		"http://address-to-set.invalid:8080": true, "https://ADDRESS.INVALID.": true, "https://invalid": true,
		"http://192.0.2.10:8080": false, "http://invalid.example": false, "": false,
	} {
		g.Expect(Unset(address)).To(Equal(want), address)
	}
}
