// Package reason has the reasons of the two conditions that tell how a change of what a
// BMC is trusted by stands: CredentialsCurrent of its password, CertificateCurrent of
// its certificate. [All] is the one table of them, with what each means and what a
// person does about it; docs/rotation.md is made of it. What is decided stands in the
// packages rotation and certificate.
package reason
