package sdbus

import "time"

// Hurry lets the manager wait no longer than this for anything.
func (m *Manager) Hurry(patience time.Duration) { m.patience, m.silence = patience, patience }
