package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/ironflow/ironflow/controllers/firmware"
	"github.com/ironflow/ironflow/controllers/host"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/ironic"
)

// controllerEnv makes this test program the controller under test: a process
// with the controllers of hosts and their firmware, wired as the ironflow program does.
const controllerEnv = "IRONFLOW_CRASH_CONTROLLER"

// controllerOptions are what the process is told in controllerEnv.
type controllerOptions struct {
	Kubernetes, Ironic, Namespace string
}

func TestMain(m *testing.M) {
	if raw := os.Getenv(controllerEnv); raw != "" {
		if err := runController(raw); err != nil {
			fmt.Fprintln(os.Stderr, "controller:", err)
		}
		os.Exit(1) // it only ends by being killed
	}
	os.Exit(m.Run())
}

// controllerCommand is this program as the controller.
func controllerCommand(_ *testing.T, o controllerOptions, log *os.File) func() *exec.Cmd {
	return func() *exec.Cmd {
		raw, _ := json.Marshal(o) // three texts always can be
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), controllerEnv+"="+string(raw))
		cmd.Stdout, cmd.Stderr = log, log
		return cmd
	}
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return scheme, metal3.AddToScheme(scheme)
}

// runController runs until it is killed.
func runController(raw string) error {
	var o controllerOptions
	if err := json.Unmarshal([]byte(raw), &o); err != nil {
		return err
	}
	ctrl.SetLogger(logr.Discard())
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	ctx := context.Background()
	mgr, err := ctrl.NewManager(&rest.Config{Host: o.Kubernetes, QPS: -1}, ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		Cache:  cache.Options{DefaultNamespaces: map[string]cache.Config{o.Namespace: {}}, DefaultTransform: cache.TransformStripManagedFields()},
		Client: client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}},
	})
	if err != nil {
		return err
	}
	gateway, err := ironic.New(ctx, ironic.Config{URL: o.Ironic})
	if err != nil {
		return err
	}
	// Faster than in the field, because everything else in the test is.
	watch := ironic.NewWatch(gateway, ironic.WatchOptions{
		FeedBusy: 30 * time.Millisecond, FeedIdle: 300 * time.Millisecond, InFlight: 100 * time.Millisecond,
		NudgeGap: 15 * time.Millisecond, RetryAfter: 50 * time.Millisecond, Sweep: 10 * time.Second,
	})
	keeper, err := firmware.Setup(mgr, firmware.Options{Gateway: gateway})
	if err != nil {
		return err
	}
	err = host.Setup(mgr, host.Options{Gateway: gateway, Watch: watch, Firmware: keeper, Settings: policy.Settings{Settings: nodespec.Settings{DeployISO: "http://images.test/live.iso"}}})
	if err != nil {
		return err
	}
	if err := mgr.Add(manager.RunnableFunc(watch.Run)); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// isWatch names the requests of the node watch, which come by the clock.
func isWatch(path string) bool { return strings.TrimSuffix(path, "/") == "/v1/nodes" }
