// Package view reads a BareMetalHost's status the way a person does: phase,
// step, percent, since when, what is waited for, why it is stuck and what to do
// next. It is pure and has no dependency but the API types, so that the CLI, the
// dashboard, the demo's table and metrics all show the same.
//
// [Note] is the other direction: what the controller writes into the message of
// the Progressing condition. [Note.Message] and [ParseNote] are inverses.
package view
