package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/apierror"
)

// Field is a setting by its two names.
type Field struct {
	// Member is that of the REST API, "proxy.http_proxy".
	Member string
	// Object is where a Kubernetes object has it, "InfraEnv spec.proxy.httpProxy"; empty where none has.
	Object string
}

// Rule is a rule about settings of a T, which is what the REST API takes.
type Rule[T any] struct {
	Fields []Field
	// Want is what is wanted of them, and Write what to write in the place of a mistake.
	Want, Write string
	// Good and Bad are bodies of a request, or parts of one, that keep and break the rule.
	Good, Bad string
	// check returns a apierror.Error with the field.
	check func(*T) error
}

// first is the first rule that is broken by what is wanted now and was not broken in the
// same way before: what was taken once, by an earlier version, is no reason to refuse
// other changes. A nil before is of something new.
func first[T any](rules []Rule[T], before, now *T) error {
	for _, r := range rules {
		err := r.check(now)
		if err == nil {
			continue
		}
		if before != nil && r.same(before, now) {
			if was := r.check(before); was != nil && was.Error() == err.Error() {
				continue
			}
		}
		return err
	}
	return nil
}

// same tells that what the rule is about did not change; texts of errors alone would not
// tell, since they repeat no secrets.
func (r Rule[T]) same(a, b *T) bool {
	was, is := members(a), members(b)
	return !slices.ContainsFunc(r.Fields, func(f Field) bool {
		name, _, _ := strings.Cut(f.Member, ".")
		return !bytes.Equal(was[name], is[name])
	})
}

// members are those of a model as JSON has them.
func members(model any) (out map[string]json.RawMessage) {
	raw, err := json.Marshal(model)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		return nil // of models, it does not happen
	}
	return out
}

// Row is a rule without what it is about, as documentation and tests have it.
type Row struct {
	// Of is cluster, infra-env or host.
	Of          string
	Fields      []Field
	Want, Write string
	// Good and Bad are parts of a request's body.
	Good, Bad string
}

// Table is all rules.
func Table() []Row {
	rows := rowsOf("cluster", clusterRules)
	rows = append(rows, rowsOf("infra-env", infraEnvRules)...)
	rows = append(rows, rowsOf("host", hostRules)...)
	rows = append(rows, rowsOf("host", argumentRules)...)
	return append(rows, rowsOf("host", ignitionRules)...)
}

func rowsOf[T any](of string, rules []Rule[T]) (rows []Row) {
	for _, r := range rules {
		rows = append(rows, Row{Of: of, Fields: r.Fields, Want: r.Want, Write: r.Write, Good: r.Good, Bad: r.Bad})
	}
	return rows
}

// Object is the field of a Kubernetes object for a member of the REST API, with what
// follows the member's name: "api_vips[1].ip" becomes "AgentClusterInstall spec.apiVIPs[1]".
// A member that no object has stays.
func Object(of, member string) string {
	var best Field
	for _, row := range Table() {
		for _, f := range row.Fields {
			if row.Of == of && f.Object != "" && within(member, f.Member) && len(f.Member) > len(best.Member) {
				best = f
			}
		}
	}
	if best.Member == "" {
		return member
	}
	return best.Object + inObject.Replace(member[len(best.Member):])
}

// inObject turns what follows the names of lists.
var inObject = strings.NewReplacer(".ip", "", ".cidr", "", ".host_prefix", ".hostPrefix")

// Told is the text of a refusal that is about a field, with the name that Kubernetes
// objects have for it; false for other errors.
func Told(of string, err error) (string, bool) {
	e, is := errors.AsType[*apierror.Error](err)
	if !is || e.Field == "" {
		return "", false
	}
	return Object(of, e.Field) + strings.TrimPrefix(e.Reason, e.Field), true
}

// within tells that the path leads to the member, or to something in it.
func within(path, member string) bool {
	after, found := strings.CutPrefix(path, member)
	return found && (after == "" || after[0] == '.' || after[0] == '[')
}
