package host

import (
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
)

// count is one increment of a counter, by its row in the table and its labels.
type count struct {
	Metric string
	Labels []string
}

// Names of the metrics that decisions raise.
const (
	metricHostError       = "metal3_host_error_total"
	metricPowerChange     = "metal3_operation_power_change_total"
	metricStateChange     = "metal3_provisioning_state_change_total"
	metricRegistration    = "metal3_host_registration_required_total"
	metricUnmanaged       = "metal3_host_unmanaged_total"
	metricCredentials     = "metal3_credentials_updated_total"              //nolint:gosec // a name, no secret
	metricCredMissing     = "metal3_credentials_missing_total"              //nolint:gosec // a name, no secret
	metricCredInvalid     = "metal3_credentials_invalid_total"              //nolint:gosec // a name, no secret
	metricCredRefused     = "metal3_credentials_no_management_access_total" //nolint:gosec // a name, no secret
	metricDelayProvision  = "metal3_delayed__provisioning_total"
	metricDelayDeprov     = "metal3_delayed__deprovisioning_total"
	metricWaitImage       = "metal3_waiting_for_preprov_image_total"
	metricDeleteNoDeprov  = "metal3_delete_without_deprovisioning_total"
	metricDeleteNoPower   = "metal3_delete_without_powering_off_total"
	metricDeleteDelayed   = "metal3_delete_delayed_for_detached_total"
	metricHostConfigError = "metal3_host_config_data_error_total"
	metricRetries         = "ironflow_host_retries_total"
)

func countError(kind metal3.ErrorType) count {
	return count{metricHostError, []string{string(kind)}}
}

func countStateChange(from, to State) count {
	return count{metricStateChange, []string{string(from), string(to)}}
}

var (
	countDeleteDelayed = count{Metric: metricDeleteDelayed}
	countUnmanaged     = count{Metric: metricUnmanaged}
	countRegistration  = count{Metric: metricRegistration}
)
