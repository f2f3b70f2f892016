package hostfile

import (
	"fmt"
	"strings"
	"time"
)

// ParseStepDeadlines reads the text form of deadlines that people write in an
// annotation: "start=10m,idle=30m,total=3h", each part optional. Durations are
// whole seconds.
func ParseStepDeadlines(text string) (StepDeadlines, error) {
	var d StepDeadlines
	fields := map[string]*int{"start": &d.StartSeconds, "idle": &d.IdleSeconds, "total": &d.TotalSeconds, "stage": &d.StageSeconds}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		key, value, _ := strings.Cut(part, "=")
		target, known := fields[strings.TrimSpace(key)]
		if !known {
			return StepDeadlines{}, fmt.Errorf("deadline %q: want start, idle, total or stage, such as \"start=10m,total=3h\"", part)
		}
		duration, err := time.ParseDuration(strings.TrimSpace(value))
		if err != nil || duration < time.Second {
			return StepDeadlines{}, fmt.Errorf("deadline %q: want a duration of at least 1s, such as 10m", part)
		}
		*target = int(duration / time.Second)
	}
	return d, nil
}
