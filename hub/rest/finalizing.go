package rest

import "github.com/ironflow/ironflow/hub/wire"

// The operations of the program that finishes an installation inside the cluster.

func finalizingProgress(r *request) (any, error) {
	id, err := r.reportingCluster()
	if err != nil {
		return nil, err
	}
	var p wire.ClusterFinalizingProgress
	if err := r.body(&p); err != nil {
		return nil, err
	}
	return nil, r.hub.FinalizingProgress(r.Context(), id, p.FinalizingStage)
}

func listClusterOperators(r *request) (any, error) {
	id, err := r.cluster()
	if err != nil {
		return nil, err
	}
	return r.hub.Operators(r.Context(), id, r.URL.Query().Get("operator_name"))
}

func reportOperator(r *request) (any, error) {
	id, err := r.reportingCluster()
	if err != nil {
		return nil, err
	}
	var p wire.OperatorMonitorReport
	if err := r.body(&p); err != nil {
		return nil, err
	}
	return nil, r.hub.ReportOperator(r.Context(), id, p)
}

func ingressCertificate(r *request) (any, error) {
	id, err := r.reportingCluster()
	if err != nil {
		return nil, err
	}
	var certificate string
	if err := r.body(&certificate); err != nil {
		return nil, err
	}
	return nil, r.hub.SetIngressCertificate(r.Context(), id, certificate)
}

func completeInstallation(r *request) (any, error) {
	id, err := r.reportingCluster()
	if err != nil {
		return nil, err
	}
	var p wire.CompletionParams
	if err := r.body(&p); err != nil {
		return nil, err
	}
	return r.withHosts(r.hub.CompleteInstallation(r.Context(), id, p))
}

func resetHostValidation(r *request) (any, error) {
	key, err := r.host()
	if err != nil {
		return nil, err
	}
	return r.hub.ResetValidation(r.Context(), key, r.PathValue("validation_id"))
}
