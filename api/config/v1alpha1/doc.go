// Package v1alpha1 holds the configuration of the program ironflow as an API type, which is
// what a file of --config has, what flags and environment variables set, and what the parts of
// the program read. Its one kind is [IronflowConfiguration]; each of its members is a topic,
// which the help and docs/configuration.md have, too. There a table says what each field means.
//
// Files hold no secrets: they name the files that do.
package v1alpha1

// APIVersion and Kind are what a file begins with.
const (
	APIVersion = "config.ironflow.io/v1alpha1"
	Kind       = "IronflowConfiguration"
)
