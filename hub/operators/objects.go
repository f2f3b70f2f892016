package operators

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"
)

// Kinds that a row's own objects take the place of, and the group of the latter two.
const (
	kindNamespace    = "Namespace"
	kindGroup        = "OperatorGroup"
	kindSubscription = "Subscription"
	lifecycleManager = "operators.coreos.com"
)

// object is what is read of a manifest: who it is.
type object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name         string `json:"name"`
		GenerateName string `json:"generateName"`
		Namespace    string `json:"namespace"`
	} `json:"metadata"`
	raw json.RawMessage
}

func readObject(raw json.RawMessage) (object, error) {
	o := object{raw: raw}
	return o, kjson.UnmarshalCaseSensitivePreserveInts(raw, &o)
}

// objects are the row's own. The row was checked, so that each can be read.
func (o *Operator) objects() []object {
	var all []object
	for _, raw := range o.Manifests {
		if one, err := readObject(raw); err == nil {
			all = append(all, one)
		}
	}
	return all
}

// group is that of the kind's API, empty for the core.
func (o object) group() string {
	group, _, found := strings.Cut(o.APIVersion, "/")
	if !found {
		return ""
	}
	return group
}

func (o object) is(group, kind string) bool { return o.group() == group && o.Kind == kind }

// id is what a cluster has one of, in words.
func (o object) id() string {
	kind := o.Kind
	if group := o.group(); group != "" {
		kind += "." + group
	}
	if o.Metadata.Namespace == "" {
		return kind + " " + o.Metadata.Name
	}
	return kind + " " + o.Metadata.Namespace + "/" + o.Metadata.Name
}

// isNamespaceOf and its like tell of an object that follows from the row where the row brings none.
func (o object) isNamespaceOf(row *Operator) bool {
	return o.is("", kindNamespace) && o.Metadata.Name == row.Namespace
}

// isGroupOf holds whatever its name: a namespace has one group.
func (o object) isGroupOf(row *Operator) bool {
	return o.is(lifecycleManager, kindGroup) && o.Metadata.Namespace == row.Namespace
}

func (o object) isSubscriptionOf(row *Operator) bool {
	return o.is(lifecycleManager, kindSubscription) && o.Metadata.Namespace == row.Namespace && o.Metadata.Name == row.SubscriptionName()
}

var (
	apiVersion = regexp.MustCompile(`^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?v[0-9][a-z0-9]{0,30}$`)
	kindName   = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,62}$`)
	objectName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.:_-]{0,251}[A-Za-z0-9])?$`)
)

// checkManifests refuses objects that no cluster could be given, or that would not be followed to their end.
func (o *Operator) checkManifests() error {
	seen := map[string]bool{}
	for i, raw := range o.Manifests {
		one, err := readObject(raw)
		if err != nil {
			return fmt.Errorf("manifests[%d]: want an object with apiVersion, kind and metadata: %w", i, err)
		}
		if err := o.checkObject(one); err != nil {
			return fmt.Errorf("manifests[%d].%w", i, err)
		}
		id := one.id()
		if one.isGroupOf(o) {
			id = "the OperatorGroup of namespace " + o.Namespace
		}
		if seen[id] {
			return fmt.Errorf("manifests[%d]: %s is there twice", i, id)
		}
		seen[id] = true
	}
	return nil
}

func (o *Operator) checkObject(one object) error {
	meta := one.Metadata
	for _, rule := range []struct {
		ok     bool
		member string
		want   string
	}{
		{apiVersion.MatchString(one.APIVersion), "apiVersion", "the version of an API, such as v1 or apps/v1"},
		{kindName.MatchString(one.Kind) && one.Kind != "List", "kind", "the kind of one object; the entries of a List are manifests of their own"},
		{meta.GenerateName == "", "metadata.generateName", "a name: who applies manifests repeats it, and would make another object each time"},
		{objectName.MatchString(meta.Name), "metadata.name", "the name of an object"},
		{meta.Namespace == "" || label.MatchString(meta.Namespace), "metadata.namespace", "the name of a namespace"},
		{o.watches() != WatchesShared || !one.isNamespaceOf(o) && !one.isGroupOf(o), "kind", "no Namespace and no OperatorGroup of a namespace that every cluster has, as watches: shared says"},
	} {
		if !rule.ok {
			return fmt.Errorf("%s: want %s", rule.member, rule.want)
		}
	}
	switch {
	case one.is(lifecycleManager, kindGroup):
		return o.checkGroup(one)
	case one.is(lifecycleManager, kindSubscription):
		return o.checkSubscription(one)
	}
	return nil
}

// checkGroup refuses a group of another namespace, and one that the row says otherwise of.
func (o *Operator) checkGroup(one object) error {
	switch {
	case !one.isGroupOf(o):
		return fmt.Errorf("metadata.namespace: want %s, where the operator runs; the group of another one is of its row", o.Namespace)
	case o.Watches != "":
		return errors.New("kind: want either an OperatorGroup of the row's own, or watches")
	}
	return nil
}

// checkSubscription refuses what ironflow-cluster would not find, or what would not be what the row says.
func (o *Operator) checkSubscription(one object) error {
	if !one.isSubscriptionOf(o) {
		return fmt.Errorf("metadata: want the row's own subscription, %s/%s; that of another operator is of its row, which this one needs", o.Namespace, o.SubscriptionName())
	}
	var asks struct {
		Spec struct {
			Name                string `json:"name"`
			Channel             string `json:"channel"`
			Source              string `json:"source"`
			SourceNamespace     string `json:"sourceNamespace"`
			InstallPlanApproval string `json:"installPlanApproval"`
		} `json:"spec"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(one.raw, &asks); err != nil {
		return fmt.Errorf("spec: %w", err)
	}
	spec := asks.Spec
	for _, rule := range []struct {
		ok     bool
		member string
		want   string
	}{
		{spec.Name == o.Package, "name", "the row's package, " + o.Package},
		{o.Channel == "" || spec.Channel == o.Channel, "channel", "the row's channel, " + o.Channel},
		{spec.Source != "" && (o.Catalog == "" || spec.Source == o.Catalog), "source", "the name of a catalog source, that of the row where it has one"},
		{spec.SourceNamespace != "", "sourceNamespace", "the namespace of the catalog source, such as openshift-marketplace"},
		{slices.Contains([]string{"", "Automatic"}, spec.InstallPlanApproval), "installPlanApproval", "Automatic: nobody approves a plan during an installation"},
	} {
		if !rule.ok {
			return fmt.Errorf("spec.%s: want %s", rule.member, rule.want)
		}
	}
	return nil
}

// groupText is the group of its namespace: the row's own, or what it follows from.
func (o *Operator) groupText() string {
	for _, one := range o.objects() {
		if one.isGroupOf(o) {
			return string(one.raw)
		}
	}
	return o.watches()
}

// inTwoWays is an object that two rows bring, each in its own way; empty for none.
func inTwoWays(a, b *Operator) string {
	for _, one := range a.objects() {
		for _, other := range b.objects() {
			if one.id() == other.id() && string(one.raw) != string(other.raw) {
				return one.id()
			}
		}
	}
	return ""
}
