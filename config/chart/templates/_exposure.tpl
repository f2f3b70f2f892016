{{/*
true or empty: whether only pods of the cluster resolve the host of a URL. The program refuses the same, and by what a pod is told of the
cluster around it, names below its own domain and addresses of Services.
*/}}
{{- define "ironflow.onlyInCluster" -}}
{{- $host := (urlParse .).host | splitList ":" | first | trimSuffix "." | lower -}}
{{- if or (hasSuffix ".svc" $host) (hasSuffix ".svc.cluster.local" $host) (hasSuffix ".pod.cluster.local" $host) -}}true{{- end -}}
{{- end }}

{{/* true or empty: whether a URL stands where a site's own belongs, as in overlays/defaults.yaml; the program refuses it. */}}
{{- define "ironflow.unset" -}}
{{- if hasSuffix ".invalid" ((urlParse .).host | splitList ":" | first) -}}true{{- end -}}
{{- end }}

{{- define "ironflow.check.exposure" -}}
{{- if .Values.features.hub.enabled -}}
{{- with .Values.exposure -}}
{{- if not .hubURL -}}
{{- fail "exposure.hubURL is not set: set it to the URL by which machines reach the hub, such as https://ironflow.example:8090" -}}
{{- end -}}
{{- if not .imagesURL -}}
{{- fail "exposure.imagesURL is not set: set it to the URL by which BMCs reach live images, such as http://ironflow.example:8080" -}}
{{- end -}}
{{- range $name, $url := dict "hubURL" .hubURL "imagesURL" .imagesURL "bmcEventsURL" .bmcEventsURL -}}
{{- if and (include "ironflow.onlyInCluster" $url) (not $.Values.exposure.machinesInCluster) -}}
{{- fail (printf "exposure.%s is %s, which only pods of this cluster resolve: set it to a name or an address that BMCs and machines reach, or exposure.machinesInCluster if they do resolve it" $name $url) -}}
{{- end -}}
{{- end -}}
{{- if not (hasPrefix "https://" .hubURL) -}}
{{- fail (printf "exposure.hubURL is %s: the hub speaks TLS, so set it to an https:// URL" .hubURL) -}}
{{- end -}}
{{- if and .bmcEventsURL (not (hasPrefix "https://" .bmcEventsURL)) -}}
{{- fail (printf "exposure.bmcEventsURL is %s: BMCs send no events in the clear, so set it to an https:// URL" .bmcEventsURL) -}}
{{- end -}}
{{- end -}}
{{- include "ironflow.check.ports" . -}}
{{- include "ironflow.check.way" . -}}
{{- end -}}
{{- end }}

{{/* The published ports are those that are open. */}}
{{- define "ironflow.check.ports" -}}
{{- with .Values.exposure -}}
{{- $images := ternary "imagesTLS" "images" (hasPrefix "https://" .imagesURL) -}}
{{- $open := dict "hub" 8090 "images" 8080 "imagesTLS" 8443 "bmcEvents" 8092 -}}
{{- if eq .type "nodePort" -}}{{- $open = .nodePort -}}{{- end -}}
{{- if has .type (list "loadBalancer" "nodePort" "hostNetwork") -}}
{{- range $name, $port := dict "hubURL" (get $open "hub") "imagesURL" (get $open $images) "bmcEventsURL" (get $open "bmcEvents") -}}
{{- $url := get $.Values.exposure $name -}}
{{- if and $url (not (hasSuffix (printf ":%d" (int $port)) (urlParse $url).host)) -}}
{{- fail (printf "exposure.%s is %s, and with exposure.type %s that is served at port %d: set it to a URL with :%d" $name $url $.Values.exposure.type (int $port) (int $port)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* What each way needs, and what means nothing with it. */}}
{{- define "ironflow.check.way" -}}
{{- with .Values.exposure -}}
{{- if and (ne .type "loadBalancer") (or .loadBalancer.address .loadBalancer.annotations .loadBalancer.sourceRanges) -}}
{{- fail (printf "exposure.loadBalancer is set, and exposure.type is %s: take it away, or set exposure.type to loadBalancer" .type) -}}
{{- end -}}
{{- if and (ne .type "ingress") (or .ingress.className .ingress.annotations .ingress.tlsSecret) -}}
{{- fail (printf "exposure.ingress is set, and exposure.type is %s: take it away, or set exposure.type to ingress" .type) -}}
{{- end -}}
{{- if eq .type "ingress" -}}
{{- if not .ingress.tlsSecret -}}
{{- fail "exposure.ingress.tlsSecret is not set: set it to a Secret of type kubernetes.io/tls, since machines call the hub by TLS" -}}
{{- end -}}
{{- if eq (urlParse .hubURL).host (urlParse .imagesURL).host -}}
{{- fail "exposure.hubURL and exposure.imagesURL have the same host, and an ingress tells them apart by it: set them to two names" -}}
{{- end -}}
{{- if and $.Values.networkPolicy.enabled (not $.Values.networkPolicy.ingressFrom) -}}
{{- fail "networkPolicy.ingressFrom is empty, and the hub without TLS would be open to every pod: set it to the peers that the ingress controller's pods are, or networkPolicy.enabled to false" -}}
{{- end -}}
{{- if .bmcEventsURL -}}
{{- fail "exposure.bmcEventsURL is set, and BMCs end TLS at Ironflow itself, which an ingress does not pass on: take it away, or set exposure.type to loadBalancer, nodePort or hostNetwork" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if eq .Values.exposure.type "hostNetwork" -}}
{{- if not .Values.nodeSelector -}}
{{- fail "exposure.type is hostNetwork, and the pod could run on any node: set nodeSelector to the labels of those that have the published address" -}}
{{- end -}}
{{- if .Values.networkPolicy.enabled -}}
{{- fail "networkPolicy.enabled has no effect on pods of the host's network: set networkPolicy.enabled to false, and protect the ports at the node" -}}
{{- end -}}
{{- end -}}
{{- end }}
