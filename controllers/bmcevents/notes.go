package bmcevents

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/events/meaning"
)

// notes are what a replica that does not lead has to tell the one that does: BMCs post
// to whichever the Service chooses. A note is an annotation of the kind BMC.
type notes struct {
	client kclient.Client
	now    func() time.Time

	mu      sync.Mutex
	pending map[types.NamespacedName][]meaning.Kind
	more    chan struct{} // capacity 1
}

func newNotes(client kclient.Client, now func() time.Time) *notes {
	return &notes{client: client, now: now, pending: map[types.NamespacedName][]meaning.Kind{}, more: make(chan struct{}, 1)}
}

// noteGap is how long what is told of all hosts is gathered before it is written: what a
// BMC says at once is one note.
const noteGap = 100 * time.Millisecond

// leave has a note written.
func (n *notes) leave(key types.NamespacedName, kind meaning.Kind) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Contains(n.pending[key], kind) {
		n.pending[key] = append(n.pending[key], kind)
	}
	select {
	case n.more <- struct{}{}:
	default:
	}
}

// run writes notes until the context ends. One that cannot be written is lost: whoever
// waits looks from time to time.
func (n *notes) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.more:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(noteGap):
		}
		n.mu.Lock()
		all := n.pending
		n.pending = map[types.NamespacedName][]meaning.Kind{}
		n.mu.Unlock()
		for key, kinds := range all {
			_ = n.write(ctx, key, kinds)
		}
	}
}

func (n *notes) write(ctx context.Context, key types.NamespacedName, kinds []meaning.Kind) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{names.Told: noteOf(kinds, n.now())}}})
	if err != nil {
		return err
	}
	b := &v1alpha1.BMC{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	return n.client.Patch(ctx, b, kclient.RawPatch(types.MergePatchType, patch))
}

// noteOf is the text of a note: what was told, and when, so that each is another text.
func noteOf(kinds []meaning.Kind, at time.Time) string {
	var words []string
	for _, kind := range kinds {
		words = append(words, string(kind))
	}
	return fmt.Sprintf("%s %s", strings.Join(words, ","), at.UTC().Format(time.RFC3339Nano))
}
