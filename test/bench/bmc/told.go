package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// told is what the program says of events in its metrics.
type told struct {
	// events were read, tasks of them are about tasks and were looked at; overflowed
	// deliveries were not read.
	events, tasks, overflowed int
}

// told reads the metrics.
func (w *world) told(ctx context.Context) (told, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+w.metrics+"/metrics", http.NoBody)
	if err != nil {
		return told{}, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return told{}, err
	}
	defer response.Body.Close()
	var t told
	into := map[string]*int{
		`ironflow_bmc_events_total{result="new"}`: &t.events, `ironflow_bmc_event_wakes_total{kind="Task"}`: &t.tasks,
		`ironflow_bmc_event_deliveries_total{result="overflowed"}`: &t.overflowed,
	}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if into[name] == nil {
			continue
		}
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return t, fmt.Errorf("metric %s: %w", name, err)
		}
		*into[name] = int(number)
	}
	return t, lines.Err()
}

// intervals are the program's defaults.
type intervals struct{ look, reading, readingWithEvents time.Duration }

// defaultOf finds a flag's default in the help of the program.
func defaultOf(help []byte, flag string) (time.Duration, error) {
	found := regexp.MustCompile(`(?m)^\s+--` + flag + ` .*\(default (\S+?)\)`).FindSubmatch(help)
	if found == nil {
		return 0, fmt.Errorf("the help of the program has no default of --%s", flag)
	}
	return time.ParseDuration(string(found[1]))
}

// intervalsOf asks the program for its defaults.
func intervalsOf(ctx context.Context, program string) (i intervals, err error) {
	help, err := exec.CommandContext(ctx, program, "controllers", "--help").CombinedOutput()
	if err != nil {
		return i, fmt.Errorf("%s controllers --help: %w", program, err)
	}
	for flag, into := range map[string]*time.Duration{
		"bmc-events-every": &i.look, "bmc-health-every": &i.reading, "bmc-events-health-every": &i.readingWithEvents,
	} {
		if *into, err = defaultOf(help, flag); err != nil {
			return i, err
		}
	}
	return i, nil
}

// perHour is how often something happens.
func perHour(every time.Duration) float64 { return float64(time.Hour) / float64(every) }
