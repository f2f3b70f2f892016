package operators

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/hub/wire"
)

// Manifest is a file among a cluster's manifests.
type Manifest struct{ Folder, Name, Content string }

// Manifests subscribe to the operators, by name. Operators of one namespace share its
// namespace and its group; a namespace that every cluster has gets neither. What a row brings
// itself takes the place of what follows from it. Names and versions were checked with the
// table, so that they can be written as they are.
func Manifests(chosen []Choice) []Manifest {
	var out []Manifest
	add := func(name, content string) {
		name = "50_operator_" + name + ".yaml"
		if !slices.ContainsFunc(out, func(m Manifest) bool { return m.Name == name }) {
			out = append(out, Manifest{wire.ManifestFolderOpenshift, name, content})
		}
	}
	brought := map[string]bool{}
	for _, c := range chosen {
		for i, one := range c.objects() {
			if text, err := yaml.JSONToYAML(one.raw); err == nil && !brought[one.id()] {
				add(fileOf(one, i, c.Operator), string(text))
			}
			brought[one.id()] = true
		}
	}
	for _, c := range chosen {
		if c.watches() != WatchesShared {
			add(c.Namespace+"_namespace", fmt.Sprintf(namespaceText, c.Namespace, labels(c.Namespace)))
			add(c.Namespace+"_group", fmt.Sprintf(groupText, c.Namespace, c.Namespace, targets(c.Operator)))
		}
		add(c.Name+"_subscription", fmt.Sprintf(subscriptionText,
			c.SubscriptionName(), c.Namespace, c.Package, cmp.Or(c.Catalog, "redhat-operators"), channelLine(c.Channel)))
	}
	slices.SortFunc(out, func(a, b Manifest) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// fileOf names the file of a row's own object, the i-th: that of the object that it takes the place of, or one of its own.
func fileOf(one object, i int, row *Operator) string {
	switch {
	case one.is("", kindNamespace):
		return one.Metadata.Name + "_namespace"
	case one.isGroupOf(row):
		return row.Namespace + "_group"
	case one.isSubscriptionOf(row):
		return row.Name + "_subscription"
	}
	return fmt.Sprintf("%s_%02d_%s", row.Name, i+1, strings.ToLower(one.Kind))
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
