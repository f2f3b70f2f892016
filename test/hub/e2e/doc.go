// Package e2e takes hosts and clusters through their lives: the hub as it is
// shipped, `ironflow hub`, over a real kube-apiserver with TLS and tokens; agents
// as they are shipped, in dry run; users who call the REST API. Nothing is sped up
// but the stages of the pretended installations. Ignition comes from a stand-in of
// openshift-install. What is reported from inside of a cluster comes from
// `ironflow-cluster` as it is shipped, over a second kube-apiserver; the tests make only
// what kubelets and OpenShift itself make there: requests, nodes, operators.
package e2e
