package rules

import "github.com/ironflow/ironflow/api/ironflow/v1alpha1"

// settle applies what one pass says of a domain to its row. As long as the same part
// is the worst, the message stays as it is, whatever the sensor reads meanwhile: a
// row that changes with each read would be written with each read.
func settle(row Row, s sight) Row {
	if s.state == "" {
		if row.Shown == "" {
			row.Shown, row.Message = v1alpha1.HealthUnknown, "not read yet"
		}
		return row
	}
	shown := decide(row, s)
	row.Last = s.state
	if shown == row.Shown && (s.state != shown || s.part == row.Part && shown != v1alpha1.HealthUnknown) {
		return row
	}
	row.Shown, row.Part, row.Message = shown, "", ""
	switch {
	case shown == v1alpha1.HealthOK:
	case shown == v1alpha1.HealthUnknown && s.state != shown:
		row.Message = "a first read shows " + string(s.state) + ": the next one decides"
	default:
		row.Part, row.Message = s.part, s.text
	}
	return row
}

// decide says what is shown. A state is left only when this read and the one before
// are both worse, or both better; then the nearer of the two is shown. From nothing,
// OK is believed at once.
func decide(row Row, s sight) v1alpha1.HealthState {
	shown, last, now := row.Shown, row.Last, s.state
	known := rank(shown) > 0
	switch {
	case s.sure:
		return now
	case now == v1alpha1.HealthUnknown && (last == now || !known):
		return now
	case now == v1alpha1.HealthUnknown:
		return shown
	case !known && bad(now) && !bad(last):
		return v1alpha1.HealthUnknown
	case !known && !bad(now):
		return now
	case !known, worse(now, shown) && worse(last, shown):
		return milder(now, last)
	case worse(shown, now) && worse(shown, last) && rank(last) > 0:
		return harder(now, last)
	default:
		return shown
	}
}

func milder(a, b v1alpha1.HealthState) v1alpha1.HealthState {
	if worse(a, b) {
		return b
	}
	return a
}

func harder(a, b v1alpha1.HealthState) v1alpha1.HealthState {
	if worse(a, b) {
		return a
	}
	return b
}
