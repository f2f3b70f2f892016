// Package infraenvs is what may be done with infra-envs: controllers and users
// make, change and remove them, ask for their live images, and give out, check
// and revoke the tokens of their agents. The main type is [Registry].
package infraenvs
