package credentials

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"time"
)

const (
	// noteTime is how long a note may take after its pass was cancelled: what was done
	// in the world is worth more than an end in time.
	noteTime = 10 * time.Second
	// mostConflicts is how often a pass reads anew because somebody else has written.
	mostConflicts = 5
)

// recordWriter writes a record before and after each effect.
type recordWriter struct{ records Records }

// note writes a record, also when the pass was cancelled meanwhile.
func (n recordWriter) note(ctx context.Context, version string, data map[string][]byte) (string, error) {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer done()
	version, err := n.records.WriteRecord(ctx, version, data)
	if err != nil {
		return "", fmt.Errorf("write the record: %w", err)
	}
	return version, nil
}

// answered notes what came of something that was done in the world. It is dear to lose:
// a write that failed is looked after, and repeated while the record is as it was before.
func (n recordWriter) answered(ctx context.Context, version string, before, after map[string][]byte) (err error) {
	for range mostConflicts {
		if _, err = n.note(ctx, version, after); err == nil {
			return nil
		}
		data, now, readErr := n.records.Record(context.WithoutCancel(ctx))
		switch {
		case readErr != nil:
			return err
		case same(data, after):
			return nil
		case !same(data, before):
			return ErrConflict
		}
		version = now
	}
	return err
}

// same compares the data of Secrets.
func same(a, b map[string][]byte) bool { return maps.EqualFunc(a, b, bytes.Equal) }
