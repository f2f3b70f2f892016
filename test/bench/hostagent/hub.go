package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/test/hub/program"
	"github.com/ironflow/ironflow/test/lab"
)

// startPatience is how long the hub may take to know the infra-env.
const startPatience = time.Minute

// hubUnderLoad is a running `ironflow hub` with one infra-env, whose hosts wait for approval.
type hubUnderLoad struct {
	*program.Hub
	infraEnv, token string
}

func startHub(ctx context.Context, l *lab.Lab, path string) (*hubUnderLoad, error) {
	plane, err := l.StartControlPlane(ctx, lab.ControlPlaneOptions{Controllers: true})
	if err != nil {
		return nil, err
	}
	if err := lab.InstallCRDs(ctx, plane.Config()); err != nil {
		return nil, err
	}
	h := &hubUnderLoad{}
	if h.Hub, err = program.New(program.Options{Program: path, Kubeconfig: plane.Kubeconfig, Dir: filepath.Join(l.Dir, "hub")}); err != nil {
		return nil, err
	}
	err = h.Start(ctx)
	if err == nil {
		err = h.open(ctx, plane)
	}
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", errors.Join(err, h.Stop()), h.Tail())
	}
	return h, nil
}

// open makes the infra-env in Kubernetes and reads what agents are given.
func (h *hubUnderLoad) open(ctx context.Context, plane *lab.ControlPlane) error {
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), agentv1.AddToScheme(scheme)); err != nil {
		return err
	}
	kube, err := client.New(plane.Config(), client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	meta := metav1.ObjectMeta{Namespace: "default", Name: "bench"}
	secret := &corev1.Secret{ObjectMeta: meta, Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":{}}`)}}
	env := &agentv1.InfraEnv{ObjectMeta: meta, Spec: agentv1.InfraEnvSpec{PullSecretRef: &corev1.LocalObjectReference{Name: "bench"}, CpuArchitecture: "x86_64"}}
	if err := errors.Join(kube.Create(ctx, secret), kube.Create(ctx, env)); err != nil {
		return err
	}
	h.infraEnv = hubid.InfraEnv(env)
	if h.token, err = h.AgentToken(h.infraEnv); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startPatience, errors.New("the hub does not know the infra-env"))
	defer cancel()
	return until(ctx, 50*time.Millisecond, func() bool {
		if kube.Get(ctx, client.ObjectKeyFromObject(env), env) != nil {
			return false
		}
		return env.Status.AgentLabelSelector.MatchLabels != nil
	})
}

// until asks again and again until it is done.
func until(ctx context.Context, every time.Duration, done func() bool) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	return nil
}
