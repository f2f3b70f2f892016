// Package password makes passwords for BMC accounts. A [Policy] says what is wished
// for, [Limits] what a BMC takes and how it punishes wrong logins, of its report and
// of what is known of its vendor. [Plan] joins the two or says why they do not meet;
// [Generate] makes a password of the plan.
//
// Nothing here talks to a BMC. Randomness comes from the caller.
package password
