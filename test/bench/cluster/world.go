package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/ironflow/ironflow/cluster/csr"
	"github.com/ironflow/ironflow/cluster/kube"
	"github.com/ironflow/ironflow/cluster/manifests"
	"github.com/ironflow/ironflow/cluster/observe"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/cluster/incluster"
	"github.com/ironflow/ironflow/test/cluster/played"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/progress"
)

type object = incluster.Object

const (
	version = "4.20.1"
	// images is how many of its images a kubelet tells of, and podsPerNode how many pods of the system each node has.
	images, podsPerNode = 50, 2
	// copies are ClusterServiceVersions that the lifecycle manager has copied, copyBytes is how large each of them is.
	copies, copyBytes = 100, 100 << 10
	// inventoryBytes is how many an inventory has at least, as those of real machines.
	inventoryBytes = 30_000
	// strangersNames are how many names a stranger's signing request has: with them it is nearly as large as one that is judged.
	strangersNames = 90
	// writers write to the API at the same time.
	writers = 16
)

// world is a cluster whose hosts have left for their disks, and a hub that waits for them.
type world struct {
	lab    *lab.Lab
	inner  *incluster.Cluster
	hub    *played.Hub
	endHub func()
}

func newWorld(ctx context.Context, hosts, strangers int) (*world, error) {
	w := &world{}
	var err error
	if w.lab, err = lab.New(lab.Options{Progress: progress.Lines(os.Stderr)}); err != nil {
		return w, err
	}
	plane, err := w.lab.StartControlPlane(ctx, lab.ControlPlaneOptions{})
	if err != nil {
		return w, err
	}
	if w.inner, err = incluster.New(ctx, plane); err != nil {
		return w, err
	}
	err = w.inner.Apply(ctx, manifests.Settings{Image: "registry.example/ironflow-cluster:1", HubURL: "http://hub.example", ClusterID: played.ClusterID, OpenShift: true, Stay: true})
	if err != nil {
		return w, err
	}
	if err := errors.Join(w.inner.OpenShift(ctx, version), w.inner.Up(ctx, version)); err != nil {
		return w, err
	}
	if err := w.fill(ctx, hosts, strangers); err != nil {
		return w, err
	}
	var all []wire.Host
	for n := range hosts {
		all = append(all, hostOf(n))
	}
	var operators []wire.MonitoredOperator
	for _, name := range incluster.Operators {
		operators = append(operators, wire.MonitoredOperator{Name: name, OperatorType: wire.OperatorTypeBuiltin})
	}
	w.hub, w.endHub = played.Serve(all, operators...)
	return w, nil
}

func (w *world) stop(ctx context.Context) error {
	if w.endHub != nil {
		w.endHub()
	}
	if w.inner != nil {
		w.inner.Close()
	}
	if w.lab == nil {
		return nil
	}
	return w.lab.Stop(ctx)
}

func name(n int) string { return fmt.Sprintf("node-%d", n) }

func address(n int) string { return fmt.Sprintf("10.0.%d.%d", n/250, n%250+1) }

// hostOf is the n-th host as the hub has it: the first three are the control plane.
func hostOf(n int) wire.Host {
	role := wire.HostRoleWorker
	if n < 3 {
		role = wire.HostRoleMaster
	}
	h := played.Host(n, name(n), role, wire.HostStageRebooting, address(n))
	h.NodeLabels = `{"site":"north"}`
	raw, err := json.Marshal(wire.Inventory{
		Hostname: name(n), Interfaces: []wire.Interface{{Name: "eno1", Ipv4Addresses: []string{address(n) + "/16"}}},
		Disks: []wire.Disk{{Name: "sda", Smart: strings.Repeat("SMART attribute ok; ", inventoryBytes/20)}},
	})
	if err != nil {
		panic(err) //nolint:forbidigo // texts, numbers and lists of them
	}
	h.Inventory = string(raw)
	return h
}

// fill makes nodes and pods of the hosts, the copies of operators, and signing requests of strangers.
func (w *world) fill(ctx context.Context, hosts, strangers int) error {
	if err := w.inner.Create(ctx, "/api/v1/namespaces", object{"metadata": object{"name": "copies"}}); err != nil {
		return err
	}
	var all []func() error
	for n := range hosts {
		all = append(all, func() error { return w.node(ctx, n) })
	}
	for n := range copies {
		all = append(all, func() error {
			return w.inner.Create(ctx, "/apis/operators.coreos.com/v1alpha1/namespaces/copies/clusterserviceversions", object{
				"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
				"metadata": object{"name": fmt.Sprintf("operator-%d", n), "labels": object{"olm.copiedFrom": "openshift-operators"}},
				"spec":     object{"version": "1.2.3", "description": strings.Repeat("It does what it does. ", copyBytes/22)},
			})
		})
	}
	token, err := w.inner.As("system:bootstrap:abcdef", "system:bootstrappers")
	if err != nil {
		return err
	}
	defer token.Close()
	for n := range strangers {
		all = append(all, func() error { return stranger(ctx, token, n) })
	}
	work, errs := make(chan func() error), make(chan error, len(all))
	var running sync.WaitGroup
	for range writers {
		running.Go(func() {
			for do := range work {
				errs <- do()
			}
		})
	}
	for _, do := range all {
		work <- do
	}
	close(work)
	running.Wait()
	var found error
	for range all {
		found = errors.Join(found, <-errs)
	}
	return found
}

// stranger makes the request of one who has a bootstrap token, and is no host.
func stranger(ctx context.Context, token *kube.Client, n int) error {
	var names []string
	for i := range strangersNames {
		names = append(names, fmt.Sprintf("%05d-%02d.%s", n, i, strings.Repeat("a", 50)))
	}
	name := fmt.Sprintf("%s-%d", strings.Repeat("stranger.", 20)+"a", n)
	return incluster.Ask(ctx, token, name, name, csr.Client, names)
}

// node makes a node that is Ready, as large as real ones are, with its pods.
func (w *world) node(ctx context.Context, n int) error {
	if err := w.inner.Node(ctx, name(n), address(n), true, nil); err != nil {
		return err
	}
	var told []object
	for i := range images {
		image := fmt.Sprintf("quay.example/release/component-%d", i)
		told = append(told, object{"sizeBytes": 500e6 + i, "names": []string{image + "@sha256:" + strings.Repeat("a", 64), image + ":" + version}})
	}
	if err := w.inner.Admin.MergePatch(ctx, observe.Nodes+"/"+name(n)+"/status", object{"status": object{"images": told}}); err != nil {
		return err
	}
	for i := range podsPerNode {
		pod := fmt.Sprintf("proxy-%d-%d", i, n)
		err := w.inner.Admin.Post(ctx, observe.Pods, object{
			"metadata": object{"name": pod, "annotations": object{"example.com/configuration": strings.Repeat("x", 4<<10)}},
			"spec":     object{"nodeName": name(n), "containers": []object{{"name": "a", "image": "registry.example/a:1"}}},
		})
		if err != nil && kube.Code(err) != http.StatusConflict {
			return err
		}
		err = w.inner.Admin.MergePatch(ctx, observe.Pods+"/"+pod+"/status", object{"status": object{
			"phase": "Running", "conditions": []object{{"type": "Ready", "status": "True"}},
		}})
		if err != nil {
			return err
		}
	}
	return nil
}
