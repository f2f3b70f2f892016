package events

import (
	"context"
	"errors"
	"time"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
)

// Errors of [Prove].
var (
	// ErrNoTest: the BMC cannot send an event on request.
	ErrNoTest = errors.New("the BMC sends no test events")
	// ErrNotArrived: it accepted the request, and nothing came.
	ErrNotArrived = errors.New("the BMC's test event did not arrive: check that the BMC reaches the receiver's address and trusts its certificate")
)

// Prove lets a BMC send a test event and returns how long it took to arrive. Arrived
// gets what [Options.Heard] is told from now on; the context bounds the wait.
func Prove(ctx context.Context, c BMC, report *v1alpha1.BMCReport, arrived <-chan time.Time, now func() time.Time) (time.Duration, error) {
	service, err := readService(ctx, c)
	if err != nil {
		return 0, err
	}
	action := service.Actions.Test
	if action.Target == "" {
		action = service.Actions.OldTest
	}
	if action.Target == "" {
		return 0, ErrNoTest
	}
	sent := now()
	if err := submit(ctx, c, action, testBody(action, report, sent)); err != nil {
		return 0, err
	}
	select {
	case at := <-arrived:
		return max(at.Sub(sent), 0), nil
	case <-ctx.Done():
		return 0, ErrNotArrived
	}
}

// testBody is a test event. The time is as RFC 3339 has it: gofish's is not.
func testBody(action testAction, report *v1alpha1.BMCReport, now time.Time) map[string]any {
	body := map[string]any{
		"EventType": "Alert", "EventId": "1", "EventTimestamp": now.UTC().Format(time.RFC3339), "Severity": "OK",
		"Message": "Test of the way of events to Ironflow.", "MessageId": "ResourceEvent.1.0.TestMessage", "MessageArgs": []string{},
	}
	if report != nil && report.System != "" {
		body["OriginOfCondition"] = report.System
	}
	if types := texts(action.Types, "MetricReport"); len(types) > 0 {
		body["EventType"] = types[0]
		for _, name := range types {
			if name == "Alert" {
				body["EventType"] = name
			}
		}
	}
	return body
}

// submit asks for the event, with less in the body where the BMC says so.
func submit(ctx context.Context, c BMC, action testAction, body map[string]any) error {
	for range attempts {
		_, err := c.Post(ctx, string(action.Target), body)
		switch {
		case err == nil:
			return nil
		case client.KindOf(err) == client.NotSupported:
			return ErrNoTest
		case !adapt(body, map[string]any{}, err):
			return err
		}
	}
	return ErrNoTest
}
