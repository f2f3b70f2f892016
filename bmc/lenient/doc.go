// Package lenient holds JSON values that take what BMCs send. One wrong type must
// not hide a machine: a value that cannot be read is the zero value, never an error.
//
// [String], [Int], [Float], [Bool], [Time] and [Link] are single values, [List] and
// [Map] hold many. Where a zero differs from "not said", [Optional] tells the two
// apart; [Present] says that a property is there at all, null included.
//
// Objects need no type of their own: encoding/json goes on after a field that has
// the wrong type, and the client's Get ignores that error.
package lenient
