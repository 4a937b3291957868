package admit

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memwall/memwall"
)

// cluster is a real API server with its store, and no node.
type cluster struct {
	t      *testing.T
	url    string
	client *http.Client
}

const clusterToken = "of-a-test"

// startCluster runs etcd and kube-apiserver from KUBEBUILDER_ASSETS, where the tests of Kubernetes' controllers have them (setup-envtest), and
// skips where they are not. Built from the Go module proxy: a module that requires k8s.io/kubernetes with its staging modules replaced by their
// releases, and go.etcd.io/etcd or the package of a distribution.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		t.Skip("KUBEBUILDER_ASSETS names no folder with etcd and kube-apiserver")
	}
	dir := t.TempDir()
	key := filepath.Join(dir, "sa.key")
	writeKey(t, key)
	tokens := filepath.Join(dir, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(clusterToken+",admin,1,system:masters\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	store, peer, port := freeAddress(t), freeAddress(t), freeAddress(t)
	run(t, filepath.Join(assets, "etcd"), "--data-dir", filepath.Join(dir, "etcd"), "--listen-client-urls", "http://"+store,
		"--advertise-client-urls", "http://"+store, "--listen-peer-urls", "http://"+peer)
	_, number, _ := net.SplitHostPort(port)
	run(t, filepath.Join(assets, "kube-apiserver"), "--etcd-servers", "http://"+store, "--secure-port", number, "--bind-address", "127.0.0.1",
		"--cert-dir", dir, "--service-account-issuer", "https://kubernetes.default.svc", "--service-account-key-file", key,
		"--service-account-signing-key-file", key, "--service-cluster-ip-range", "10.0.0.0/24", "--token-auth-file", tokens,
		"--authorization-mode", "RBAC", "--disable-admission-plugins", "ServiceAccount")
	// its certificate is made by itself as it starts
	c := &cluster{t, "https://" + port, &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}}
	for began := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		if code, _, _ := c.try(http.MethodGet, "/readyz", ""); code == http.StatusOK {
			return c
		}
		if time.Since(began) > 3*time.Minute {
			t.Fatal("the API server is not ready after three minutes")
		}
	}
}

func writeKey(t *testing.T, name string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// run a program until the test ends; what it said is shown if the test fails.
func run(t *testing.T, name string, args ...string) {
	t.Helper()
	said := &lines{}
	c := exec.Command(name, args...)
	c.Stdout, c.Stderr = said, said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		if text := said.text(); t.Failed() {
			t.Logf("%s: %s", filepath.Base(name), text[max(0, len(text)-4000):])
		}
	})
}

// try a request; headers are those of the answer.
func (c *cluster) try(method, path, body string) (code int, text string, headers http.Header) {
	r, err := http.NewRequest(method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+clusterToken)
	r.Header.Set("Content-Type", "application/yaml")
	a, err := c.client.Do(r)
	if err != nil {
		return 0, err.Error(), nil
	}
	defer func() { _ = a.Body.Close() }()
	var b bytes.Buffer
	_, _ = io.Copy(&b, io.LimitReader(a.Body, 1<<20))
	return a.StatusCode, b.String(), a.Header
}

// TestAgainstAPIServer: a real API server asks the webhook, as it is configured by the manifests that install it: a pod that does not fit is
// refused with the fix, one that fits is let in, a model that nobody knows and a tight one with a warning, a deployment of such pods is
// refused too; and with the webhook gone all are let in.
func TestAgainstAPIServer(t *testing.T) {
	c := startCluster(t)
	dir := t.TempDir()
	a := Usual()
	a.Cert, a.Key, a.Listen = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"), "127.0.0.1:0"
	certify(t, a.Cert, a.Key, 1)
	a.CA = a.Cert
	address, _, stop, ended := listening(a)
	c.configure(a, address)
	c.waitFor(clusterPod("b", large))
	for name, s := range map[string]struct {
		path, object  string
		code          int
		says, warning string
	}{
		"fits":         {"/api/v1/namespaces/default/pods", clusterPod("a", small), http.StatusCreated, "", ""},
		"does not":     {"/api/v1/namespaces/default/pods", clusterPod("b", large), http.StatusForbidden, "does not fit", ""},
		"unknown":      {"/api/v1/namespaces/default/pods", clusterPod("c", "nobody/knows-this"), http.StatusCreated, "", "memwall"},
		"a deployment": {"/apis/apps/v1/namespaces/default/deployments", deployment(clusterPod("d", large)), http.StatusForbidden, "does not fit", ""},
	} {
		code, text, headers := c.try(http.MethodPost, s.path, s.object)
		if code != s.code || !strings.Contains(text, s.says) || !strings.Contains(strings.Join(headers["Warning"], " "), s.warning) {
			t.Errorf("%s: %d %s, warnings %q", name, code, text, headers["Warning"])
		}
	}
	c.takesPlans()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if code, text, _ := c.try(http.MethodPost, "/api/v1/namespaces/default/pods", clusterPod("b", large)); code != http.StatusCreated {
		t.Errorf("with the webhook gone: %d %s", code, text)
	}
}

// configure the API server by the webhook's own manifest, of which only the address is another.
func (c *cluster) configure(a *Asked, address string) {
	c.t.Helper()
	text, err := a.Write(func(name string) (io.ReadCloser, error) { return os.Open(name) })
	if err != nil {
		c.t.Fatal(err)
	}
	documents := strings.Split(text, "\n---\n")
	last := documents[len(documents)-1]
	from, to := strings.Index(last, "service:"), strings.Index(last, "caBundle:")
	if from < 0 || to < from || !strings.Contains(last, base64.StdEncoding.EncodeToString([]byte("-----BEGIN"))[:10]) {
		c.t.Fatalf("no webhook in %s", last)
	}
	hook := last[:from] + fmt.Sprintf("url: https://%s/admit\n      ", address) + last[to:]
	if code, text, _ := c.try(http.MethodPost, "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", hook); code != http.StatusCreated {
		c.t.Fatalf("%d %s\n%s", code, text, hook)
	}
}

// waitFor the API server to ask: it reads a new configuration some moments later. Until then dry runs of the object are let in.
func (c *cluster) waitFor(object string) {
	c.t.Helper()
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(200 * time.Millisecond) {
		if code, _, _ := c.try(http.MethodPost, "/api/v1/namespaces/default/pods?dryRun=All", object); code == http.StatusForbidden {
			return
		}
	}
	c.t.Fatal("the API server does not ask the webhook")
}

// clusterPod is a pod as a server takes it: the claim that the others name is nowhere.
func clusterPod(name, model string) string {
	text := strings.Replace(pod(model, gpu, 1, onH100), `,"claims":[{"name":"gpu"}]`, "", 1)
	return strings.Replace(text, `"name":"vllm","annotations"`, `"name":"`+name+`","annotations"`, 1)
}

func deployment(pod string) string {
	_, rest, _ := strings.Cut(pod, `"spec":`)
	spec := `"spec":` + strings.TrimSuffix(rest, "}")
	return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"app":"d"}},` +
		`"template":{"metadata":{"labels":{"app":"d"}},` + spec + `}}}`
}

// takesPlans has the API server check the manifests that plans are written as: every field of every object is known and valid.
func (c *cluster) takesPlans() {
	paths := map[string]string{"Deployment": "/apis/apps/v1/namespaces/default/deployments", "Service": "/api/v1/namespaces/default/services",
		"ConfigMap":             "/api/v1/namespaces/default/configmaps",
		"ResourceClaimTemplate": "/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates"}
	asker, seen := memwall.Asker{Models: memwall.Catalog{}}, map[string]bool{}
	for _, form := range []string{"kubernetes", "kubernetes-dra"} {
		for _, engine := range []string{"vllm", "sglang", "tensorrt-llm", "llama-server"} {
			r := &memwall.Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: "2xh100"}
			r.Engine = engine
			l, err := asker.Launch(r, form)
			if err != nil {
				c.t.Fatal(err)
			}
			for d := range strings.SplitSeq(l.Text, "\n---\n") {
				_, kind, _ := strings.Cut(d, "\nkind: ")
				kind, _, _ = strings.Cut(kind, "\n")
				seen[kind] = true
				code, text, _ := c.try(http.MethodPost, paths[kind]+"?dryRun=All&fieldValidation=Strict", d)
				if code != http.StatusCreated {
					c.t.Errorf("%s of %s as %s: %d %s", kind, engine, form, code, text)
				}
			}
		}
	}
	if len(seen) < 3 {
		c.t.Errorf("kinds %v", seen)
	}
}
