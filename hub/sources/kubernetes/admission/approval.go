package admission

import "github.com/ironflow/ironflow/hub/sources/kubernetes/token"

// Binding is the one by which kubeadm has every request of a bearer of a bootstrap token
// approved, whatever node's name it has; ApprovalRole is what it gives.
const (
	Binding      = "kubeadm:node-autoapprove-bootstrap"
	ApprovalRole = "system:certificates.k8s.io:certificatesigningrequests:nodeclient"
)

// Watched is the manifest that takes the subjects out of that binding, so that requests of
// hosts that join are approved by the program inside the cluster alone: a token lies on every
// host, and whoever has one could get the rights of any node otherwise. The binding itself
// stays, since kubeadm wants to find it.
const Watched = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: ` + Binding + `
  annotations:
    ironflow.io/why: ironflow-cluster approves the requests of hosts that the hub knows; with the subject ` + token.Group + ` every bearer of a bootstrap token could be any node
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: ` + ApprovalRole + `
subjects: []
`
