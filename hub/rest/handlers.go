package rest

import "maps"

// handlers are the served operations by id. What agents call is in agent.go; what users call is in a
// file for each kind of what it is about: infraenvs.go and bootfiles.go, hosts.go, clusters.go, clusterfiles.go and
// signed.go, events.go, and catalog.go for what the hub offers. What programs in a cluster call is in finalizing.go.
var handlers map[string]handler

func init() {
	// An initialiser of the variable would depend on itself through Served.
	handlers = map[string]handler{
		"v2RegisterHost":              registerHost,
		"v2GetNextSteps":              nextSteps,
		"v2PostStepReply":             stepReply,
		"v2UpdateHostInstallProgress": hostProgress,
		"v2UpdateHostLogsProgress":    hostLogsProgress,
		"v2UpdateClusterLogsProgress": clusterLogsProgress,
		"V2UploadLogs":                uploadLogs,
		"v2DownloadHostIgnition":      hostIgnition,
		"V2DownloadClusterFiles":      clusterFile,
		"v2TriggerEvent":              triggerEvent,

		"RegisterInfraEnv":   createInfraEnv,
		"ListInfraEnvs":      listInfraEnvs,
		"GetInfraEnv":        getInfraEnv,
		"UpdateInfraEnv":     updateInfraEnv,
		"DeregisterInfraEnv": deleteInfraEnv,

		"GetInfraEnvDownloadURL": imageURL,

		"v2ListHosts":               listHosts,
		"v2GetHost":                 getHost,
		"v2UpdateHost":              updateHost,
		"v2DeregisterHost":          deleteHost,
		"BindHost":                  bindHost,
		"UnbindHost":                unbindHost,
		"v2InstallHost":             installHost,
		"v2ResetHost":               resetHost,
		"v2GetHostIgnition":         getHostIgnition,
		"v2UpdateHostIgnition":      setHostIgnition,
		"v2UpdateHostInstallerArgs": setInstallerArgs,

		"v2RegisterCluster":             createCluster,
		"v2ListClusters":                listClusters,
		"v2GetCluster":                  getCluster,
		"V2UpdateCluster":               updateCluster,
		"v2DeregisterCluster":           deleteCluster,
		"v2InstallCluster":              installCluster,
		"V2CancelInstallation":          cancelCluster,
		"v2ResetCluster":                resetCluster,
		"TransformClusterToAddingHosts": allowAddHosts,
		"TransformClusterToDay2":        allowAddHosts,
		"ListClusterHosts":              listClusterHosts,
		"V2DownloadClusterLogs":         downloadLogs,
		"v2GetIgnoredValidations":       getIgnoredValidations,
		"v2SetIgnoredValidations":       setIgnoredValidations,

		listEventsID:              listEvents,
		"v2ListComponentVersions": componentVersions,
		"V2ListManagedDomains":    managedDomains,
		"v2ListReleaseSources":    releaseSources,

		"v2ListSupportedOpenshiftVersions": openshiftVersions,
		"GetSupportedArchitectures":        supportedArchitectures,
		"GetSupportedFeatures":             supportedFeatures,
		"GetDetailedSupportedFeatures":     supportedFeaturesInDetail,
		"V2ListSupportedOperators":         supportedOperators,
		"V2ListOperatorProperties":         operatorProperties,
		"V2ListBundles":                    bundles,
		"V2GetBundle":                      bundle,
		"GetClusterSupportedPlatforms":     supportedPlatforms,

		"V2GetClusterDefaultConfig": defaultConfig,
	}
	maps.Copy(handlers, moreHandlers())
}

// moreHandlers are those for what a cluster is made of, its end, and boot files.
func moreHandlers() map[string]handler {
	return map[string]handler{
		"v2ImportCluster":                     importCluster,
		"v2RegisterDisconnectedCluster":       createDisconnectedCluster,
		"V2ListClusterManifests":              listManifests,
		"V2CreateClusterManifest":             createManifest,
		"V2UpdateClusterManifest":             updateManifest,
		"V2DeleteClusterManifest":             deleteManifest,
		"v2DownloadClusterManifest":           downloadManifest,
		"v2GetClusterInstallConfig":           getInstallConfig,
		"v2UpdateClusterInstallConfig":        setInstallConfig,
		"V2GetClusterUISettings":              getUISettings,
		"V2UpdateClusterUISettings":           setUISettings,
		"V2GetCredentials":                    getCredentials,
		"V2DownloadClusterCredentials":        downloadCredentials,
		"V2GetPresignedForClusterCredentials": presignCredentials,
		"V2GetPresignedForClusterFiles":       presignClusterFile,
		"v2GetPreflightRequirements":          preflightRequirements,

		"v2UpdateClusterFinalizingProgress": finalizingProgress,
		"V2ListOfClusterOperators":          listClusterOperators,
		"v2ReportMonitoredOperatorStatus":   reportOperator,
		"v2UploadClusterIngressCert":        ingressCertificate,
		"v2CompleteInstallation":            completeInstallation,
		"v2ResetHostValidation":             resetHostValidation,

		"v2DownloadInfraEnvFiles":      infraEnvFile,
		"GetInfraEnvPresignedFileURL":  presignInfraEnvFile,
		"DownloadMinimalInitrd":        minimalInitrd,
		"RegenerateInfraEnvSigningKey": regenerateSigningKey,
	}
}
