{{/*
Values that contradict each other, or that nothing works without. The schema knows their types; here is what takes more than one
of them, or a sentence. Each says what to set.
*/}}
{{- define "ironflow.check" -}}
{{- include "ironflow.check.image" . -}}
{{- include "ironflow.check.ironic" . -}}
{{- include "ironflow.check.features" . -}}
{{- include "ironflow.check.exposure" . -}}
{{- include "ironflow.check.replicas" . -}}
{{- include "ironflow.check.settings" . -}}
{{- include "ironflow.check.configuration" . -}}
{{- end }}

{{- define "ironflow.check.image" -}}
{{- if not .Values.image.repository -}}
{{- fail "image.repository is not set: set it to where the image was pushed to, such as registry.example/ironflow" -}}
{{- end -}}
{{- if and (eq .Values.image.tag "latest") (not .Values.image.digest) -}}
{{- fail "image.tag is latest, which means another image tomorrow: set image.tag to a release, or image.digest" -}}
{{- end -}}
{{- end }}

{{- define "ironflow.check.ironic" -}}
{{- if not (or .Values.ironic.endpoint .Values.settings.IRONFLOW_IRONIC_ENDPOINTS) -}}
{{- fail "ironic.endpoint is not set: set it to Ironic's URL, such as https://ironic.example:6385, or settings.IRONFLOW_IRONIC_ENDPOINTS to the mounted file of several" -}}
{{- end -}}
{{- if and .Values.features.hub.enabled (not (include "ironflow.unset" .Values.exposure.hubURL)) -}}
{{- $machines := .Values.ironic.machinesURL | default .Values.ironic.endpoint -}}
{{- range (splitList "," $machines) -}}
{{- if and (include "ironflow.onlyInCluster" .) (not $.Values.exposure.machinesInCluster) -}}
{{- fail (printf "machines do not resolve %s: set ironic.machinesURL to the URL by which they reach Ironic from outside of the cluster, or exposure.machinesInCluster if they do resolve it" .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "ironflow.check.features" -}}
{{- with .Values -}}
{{- if and .features.bmc.rotation.enabled (not .features.bmc.enabled) -}}
{{- fail "features.bmc.rotation.enabled is set without features.bmc.enabled, which asks BMCs at all: set both, or neither" -}}
{{- end -}}
{{- if and .exposure.bmcEventsURL (not .features.bmc.enabled) -}}
{{- fail "exposure.bmcEventsURL is set without features.bmc.enabled: set that too, or take the URL away" -}}
{{- end -}}
{{- if .features.hub.enabled -}}
{{- if not (or .baseImages.list .baseImages.volume.enabled) -}}
{{- fail "there is no base image to make live images of: set baseImages.list to what is to be downloaded, or baseImages.volume.enabled and fill that volume" -}}
{{- end -}}
{{- if or .liveImage.isoURL .liveImage.kernelURL .liveImage.ramdiskURL -}}
{{- fail "liveImage.isoURL, kernelURL and ramdiskURL are for hosts without a hub, which makes an image for each: take them away, or set features.hub.enabled to false" -}}
{{- end -}}
{{- else -}}
{{- if or .exposure.hubURL .exposure.imagesURL .exposure.bmcEventsURL -}}
{{- fail "exposure.hubURL, imagesURL and bmcEventsURL are set, and features.hub.enabled is false, so that nothing serves them: take them away, or set features.hub.enabled to true" -}}
{{- end -}}
{{- if or .baseImages.list .baseImages.volume.enabled .liveImage.agentImage .database.url .files.url .features.clusterCredentials.enabled -}}
{{- fail "baseImages, liveImage.agentImage, database, files and features.clusterCredentials are the hub's, and features.hub.enabled is false: take them away, or set features.hub.enabled to true" -}}
{{- end -}}
{{- if ne (empty .liveImage.kernelURL) (empty .liveImage.ramdiskURL) -}}
{{- fail "liveImage.kernelURL and liveImage.ramdiskURL belong together: set both, or neither" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "ironflow.check.replicas" -}}
{{- with .Values -}}
{{- if and (gt (int .replicas) 1) .features.hub.enabled -}}
{{- if not .database.url -}}
{{- fail (printf "replicas is %d, and the hub's records are a file that only one can write: set database.url to a PostgreSQL, or replicas to 1" (int .replicas)) -}}
{{- end -}}
{{- if not .files.url -}}
{{- fail (printf "replicas is %d, and each would keep the logs that it was sent: set files.url to s3://BUCKET/PREFIX, or replicas to 1" (int .replicas)) -}}
{{- end -}}
{{- if not (or .data.existingClaim (eq .data.accessMode "ReadWriteMany")) -}}
{{- fail (printf "replicas is %d, and the volume of the data folder (keys, certificates, images) is for one node: set data.accessMode to ReadWriteMany, or replicas to 1" (int .replicas)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "ironflow.check.settings" -}}
{{- $own := dict "WATCH_NAMESPACE" "watchNamespaces" "IRONFLOW_HUB_PUBLISH_URL" "exposure.hubURL" "IRONFLOW_IMAGES_PUBLISH_URL" "exposure.imagesURL" "IRONFLOW_BMC_EVENTS_PUBLISH_URL" "exposure.bmcEventsURL" "IRONFLOW_MACHINES_IN_CLUSTER" "exposure.machinesInCluster" "IRONIC_ENDPOINT" "ironic.endpoint" "IRONIC_BASE_URL" "ironic.machinesURL" "IRONIC_INSECURE" "ironic.insecure" "IRONFLOW_HOSTCLAIMS" "features.hostClaims.enabled" "IRONFLOW_BMC" "features.bmc.enabled" "IRONFLOW_DATABASE" "database.url" "IRONFLOW_DATABASE_PASSWORD_FILE" "database.passwordSecret" "IRONFLOW_FILES" "files.url" "S3_ENDPOINT_URL" "files.endpoint" "IRONFLOW_FILES_CREDENTIALS_FILE" "files.credentialsSecret" "DEPLOY_ISO" "baseImages" "IRONFLOW_BASE_IMAGE_LIST" "baseImages.list" "IRONIC_AGENT_IMAGE" "liveImage.agentImage" "IRONFLOW_IRONIC_AGENT_FOREIGN" "liveImage.agentForeign" "DEPLOY_ISO_URL" "liveImage.isoURL" "DEPLOY_KERNEL_URL" "liveImage.kernelURL" "DEPLOY_RAMDISK_URL" "liveImage.ramdiskURL" -}}
{{- range $name, $_ := .Values.settings -}}
{{- if hasKey $own $name -}}
{{- fail (printf "settings.%s is what a value of the chart sets: set %s" $name (get $own $name)) -}}
{{- end -}}
{{- if eq $name "IRONIC_AGENT_PULL_SECRET" -}}
{{- fail "settings.IRONIC_AGENT_PULL_SECRET is a secret, and settings are for everybody to read: mount it by extraVolumes, and set settings.IRONFLOW_IRONIC_AGENT_PULL_SECRET_FILE to the file" -}}
{{- end -}}
{{- if has $name (list "IRONFLOW_HUB_ADDR" "IRONFLOW_HUB_PLAIN_ADDR" "IRONFLOW_IMAGES_ADDR" "IRONFLOW_IMAGES_TLS_ADDR" "IRONFLOW_BMC_EVENTS_ADDR" "IRONFLOW_METRICS_ADDR" "IRONFLOW_HEALTH_ADDR" "IRONFLOW_DATA_DIR" "IRONFLOW_LEADER_ELECT" "POD_NAMESPACE" "KUBECONFIG" "IRONFLOW_CONFIG") -}}
{{- fail (printf "settings.%s is fixed by the chart, whose ports, probes and volumes depend on it: take it away" $name) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "ironflow.check.configuration" -}}
{{- $own := dict "kubernetes.namespaces" "watchNamespaces" "kubernetes.machinesInCluster" "exposure.machinesInCluster" "hub.publishURL" "exposure.hubURL" "images.publishURL" "exposure.imagesURL" "bmcEvents.publishURL" "exposure.bmcEventsURL" "ironic.endpoint" "ironic.endpoint" "ironic.insecure" "ironic.insecure" "liveSystem.ironicBaseURLs" "ironic.machinesURL" "hosts.hostClaims" "features.hostClaims.enabled" "bmc.enabled" "features.bmc.enabled" "store.database" "database.url" "store.databasePasswordFile" "database.passwordSecret" "files.address" "files.url" "files.endpoint" "files.endpoint" "files.credentialsFile" "files.credentialsSecret" "images.baseImage" "baseImages" "images.baseImageList" "baseImages.list" "liveSystem.ironicAgentImage" "liveImage.agentImage" "liveSystem.ironicAgentForeign" "liveImage.agentForeign" "deployImages.isoURL" "liveImage.isoURL" "deployImages.kernelURL" "liveImage.kernelURL" "deployImages.ramdiskURL" "liveImage.ramdiskURL" -}}
{{- $fixed := list "hub.address" "hub.plainAddress" "images.address" "images.tlsAddress" "bmcEvents.address" "monitoring.metricsAddress" "monitoring.healthAddress" "store.dataDir" "leaderElection.enabled" "leaderElection.namespace" "kubernetes.kubeconfig" -}}
{{- range $topic, $fields := .Values.configuration -}}
{{- range $field, $_ := $fields -}}
{{- $name := printf "%s.%s" $topic $field -}}
{{- if hasKey $own $name -}}
{{- fail (printf "configuration.%s is what a value of the chart sets: set %s" $name (get $own $name)) -}}
{{- end -}}
{{- if has $name $fixed -}}
{{- fail (printf "configuration.%s is fixed by the chart, whose ports, probes and volumes depend on it: take it away" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}
