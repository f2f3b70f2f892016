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
	written map[types.NamespacedName]time.Time // when a host's last note was, as long as that matters
	more    chan struct{}                      // capacity 1
}

func newNotes(client kclient.Client, now func() time.Time) *notes {
	return &notes{client: client, now: now, pending: map[types.NamespacedName][]meaning.Kind{}, written: map[types.NamespacedName]time.Time{}, more: make(chan struct{}, 1)}
}

const (
	// noteGap is how long what is told of all hosts is gathered before it is written: what
	// a BMC says at once is one note.
	noteGap = 100 * time.Millisecond
	// notePause is between two notes of a host: a BMC that goes mad costs no more. What
	// is told meanwhile is in the next one.
	notePause = 5 * time.Second
	// arrivalPause is before one that says no more than that events arrive. The leader may
	// wait for it, testTime long.
	arrivalPause = 20 * time.Second
)

// leave has a note written.
func (n *notes) leave(key types.NamespacedName, kind meaning.Kind) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Contains(n.pending[key], kind) {
		n.pending[key] = append(n.pending[key], kind)
	}
	n.wake()
}

func (n *notes) wake() {
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
		due, more := n.due()
		for key, kinds := range due {
			_ = n.write(ctx, key, kinds)
		}
		if more {
			n.wake()
		}
	}
}

// due takes the notes that are to be written now. More says that others wait.
func (n *notes) due() (due map[types.NamespacedName][]meaning.Kind, more bool) {
	now := n.now()
	n.mu.Lock()
	defer n.mu.Unlock()
	for key, at := range n.written {
		if now.Sub(at) >= arrivalPause {
			delete(n.written, key)
		}
	}
	due = map[types.NamespacedName][]meaning.Kind{}
	for key, kinds := range n.pending {
		pause := notePause
		if len(kinds) == 1 && kinds[0] == meaning.Other {
			pause = arrivalPause
		}
		if at, was := n.written[key]; was && now.Sub(at) < pause {
			more = true
			continue
		}
		due[key], n.written[key] = kinds, now
		delete(n.pending, key)
	}
	return due, more
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
