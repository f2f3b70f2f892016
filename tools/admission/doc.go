// Package admission holds the rules by which the API server refuses objects that
// could never work, without a webhook: one table of rules in CEL per kind, from
// which the ValidatingAdmissionPolicies of config/admission are rendered
// (go test ./tools/admission -update), and the table in docs/baremetalhost.md.
// No program has this package: package config embeds the manifests.
//
// A rule refuses new violations only. An object that broke it before, stored by
// an older version or while the policies were missing, can still be edited, and an
// object that is being deleted is never refused anything: its finalizers must go.
//
// What CEL cannot judge, such as JSON inside an annotation, is checked by the
// controllers and shown as a condition; the rule says so.
package admission

//go:generate go test . -run TestFilesAreWrittenFromTheTable -update
