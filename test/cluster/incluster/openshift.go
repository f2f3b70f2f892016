package incluster

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/ironflow/ironflow/cluster/kube"
	"github.com/ironflow/ironflow/cluster/observe"
	"github.com/ironflow/ironflow/hub/pki"
)

// kinds are those of OpenShift that the program follows: its own definitions have far
// more in them, and none of it is looked at.
var kinds = []struct{ group, version, kind, plural, scope string }{
	{"config.openshift.io", "v1", "ClusterVersion", "clusterversions", "Cluster"},
	{"config.openshift.io", "v1", "ClusterOperator", "clusteroperators", "Cluster"},
	{"operators.coreos.com", "v1alpha1", "Subscription", "subscriptions", "Namespaced"},
	{"operators.coreos.com", "v1alpha1", "ClusterServiceVersion", "clusterserviceversions", "Namespaced"},
}

// Operators are the ClusterOperators of [Cluster.OpenShift].
var Operators = []string{"console", "etcd"}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// OpenShift makes the kinds of OpenShift, a ClusterVersion and operators that are being
// installed, and the authority of the cluster's routes. [Cluster.Up] has them end.
func (c *Cluster) OpenShift(ctx context.Context, version string) error {
	for _, k := range kinds {
		if err := c.define(ctx, k.group, k.version, k.kind, k.plural, k.scope); err != nil {
			return err
		}
	}
	_, routes, err := pki.NewAuthority("ingress-operator", time.Now(), time.Hour)
	if err != nil {
		return err
	}
	if err := c.Create(ctx, "/api/v1/namespaces/openshift-config-managed/configmaps", Object{
		"metadata": Object{"name": "default-ingress-cert"}, "data": Object{"ca-bundle.crt": string(routes.Cert)},
	}); err != nil {
		return err
	}
	if err := c.Create(ctx, observe.Versions, Object{"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": Object{"name": "version"}}); err != nil {
		return err
	}
	for _, name := range Operators {
		if err := c.Create(ctx, observe.Operators, Object{"apiVersion": "config.openshift.io/v1", "kind": "ClusterOperator", "metadata": Object{"name": name}}); err != nil {
			return err
		}
	}
	return c.state(ctx, version, false)
}

// Up has ClusterVersion and operators be available.
func (c *Cluster) Up(ctx context.Context, version string) error { return c.state(ctx, version, true) }

func (c *Cluster) state(ctx context.Context, version string, available bool) error {
	conditions := []Object{
		{"type": "Available", "status": truth(available), "message": "as of " + version},
		{"type": "Progressing", "status": truth(!available), "message": "working towards " + version},
		{"type": "Degraded", "status": truth(false)},
		{"type": "Failing", "status": truth(false)},
	}
	paths := []string{observe.Versions + "/version"}
	for _, name := range Operators {
		paths = append(paths, observe.Operators+"/"+name)
	}
	for _, path := range paths {
		err := c.Admin.MergePatch(ctx, path+"/status", Object{"status": Object{
			"conditions": conditions, "desired": Object{"version": version}, "versions": []Object{{"name": "operator", "version": version}},
		}})
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// define makes a kind whose members nobody looks at, and waits until it is served.
func (c *Cluster) define(ctx context.Context, group, version, kind, plural, scope string) error {
	err := c.Create(ctx, definitions, Object{
		"metadata": Object{"name": plural + "." + group},
		"spec": Object{
			"group": group, "scope": scope, "names": Object{"kind": kind, "plural": plural, "singular": strings.ToLower(kind), "listKind": kind + "List"},
			"versions": []Object{{
				"name": version, "served": true, "storage": true, "subresources": Object{"status": Object{}},
				"schema": Object{"openAPIV3Schema": Object{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	})
	if err != nil {
		return err
	}
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		err := c.Admin.Get(ctx, "/apis/"+group+"/"+version+"/"+plural, &Object{})
		if code := kube.Code(err); err == nil || code != http.StatusNotFound && code != http.StatusTooManyRequests && code != http.StatusServiceUnavailable {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s of %s is not served: %w", plural, group, err)
		case <-again.C:
		}
	}
}
