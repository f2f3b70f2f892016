// Program kubeadm is Kubernetes' own, built from the same module as the control plane:
// it judges the configurations that the hub writes for it.
package main

import (
	"k8s.io/kubernetes/cmd/kubeadm/app"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/errors"
)

func main() { errors.HandleError(app.Run()) }
