// Package e2e takes hosts and clusters through their lives: the hub as it is
// shipped, `ironflow hub`, over a real kube-apiserver with TLS and tokens; agents
// as they are shipped, in dry run; users who call the REST API. Nothing is sped up
// but the stages of the pretended installations. What runs inside a cluster that
// is being installed is played by the tests.
package e2e
