package waitfor

// Outcome is the meaning of an end, and its exit code.
type Outcome int

// The outcomes. Their numbers are exit codes, which scripts rely on.
const (
	// Complete is what was waited for.
	Complete Outcome = 0
	// Usage means a command line or a file that cannot be used.
	Usage Outcome = 1
	// Failed means that the installation has failed or was cancelled.
	Failed Outcome = 3
	// Deadline means that it took too long; it goes on.
	Deadline Outcome = 4
	// Away means that nobody has answered for long.
	Away Outcome = 5
	// Refused means that the hub refuses the token.
	Refused Outcome = 6
	// Interrupted means that the caller was stopped; the installation goes on.
	Interrupted Outcome = 130
)

// Meaning is a row of the table of exit codes.
type Meaning struct {
	Outcome Outcome
	Name    string
	Text    string
}

// Meanings lists all outcomes; the documentation is tested against it.
func Meanings() []Meaning {
	return []Meaning{
		{Complete, "complete", "what was waited for is there"},
		{Usage, "usage", "the command line, or a file that it names, cannot be used"},
		{Failed, "failed", "the installation failed, was cancelled, or the hub has several clusters"},
		{Deadline, "deadline", "it takes longer than --timeout; it goes on, and can be waited for again"},
		{Away, "away", "neither the hub nor the cluster has answered for --patience"},
		{Refused, "refused", "the hub refuses the token"},
		{Interrupted, "interrupted", "the command was stopped; the installation goes on"},
	}
}

// Code is the exit code.
func (o Outcome) Code() int { return int(o) }

// Name is the outcome in a word.
func (o Outcome) Name() string {
	for _, m := range Meanings() {
		if m.Outcome == o {
			return m.Name
		}
	}
	return "unknown"
}
