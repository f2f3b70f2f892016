// Program controlplane is a Kubernetes control plane for a laptop, in one file:
// etcd, kube-apiserver, kubectl and the two controllers that give the API its
// deletion semantics (garbage collection and namespaces). Which of them runs is
// chosen by the name it was started with or by its first argument, as busybox
// does, so that a folder of symbolic links to it serves as KUBEBUILDER_ASSETS.
//
// It lives in its own module to keep the graph of k8s.io/kubernetes, with its
// replaced staging modules, away from the product's.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"

	"github.com/ironflow/ironflow/test/controlplane/controllers"
)

// programs are the names that the binary answers to. Each function gets the
// arguments as a program of its own would, its name first, and returns the
// exit status.
var programs = map[string]func(args []string) int{
	"etcd": func(args []string) int {
		etcdmain.Main(args)
		return 0
	},
	"kube-apiserver": func(args []string) int {
		command := apiserver.NewAPIServerCommand()
		command.SetArgs(args[1:])
		return cli.Run(command)
	},
	"kubectl": func(args []string) int {
		// kubectl reads os.Args itself to find plugins, so it must see its own name.
		os.Args = args
		if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	},
	"lab-controllers": controllers.Main,
}

func main() {
	args := os.Args
	run, ok := programs[filepath.Base(args[0])]
	if !ok && len(args) > 1 {
		args = args[1:]
		run, ok = programs[args[0]]
	}
	switch {
	case ok:
		os.Exit(run(args))
	case len(args) > 0 && (args[0] == "--version" || args[0] == "version"):
		fmt.Println(version.Get().GitVersion)
	case len(args) > 0 && (args[0] == "--help" || args[0] == "help"):
		usage(os.Stdout)
	default:
		usage(os.Stderr)
		os.Exit(2)
	}
}

// usage lists the programs on w.
func usage(w io.Writer) {
	names := make([]string, 0, len(programs))
	for name := range programs {
		names = append(names, name)
	}
	slices.Sort(names)
	fmt.Fprintln(w, "Usage: controlplane PROGRAM [ARGUMENTS], or a link named PROGRAM. Programs:")
	for _, name := range names {
		fmt.Fprintln(w, "  "+name)
	}
}
