package rotation

import (
	"slices"
	"strings"
)

// mark is a sign on a Secret of what renders it.
type mark struct {
	label, annotation string // exact, or the beginning when it ends in /
	value             string // empty for any
	owner             string // kind of an owner
	by                string
}

// marks are the signs that tools leave. `kubectl apply` leaves one too and is not
// among them: a person who applies an old file again sees what comes of it, in the
// condition with reason Reverted.
var marks = []mark{
	{annotation: "argocd.argoproj.io/tracking-id", by: "Argo CD"},
	{label: "argocd.argoproj.io/instance", by: "Argo CD"},
	{label: "kustomize.toolkit.fluxcd.io/", by: "Flux"},
	{label: "helm.toolkit.fluxcd.io/", by: "Flux"},
	{annotation: "meta.helm.sh/release-name", by: "Helm"},
	{label: "app.kubernetes.io/managed-by", value: "Helm", by: "Helm"},
	{label: "objectset.rio.cattle.io/", by: "Fleet"},
	{annotation: "objectset.rio.cattle.io/", by: "Fleet"},
	{annotation: "apps.open-cluster-management.io/", by: "Open Cluster Management"},
	{annotation: "reconcile.external-secrets.io/", by: "External Secrets"},
	{label: "reconcile.external-secrets.io/", by: "External Secrets"},
	{owner: "ExternalSecret", by: "External Secrets"},
	{owner: "SealedSecret", by: "Sealed Secrets"},
	{owner: "VaultStaticSecret", by: "the Vault Secrets Operator"},
	{owner: "VaultDynamicSecret", by: "the Vault Secrets Operator"},
	{owner: "SecretProviderClass", by: "the Secrets Store CSI driver"},
	{owner: "OnePasswordItem", by: "1Password"},
	{annotation: "operator.1password.io/", by: "1Password"},
}

// ManagerOf names what renders a Secret from elsewhere, of its labels, annotations and
// the kinds of its owners other than hosts; empty for nobody. An owner of a kind that
// is not known counts as well: whoever owns a Secret may write it anew.
func ManagerOf(labels, annotations map[string]string, owners []string) string {
	for _, m := range marks {
		if has(labels, m.label, m.value) || has(annotations, m.annotation, m.value) {
			return m.by
		}
	}
	if len(owners) == 0 {
		return ""
	}
	for _, m := range marks {
		if m.owner != "" && slices.Contains(owners, m.owner) {
			return m.by
		}
	}
	return "its owner, which is of kind " + owners[0]
}

// has reports a key with a value. A key that ends in a slash stands for all that begin so.
func has(set map[string]string, key, value string) bool {
	if key == "" {
		return false
	}
	for k, v := range set {
		same := k == key || strings.HasSuffix(key, "/") && strings.HasPrefix(k, key)
		if same && (value == "" || v == value) {
			return true
		}
	}
	return false
}
