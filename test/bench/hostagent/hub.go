package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/config"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/guard"
	"github.com/ironflow/ironflow/test/lab/ports"
)

// startPatience is how long the hub may take to answer for the first time.
const startPatience = time.Minute

// hubUnderLoad is a running `ironflow hub` with one infra-env, whose hosts wait for approval.
type hubUnderLoad struct {
	url, ca, infraEnv, token string

	process *guard.Process
	log     string
}

func startHub(ctx context.Context, l *lab.Lab, program string) (*hubUnderLoad, error) {
	plane, err := l.StartControlPlane(ctx, lab.ControlPlaneOptions{Controllers: true})
	if err != nil {
		return nil, err
	}
	crds, err := config.CRDs()
	if err != nil {
		return nil, err
	}
	if _, err := envtest.InstallCRDs(plane.Config(), envtest.CRDInstallOptions{CRDs: crds}); err != nil {
		return nil, err
	}
	var set ports.Set
	defer func() { _ = set.Close() }() // the hub has bound them by then
	var addresses [3]string
	for i := range addresses {
		port, err := set.Free()
		if err != nil {
			return nil, err
		}
		addresses[i] = fmt.Sprintf("127.0.0.1:%d", port)
	}
	data := filepath.Join(l.Dir, "hub")
	h := &hubUnderLoad{url: "https://" + addresses[0], ca: filepath.Join(data, "tls", "ca.crt"), log: filepath.Join(l.Dir, "hub.log")}
	out, err := os.Create(h.log)
	if err != nil {
		return nil, err
	}
	defer out.Close() // the process has its own
	h.process, err = guard.Start(guard.Command{Path: program, Output: out, Args: []string{
		"hub", "--kubeconfig", plane.Kubeconfig, "--data-dir", data, "--hub-addr", addresses[0], "--hub-publish-url", h.url,
		"--metrics-addr", addresses[1], "--health-addr", addresses[2],
	}})
	if err != nil {
		return nil, err
	}
	err = h.ready(ctx, "http://"+addresses[2]+"/readyz")
	if err == nil {
		err = h.open(ctx, plane, data)
	}
	if err != nil {
		h.stop()
		return nil, fmt.Errorf("%w\n%s", err, h.tail())
	}
	return h, nil
}

// ready waits until the hub answers.
func (h *hubUnderLoad) ready(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startPatience, errors.New("the hub does not answer"))
	defer cancel()
	return until(ctx, 50*time.Millisecond, func() bool {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return false
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false
		}
		return response.Body.Close() == nil && response.StatusCode == http.StatusOK
	})
}

// open makes the infra-env in Kubernetes and reads what agents are given.
func (h *hubUnderLoad) open(ctx context.Context, plane *lab.ControlPlane, data string) error {
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
	key, err := auth.LoadKey(filepath.Join(data, "agent.key"))
	if err != nil {
		return err
	}
	if h.token, err = key.Token(auth.Claims{InfraEnvID: h.infraEnv, Generation: 1}); err != nil {
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

func (h *hubUnderLoad) stop() { h.process.Stop(context.Background(), 5*time.Second) }

// tail is the end of the hub's log.
func (h *hubUnderLoad) tail() string {
	raw, err := os.ReadFile(h.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
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
