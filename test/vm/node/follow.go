package node

import (
	"bytes"
	"os"
	"sync"
	"time"
)

// milestones are what a node's journal says on the way, in this order, and what it means.
var milestones = []struct{ says, means string }{
	{"Finished ironflow-programs.service", "the node's programs are there, containerd runs"},
	{"[preflight] Running pre-flight checks", "kubeadm has begun"},
	{"[kubelet-start] Starting the kubelet", "kubeadm has written certificates and static pods, and starts the kubelet"},
	{"Pulled image", "the first image is pulled"},
	{"returns sandbox id", "the first pod has its sandbox"},
	{"StartContainer for", "the first container is started"},
	{"[control-plane-check] Checking kube-apiserver", "the API has taken kubeadm's first call"},
	{"[upload-config] Storing the configuration", "the control plane is healthy"},
	{"[addons] Applied essential addon: kube-proxy", "the API has kubeadm's addons"},
	{"is a node of the cluster", "kubeadm has ended: the host is a node of the cluster"},
}

// Follow reads the journal that a machine writes to a file of this computer, and tells each
// milestone of its node when it is there, until the returned function is called.
func Follow(journal string, told func(string)) (stop func()) {
	end := make(chan struct{})
	var following sync.WaitGroup
	following.Go(func() {
		next := 0
		for {
			next = tellFrom(journal, next, told)
			select {
			case <-end:
				return
			case <-time.After(2 * time.Second):
			}
		}
	})
	return func() {
		close(end)
		following.Wait()
	}
}

// tellFrom tells the milestones from one on that were reached, and returns the first that was not.
func tellFrom(journal string, next int, told func(string)) int {
	text, err := os.ReadFile(journal)
	if err != nil { // the machine has not begun
		return next
	}
	for ; next < len(milestones) && bytes.Contains(text, []byte(milestones[next].says)); next++ {
		told(milestones[next].means)
	}
	return next
}
