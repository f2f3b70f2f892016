package cluster

import (
	"context"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/files"
)

// Kinds that hold role files.
const (
	kindConfigMap = "ConfigMap"
	kindSecret    = "Secret"
)

// maxFileObjects bounds the objects with role files of a cluster: each has at most 1 MiB.
const maxFileObjects = 16

// holder is an object beside the AgentClusterInstall that holds role files.
type holder struct{ kind, name string }

// fileHolders are those that the annotation names, in order.
func fileHolders(aci *hiveextv1.AgentClusterInstall) ([]holder, error) {
	var all []holder
	for _, one := range ids(aci.Annotations[names.IgnitionFiles]) {
		kind, name, _ := strings.Cut(one, "/")
		h := holder{kind, name}
		switch {
		case kind != kindConfigMap && kind != kindSecret, name == "", strings.Contains(name, "/"):
			return nil, wrong("annotation %s: %.80q: want %s/NAME or %s/NAME of namespace %s", names.IgnitionFiles, one, kindConfigMap, kindSecret, aci.Namespace)
		case slices.Contains(all, h):
			return nil, wrong("annotation %s names %.80q twice: take one away", names.IgnitionFiles, one)
		case len(all) == maxFileObjects:
			return nil, wrong("annotation %s names more than %d objects: put several files into one", names.IgnitionFiles, maxFileObjects)
		}
		all = append(all, h)
	}
	return all, nil
}

// holdsFiles tells that the annotation names the object. One that cannot be read names none.
func holdsFiles(aci *hiveextv1.AgentClusterInstall, kind, name string) bool {
	all, err := fileHolders(aci)
	return err == nil && slices.Contains(all, holder{kind, name})
}

// ignitionFiles are those of the source files: each key of the objects is a file.
func (r *reconciler) ignitionFiles(ctx context.Context, w *wish) error {
	holders, err := fileHolders(w.aci)
	if err != nil {
		return err
	}
	for _, h := range holders {
		content, err := r.held(ctx, w.aci.Namespace, h)
		if err != nil {
			return err
		}
		from := h.kind + " " + w.aci.Namespace + "/" + h.name
		if len(content) == 0 {
			return wrong("%s of annotation %s holds no files: each key of it is one, such as worker.ign", from, names.IgnitionFiles)
		}
		for _, name := range slices.Sorted(maps.Keys(content)) {
			switch {
			case h.kind == kindConfigMap && files.IsSecret(name):
				return wrong("%s of annotation %s has %s, which opens the cluster: put it into a Secret, and name that as well", from, names.IgnitionFiles, name)
			case !utf8.Valid(content[name]):
				return wrong("%s of annotation %s: %.80s is no text in UTF-8", from, names.IgnitionFiles, name)
			}
			w.spec.Files = append(w.spec.Files, sources.File{Name: name, From: from, Content: content[name]})
		}
	}
	return nil
}

// held is what an object holds, by its keys.
func (r *reconciler) held(ctx context.Context, namespace string, h holder) (map[string][]byte, error) {
	key := types.NamespacedName{Namespace: namespace, Name: h.name}
	missing := func() error {
		return reconcile.WaitFor(lookAgain, "%s %s of annotation %s to be created", h.kind, key, names.IgnitionFiles)
	}
	if h.kind == kindSecret {
		secret, found, err := r.secrets.Get(ctx, key)
		switch {
		case err != nil:
			return nil, err
		case !found:
			return nil, missing()
		}
		return secret.Data, nil
	}
	given := &corev1.ConfigMap{}
	switch err := r.secrets.Live.Get(ctx, key, given); {
	case apierrors.IsNotFound(err):
		return nil, missing()
	case err != nil:
		return nil, err
	}
	content := maps.Clone(given.BinaryData)
	if content == nil {
		content = map[string][]byte{}
	}
	for name, text := range given.Data {
		content[name] = []byte(text)
	}
	return content, nil
}
