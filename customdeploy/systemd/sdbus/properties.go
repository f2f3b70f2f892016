package sdbus

import (
	"encoding/hex"
	"math"
	"time"

	godbus "github.com/godbus/dbus/v5"

	"github.com/ironflow/ironflow/customdeploy/systemd"
)

// setters copies D-Bus properties into a snapshot; a property that is not in
// the table is not looked at. A value of another type than documented is left out.
var setters = map[string]func(*systemd.Properties, any){
	"LoadState":      text(func(p *systemd.Properties) *string { return &p.LoadState }),
	"ActiveState":    text(func(p *systemd.Properties) *string { return &p.ActiveState }),
	"SubState":       text(func(p *systemd.Properties) *string { return &p.SubState }),
	"UnitFileState":  text(func(p *systemd.Properties) *string { return &p.UnitFileState }),
	"Result":         text(func(p *systemd.Properties) *string { return &p.Result }),
	"Restart":        text(func(p *systemd.Properties) *string { return &p.Restart }),
	"StatusText":     text(func(p *systemd.Properties) *string { return &p.StatusText }),
	"ExecMainCode":   number(func(p *systemd.Properties) *int { return &p.ExecMainCode }),
	"ExecMainStatus": number(func(p *systemd.Properties) *int { return &p.ExecMainStatus }),
	"NRestarts":      number(func(p *systemd.Properties) *int { return &p.NRestarts }),
	"MainPID":        number(func(p *systemd.Properties) *int { return &p.MainPID }),
	"Job": func(p *systemd.Properties, v any) {
		// (uo): the id and the job's object.
		if job, ok := v.([]any); ok && len(job) > 0 {
			id, _ := job[0].(uint32)
			p.Job = int(id)
		}
	},
	"ConditionResult": func(p *systemd.Properties, v any) { p.ConditionResult, _ = v.(bool) },
	"InvocationID": func(p *systemd.Properties, v any) {
		id, _ := v.([]byte)
		p.InvocationID = hex.EncodeToString(id)
	},
	"TimeoutStopUSec": func(p *systemd.Properties, v any) {
		usec, _ := v.(uint64)
		p.TimeoutStop = 0
		if usec < math.MaxInt64/uint64(time.Microsecond) {
			p.TimeoutStop = time.Duration(usec) * time.Microsecond
		}
	},
}

func text(field func(*systemd.Properties) *string) func(*systemd.Properties, any) {
	return func(p *systemd.Properties, v any) {
		if s, ok := v.(string); ok {
			*field(p) = s
		}
	}
}

func number(field func(*systemd.Properties) *int) func(*systemd.Properties, any) {
	return func(p *systemd.Properties, v any) {
		switch n := v.(type) {
		case int32:
			*field(p) = int(n)
		case uint32:
			*field(p) = int(n)
		}
	}
}

// merge copies what it knows of a property map, with or without variants.
func merge[V any](p *systemd.Properties, values map[string]V) {
	for name, v := range values {
		set, ok := setters[name]
		if !ok {
			continue
		}
		if variant, ok := any(v).(godbus.Variant); ok {
			set(p, variant.Value())
		} else {
			set(p, v)
		}
	}
}
