package policy

import (
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
)

// Count is one increment of a counter, by its row in the table and its labels.
type Count struct {
	Metric string
	Labels []string
}

// Names of the metrics that decisions raise.
const (
	MetricHostError       = "metal3_host_error_total"
	MetricPowerChange     = "metal3_operation_power_change_total"
	MetricStateChange     = "metal3_provisioning_state_change_total"
	MetricRegistration    = "metal3_host_registration_required_total"
	MetricUnmanaged       = "metal3_host_unmanaged_total"
	MetricCredentials     = "metal3_credentials_updated_total"              //nolint:gosec // a name, no secret
	MetricCredMissing     = "metal3_credentials_missing_total"              //nolint:gosec // a name, no secret
	MetricCredInvalid     = "metal3_credentials_invalid_total"              //nolint:gosec // a name, no secret
	MetricCredRefused     = "metal3_credentials_no_management_access_total" //nolint:gosec // a name, no secret
	MetricDelayProvision  = "metal3_delayed__provisioning_total"
	MetricDelayDeprov     = "metal3_delayed__deprovisioning_total"
	MetricWaitImage       = "metal3_waiting_for_preprov_image_total"
	MetricDeleteNoDeprov  = "metal3_delete_without_deprovisioning_total"
	MetricDeleteNoPower   = "metal3_delete_without_powering_off_total"
	MetricDeleteDelayed   = "metal3_delete_delayed_for_detached_total"
	MetricHostConfigError = "metal3_host_config_data_error_total"
	MetricRetries         = "ironflow_host_retries_total"
)

// CountError counts an error that is recorded on a host.
func CountError(kind metal3.ErrorType) Count {
	return Count{MetricHostError, []string{string(kind)}}
}

// CountStateChange counts a host that goes from one phase to another.
func CountStateChange(from, to State) Count {
	return Count{MetricStateChange, []string{string(from), string(to)}}
}

// Counters without labels.
var (
	CountDeleteDelayed = Count{Metric: MetricDeleteDelayed}
	CountUnmanaged     = Count{Metric: MetricUnmanaged}
	CountRegistration  = Count{Metric: MetricRegistration}
)
