// Package assisted is the deploy step start_assisted_install: it opens the
// agent's gate, starts agent.service, follows it to its end and says what
// became of the installation.
//
// It is built as observe, decide, act. [Observation] is all that is known at
// one moment; [Decide] is a pure function over it, written as a table of rules
// (the policy on one page); [Step] is the executor, which does one thing at a
// time: wait for the next event, stop the unit, or finish. Nothing polls: the
// unit is followed by D-Bus signals, the files below /run/ironflow by inotify,
// and one timer stands at the earliest deadline. [Step.Follow] is shared with
// confirm_install, which takes over when IPA was restarted in mid step.
package assisted
