// Package meaning reads what a BMC tells and says what it is about. [Parse] takes
// the payload of a delivery or of a stream, in every form that BMCs send; [Of] looks
// an event up in [Rules] and gives its [Kind], and each kind causes the reads of
// [Reads]. An event only wakes: the state itself is read from Ironic or the BMC.
//
// The package is pure: it knows neither clock nor network. What it keeps of a
// payload is bounded, since payloads come from outside.
package meaning
