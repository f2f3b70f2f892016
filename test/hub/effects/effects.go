// Package effects says what becomes of everything that a client of the REST API can
// ask for: each operation that changes something, and each setting of clusters, hosts
// and infra-envs, acts, is refused with its name, or is only stored. It is a table for
// readers, pure and read by nobody at run time; a test holds that it is complete, and
// that the test of each effect exists.
package effects

// Does is what the hub does with something that a client asks for.
type Does string

// What the hub does.
const (
	// Acts: it changes what the hub, its hosts or their installed systems do.
	Acts Does = "acts"
	// Refuses: a value is answered 400 with the setting's name.
	Refuses Does = "refuses"
	// Stores: it is kept and shown, and nothing else.
	Stores Does = "only stores"
)

// Of is what a setting belongs to.
type Of string

// What has settings.
const (
	Cluster  Of = "cluster"
	Host     Of = "host"
	InfraEnv Of = "infra-env"
)

// Setting is one setting that a client can write.
type Setting struct {
	Of Of
	// Name is the member's in the protocol.
	Name string
	Does Does
	// Plain is what the hub does with it in a cluster without a release, where that differs.
	Plain Does
	// How is what the effect is, or whom it is stored for.
	How string
	// Test shows the effect, as FOLDER.TEST.
	Test string
}

// Operation is one operation of the protocol that changes something.
type Operation struct {
	// ID is the operation's in the protocol.
	ID   string
	Does Does
	// How is what the effect is.
	How string
	// Test shows the effect, as FOLDER.TEST.
	Test string
}
