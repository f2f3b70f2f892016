package chart_test

import (
	"testing"

	. "github.com/onsi/gomega"
)

// TestContradictions: values that cannot work together are refused before anything is installed, with what to set.
func TestContradictions(t *testing.T) {
	for name, tc := range map[string]struct{ overlay, set, want string }{
		"no image":                            {"loadbalancer", "image.repository=", "set it to where the image was pushed to"},
		"the latest image":                    {"loadbalancer", "image.tag=latest", "set image.tag to a release, or image.digest"},
		"no Ironic":                           {"loadbalancer", "ironic.endpoint=", "set it to Ironic's URL"},
		"Ironic's Service for machines":       {"loadbalancer", "ironic.endpoint=https://ironic.metal3.svc:6385", "set ironic.machinesURL"},
		"no address of the hub":               {"loadbalancer", "exposure.hubURL=", "set it to the URL by which machines reach the hub"},
		"no address of images":                {"loadbalancer", "exposure.imagesURL=", "set it to the URL by which BMCs reach live images"},
		"a Service's name for machines":       {"loadbalancer", "exposure.hubURL=https://ironflow.ironflow-system.svc:8090", "only pods of this cluster resolve"},
		"a Service's full name for BMCs":      {"loadbalancer", "exposure.imagesURL=http://ironflow.ironflow-system.svc.cluster.local:8080", "set it to a name or an address that BMCs and machines reach"},
		"the hub in the clear":                {"loadbalancer", "exposure.hubURL=http://192.0.2.10:8090", "set it to an https:// URL"},
		"a port that is not open":             {"loadbalancer", "exposure.imagesURL=http://192.0.2.10:30080", "set it to a URL with :8080"},
		"no port":                             {"loadbalancer", "exposure.hubURL=https://192.0.2.10", "set it to a URL with :8090"},
		"another port of nodes":               {"nodeport", "exposure.hubURL=https://node-1.example:8090", "set it to a URL with :30090"},
		"the port of the other protocol":      {"nodeport", "exposure.imagesURL=https://node-1.example:30080", "set it to a URL with :30443"},
		"a load balancer of a node port":      {"nodeport", "exposure.loadBalancer.address=192.0.2.10", "set exposure.type to loadBalancer"},
		"an ingress of a load balancer":       {"loadbalancer", "exposure.ingress.className=nginx", "set exposure.type to ingress"},
		"any node's network":                  {"hostnetwork", "nodeSelector=null", "set nodeSelector"},
		"a policy for the host's network":     {"hostnetwork", "networkPolicy.enabled=true", "set networkPolicy.enabled to false"},
		"an ingress without a certificate":    {"ingress", "exposure.ingress.tlsSecret=", "set it to a Secret of type kubernetes.io/tls"},
		"one name for two":                    {"ingress", "exposure.imagesURL=http://hub.ironflow.example", "set them to two names"},
		"the hub in the clear for all pods":   {"ingress", "networkPolicy.ingressFrom=null", "set it to the peers that the ingress controller's pods are"},
		"events through an ingress":           {"ingress", "features.bmc.enabled=true,exposure.bmcEventsURL=https://bmc.ironflow.example", "take it away, or set exposure.type"},
		"events without the BMC wing":         {"loadbalancer", "exposure.bmcEventsURL=https://192.0.2.10:8092", "is set without features.bmc.enabled"},
		"events in the clear":                 {"loadbalancer", "features.bmc.enabled=true,exposure.bmcEventsURL=http://192.0.2.10:8092", "BMCs send no events in the clear"},
		"changes of passwords of no BMC":      {"loadbalancer", "features.bmc.rotation.enabled=true", "set both, or neither"},
		"no base image":                       {"loadbalancer", "baseImages.list=null", "set baseImages.list"},
		"one live image beside the hub":       {"loadbalancer", "liveImage.isoURL=https://mirror.example/a.iso", "set features.hub.enabled to false"},
		"addresses of no hub":                 {"controllers", "exposure.hubURL=https://192.0.2.10:8090", "so that nothing serves them"},
		"base images of no hub":               {"controllers", "baseImages.volume.enabled=true", "are the hub's"},
		"a kernel without its ramdisk":        {"controllers", "liveImage.kernelURL=https://mirror.example/kernel", "set both, or neither"},
		"two on one file":                     {"loadbalancer", "replicas=2", "set database.url to a PostgreSQL"},
		"two with logs of their own":          {"replicas", "files.url=", "set files.url to s3://BUCKET/PREFIX"},
		"two with a volume of one":            {"replicas", "data.accessMode=ReadWriteOnce", "set data.accessMode to ReadWriteMany"},
		"a setting that is a value":           {"loadbalancer", "settings.IRONFLOW_HUB_PUBLISH_URL=https://192.0.2.11:8090", "set exposure.hubURL"},
		"a setting that is a secret":          {"loadbalancer", "settings.IRONIC_AGENT_PULL_SECRET=e30=", "set settings.IRONFLOW_IRONIC_AGENT_PULL_SECRET_FILE"},
		"a setting that ports depend on":      {"loadbalancer", "settings.IRONFLOW_HUB_ADDR=:9999", "is fixed by the chart"},
		"a field that is a value":             {"loadbalancer", "configuration.hub.publishURL=https://192.0.2.11:8090", "set exposure.hubURL"},
		"a field that ports depend on":        {"loadbalancer", "configuration.hub.address=:9999", "is fixed by the chart"},
		"a file of another kind":              {"loadbalancer", "configuration.kind=Pod", "kind"},
		"a replica count that is a word":      {"loadbalancer", "replicas=two", "replicas"},
		"a way in that there is not":          {"loadbalancer", "exposure.type=pigeon", "type"},
		"a value that there is not":           {"loadbalancer", "exposure.hubUrl=https://192.0.2.10:8090", "hubUrl"},
		"an address with a path":              {"loadbalancer", "exposure.hubURL=https://192.0.2.10:8090/hub", "hubURL"},
		"a database with a password to see":   {"replicas", "database.url=postgres://ironflow:secret@db.example/ironflow", "url"},
		"a base image without its checksum":   {"loadbalancer", "baseImages.list[0].sha256=x", "sha256"},
		"a tag within the image's repository": {"loadbalancer", "image.repository=registry.example/ironflow:v1", "repository"},
		"a setting that is no variable":       {"loadbalancer", "settings.log-level=debug", "log-level"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := template(t, append(values(tc.overlay), "--set", tc.set)...)
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}
