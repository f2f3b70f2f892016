package settle

import "time"

// Start notes that the hub can be reached from now on.
func (u *Units) Start() {
	now := u.Now()
	wall := now.Round(0) // what is held against it comes from the store, without a monotonic clock
	u.started.Store(&wall)
	u.awake.Store(&now)
}

// Lost notes that another replica has died. It may have taken its last seconds of signs of
// life with it, and its hosts have to find another one, so silence counts anew. It does not
// so soon again, or a replica that dies all the time would hide all that is over.
func (u *Units) Lost() {
	now := u.Now()
	if last := u.lost.Load(); last != nil && now.Sub(*last) < 2*u.Rules.Timers.Silence(true) {
		return
	}
	u.lost.Store(&now)
	u.Start()
}

// beats is how many signs of life of the program come in the time after which it
// counts as one that was away.
const beats = 3

// Beat is how often [Units.Awake] has to be called while there is nothing else to do.
func (u *Units) Beat() time.Duration { return u.asleep() / beats }

// asleep is for how long the program may do nothing: far less than hosts may be
// silent, and more than a busy machine makes it wait.
func (u *Units) asleep() time.Duration { return max(u.Rules.Timers.Disconnected/10, 6*time.Second) }

// Awake notes that the program runs. Where it did not for a while, because it or its
// machine was suspended, nobody could be heard meanwhile, so silence counts anew, as
// after a start. Nor does anybody know how long hosts were silent when the clock was set.
// Whoever evaluates calls it first: it cannot be late.
func (u *Units) Awake() {
	now, last := u.Now(), *u.awake.Load()
	since := now.Sub(last)
	set := now.Round(0).Sub(last.Round(0)) - since
	switch {
	case since < 0: // somebody else was here since the clock was read
	case since > u.asleep() || set.Abs() > u.asleep():
		u.Start()
	case since >= u.Beat()/beats:
		u.awake.Store(&now)
	}
}
