package tripleo

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// maxEndpoints bounds the addresses of one server.
const maxEndpoints = 8

// etcd reads the variables of etcd (https://etcd.io/docs/latest/op-guide/configuration/):
// all addresses for clients.
func etcd(text string) ([]Endpoint, error) {
	variables := shellVariables(text)
	urls := variables["ETCD_LISTEN_CLIENT_URLS"]
	if urls == "" {
		return nil, errors.New("ETCD_LISTEN_CLIENT_URLS is not set: expected a URL such as http://127.0.0.1:2379")
	}
	var all []Endpoint
	for text := range strings.SplitSeq(urls, ",") {
		e, err := etcdEndpoint(strings.TrimSpace(text), variables)
		if err != nil {
			return nil, fmt.Errorf("ETCD_LISTEN_CLIENT_URLS: %w", err)
		}
		if all = append(all, e); len(all) > maxEndpoints {
			return nil, fmt.Errorf("ETCD_LISTEN_CLIENT_URLS: expected at most %d URLs", maxEndpoints)
		}
	}
	return all, nil
}

func etcdEndpoint(text string, variables map[string]string) (Endpoint, error) {
	u, err := url.Parse(text)
	if err != nil || u.User != nil {
		// The text may contain a password.
		return Endpoint{}, errors.New("expected URLs such as http://127.0.0.1:2379")
	}
	var e Endpoint
	switch u.Scheme {
	case "http":
	case "https":
		e.TLS = &TLS{CAFile: variables["ETCD_TRUSTED_CA_FILE"]}
		if variables["ETCD_CLIENT_CERT_AUTH"] == "true" {
			e.TLS.CertFile, e.TLS.KeyFile = variables["ETCD_CERT_FILE"], variables["ETCD_KEY_FILE"]
		}
	default:
		return e, fmt.Errorf("%.16q: expected http or https", u.Scheme)
	}
	e.Address, err = reach(u.Hostname(), u.Port())
	return e, err
}
