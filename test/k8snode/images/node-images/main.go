// Program node-images pushes the images of a control plane to a registry:
//
//	node-images K8SNODE PREFIX NAME:TAG…
//
// `kubeadm config images list --config FILE` says which names and tags a
// configuration asks for; every name must be one that the program answers to.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/ironflow/ironflow/test/k8snode/images"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "node-images:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to stop
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) < 3 {
		return errors.New("usage: node-images K8SNODE PREFIX NAME:TAG…")
	}
	var names []string
	var all []images.Image
	for _, a := range args[2:] {
		name, tag, ok := strings.Cut(a, ":")
		if !ok {
			return fmt.Errorf("%q has no tag: say NAME:TAG, as kubeadm config images list does", a)
		}
		names = append(names, name)
		all = append(all, images.Image{Name: name, Tag: tag})
	}
	layer, err := images.Layer(args[0], names)
	if err != nil {
		return err
	}
	return images.Push(ctx, args[1], all, layer)
}
