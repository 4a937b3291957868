package admit

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Use and what else help says.
const (
	Use   = "admit"
	Short = "a validating webhook that rejects pods whose launch line does not fit their GPUs"
	Long  = "The API server calls it before it creates pods, Deployments, StatefulSets, Jobs and LeaderWorkerSets. " +
		"It compares the memory of a container's launch line with the GPUs in its resources, of the type given by its node selector, " +
		"affinity or claim. " +
		"A pod that certainly does not fit is rejected with the fix; one that is not understood, not in the catalog or not " +
		"evaluated in time is admitted with a warning. " +
		"It reads no files, addresses or secrets of a pod. The annotation memwall/admit: skip exempts an object."
	Example = "memwall admit --manifests | kubectl apply -f -\nmemwall admit --tls-cert tls.crt --tls-key tls.key --warn\n" +
		"memwall admit --tls-cert tls.crt --tls-key tls.key --on h100 --claim single-mi300x=mi300x"
)

// label is a name of Kubernetes.
var label = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// image is a reference that no line of YAML misreads.
var image = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/:@-]{0,255}$`)

// Write the manifests that install the webhook.
func (a *Asked) Write(open func(string) (io.ReadCloser, error)) (string, error) {
	switch {
	case !label.MatchString(a.Namespace):
		return "", fault("namespace", a.Namespace, "--namespace: no name of a namespace", "--namespace memwall")
	case !image.MatchString(a.Image):
		return "", fault("image", a.Image, "--image: no reference of an image", "--image registry.example/memwall:0.1.0")
	case !(a.Deadline >= leastDeadline && a.Deadline <= mostDeadline):
		return "", fault("deadline", fmt.Sprint(a.Deadline), "--deadline is not from 50 ms to 25 s", "--deadline 3s")
	}
	bundle, err := a.bundle(open)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf(install, a.Namespace, a.Image, strings.Join(a.arguments(), ", "))
	if bundle == "" {
		return text + fmt.Sprintf(issued, a.Namespace) + fmt.Sprintf(webhook, a.Namespace, issuedFrom(a.Namespace), "", a.timeout()), nil
	}
	return text + fmt.Sprintf(webhook, a.Namespace, "", "\n      caBundle: "+bundle, a.timeout()), nil
}

// bundle is the authority of the certificate; "" where cert-manager puts it in.
func (a *Asked) bundle(open func(string) (io.ReadCloser, error)) (string, error) {
	if a.CA == "" {
		return "", nil
	}
	bad := fault("ca", a.CA, "--ca "+a.CA+" is not a PEM certificate", "--ca ca.crt")
	f, err := open(a.CA)
	if err != nil {
		return "", bad
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if block, _ := pem.Decode(text); err != nil || block == nil || block.Type != "CERTIFICATE" {
		return "", bad
	}
	return base64.StdEncoding.EncodeToString(text), nil
}

// timeout of the API server, in whole seconds: two after the webhook's own.
func (a *Asked) timeout() int { return min(30, int(math.Ceil(a.Deadline))+2) }

func (a *Asked) arguments() (out []string) {
	say := func(words ...string) {
		for _, w := range words {
			out = append(out, quoted(w))
		}
	}
	say("admit", "--tls-cert", "/tls/tls.crt", "--tls-key", "/tls/tls.key", "--deadline", fmt.Sprintf("%gs", a.Deadline))
	if a.Warn {
		say("--warn")
	}
	if a.Hardware != "" {
		say("--on", a.Hardware)
	}
	var names []string
	for n := range a.Claims {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		say("--claim", n+"="+a.Claims[n])
	}
	return out
}

// quoted is a text in YAML's single quotes.
func quoted(s string) string {
	return "'" + strings.ReplaceAll(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s), "'", "''") + "'"
}

func issuedFrom(namespace string) string {
	return fmt.Sprintf("\n  annotations: {cert-manager.io/inject-ca-from: %s/memwall-admit}", namespace)
}

// install has a place for namespace, image and arguments.
const install = `apiVersion: v1
kind: Namespace
metadata: {name: %[1]s}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: memwall-admit, namespace: %[1]s, labels: {app: memwall-admit}}
spec:
  replicas: 2
  selector: {matchLabels: {app: memwall-admit}}
  template:
    metadata: {labels: {app: memwall-admit}}
    spec:
      automountServiceAccountToken: false
      securityContext: {runAsNonRoot: true, runAsUser: 65532, fsGroup: 65532, seccompProfile: {type: RuntimeDefault}}
      containers:
        - name: admit
          image: %[2]s
          args: [%[3]s]
          ports: [{containerPort: 8443}]
          readinessProbe: {httpGet: {path: /healthz, port: 8443, scheme: HTTPS}}
          resources: {requests: {cpu: 50m, memory: 64Mi}, limits: {memory: 512Mi}}
          securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
          volumeMounts: [{name: tls, mountPath: /tls, readOnly: true}]
      volumes: [{name: tls, secret: {secretName: memwall-admit-tls}}]
---
apiVersion: v1
kind: Service
metadata: {name: memwall-admit, namespace: %[1]s}
spec:
  selector: {app: memwall-admit}
  ports: [{port: 443, targetPort: 8443}]
---
`

// issued is the certificate, of cert-manager.
const issued = `apiVersion: cert-manager.io/v1
kind: Issuer
metadata: {name: memwall-admit, namespace: %[1]s}
spec: {selfSigned: {}}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: memwall-admit, namespace: %[1]s}
spec:
  secretName: memwall-admit-tls
  dnsNames: [memwall-admit.%[1]s.svc]
  issuerRef: {name: memwall-admit}
---
`

// webhook asks about what makes pods too, so that who applies a Deployment is told, and not its ReplicaSet.
const webhook = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: memwall-admit%[2]s
webhooks:
  - name: admit.memwall.dev
    admissionReviewVersions: [v1]
    sideEffects: None
    failurePolicy: Ignore
    timeoutSeconds: %[4]d
    clientConfig:
      service: {name: memwall-admit, namespace: %[1]s, path: /admit}%[3]s
    namespaceSelector:
      matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system, %[1]s]}]
    rules:
      - {apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}
      - {apiGroups: [apps], apiVersions: [v1], resources: [deployments, statefulsets], operations: [CREATE, UPDATE]}
      - {apiGroups: [batch], apiVersions: [v1], resources: [jobs, cronjobs], operations: [CREATE, UPDATE]}
      - {apiGroups: [leaderworkerset.x-k8s.io], apiVersions: [v1], resources: [leaderworkersets], operations: [CREATE, UPDATE]}
`
