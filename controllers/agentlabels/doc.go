// Package agentlabels labels Agents, so that whoever picks hosts for a cluster can select
// them: by what their inventory says, by the AgentClassifications of their namespace, and
// by the namespace of their cluster.
//
// A classification is a query in the language of jq over the Agent's status.inventory. An
// Agent has its label while the query gives true. [labelsOf] decides, [labeller] writes the
// labels of one Agent, and [counter] the status of one AgentClassification.
package agentlabels
