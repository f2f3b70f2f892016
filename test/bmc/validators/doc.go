// Package validators runs the field's own checkers of Redfish services against the
// simulator: DMTF's protocol validator, use case checkers and interoperability
// validator, the last with the profile that Ironic publishes. What they find is
// mended in the simulator, or explained in the test's table. DMTF's service
// validator is not run: it needs the schema files, which come with no package.
package validators
