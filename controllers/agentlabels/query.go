package agentlabels

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/itchyny/gojq"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
)

// queryLimit ends a query that would never end by itself; real ones take microseconds.
const queryLimit = 2 * time.Second

// compile reads a query. It gets neither environment nor files.
func compile(query string) (*gojq.Code, error) {
	parsed, err := gojq.Parse(query)
	if err != nil {
		return nil, fmt.Errorf("spec.query is no query of jq: %w", err)
	}
	code, err := gojq.Compile(parsed)
	if err != nil {
		return nil, fmt.Errorf("spec.query is no query of jq: %w", err)
	}
	return code, nil
}

// matches runs a query over an inventory, as an object of JSON. What is neither true nor
// false, or fails, is an error.
func matches(ctx context.Context, query string, inventory map[string]any) (bool, error) {
	code, err := compile(query)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, queryLimit, errors.New("it does not end"))
	defer cancel()
	value, ok := code.RunWithContext(ctx, inventory).Next()
	if !ok {
		return false, errors.New("spec.query gives nothing; want true or false")
	}
	switch v := value.(type) {
	case bool:
		return v, nil
	case error:
		if cause := context.Cause(ctx); cause != nil {
			v = cause
		}
		return false, fmt.Errorf("spec.query: %w", v)
	default:
		return false, fmt.Errorf("spec.query gives %s; want true or false", gojq.TypeOf(v))
	}
}

// document is an inventory as the Agent's status shows it.
func document(inventory *agentv1.HostInventory) (map[string]any, error) {
	raw, err := json.Marshal(inventory)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(raw, &out)
}
