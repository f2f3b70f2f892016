package lab

import (
	"context"
	"path/filepath"
	"time"

	"github.com/ironflow/ironflow/test/lab/progress"
)

// onlyKubeadm is kubeadm, which shares nearly all of its packages with the control plane.
var onlyKubeadm = product{
	name: "kubeadm", source: "./cmd/kubeadm",
	text: "building kubeadm, once per version", usual: 2 * time.Minute,
}

// Kubeadm returns the path of the real kubeadm, built at the first call and kept in the
// cache. An empty cacheDir is the default one.
func Kubeadm(ctx context.Context, cacheDir string, report progress.Func) (string, error) {
	dir, err := onlyKubeadm.get(ctx, cacheDir, report)
	return filepath.Join(dir, "kubeadm"), err
}
