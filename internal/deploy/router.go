package deploy

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/internal/launch"
)

// Routers in front of replicas: what each is told so that it does what was played. nginx counts connections (nginx.org:
// ngx_http_upstream_module; docs.vllm.ai: deployment/nginx), the engines' own routers know prefixes (docs.sglang.io:
// advanced_features/router; docs.vllm.ai: projects/production-stack) and who hands caches to whom (docs.sglang.io:
// advanced_features/pd_disaggregation; docs.vllm.ai: features/nixl_connector_usage).

// nginx is the router where no other is needed to do what was played.
func (d *deployment) nginx() bool {
	return len(d.workers) > 1 && d.q.Prompter == nil && d.ownRouter() == ""
}

// ownRouter is the command of the engine's router that knows prefixes; "" where it has none, or the plan needs none.
func (d *deployment) ownRouter() string {
	if d.router != prefixAware {
		return ""
	}
	urls := make([]string, 0, len(d.workers))
	for _, a := range d.addresses() {
		urls = append(urls, "http://"+a)
	}
	switch d.q.Engine.Name() {
	case "sglang":
		return fmt.Sprintf("python -m sglang_router.launch_router --worker-urls %s --policy cache_aware --host 0.0.0.0 --port %d",
			strings.Join(urls, " "), routerPort)
	case "vllm":
		models := strings.TrimSuffix(strings.Repeat(d.servedName()+",", len(urls)), ",")
		return fmt.Sprintf("vllm-router --host 0.0.0.0 --port %d --service-discovery static --static-backends %s --static-models %s "+
			"--routing-logic prefixaware", routerPort, strings.Join(urls, ","), argv.Quote(models))
	}
	return ""
}

// servedName is the name by which a server of vLLM knows its model: the one that it was started with.
func (d *deployment) servedName() string {
	main, _, err := launch.CommandWords(d.q)
	if err != nil || len(main.Args) < 2 {
		return d.q.Resolved.ID
	}
	return main.Args[1]
}

// nginxConf sends each request to a replica.
func (d *deployment) nginxConf(addresses []string) string {
	b := &strings.Builder{}
	b.WriteString("# Goes into /etc/nginx/conf.d.\n")
	if d.router == prefixAware {
		b.WriteString("# The plan was played with a router that knows prefixes; nginx does not.\n")
	}
	b.WriteString("upstream replicas {\n")
	if d.router != roundRobin {
		b.WriteString("    least_conn; # the replica with the fewest requests\n")
	}
	for _, a := range addresses {
		fmt.Fprintf(b, "    server %s;\n", a)
	}
	fmt.Fprintf(b, "}\nserver {\n    listen %d;\n    location / {\n        proxy_pass http://replicas;\n        proxy_http_version 1.1;\n",
		routerPort)
	b.WriteString("        proxy_buffering off; # tokens go on as they come\n        proxy_read_timeout 1h;\n    }\n}\n")
	return b.String()
}

// routerNotes is the part of the script about the router.
func (d *deployment) routerNotes() string {
	on := ""
	if d.hosts > 1 {
		on = ", on a host that reaches all others by their names"
	}
	switch command := d.disaggregatedRouter(); {
	case command != "":
		return fmt.Sprintf("\n# The router, at port %d%s:\n#   %s\n", routerPort, on, command)
	case d.q.Prompter != nil:
		return "\n# trtllm-serve disaggregated is the router, and the workers need a cache_transceiver_config: see TensorRT-LLM's\n# " +
			"guide to disaggregated serving.\n"
	case d.ownRouter() != "":
		return fmt.Sprintf("\n# The router, at port %d%s:\n#   %s\n", routerPort, on, d.ownRouter())
	case d.q.Engine.Name() == "sglang":
		return fmt.Sprintf("\n# The router is nginx with nginx.conf, at port %d%s. SGLang's own comes near:\n#   python -m "+
			"sglang_router.launch_router --worker-urls http://%s --policy power_of_two --port %d\n", routerPort, on,
			strings.Join(d.addresses(), " http://"), routerPort)
	}
	return fmt.Sprintf("\n# The router is nginx with nginx.conf, at port %d%s.\n", routerPort, on)
}

const (
	handshakePort = 5600 // of vLLM's side channel, and one more for each rank of a host
	bootstrapPort = 8998 // of SGLang's
	ownName       = "$1" // of the host that the script runs on
)

// cacheTransferArgs are the variables and arguments by which a worker hands caches to others, or takes them.
func (d *deployment) cacheTransferArgs(w *worker) (env []argv.Variable, words []string) {
	nth := int64(w.port - firstPort)
	switch d.q.Engine.Name() {
	case "vllm":
		env = []argv.Variable{{Name: "VLLM_NIXL_SIDE_CHANNEL_PORT", Value: fmt.Sprint(handshakePort + nth*max(1, w.q.Request.DP))}}
		if d.hosts > 1 {
			env = append(env, argv.Variable{Name: "VLLM_NIXL_SIDE_CHANNEL_HOST", Value: ownName})
		}
		return env, []string{"--kv-transfer-config", `{"kv_connector":"NixlConnector","kv_role":"kv_both"}`}
	case "sglang":
		if w.prompts {
			return nil, []string{"--disaggregation-mode", "prefill", "--disaggregation-transfer-backend", "nixl",
				"--disaggregation-bootstrap-port", fmt.Sprint(bootstrapPort + nth)}
		}
		return nil, []string{"--disaggregation-mode", "decode", "--disaggregation-transfer-backend", "nixl"}
	}
	return nil, nil
}

// disaggregatedRouter is the command of the router between workers of two kinds; "" where there is none.
func (d *deployment) disaggregatedRouter() string {
	if d.q.Prompter == nil {
		return ""
	}
	switch d.q.Engine.Name() {
	case "vllm":
		return d.proxy()
	case "sglang":
		out := "python -m sglang_router.launch_router --pd-disaggregation"
		for i := range d.workers {
			if w := &d.workers[i]; w.prompts {
				out += fmt.Sprintf(" --prefill http://%s %d", d.address(w), bootstrapPort+w.port-firstPort)
			} else {
				out += " --decode http://" + d.address(w)
			}
		}
		return out + fmt.Sprintf(" --host 0.0.0.0 --port %d", routerPort)
	}
	return ""
}

// proxy is the one of vLLM's own tests, which its guide names.
func (d *deployment) proxy() string {
	hosts, ports := map[bool]string{}, map[bool]string{}
	for i := range d.workers {
		w := &d.workers[i]
		host, port, _ := strings.Cut(d.address(w), ":")
		hosts[w.prompts] += " " + host
		ports[w.prompts] += " " + port
	}
	return fmt.Sprintf("python tests/v1/kv_connector/nixl_integration/toy_proxy_server.py --port %d --prefiller-hosts%s "+
		"--prefiller-ports%s --decoder-hosts%s --decoder-ports%s", routerPort, hosts[true], ports[true], hosts[false], ports[false])
}
