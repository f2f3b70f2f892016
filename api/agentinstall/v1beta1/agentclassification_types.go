package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// AgentClassification puts a label on every Agent whose inventory fits a query.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=agentclassifications
// +kubebuilder:printcolumn:name="Matched",type="integer",JSONPath=".status.matchedCount"
// +kubebuilder:printcolumn:name="Errors",type="integer",JSONPath=".status.errorCount"
// +kubebuilder:printcolumn:name="Reason",type="string",JSONPath=".status.conditions[?(@.type==\"QueryErrors\")].reason"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type AgentClassification struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   AgentClassificationSpec   `json:"spec,omitempty"`
	Status AgentClassificationStatus `json:"status,omitempty"`
}

// AgentClassificationList is a list of AgentClassifications.
//
// +kubebuilder:object:root=true
type AgentClassificationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AgentClassification `json:"items"`
}

// AgentClassificationSpec is a label and the query that decides on it.
// +kubebuilder:validation:XValidation:rule="self.labelKey == oldSelf.labelKey && self.labelValue == oldSelf.labelValue",message="labelKey and labelValue are immutable; create a new AgentClassification instead"
type AgentClassificationSpec struct {
	// LabelKey is appended to the prefix agentclassification.agent-install.openshift.io/.
	LabelKey string `json:"labelKey"`
	// LabelValue is the label's value; QUERYERROR is reserved for failed queries.
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('QUERYERROR')",message="labelValue must not start with QUERYERROR, which marks failed queries"
	LabelValue string `json:"labelValue"`
	// Query is a jq expression over the Agent's inventory that gives true or false.
	Query string `json:"query"`
}

// AgentClassificationStatus counts what the query found.
type AgentClassificationStatus struct {
	// MatchedCount is how many Agents carry the label.
	// +optional
	MatchedCount int `json:"matchedCount,omitempty"`
	// ErrorCount is for how many Agents the query failed.
	// +optional
	ErrorCount int `json:"errorCount,omitempty"`
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
}
