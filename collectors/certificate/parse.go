package certificate

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/internal/files"
)

// parseChain returns the certificates of a PEM text, at least one. Other blocks, such as a private
// key, are skipped.
func parseChain(text []byte) ([]*x509.Certificate, error) {
	var chain []*x509.Certificate
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, collectors.Errorf(remote.ReasonProtocol, "certificate %d is malformed: %w", len(chain)+1, err)
		}
		chain = append(chain, certificate)
	}
	if chain == nil {
		return nil, collectors.Errorf(remote.ReasonProtocol, "expected certificates in PEM")
	}
	return chain, nil
}

// parseKey returns the public part of the first private key of a PEM text. An error contains
// nothing of the text.
func parseKey(text []byte) (crypto.PublicKey, error) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if !strings.HasSuffix(block.Type, "PRIVATE KEY") {
			continue
		}
		if block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "" {
			return nil, collectors.Errorf(remote.ReasonProtocol, "the private key is encrypted: expected one without a password")
		}
		if key, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
			if signer, ok := key.(crypto.Signer); ok {
				return signer.Public(), nil
			}
		}
		if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
			return key.Public(), nil
		}
		if key, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
			return key.Public(), nil
		}
		return nil, collectors.Errorf(remote.ReasonProtocol, "the private key is malformed, or of an unknown type")
	}
	return nil, collectors.Errorf(remote.ReasonProtocol, "expected a private key in PEM")
}

// parseSecret returns the certificate and the private key of a secret. An error contains nothing of
// the secret.
func parseSecret(body []byte) (certificate, key []byte, err error) {
	var secret struct {
		Kind string
		Data struct {
			Certificate []byte `json:"tls.crt"`
			Key         []byte `json:"tls.key"`
		}
	}
	if err := json.Unmarshal(body, &secret); err != nil || secret.Kind != "Secret" {
		return nil, nil, collectors.Errorf(remote.ReasonProtocol, "unexpected response: it is no secret")
	}
	if len(secret.Data.Certificate) == 0 {
		return nil, nil, collectors.Errorf(remote.ReasonProtocol, "the secret has no tls.crt")
	}
	return secret.Data.Certificate, secret.Data.Key, nil
}

// matches reports whether a public key is that of the certificate.
func matches(certificate *x509.Certificate, key crypto.PublicKey) bool {
	own, ok := certificate.PublicKey.(interface{ Equal(crypto.PublicKey) bool })
	return ok && own.Equal(key)
}

// verify returns until when the chain is trusted, as remote.CertificateExpiry defines it for a
// connection, and why it is not trusted now. Without roots, those of the system are used.
func verify(chain []*x509.Certificate, roots *x509.CertPool, at time.Time) (until time.Time, err error) {
	options := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool(), CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}
	for _, c := range chain[1:] {
		options.Intermediates.AddCert(c)
	}
	state := tls.ConnectionState{PeerCertificates: chain}
	state.VerifiedChains, err = chain[0].Verify(options)
	return remote.CertificateExpiry(&state), err
}

// readRoots reads the trusted certificates; nil stands for those of the system.
func readRoots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	text, err := read(file)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, collectors.Errorf(remote.ReasonProtocol, "%s: expected certificates in PEM", file)
	}
	return roots, nil
}

// read reads a file. Its errors have a reason and contain the path.
func read(file string) ([]byte, error) {
	text, err := remote.ReadClientFile(file)
	switch {
	case err == nil:
		return text, nil
	case files.Missing(err):
		return nil, collectors.Errorf(remote.ReasonNotFound, "%w", err)
	case errors.Is(err, fs.ErrPermission):
		return nil, collectors.Errorf(remote.ReasonForbidden, "%w", err)
	}
	return nil, collectors.Errorf(remote.ReasonProtocol, "%w", err)
}

// withSubject adds what an error is about, and keeps its reason.
func withSubject(subject string, err error) error {
	return collectors.Errorf(remote.ReasonOf(err), "%s: %w", subject, errors.Unwrap(err))
}
