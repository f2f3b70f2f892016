package clusters

import (
	"reflect"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
)

// when tells until when a setting can change.
type when int

const (
	// atFirst: files of the hosts are made of it when the installation is prepared.
	atFirst when = iota
	// later: a cluster that takes more hosts makes use of it, too; while it is installed it stays.
	later
	// always: nothing that is going on depends on it.
	always
)

// setting is something that a cluster is made of.
type setting struct {
	// members are those of [Spec].
	members []string
	when    when
	// at are the members of the record, as pointers.
	at func(*store.Cluster) []any
}

// settings are all that a [Spec] sets, but for manifests and what is about the spec itself.
var settings = []setting{
	{[]string{"Name"}, atFirst, func(c *store.Cluster) []any { return []any{&c.API.Name} }},
	{[]string{"BaseDomain"}, atFirst, func(c *store.Cluster) []any { return []any{&c.API.BaseDNSDomain} }},
	{[]string{"Masters"}, atFirst, func(c *store.Cluster) []any { return []any{&c.Masters, &c.API.ControlPlaneCount} }},
	{[]string{"Arbiters"}, atFirst, func(c *store.Cluster) []any { return []any{&c.Arbiters} }},
	{[]string{"Workers"}, atFirst, func(c *store.Cluster) []any { return []any{&c.Workers} }},
	{[]string{"Version", "ReleaseImage", "Release"}, atFirst, func(c *store.Cluster) []any {
		return []any{&c.API.OpenshiftVersion, &c.API.OcpReleaseImage, &c.Release}
	}},
	{[]string{"SSHKey"}, later, func(c *store.Cluster) []any { return []any{&c.API.SSHPublicKey} }},
	{[]string{"PullSecret"}, later, func(c *store.Cluster) []any { return []any{&c.PullSecret, &c.API.PullSecretSet} }},
	{[]string{"MachineNetworks"}, later, func(c *store.Cluster) []any { return []any{&c.API.MachineNetworks} }},
	{[]string{"ServiceNetworks"}, atFirst, func(c *store.Cluster) []any { return []any{&c.API.ServiceNetworks} }},
	{[]string{"ClusterNetworks"}, atFirst, func(c *store.Cluster) []any { return []any{&c.API.ClusterNetworks} }},
	{[]string{"NetworkType"}, atFirst, func(c *store.Cluster) []any { return []any{&c.API.NetworkType} }},
	{[]string{"UserManagedNetworking"}, atFirst, func(c *store.Cluster) []any { return []any{&c.API.UserManagedNetworking} }},
	{[]string{"APIVIPs"}, atFirst, func(c *store.Cluster) []any { return []any{&c.API.APIVIPs} }},
	{[]string{"IngressVIPs"}, atFirst, func(c *store.Cluster) []any { return []any{&c.API.IngressVIPs} }},
	{[]string{"HTTPProxy"}, later, func(c *store.Cluster) []any { return []any{&c.API.HTTPProxy} }},
	{[]string{"HTTPSProxy"}, later, func(c *store.Cluster) []any { return []any{&c.API.HTTPSProxy} }},
	{[]string{"NoProxy"}, later, func(c *store.Cluster) []any { return []any{&c.API.NoProxy} }},
	{[]string{"NTPSources"}, later, func(c *store.Cluster) []any { return []any{&c.API.NTPSources} }},
	{[]string{"DiskEncryption"}, atFirst, func(c *store.Cluster) []any { return []any{&c.API.DiskEncryption} }},
	{[]string{"IgnitionEndpoint"}, always, func(c *store.Cluster) []any { return []any{&c.API.IgnitionEndpoint} }},
	{[]string{"Platform"}, atFirst, func(c *store.Cluster) []any { return []any{&c.API.Platform} }},
	{[]string{"LoadBalancer"}, atFirst, func(c *store.Cluster) []any { return []any{&c.API.LoadBalancer} }},
	{[]string{"SchedulableMasters"}, atFirst, func(c *store.Cluster) []any { return []any{&c.API.SchedulableMasters} }},
	{[]string{"Hyperthreading"}, atFirst, func(c *store.Cluster) []any { return []any{&c.API.Hyperthreading} }},
	{[]string{"InstallConfigOverrides"}, atFirst, func(c *store.Cluster) []any { return []any{&c.API.InstallConfigOverrides} }},
	{[]string{"IgnoredClusterValidations"}, later, func(c *store.Cluster) []any { return []any{&c.API.IgnoredClusterValidations} }},
	{[]string{"IgnoredHostValidations"}, later, func(c *store.Cluster) []any { return []any{&c.API.IgnoredHostValidations} }},
	{[]string{"Tags"}, always, func(c *store.Cluster) []any { return []any{&c.API.Tags} }},
	{[]string{"Source"}, atFirst, func(c *store.Cluster) []any { return []any{&c.Source} }},
	{[]string{"Kubernetes"}, atFirst, func(c *store.Cluster) []any { return []any{&c.Kubernetes} }},
	{[]string{"Imported"}, always, func(c *store.Cluster) []any { return []any{&c.API.Imported} }},
	{[]string{"Files"}, later, func(c *store.Cluster) []any { return []any{&c.Given} }},
}

// same compares what is stored of it.
func (s setting) same(a, b *store.Cluster) bool {
	return slices.EqualFunc(s.at(a), s.at(b), func(x, y any) bool { return stored(x) == stored(y) })
}

// stored is a member as the store has it; no list and an empty one mean the same.
func stored(member any) string {
	if v := reflect.ValueOf(member).Elem(); v.Kind() == reflect.Slice && v.Len() == 0 {
		return ""
	}
	return unit.Text(member)
}

// take copies the setting.
func (s setting) take(to, from *store.Cluster) {
	have := s.at(to)
	for i, want := range s.at(from) {
		reflect.ValueOf(have[i]).Elem().Set(reflect.ValueOf(want).Elem())
	}
}

// changes tells whether it can change while the cluster has the status.
func (s setting) changes(status string) bool {
	switch {
	case before(status), s.when == always:
		return true
	case s.when == later:
		return slices.Contains(takesMore, status)
	}
	return false
}

// keeps refuses a change of what an installation was made of, once it is done: the cluster would not become so. Of
// an imported cluster, the hub knows only what it is told.
func keeps(was, c *store.Cluster) error {
	if before(c.API.Status) || c.API.Imported != nil && *c.API.Imported {
		return nil
	}
	had, now := *was, *c
	unverify(&had.API, c.API) // earlier versions left out what is not the client's to say
	had.API, now.API = Defaults(had.API), Defaults(now.API)
	for _, s := range settings {
		if !s.same(&had, &now) && !s.changes(c.API.Status) {
			return apierror.Conflict("%s: cluster %s is installed, and was so with what it has had: leave it out", s.member(c), had.API.Name)
		}
	}
	return nil
}

// member is the name of the setting in the REST API, of the first that has one.
func (s setting) member(c *store.Cluster) string {
	record := reflect.ValueOf(&c.API).Elem()
	for _, at := range s.at(c) {
		for i := range record.NumField() {
			if record.Field(i).Addr().Interface() == at {
				name, _, _ := strings.Cut(record.Type().Field(i).Tag.Get("json"), ",")
				return name
			}
		}
	}
	return s.members[0]
}

// ChangesUntil says in words until when the member of [Spec] can change.
func ChangesUntil(member string) string {
	for _, s := range settings {
		if slices.Contains(s.members, member) {
			return map[when]string{
				atFirst: "before the installation", later: "before the installation, and for hosts that join later", always: "at any time",
			}[s.when]
		}
	}
	switch member {
	case "Hold", "Revoke":
		return "at any time"
	case "ID", "Was", "Arrived":
		return "at the first registration"
	}
	return "before the installation"
}
