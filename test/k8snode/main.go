// Program k8snode is a Kubernetes node in one file: kubelet, kubeadm, kubectl,
// kube-proxy, the three programs of the control plane and etcd. Which of them
// runs is chosen by the name it was started with or by its first argument, as
// busybox does. One link instead of eight matters, because each of them takes
// most of a gigabyte and half a minute on the computer that builds it.
//
// It lives in its own module, with the replaced staging modules of
// test/controlplane, so that their graph stays away from the product's and
// most packages are compiled once for both.
package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	_ "time/tzdata" // the images are made FROM scratch: no zones on disk

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/component-base/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubeadm "k8s.io/kubernetes/cmd/kubeadm/app"
	kubeadmerrors "k8s.io/kubernetes/cmd/kubeadm/app/util/errors"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"

	"github.com/ironflow/ironflow/test/k8snode/pause"
)

// programs are the names that the binary answers to. Each function finds its
// own arguments in os.Args, its name first, and returns the exit status.
var programs = map[string]func() int{
	"pause": pause.Main,
	"etcd": func() int {
		etcdmain.Main(os.Args)
		return 0
	},
	"kube-apiserver": command(func() *cobra.Command { return apiserver.NewAPIServerCommand() }),
	"kube-controller-manager": command(func() *cobra.Command {
		return controllermanager.NewControllerManagerCommand()
	}),
	"kube-scheduler": command(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
	"kube-proxy":     command(proxy.NewProxyCommand),
	"kubelet": command(func() *cobra.Command {
		return kubelet.NewKubeletCommand(context.Background())
	}),
	"kubeadm": func() int {
		// HandleError ends the program with kubeadm's own exit status.
		kubeadmerrors.HandleError(kubeadm.Run())
		return 0
	},
	"kubectl": func() int {
		if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	},
}

// command runs one of Kubernetes' programs as its own main function does. The
// command is made late: making one registers its flags and feature gates for
// the whole process.
func command(make func() *cobra.Command) func() int {
	return func() int { return cli.Run(make()) }
}

func main() {
	run, ok := programs[filepath.Base(os.Args[0])]
	if !ok && len(os.Args) > 1 {
		os.Args = os.Args[1:]
		run, ok = programs[os.Args[0]]
	}
	switch {
	case ok:
		os.Exit(run())
	case os.Args[0] == "--version" || os.Args[0] == "version":
		fmt.Println(version.Get().GitVersion)
	case os.Args[0] == "--help" || os.Args[0] == "help":
		usage(os.Stdout)
	default:
		usage(os.Stderr)
		os.Exit(2)
	}
}

// usage lists the programs on w.
func usage(w io.Writer) {
	fmt.Fprintln(w, "Usage: k8snode PROGRAM [ARGUMENTS], or a link named PROGRAM. Programs:")
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		fmt.Fprintln(w, "  "+name)
	}
}
