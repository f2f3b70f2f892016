package operators

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
)

// Manifest is a file among a cluster's manifests.
type Manifest struct{ Folder, Name, Content string }

// Manifests subscribe to the operators, by name. Operators of one namespace share its
// namespace and its group; a namespace that every cluster has gets neither. Names and
// versions were checked with the table, so that they can be written as they are.
func Manifests(chosen []Choice) []Manifest {
	var out []Manifest
	add := func(name, format string, args ...any) {
		name = "50_operator_" + name + ".yaml"
		if !slices.ContainsFunc(out, func(m Manifest) bool { return m.Name == name }) {
			out = append(out, Manifest{wire.ManifestFolderOpenshift, name, fmt.Sprintf(format, args...)})
		}
	}
	for _, c := range chosen {
		if c.watches() != WatchesShared {
			add(c.Namespace+"_namespace", namespaceText, c.Namespace, labels(c.Namespace))
			add(c.Namespace+"_group", groupText, c.Namespace, c.Namespace, targets(c.Operator))
		}
		add(c.Name+"_subscription", subscriptionText, c.SubscriptionName(), c.Namespace, c.Package, cmp.Or(c.Catalog, "redhat-operators"), channelLine(c.Channel))
	}
	slices.SortFunc(out, func(a, b Manifest) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

const namespaceText = `apiVersion: v1
kind: Namespace
metadata:
  name: %s
%s`

const groupText = `apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata:
  name: %s
  namespace: %s
%s`

const subscriptionText = `apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata:
  name: %s
  namespace: %s
spec:
  name: %s
  source: %s
  sourceNamespace: openshift-marketplace
  installPlanApproval: Automatic
%s`

// labels let the cluster's own monitoring see the namespace, which has to be one of OpenShift's.
func labels(namespace string) string {
	if !strings.HasPrefix(namespace, "openshift-") {
		return ""
	}
	return "  labels:\n    openshift.io/cluster-monitoring: \"true\"\n"
}

func targets(o *Operator) string {
	if o.watches() == WatchesAll {
		return "spec: {}\n"
	}
	return "spec:\n  targetNamespaces:\n  - " + o.Namespace + "\n"
}

func channelLine(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("  channel: %q\n", name)
}
